//! What came back from a judge, as a verdict.

use chaperone_sdk::text::beginning;
use chaperone_sdk::{Completion, LlmError, StopReason, failure};

use crate::steer::Kind;
use crate::verdict::Verdict;

/// What is wrong, in a judge's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found<'v> {
    /// Whether a pattern knows it.
    pub kind: Kind,
    /// What was found.
    pub description: &'v str,
    /// The id of the pattern that fits, where the judge named it.
    pub pattern_id: Option<&'v str>,
    /// What would be a pattern for it.
    pub pattern: Option<&'v str>,
}

/// Reads what came of a call. None: it was ended early, so there is no verdict, not even an unknown one.
pub fn read(outcome: Result<Completion, LlmError>) -> Option<Verdict> {
    match outcome {
        Ok(completion) => match completion.stop_reason {
            StopReason::Aborted => None,
            StopReason::Error => Some(Verdict::unknown(failed(&completion))),
            StopReason::Stop | StopReason::Length | StopReason::ToolUse if completion.text.trim().is_empty() => {
                Some(Verdict::unknown(empty(&completion)))
            }
            StopReason::Stop | StopReason::Length | StopReason::ToolUse => Some(Verdict::parse(&completion.text)),
        },
        Err(LlmError::Cancelled) => None,
        Err(error) => Some(Verdict::unknown(failure::no_answer(&error))),
    }
}

/// What a verdict says is wrong.
pub fn found(verdict: &Verdict) -> Option<Found<'_>> {
    match verdict {
        Verdict::Flag { description, pattern_id } => {
            let pattern_id = pattern_id.as_deref();
            Some(Found { kind: Kind::Flag, description, pattern_id, pattern: None })
        }
        Verdict::New { pattern, description } => {
            Some(Found { kind: Kind::New, description, pattern_id: None, pattern: Some(pattern) })
        }
        Verdict::Clean | Verdict::Unknown { .. } => None,
    }
}

/// What the user is told once of, given the reason of an unknown verdict. Answers that were not understood differ in
/// their words, not in their cause.
pub fn cause(reason: &str) -> &str {
    match reason.split_once(": ") {
        Some((cause, _)) if cause.starts_with("the answer") => cause,
        _ => reason,
    }
}

fn failed(completion: &Completion) -> String {
    match completion.text.trim() {
        "" => "the judge failed while it answered".into(),
        text => format!("the judge failed while it answered: {}", beginning(text, 80)),
    }
}

fn empty(completion: &Completion) -> String {
    let parts: Vec<String> = completion.parts.iter().map(|(kind, size)| format!("{kind} {size}")).collect();
    match parts.is_empty() {
        true => "the answer is empty".into(),
        false => format!("the answer is empty: {} characters", parts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chaperone_sdk::fake::completion;

    fn unknown(outcome: Result<Completion, LlmError>) -> String {
        match read(outcome) {
            Some(Verdict::Unknown { reason }) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn d05_an_answer_that_failed_is_unknown_whatever_it_holds() {
        for text in ["", "CLEAN", "FLAG:x"] {
            let failed = Completion { stop_reason: StopReason::Error, ..completion(text) };
            assert!(unknown(Ok(failed)).starts_with("the judge failed"));
        }
    }

    #[test]
    fn d05_an_answer_that_was_broken_off_is_no_verdict_at_all() {
        assert_eq!(read(Ok(Completion { stop_reason: StopReason::Aborted, ..completion("CLEAN") })), None);
        assert_eq!(read(Err(LlmError::Cancelled)), None);
    }

    #[test]
    fn an_answer_cut_off_by_its_limit_is_still_read() {
        let cut = Completion { stop_reason: StopReason::Length, ..completion("FLAG:it left a test fai") };
        assert_eq!(read(Ok(cut)), Some(Verdict::Flag { description: "it left a test fai".into(), pattern_id: None }));
    }

    #[test]
    fn an_answer_without_text_says_what_came_instead() {
        let thinking = Completion { parts: vec![("thinking".into(), 400)], ..completion("") };
        assert_eq!(unknown(Ok(thinking)), "the answer is empty: thinking 400 characters");
    }

    #[test]
    fn every_error_has_its_own_words_and_so_its_own_cause() {
        let errors = [
            LlmError::UnknownModel("x".into()),
            LlmError::Authentication("x".into()),
            LlmError::RateLimited(Some(3)),
            LlmError::TimedOut,
            LlmError::AllowanceSpent("x".into()),
            LlmError::Provider("x".into()),
            LlmError::Provider("y".into()),
        ];
        let reasons: std::collections::BTreeSet<String> = errors.into_iter().map(|error| unknown(Err(error))).collect();
        let causes: std::collections::BTreeSet<&str> = reasons.iter().map(|reason| cause(reason)).collect();
        assert_eq!(causes.len(), 7);
    }

    #[test]
    fn answers_that_were_not_understood_have_one_cause() {
        assert_eq!(cause(&unknown(Ok(completion("well, maybe")))), cause(&unknown(Ok(completion("who knows")))));
    }
}
