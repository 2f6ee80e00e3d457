//! A branch of a recorded session, told as the hooks that a watcher would have met.
//!
//! The order is pi's, with the one difference that the contract asks for: an entry is on the branch before
//! `message-end` is called for it.
//!
//! ```text
//! a user entry        input, agent-start, turn-start(0), append, message-end
//! the agent's answer  append, message-end, a tool-start for each call
//! a tool's result     tool-end, append, message-end; after the last one turn-end
//! the next answer     turn-start(1), append, message-end, …
//! the final answer    …, append, message-end, turn-end, agent-end, agent-settled
//! ```
//!
//! A session file holds entries, not hooks, so some of this is inferred:
//!
//! - What stands before the first message was written before the session started for plugins, as pi does with the
//!   choice of the model. The session counts as new, since it is watched from its start.
//! - Tools may have run side by side; the file only tells the order of their results. Each ends where its result stands.
//! - A user entry after the results of a turn was sent while the agent worked. The run goes on with it.
//! - A message of an extension to an agent at rest starts a run, if the agent answers; otherwise it is only appended.
//! - An answer that failed, or ended a run, and is followed by another answer without anybody having spoken was tried
//!   again by the agent itself: `agent-end` comes each time, `agent-settled` once, at the very end. An interrupted agent
//!   is always at rest.
//! - Where the branch ends in the middle of a turn, nobody knows what became of it. What had not ended does not end
//!   here: after the last entry comes `session-end`, without `turn-end`, `agent-end` or `agent-settled`.
//! - A tool's result that no turn waits for, and entries that plugins have no use for, are only appended.

mod agent;
mod ahead;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use chaperone_contract::{Entry, EntryBody, EntryId, Event, ModelId, Timestamp};

use super::BranchEntry;
use agent::Narrator;

/// One thing that happens in a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// An entry becomes the newest of the branch.
    Append(Arc<Entry>),
    /// The agent runs on another model from here on.
    Model(ModelId),
    /// A hook is called.
    Event(Event),
}

/// A step, and the circumstances of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedStep {
    /// When it happens. Never earlier than the step before it, even where the recording's clock was set back.
    pub at: Timestamp,
    /// The entry that tells of it; none for the session's start and end.
    pub entry: Option<EntryId>,
    /// Whether the agent is at rest meanwhile, as `session.snapshot` has it.
    pub idle: bool,
    /// What happens.
    pub step: Step,
}

/// Tells a branch from its root to its leaf. A branch without entries starts and ends at time 0.
pub fn steps(branch: &[BranchEntry]) -> Vec<TimedStep> {
    let set_up = branch.iter().take_while(|entry| matches!(entry.entry.body, EntryBody::Other(_))).count();
    let mut entries = branch.iter().zip(ahead::look(branch));

    let mut narrator = Narrator::default();
    entries.by_ref().take(set_up).for_each(|(entry, ahead)| narrator.take(entry, ahead));
    narrator.start();
    entries.for_each(|(entry, ahead)| narrator.take(entry, ahead));
    narrator.end()
}
