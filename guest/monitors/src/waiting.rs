//! States in which a stop is no fault: rules in code, so that no judge has to be asked or trusted about them.
//!
//! English is read best; questions are recognised in every script, and the commonest phrases of German, French, Spanish,
//! Chinese and Japanese. Where a rule is in doubt, the state is not there, and a judge decides.

mod background;
mod question;
mod request;

use crate::transcript::Transcript;
use crate::words::words;

words! {
    /// `classify.exempt`: a state in which a monitor does not look.
    Waiting {
        /// The agent needs something that only the user can give: it has asked a question that is no mere request for
        /// permission, or has called a tool that asks.
        WaitingOnUser = "waiting_on_user",
        /// The agent says that it waits for work that goes on by itself.
        BackgroundWork = "background_work",
        /// The user wants to be told something, and nothing to be changed; and no file was written.
        ReviewOnly = "review_only",
        /// The user wants a plan, and nothing to be changed yet; and no file was written.
        PlanOnly = "plan_only",
    }
}

/// The states of a monitor at rest that steers, where its file does not say.
pub const DEFAULT: [Waiting; 2] = [Waiting::WaitingOnUser, Waiting::BackgroundWork];

/// Whether a state is there.
pub fn is_so(state: Waiting, transcript: &Transcript) -> bool {
    let wrote = || transcript.calls().iter().any(crate::transcript::Call::is_write);
    match state {
        Waiting::WaitingOnUser => question::asked_by_tool(transcript) || question::is_asked(&transcript.answer()),
        Waiting::BackgroundWork => background::is_awaited(&transcript.answer()),
        Waiting::ReviewOnly => !wrote() && request::is_review(&transcript.user_text()),
        Waiting::PlanOnly => !wrote() && request::is_plan(&transcript.user_text()),
    }
}

/// The first of these states that is there.
pub fn first_of(states: &[Waiting], transcript: &Transcript) -> Option<Waiting> {
    states.iter().copied().find(|&state| is_so(state, transcript))
}

/// The end of a text: as many of its last characters, without blocks of code.
fn end_of(text: &str, characters: usize) -> String {
    let mut is_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_fence && !is_code
    });
    let prose = lines.collect::<Vec<_>>().join("\n");
    let start = prose.char_indices().rev().nth(characters.saturating_sub(1)).map_or(0, |(at, _)| at);
    prose[start..].trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::*;

    #[test]
    fn blocks_of_code_are_no_prose_and_only_the_end_is_looked_at() {
        assert_eq!(end_of("a\n```sh\nwhy?\n```\nb", 100), "a\nb");
        assert_eq!(end_of("äöü", 2), "öü");
        assert_eq!(end_of("", 2), "");
    }

    #[test]
    fn who_has_written_a_file_has_not_only_looked_or_planned() {
        let looked = vec![user("Review the parser. Don't change anything."), assistant("It is fine.", &[])];
        let entries = branch(looked.clone());
        assert_eq!(first_of(Waiting::ALL, &Transcript::new(&entries)), Some(Waiting::ReviewOnly));
        let wrote = vec![assistant("", &[("1", "edit", "{}")]), result("1", "edit", "ok"), assistant("Better.", &[])];
        let entries = branch([looked, wrote].concat());
        assert_eq!(first_of(Waiting::ALL, &Transcript::new(&entries)), None);
    }

    #[test]
    fn a_question_by_tool_is_one_until_it_is_answered_or_the_agent_goes_on() {
        let asked = vec![user("go"), assistant("", &[("1", "ask_user_question", r#"{"question": "Which?"}"#)])];
        let entries = branch(asked.clone());
        assert!(is_so(Waiting::WaitingOnUser, &Transcript::new(&entries)));
        let told =
            [asked.clone(), vec![result("1", "ask_user_question", "Question sent."), assistant("Well.", &[])]].concat();
        assert!(is_so(Waiting::WaitingOnUser, &Transcript::new(&branch(told))));
        let answer = vec![result("1", "ask_user_question", "The first."), assistant("Good.", &[])];
        let answered = [asked.clone(), answer].concat();
        assert!(!is_so(Waiting::WaitingOnUser, &Transcript::new(&branch(answered))));
        let done = vec![
            result("1", "ask_user_question", "The first."),
            assistant("", &[("2", "bash", "{}")]),
            result("2", "bash", "ok"),
            assistant("Done.", &[]),
        ];
        assert!(!is_so(Waiting::WaitingOnUser, &Transcript::new(&branch([asked, done].concat()))));
    }
}
