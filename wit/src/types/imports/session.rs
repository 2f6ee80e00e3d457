//! `interface session`: what a hook sees of the session.

use crate::types::{Agent, EntryId, ModelId, Timestamp};

wit_enum! {
    /// Who is on the other side of the agent.
    Mode {
        /// A person sits at a terminal.
        Interactive = "interactive",
        /// A program drives the agent and can show dialogs.
        Rpc = "rpc",
        /// One prompt, one answer, then the process exits.
        OneShot = "one-shot",
    }
}

record! {
    /// The session at the moment when the hook was entered.
    Snapshot {
        /// Unique among the sessions of the host.
        session_id = "session-id": String,
        /// Absolute path of the agent's working directory, for display only.
        cwd = "cwd": String,
        /// Who is on the other side.
        mode = "mode": Mode,
        /// The agent that the event comes from.
        agent = "agent": Agent,
        /// The model that the agent runs on.
        model = "model": Option<ModelId>,
        /// The newest entry of the current branch; changes whenever it grows or moves.
        leaf = "leaf": Option<EntryId>,
        /// The number of entries of the current branch.
        branch_length = "branch-length": u32,
        /// The agent will not go on by itself.
        idle = "idle": bool,
        /// The user has typed or queued something that the agent has not read yet.
        input_pending = "input-pending": bool,
        /// When the hook was entered.
        now = "now": Timestamp,
    }
}
