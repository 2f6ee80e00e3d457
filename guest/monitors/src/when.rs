//! The condition under which a monitor looks: what must have happened since the user's latest message.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::condition::{Condition, ConditionError};
use crate::transcript::Transcript;

/// When to look. In JSON it is its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum When {
    /// `every(N)`: each Nth activation within one user prompt.
    Every(NonZeroU32),
    /// A condition on what happened.
    Holds(Condition),
}

impl When {
    /// `always`
    pub const ALWAYS: Self = Self::Holds(Condition::Always);

    /// Whether it is time, after so many activations of this monitor within the user's prompt, counted from 1. None: what
    /// happened decides, see [`holds`](Self::holds).
    pub fn comes_round(&self, activation: u32) -> Option<bool> {
        match self {
            Self::Every(n) => Some(activation > 0 && activation.is_multiple_of(n.get())),
            Self::Holds(_) => None,
        }
    }

    /// Whether the condition holds; that of `every(N)` is none on what happened, and does.
    pub fn holds(&self, transcript: &Transcript) -> bool {
        match self {
            Self::Every(_) => true,
            Self::Holds(condition) => condition.holds(transcript),
        }
    }
}

impl FromStr for When {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let text = text.trim();
        let every = || text.strip_prefix("every")?.trim_start().strip_prefix('(')?.strip_suffix(')').map(str::trim);
        let Some(number) = every() else { return text.parse().map(Self::Holds) };
        let digits_only = number.bytes().all(|byte| byte.is_ascii_digit());
        match number.parse() {
            Ok(n) if digits_only => Ok(Self::Every(n)),
            _ => {
                let needs = "a whole number from 1 in parentheses";
                Err(ConditionError::Argument { word: text.into(), needs })
            }
        }
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Every(n) => write!(f, "every({n})"),
            Self::Holds(condition) => condition.fmt(f),
        }
    }
}

impl TryFrom<String> for When {
    type Error = ConditionError;

    fn try_from(text: String) -> Result<Self, ConditionError> {
        text.parse()
    }
}

impl From<When> for String {
    fn from(when: When) -> Self {
        when.to_string()
    }
}

#[cfg(test)]
mod tests {
    use chaperone_sdk::EntryBody;

    use super::*;
    use crate::samples::*;

    fn when(text: &str) -> When {
        text.parse().unwrap()
    }

    fn holds(text: &str, bodies: Vec<EntryBody>) -> bool {
        when(text).holds(&Transcript::new(&branch(bodies)))
    }

    #[test]
    fn every_condition_of_the_documentation_is_read_and_written_back() {
        for text in ["always", "has_tool_results", "has_file_writes", "has_bash", "tool(read)", "every(3)"] {
            assert_eq!(when(text).to_string(), text);
        }
        assert_eq!(when(" tool( mcp-x:y z ) ").to_string(), "tool(mcp-x:y z)");
        assert_eq!(when("every( 12 )").to_string(), "every(12)");
        assert_eq!(when("always"), When::ALWAYS);
    }

    #[test]
    fn d21_what_is_no_condition_is_refused_and_never_fires() {
        let error = |text: &str| text.parse::<When>().unwrap_err().to_string();
        assert_eq!(error("has_tool_result"), "`has_tool_result` is not a known condition");
        assert_eq!(error("Always"), "`Always` is not a known condition");
        assert_eq!(error(""), "`` is not a known condition");
        assert_eq!(error("tool(a"), "`tool(a` is not well formed: a parenthesis is not closed");
        assert_eq!(error("tool()"), "`tool` needs the name of a tool in parentheses, where * stands for any text");
        assert_eq!(error("tool(a)(b)"), "`tool(a)(b)` is not well formed: something stands behind its end");
        for text in ["every(0)", "every(-1)", "every(+2)", "every(1.5)", "every(x)", "every()", "every(99999999999)"] {
            assert_eq!(error(text), format!("`{text}` needs a whole number from 1 in parentheses"));
        }
        assert_eq!(error("any(every(2), always)"), "`every` is not a known condition", "it is not about what happened");
    }

    #[test]
    fn always_holds_even_on_nothing() {
        assert!(holds("always", vec![]));
    }

    #[test]
    fn has_tool_results_looks_since_the_latest_user_message() {
        let earlier = vec![user("a"), assistant("", &[("1", "read", "{}")]), result("1", "read", "x"), user("b")];
        assert!(!holds("has_tool_results", earlier.clone()));
        assert!(holds("has_tool_results", [earlier, vec![failure("2", "bash", "y")]].concat()));
    }

    #[test]
    fn has_bash_and_tool_count_calls_whether_or_not_they_succeeded() {
        let bodies = vec![
            user("a"),
            assistant("", &[("1", "bash", "{}"), ("2", "mcp-x", "{}")]),
            failure("1", "bash", "exit 1"),
            result("2", "mcp-x", "ok"),
        ];
        assert!(holds("has_bash", bodies.clone()));
        assert!(holds("tool(mcp-x)", bodies.clone()) && holds("tool(mcp-*)", bodies.clone()));
        assert!(!holds("tool(mcp)", bodies.clone()), "the whole name");
        assert!(!holds("has_file_writes", bodies.clone()));
        let later = [bodies, vec![user("b"), assistant("done", &[])]].concat();
        assert!(!holds("has_bash", later.clone()) && !holds("tool(mcp-x)", later));
    }

    #[test]
    fn d21_a_write_that_failed_is_no_write() {
        let writes = |outcome| vec![user("a"), assistant("", &[("1", "write", "{}")]), outcome];
        assert!(holds("has_file_writes", writes(result("1", "write", "ok"))));
        assert!(!holds("has_file_writes", writes(failure("1", "write", "EPERM"))));
        let second = vec![assistant("", &[("2", "edit", "{}")]), result("2", "edit", "ok")];
        assert!(holds("has_file_writes", [writes(failure("1", "write", "EPERM")), second].concat()));
    }

    #[test]
    fn d01_every_n_comes_round_at_each_nth_activation() {
        let rounds =
            |text: &str| -> Vec<u32> { (1..=6).filter(|&n| when(text).comes_round(n) == Some(true)).collect() };
        assert_eq!(rounds("every(2)"), [2, 4, 6]);
        assert_eq!(rounds("every(1)"), [1, 2, 3, 4, 5, 6]);
        assert_eq!(rounds("every(4)"), [4]);
        assert_eq!(when("every(1)").comes_round(0), Some(false), "before the first");
        assert_eq!(when("always").comes_round(1), None);
    }
}
