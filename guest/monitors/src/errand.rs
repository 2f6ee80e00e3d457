//! What the host was asked for, and what is to be done with its answer.

use chaperone_sdk::{EntryId, RequestId};
use serde::{Deserialize, Serialize};

use crate::command::grammar::Edit;
use crate::memory::{Flagged, Watch};
use crate::steer::Kind;

/// How often a change of a file is tried again where the file has changed in between.
pub const TRIES: u32 = 3;

/// Something that the host does for the session, whatever branch it is on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Errand {
    /// A judge works on somebody's `/name`.
    Command {
        /// Whose.
        monitor: String,
        /// The newest entry of the evidence.
        entry: Option<EntryId>,
        /// Things have changed since: the answer is told, and the agent left alone.
        outdated: bool,
    },
    /// A finding is on its way into its file.
    Finding(Record),
    /// A new pattern is on its way into its file.
    Pattern {
        /// Whose.
        monitor: String,
        /// What the judge called new.
        pattern: String,
        /// How often the file was in the way.
        tries: u32,
    },
    /// A change of rules is on its way into its file.
    Rules {
        /// Whose.
        monitor: String,
        /// The change.
        edit: Edit,
        /// What it changes: the text of the rule that was there.
        was: Option<String>,
        /// How often the file was in the way.
        tries: u32,
    },
    /// The user is asked whether a monitor at its ceiling goes on.
    Ceiling {
        /// Which one.
        monitor: String,
        /// What it wants to say. None: that is outdated by now.
        flagged: Option<Flagged>,
    },
    /// The user is offered the bundled monitors.
    SeedOffer,
    /// A bundled file is being written.
    Seed {
        /// Its name.
        file: String,
    },
}

/// What is needed to write a finding, also a second time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Who found it.
    pub monitor: String,
    /// What the judge said. None: a clean verdict that is to be recorded.
    pub verdict: Option<Kind>,
    /// The finding's id.
    pub id: String,
    /// What was found.
    pub description: String,
    /// How bad it is.
    pub severity: crate::patterns::Severity,
    /// When, in milliseconds since the Unix epoch.
    pub timestamp: u64,
    /// Where it is being written, as mount and path.
    pub file: String,
    /// Why it is not the file that the monitor names.
    pub aside: Option<String>,
    /// How often the file was in the way.
    pub tries: u32,
}

impl Watch {
    /// Makes what concerns `monitor`, or all (none), leave the agent alone. Nothing else of it changes.
    pub fn outdate(&mut self, monitor: Option<&str>) {
        let concerns = |name: &str| monitor.is_none_or(|monitor| monitor == name);
        for errand in self.errands.values_mut() {
            match errand {
                Errand::Command { monitor, outdated, .. } if concerns(monitor) => *outdated = true,
                Errand::Ceiling { monitor, flagged } if concerns(monitor) => *flagged = None,
                _ => {}
            }
        }
    }

    /// The dialog that asks about a monitor at its ceiling.
    pub fn ceiling_dialog(&mut self, name: &str) -> Option<&mut Option<Flagged>> {
        self.errands.values_mut().find_map(|errand| match errand {
            Errand::Ceiling { monitor, flagged } if monitor == name => Some(flagged),
            _ => None,
        })
    }

    /// Whether a judge works on somebody's `/name`.
    pub fn is_commanded(&self, name: &str) -> bool {
        self.errands.values().any(|errand| matches!(errand, Errand::Command { monitor, .. } if monitor == name))
    }

    /// Notes what the host was asked for.
    pub fn sent(&mut self, id: RequestId, errand: Errand) {
        self.errands.insert(id, errand);
    }
}
