//! What came of a question: a verdict, a second attempt, or a failure that says how the answer ended.

use chaperone_sdk::failure::no_answer;
use chaperone_sdk::judge::without_thinking;
use chaperone_sdk::text::{beginning, one_line};
use chaperone_sdk::{Completion, LlmError, StopReason};

use crate::request::Attempt;
use crate::verdict::Verdict;

/// The most characters of an answer that is not understood that are quoted.
const QUOTED: usize = 200;

/// What came of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The judge has spoken.
    Verdict(Verdict),
    /// The answer was used up before it said anything, for the first time: the same is to be asked with more room.
    AskAgain,
    /// There is no verdict; why.
    Failed(String),
}

/// Reads what came of an attempt. Only an answer that came to its own end is a verdict: one that was cut off might have
/// gone on to say the opposite.
pub fn read(outcome: Result<Completion, LlmError>, attempt: Attempt) -> Answer {
    let completion = match outcome {
        Ok(completion) => completion,
        Err(error) => return Answer::Failed(no_answer(&error)),
    };
    let says_nothing = without_thinking(&completion.text).trim().is_empty();
    match completion.stop_reason {
        StopReason::Length if says_nothing && attempt == Attempt::First => Answer::AskAgain,
        StopReason::Length if says_nothing => failed(&completion, "the answer was cut off before it said anything"),
        StopReason::Length => failed(&completion, "the answer was cut off"),
        StopReason::Aborted => failed(&completion, "the answer was broken off"),
        StopReason::Error => failed(&completion, "the judge failed or refused while it answered"),
        StopReason::Stop | StopReason::ToolUse if says_nothing => failed(&completion, "the answer says nothing"),
        StopReason::Stop | StopReason::ToolUse => match Verdict::parse(&completion.text) {
            Ok(verdict) => Answer::Verdict(verdict),
            Err(misread) => failed(&completion, &misread.to_string()),
        },
    }
}

/// Why there is no verdict, how the answer ended, what it was made of, and its beginning.
fn failed(completion: &Completion, why: &str) -> Answer {
    let parts: Vec<String> = completion.parts.iter().map(|(kind, size)| format!("{kind}:{size}")).collect();
    let parts = if parts.is_empty() { "none".into() } else { parts.join(",") };
    let text = one_line(&completion.text);
    let quoted = if text.is_empty() { String::new() } else { format!(": {}", beginning(&text, QUOTED)) };
    Answer::Failed(format!("{why} (stopReason={}, parts={parts}){quoted}", completion.stop_reason.name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confidence::Confidence;
    use crate::verdict::Decision;
    use chaperone_sdk::fake::completion;

    const CONTINUE: &str = r#"{"verdict":"continue","confidence":0.9,"reason":"half is missing"}"#;

    fn ended(text: &str, stop_reason: StopReason) -> Result<Completion, LlmError> {
        Ok(Completion { stop_reason, ..completion(text) })
    }

    fn failure(outcome: Result<Completion, LlmError>, attempt: Attempt) -> String {
        match read(outcome, attempt) {
            Answer::Failed(why) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_answer_that_came_to_its_end_is_read() {
        let verdict = Verdict {
            decision: Decision::Continue,
            confidence: Confidence::new(0.9).unwrap(),
            reason: "half is missing".into(),
        };
        for stop_reason in [StopReason::Stop, StopReason::ToolUse] {
            assert_eq!(read(ended(CONTINUE, stop_reason), Attempt::First), Answer::Verdict(verdict.clone()));
        }
    }

    #[test]
    fn an_answer_that_is_used_up_before_it_says_anything_is_asked_for_once_more() {
        let thinking =
            || Completion { stop_reason: StopReason::Length, parts: vec![("thinking".into(), 400)], ..completion("") };
        assert_eq!(read(Ok(thinking()), Attempt::First), Answer::AskAgain);
        assert_eq!(read(ended("<think>hm, let me see", StopReason::Length), Attempt::First), Answer::AskAgain);
        let why = failure(Ok(thinking()), Attempt::Second);
        assert_eq!(why, "the answer was cut off before it said anything (stopReason=length, parts=thinking:400)");
    }

    #[test]
    fn whatever_did_not_come_to_its_own_end_is_no_verdict_even_if_it_holds_one() {
        for attempt in [Attempt::First, Attempt::Second] {
            for stop_reason in [StopReason::Length, StopReason::Aborted, StopReason::Error] {
                let why = failure(ended(CONTINUE, stop_reason), attempt);
                assert!(why.contains(&format!("stopReason={}, parts=text:", stop_reason.name())), "{why}");
            }
        }
    }

    #[test]
    fn an_answer_that_says_nothing_or_nonsense_is_told_with_how_it_ended_and_how_it_began() {
        let nothing = Completion { parts: Vec::new(), ..completion(" ") };
        assert_eq!(failure(Ok(nothing), Attempt::First), "the answer says nothing (stopReason=stop, parts=none)");
        let why = failure(ended("I cannot\nhelp with that.", StopReason::Stop), Attempt::First);
        assert_eq!(why, "the answer holds no verdict (stopReason=stop, parts=text:24): I cannot help with that.");
    }

    #[test]
    fn a_call_without_an_answer_is_told_with_its_cause() {
        for (error, cause) in [
            (LlmError::TimedOut, "in time"),
            (LlmError::Authentication("no key".into()), "no key"),
            (LlmError::UnknownModel("p/m".into()), "p/m"),
            (LlmError::RateLimited(Some(3)), "too often"),
            (LlmError::AllowanceSpent("calls".into()), "calls"),
            (LlmError::Cancelled, "ended early"),
            (LlmError::Provider("500".into()), "500"),
        ] {
            assert!(failure(Err(error), Attempt::First).contains(cause));
        }
    }
}
