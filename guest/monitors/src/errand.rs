//! What the host was asked for, and what is to be done with its answer.

use chaperone_sdk::{EntryId, RequestId, ToolCall};
use serde::{Deserialize, Serialize};

use crate::command::grammar::Edit;
use crate::evidence::Digest;
use crate::learning::Provenance;
use crate::memory::{Flagged, Watch};
use crate::steer::Kind;

/// How often a change of a file is tried again where the file has changed in between.
pub const TRIES: u32 = 3;

/// Something that the host does for the session, whatever branch it is on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Errand {
    /// A judge works on somebody's `/name`.
    Command {
        /// Whose.
        monitor: String,
        /// The newest entry of the evidence.
        entry: Option<EntryId>,
        /// Of the evidence.
        digest: Option<Digest>,
        /// Things have changed since: the answer is told, and the agent left alone.
        outdated: bool,
    },
    /// The state of the repository is being looked up for the judge of somebody's `/name`.
    CommandStatus {
        /// Whose.
        monitor: String,
        /// Things have changed since: the answer is told, and the agent left alone.
        outdated: bool,
    },
    /// The state of the repository is being looked up for the judge of a tool call that is held.
    GateStatus {
        /// Whose.
        monitor: String,
        /// The call.
        call: ToolCall,
    },
    /// A judge works on a tool call that is held.
    Gate {
        /// Whose.
        monitor: String,
        /// The call.
        call: String,
        /// Of the evidence.
        digest: Digest,
        /// The newest entry of the evidence.
        entry: Option<EntryId>,
    },
    /// A tool call is held; when this fires, it has waited long enough.
    GateLimit {
        /// The call.
        call: String,
    },
    /// A finding is on its way into its file.
    Finding(Record),
    /// A new pattern is on its way into its file.
    Pattern(Lesson),
    /// A proposed pattern is on its way into the patterns file.
    Approval(Approval),
    /// A proposed pattern is on its way out of the file of proposals, or is marked as refused there.
    Proposal {
        /// Whose.
        monitor: String,
        /// The pattern.
        description: String,
        /// What was decided.
        ruling: Ruling,
        /// What is to be decided after it.
        rest: Vec<String>,
    },
    /// The pattern that was learned last is on its way out of the patterns file.
    Unlearned {
        /// Whose.
        monitor: String,
        /// Its whole entry.
        pattern: serde_json::Value,
        /// The monitor is trusted, and stays so with the changed file.
        keeps_trust: bool,
    },
    /// It is being kept in mind that the user does not want a pattern.
    Refusal {
        /// Whose.
        monitor: String,
        /// The pattern.
        description: String,
    },
    /// The user is offered to add a rule for a finding that was wrong.
    RuleOffer {
        /// Whose.
        monitor: String,
    },
    /// The user is asked whether the project's monitors are trusted.
    TrustOffer(crate::trust::Words),
    /// A change of rules is on its way into its file.
    Rules(RulesChange),
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

/// A new pattern that is to be written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lesson {
    /// Whose.
    pub monitor: String,
    /// What the judge called new.
    pub pattern: String,
    /// Where it is from.
    pub provenance: Provenance,
    /// The model call that it rests on.
    pub request: RequestId,
    /// How often the file was in the way.
    pub tries: u32,
    /// It is only proposed.
    pub is_proposal: bool,
    /// The monitor is trusted, and stays so with the changed file.
    pub keeps_trust: bool,
}

/// A change of rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulesChange {
    /// Whose.
    pub monitor: String,
    /// The change.
    pub edit: Edit,
    /// What it changes: the text of the rule that was there.
    pub was: Option<String>,
    /// How often the file was in the way.
    pub tries: u32,
    /// The monitor is trusted, and stays so with the changed file.
    pub keeps_trust: bool,
}

/// What the user decided about a proposed pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// It has become a pattern.
    Approved,
    /// It is not wanted.
    Rejected,
}

/// A proposed pattern that becomes one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Whose.
    pub monitor: String,
    /// The pattern.
    pub description: String,
    /// What is to be approved after it.
    pub rest: Vec<String>,
    /// The monitor is trusted, and stays so with the changed file.
    pub keeps_trust: bool,
}

/// What is needed to write a finding, also a second time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Who found it.
    pub monitor: String,
    /// The model call that it rests on. None: rules have decided.
    pub request: Option<RequestId>,
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
                Errand::Command { monitor, outdated, .. } | Errand::CommandStatus { monitor, outdated }
                    if concerns(monitor) =>
                {
                    *outdated = true;
                }
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
        self.errands.values().any(|errand| match errand {
            Errand::Command { monitor, .. } | Errand::CommandStatus { monitor, .. } => monitor == name,
            _ => false,
        })
    }

    /// Notes what the host was asked for.
    pub fn sent(&mut self, id: RequestId, errand: Errand) {
        self.errands.insert(id, errand);
    }
}
