//! What comes after an entry, where the meaning of the entry hangs on it.

use chaperone_contract::EntryBody;

use crate::session::BranchEntry;

/// What the rest of the branch says about an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ahead {
    /// The agent speaks next, and nobody before it.
    pub agent_goes_on: bool,
    /// The agent speaks before the user does.
    pub agent_answers: bool,
    /// A tool's result comes before the agent speaks.
    pub results_come: bool,
}

/// One [`Ahead`] for each entry.
pub(super) fn look(branch: &[BranchEntry]) -> Vec<Ahead> {
    let mut ahead = Ahead::default();
    let mut all: Vec<Ahead> = branch
        .iter()
        .rev()
        .map(|entry| {
            let of_this = ahead;
            match entry.entry.body {
                EntryBody::User(_) => {
                    ahead.agent_goes_on = false;
                    ahead.agent_answers = false;
                }
                EntryBody::Assistant(_) => {
                    ahead = Ahead { agent_goes_on: true, agent_answers: true, results_come: false };
                }
                EntryBody::ToolResult(_) => ahead.results_come = true,
                EntryBody::Custom(_) => ahead.agent_goes_on = false,
                EntryBody::Compaction(_) | EntryBody::Other(_) => {}
            }
            of_this
        })
        .collect();
    all.reverse();
    all
}
