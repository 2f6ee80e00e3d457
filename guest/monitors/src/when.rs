//! The condition under which a monitor looks: what must have happened since the user's latest message.

use std::collections::HashSet;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use chaperone_sdk::{Content, Entry, EntryBody, ToolCall};
use serde::{Deserialize, Serialize};

/// The tools that write files.
const WRITERS: [&str; 2] = ["write", "edit"];

/// A condition. In JSON it is its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum When {
    /// `always`
    Always,
    /// `has_tool_results`: a tool answered.
    HasToolResults,
    /// `has_file_writes`: `write` or `edit` was called, and did not fail.
    HasFileWrites,
    /// `has_bash`: `bash` was called.
    HasBash,
    /// `tool(name)`: that tool was called. Never blank.
    Tool(String),
    /// `every(N)`: each Nth activation within one user prompt.
    Every(NonZeroU32),
}

/// Why a text is no condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhenError {
    /// It is none of the known words.
    #[error("`{0}` is not a known condition")]
    Unknown(String),
    /// `tool()`, or a name with a closing parenthesis.
    #[error("`{0}` does not name one tool")]
    Tool(String),
    /// `every(N)` where N is no whole number from 1.
    #[error("`{0}` needs a whole number from 1")]
    Every(String),
}

impl When {
    /// Whether the condition holds.
    ///
    /// `entries` is a part of the branch, oldest first; what stands before its latest user entry does not count.
    /// `activation` counts this monitor's events within the user's prompt, from 1; only `every(N)` looks at it.
    pub fn holds(&self, entries: &[Entry], activation: u32) -> bool {
        let start =
            entries.iter().rposition(|entry| matches!(entry.body, EntryBody::User(_))).map_or(0, |user| user + 1);
        let entries = &entries[start..];
        match self {
            Self::Always => true,
            Self::HasToolResults => entries.iter().any(|entry| matches!(entry.body, EntryBody::ToolResult(_))),
            Self::HasFileWrites => has_file_writes(entries),
            Self::HasBash => calls(entries).any(|call| call.name == "bash"),
            Self::Tool(name) => calls(entries).any(|call| call.name == *name),
            Self::Every(n) => activation > 0 && activation.is_multiple_of(n.get()),
        }
    }
}

fn has_file_writes(entries: &[Entry]) -> bool {
    let failed: HashSet<&str> = entries
        .iter()
        .filter_map(|entry| match &entry.body {
            EntryBody::ToolResult(result) if result.is_error => Some(result.call_id.as_str()),
            _ => None,
        })
        .collect();
    calls(entries).any(|call| WRITERS.contains(&call.name.as_str()) && !failed.contains(call.id.as_str()))
}

fn calls(entries: &[Entry]) -> impl Iterator<Item = &ToolCall> {
    entries
        .iter()
        .filter_map(|entry| match &entry.body {
            EntryBody::Assistant(message) => Some(&message.content),
            _ => None,
        })
        .flatten()
        .filter_map(|part| match part {
            Content::ToolCall(call) => Some(call),
            _ => None,
        })
}

impl FromStr for When {
    type Err = WhenError;

    fn from_str(text: &str) -> Result<Self, WhenError> {
        let text = text.trim();
        let argument =
            |word: &str| text.strip_prefix(word)?.trim_start().strip_prefix('(')?.strip_suffix(')').map(str::trim);
        match text {
            "always" => return Ok(Self::Always),
            "has_tool_results" => return Ok(Self::HasToolResults),
            "has_file_writes" => return Ok(Self::HasFileWrites),
            "has_bash" => return Ok(Self::HasBash),
            _ => {}
        }
        if let Some(name) = argument("tool") {
            return match name.is_empty() || name.contains(')') {
                true => Err(WhenError::Tool(text.into())),
                false => Ok(Self::Tool(name.into())),
            };
        }
        if let Some(number) = argument("every") {
            let digits_only = number.bytes().all(|byte| byte.is_ascii_digit());
            return match number.parse() {
                Ok(n) if digits_only => Ok(Self::Every(n)),
                _ => Err(WhenError::Every(text.into())),
            };
        }
        Err(WhenError::Unknown(text.into()))
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always => f.write_str("always"),
            Self::HasToolResults => f.write_str("has_tool_results"),
            Self::HasFileWrites => f.write_str("has_file_writes"),
            Self::HasBash => f.write_str("has_bash"),
            Self::Tool(name) => write!(f, "tool({name})"),
            Self::Every(n) => write!(f, "every({n})"),
        }
    }
}

impl TryFrom<String> for When {
    type Error = WhenError;

    fn try_from(text: String) -> Result<Self, WhenError> {
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
    use proptest::prelude::*;

    use super::*;
    use crate::samples::*;

    fn when(text: &str) -> When {
        text.parse().unwrap()
    }

    fn holds(text: &str, bodies: Vec<EntryBody>) -> bool {
        when(text).holds(&branch(bodies), 1)
    }

    #[test]
    fn every_condition_of_the_documentation_is_read_and_written_back() {
        for text in ["always", "has_tool_results", "has_file_writes", "has_bash", "tool(read)", "every(3)"] {
            assert_eq!(when(text).to_string(), text);
        }
        assert_eq!(when(" tool( mcp-x:y z ) "), When::Tool("mcp-x:y z".into()));
        assert_eq!(when("every( 12 )").to_string(), "every(12)");
    }

    #[test]
    fn d21_what_is_no_condition_is_refused_and_never_fires() {
        let error = |text: &str| text.parse::<When>().unwrap_err();
        assert_eq!(error("has_tool_result"), WhenError::Unknown("has_tool_result".into()));
        assert_eq!(error("Always"), WhenError::Unknown("Always".into()));
        assert_eq!(error(""), WhenError::Unknown(String::new()));
        assert_eq!(error("tool(a"), WhenError::Unknown("tool(a".into()));
        assert_eq!(error("tool()"), WhenError::Tool("tool()".into()));
        assert_eq!(error("tool(a)(b)"), WhenError::Tool("tool(a)(b)".into()));
        for text in ["every(0)", "every(-1)", "every(+2)", "every(1.5)", "every(x)", "every()", "every(99999999999)"] {
            assert_eq!(error(text), WhenError::Every(text.into()));
        }
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
        assert!(holds("tool(mcp-x)", bodies.clone()));
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
    fn d01_every_n_holds_at_each_nth_activation() {
        let held = |text: &str| -> Vec<u32> { (1..=6).filter(|&n| when(text).holds(&[], n)).collect() };
        assert_eq!(held("every(2)"), [2, 4, 6]);
        assert_eq!(held("every(1)"), [1, 2, 3, 4, 5, 6]);
        assert_eq!(held("every(4)"), [4]);
        assert!(!when("every(1)").holds(&[], 0), "before the first");
    }

    proptest! {
        #[test]
        fn any_text_is_a_condition_that_keeps_its_meaning_or_an_error(
            text in "(always|has_bash|tool|every|[()0-9a-z _-]){0,6}",
        ) {
            if let Ok(when) = text.parse::<When>() {
                prop_assert_eq!(when.to_string().parse::<When>(), Ok(when));
            }
        }
    }
}
