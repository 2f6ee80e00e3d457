//! The records, variants and enums of the contract.

mod exports;
mod imports;
mod vocabulary;

pub use exports::*;
pub use imports::*;
pub use vocabulary::*;

/// A JSON document (RFC 8259) as UTF-8 text.
pub type Json = String;

/// Milliseconds since the Unix epoch, UTC.
pub type Timestamp = u64;

/// Identifies one entry of a session; stable across restarts.
pub type EntryId = String;

/// Identifies work that a plugin asked the host for.
pub type RequestId = u64;

impl Snapshot {
    /// A session of the main agent, at rest and before its first entry, with a person at a terminal.
    pub fn new(session_id: impl Into<String>, cwd: impl Into<String>, now: Timestamp) -> Self {
        Self {
            session_id: session_id.into(),
            cwd: cwd.into(),
            mode: Mode::Interactive,
            agent: Agent { kind: AgentKind::Main, name: None, workflow: None, step: None },
            model: None,
            leaf: None,
            branch_length: 0,
            idle: true,
            input_pending: false,
            now,
        }
    }
}

/// In words for the user.
impl std::fmt::Display for LlmError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnknownModel(what) => write!(f, "there is no such model: {what}"),
            Self::Authentication(reason) => write!(f, "the key is missing or was refused: {reason}"),
            Self::RateLimited(_) => write!(f, "the provider refuses for now, since it was asked too often"),
            Self::TimedOut => write!(f, "the judge did not answer in time"),
            Self::Cancelled => write!(f, "the call was ended early"),
            Self::AllowanceSpent(which) => write!(f, "the allowance of this plugin is spent: {which}"),
            Self::Provider(reason) => write!(f, "the provider says: {reason}"),
        }
    }
}
