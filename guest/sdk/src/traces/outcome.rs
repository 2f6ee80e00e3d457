//! Words for what became of a judgement that any watcher may have. Hosts count by them.

/// The verdict was clean.
pub const PASSED: &str = "passed";
/// There was no verdict.
pub const NO_VERDICT: &str = "no_verdict";
/// The agent was told.
pub const STEERED: &str = "steered";
/// The agent was to be told, and was not.
pub const DROPPED: &str = "dropped";
/// A tool call was refused.
pub const REFUSED: &str = "refused";
/// The user says that it was no fault.
pub const WRONG: &str = "wrong";
