//! What to write in the place of a text that is no condition.

use chaperone_sdk::text::nearest;

use super::ConditionError;
use super::parse::{Flaw, WORDS};
use crate::waiting::Waiting;

const JOIN: &str = "join conditions by any(…, …) or all(…, …), and negate one by not …";

impl ConditionError {
    /// What to write instead, for the one who wrote it.
    pub fn mend(&self) -> String {
        match self {
            Self::Unknown(word) if word == "every" => "write every(N) alone, and in `when`".into(),
            Self::Unknown(word) if is_foreign(word) => JOIN.into(),
            Self::Unknown(word) => match nearest_to(word) {
                Some(meant) => format!("did you mean {meant}?"),
                None => "write always, has_tool_results, has_file_writes, has_bash, tool(name), every(N) or another \
                         condition of the documentation"
                    .into(),
            },
            Self::Argument { word, .. } => match example(word) {
                "" => "remove the parentheses".into(),
                example => format!("write it like {example}"),
            },
            Self::Form(_, Flaw::Behind(rest)) if is_foreign(rest) => {
                format!("{JOIN}; a text with a comma or parenthesis stands in quotes")
            }
            Self::Form(_, Flaw::Behind(rest)) => {
                format!("remove `{rest}`, or put the text that it belongs to in quotes")
            }
            Self::Form(_, Flaw::Parenthesis) => "add the `)` that is missing".into(),
            Self::Form(_, Flaw::Quote) => "add the `\"` that is missing".into(),
            Self::Form(_, Flaw::Depth) => "say it with fewer conditions within conditions".into(),
        }
    }
}

/// Whether a text begins as other languages join conditions.
fn is_foreign(text: &str) -> bool {
    text.starts_with(['&', '|', '!', ',']) || matches!(text.split_whitespace().next(), Some("and" | "or"))
}

fn nearest_to(word: &str) -> Option<&'static str> {
    let known: Vec<&str> = WORDS.into_iter().chain(Waiting::ALL.iter().map(|state| state.word())).collect();
    nearest(word, &known)
}

/// A condition with this word. Empty where it takes nothing.
fn example(word: &str) -> &'static str {
    match word {
        "tool" => "tool(read)",
        "tool_succeeded" => "tool_succeeded(write)",
        "unresolved_failure" => "unresolved_failure(bash)",
        "command" => "command(git push*)",
        "command_succeeded" => "command_succeeded(*test*)",
        "untested_write" => "untested_write(*test*)",
        "repeated_failure" => "repeated_failure(3)",
        "answer_says" => "answer_says(done, \"ready, at last\")",
        "user_says" => "user_says(push, publish)",
        "result_says" => "result_says(error)",
        "any" => "any(has_bash, has_file_writes)",
        "all" => "all(has_bash, not has_file_writes)",
        word if word.starts_with("every") => "every(3)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::Condition;
    use crate::when::When;

    fn mend(text: &str) -> String {
        text.parse::<Condition>().unwrap_err().mend()
    }

    #[test]
    fn a_word_that_is_nearly_right_is_guessed() {
        assert_eq!(mend("untested_writes"), "did you mean untested_write?");
        assert_eq!(mend("any(user_say(commit), always)"), "did you mean user_says?");
        assert_eq!(mend("wating_on_user"), "did you mean waiting_on_user?");
        assert!(mend("sometimes").starts_with("write always, "));
        assert!(mend("").starts_with("write always, "));
    }

    #[test]
    fn every_word_that_is_guessed_is_one() {
        for word in WORDS {
            let error = word.parse::<Condition>().err();
            assert!(!matches!(error, Some(ConditionError::Unknown(_))), "{word}");
        }
    }

    #[test]
    fn who_writes_another_language_is_told_how_it_is_said_here() {
        for text in ["always || has_bash", "not always and has_bash", "always or has_bash", "!always", "&& always"] {
            assert!(mend(text).starts_with("join conditions by any("), "{text}: {}", mend(text));
        }
        assert!(mend("answer_says(a (b), c)").ends_with("stands in quotes"));
    }

    #[test]
    fn what_does_not_fit_a_word_is_shown_by_an_example() {
        assert_eq!(mend("command"), "write it like command(git push*)");
        assert_eq!(mend("all()"), "write it like all(has_bash, not has_file_writes)");
        assert_eq!(mend("repeated_failure(0)"), "write it like repeated_failure(3)");
        assert_eq!(mend("always(x)"), "remove the parentheses");
        assert_eq!("every(0)".parse::<When>().unwrap_err().mend(), "write it like every(3)");
        assert_eq!(mend("every(2)"), "write every(N) alone, and in `when`");
    }

    #[test]
    fn what_does_not_close_is_named() {
        assert_eq!(mend("any(always"), "add the `)` that is missing");
        assert_eq!(mend("user_says(\"a)"), "add the `\"` that is missing");
        assert_eq!(mend("tool(a)(b)"), "remove `(b)`, or put the text that it belongs to in quotes");
    }
}
