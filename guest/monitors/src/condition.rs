//! What can be said of a transcript without asking anybody: the vocabulary of `when` and `classify.precheck`.

mod holds;
mod mend;
mod parse;
#[cfg(test)]
mod tests;

use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::glob::Glob;
use crate::waiting::Waiting;

pub use parse::ConditionError;

/// A statement about what happened since the user's latest message. In JSON it is its text.
///
/// While a tool call waits to be let through, [`Tool`](Self::Tool), [`HasBash`](Self::HasBash),
/// [`HasFileWrites`](Self::HasFileWrites) and [`Command`](Self::Command) are about that call alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Condition {
    /// `always`
    Always,
    /// `has_tool_results`: a tool answered.
    HasToolResults,
    /// `has_file_writes`: `write` or `edit` was called, and did not fail.
    HasFileWrites,
    /// `has_bash`: `bash` was called.
    HasBash,
    /// `tool(NAME)`: such a tool was called.
    Tool(Glob),
    /// `tool_succeeded(NAME)`: such a tool was called, and its latest call succeeded.
    ToolSucceeded(Glob),
    /// `command(GLOB)`: such a command was run, whatever came of it.
    Command(Glob),
    /// `command_succeeded(GLOB)`: such a command was run, and its latest run succeeded.
    CommandSucceeded(Glob),
    /// `unresolved_failure`, `unresolved_failure(NAME)`: a call of a tool, or of such a tool, failed, and the same was
    /// not done with success afterwards.
    UnresolvedFailure(Option<Glob>),
    /// `repeated_failure(N)`: the same call failed N times, and did not succeed in between.
    RepeatedFailure(NonZeroU32),
    /// `unread_write`: a file was written or edited that no earlier call had read, written or named in a command.
    UnreadWrite,
    /// `untested_write`, `untested_write(GLOB)`: a file was written, and no command, or none like that, has succeeded
    /// since the last time.
    UntestedWrite(Option<Glob>),
    /// `ends_in_question`: the agent's latest message ends in a question mark.
    EndsInQuestion,
    /// `claims_success`: the agent's latest message says that something is done, works or passes.
    ClaimsSuccess,
    /// `answer_says(TEXT, …)`: one of these stands in the agent's latest message.
    AnswerSays(Vec<String>),
    /// `user_says(TEXT, …)`: one of these stands in the user's message.
    UserSays(Vec<String>),
    /// `result_says(TEXT, …)`: one of these stands in what a tool answered.
    ResultSays(Vec<String>),
    /// `waiting_on_user`, `background_work`, `review_only`, `plan_only`
    Waiting(Waiting),
    /// `not CONDITION`
    Not(Box<Condition>),
    /// `any(CONDITION, …)`: at least one holds.
    Any(Vec<Condition>),
    /// `all(CONDITION, …)`: each one holds.
    All(Vec<Condition>),
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = |f: &mut fmt::Formatter<'_>, word: &str, texts: &[String]| {
            let texts: Vec<_> = texts.iter().map(|text| parse::argument(text)).collect();
            write!(f, "{word}({})", texts.join(", "))
        };
        let about = |f: &mut fmt::Formatter<'_>, word: &str, glob: &Glob| {
            write!(f, "{word}({})", parse::argument(&glob.to_string()))
        };
        let joined = |f: &mut fmt::Formatter<'_>, word: &str, conditions: &[Self]| {
            let conditions: Vec<_> = conditions.iter().map(Self::to_string).collect();
            write!(f, "{word}({})", conditions.join(", "))
        };
        match self {
            Self::Always => f.write_str("always"),
            Self::HasToolResults => f.write_str("has_tool_results"),
            Self::HasFileWrites => f.write_str("has_file_writes"),
            Self::HasBash => f.write_str("has_bash"),
            Self::Tool(name) => about(f, "tool", name),
            Self::ToolSucceeded(name) => about(f, "tool_succeeded", name),
            Self::Command(glob) => about(f, "command", glob),
            Self::CommandSucceeded(glob) => about(f, "command_succeeded", glob),
            Self::UnresolvedFailure(None) => f.write_str("unresolved_failure"),
            Self::UnresolvedFailure(Some(name)) => about(f, "unresolved_failure", name),
            Self::RepeatedFailure(times) => write!(f, "repeated_failure({times})"),
            Self::UnreadWrite => f.write_str("unread_write"),
            Self::UntestedWrite(None) => f.write_str("untested_write"),
            Self::UntestedWrite(Some(glob)) => about(f, "untested_write", glob),
            Self::EndsInQuestion => f.write_str("ends_in_question"),
            Self::ClaimsSuccess => f.write_str("claims_success"),
            Self::AnswerSays(texts) => said(f, "answer_says", texts),
            Self::UserSays(texts) => said(f, "user_says", texts),
            Self::ResultSays(texts) => said(f, "result_says", texts),
            Self::Waiting(waiting) => waiting.fmt(f),
            Self::Not(condition) => write!(f, "not {condition}"),
            Self::Any(conditions) => joined(f, "any", conditions),
            Self::All(conditions) => joined(f, "all", conditions),
        }
    }
}

impl TryFrom<String> for Condition {
    type Error = ConditionError;

    fn try_from(text: String) -> Result<Self, ConditionError> {
        text.parse()
    }
}

impl From<Condition> for String {
    fn from(condition: Condition) -> Self {
        condition.to_string()
    }
}
