//! What is remembered between hooks.
//!
//! All of it is read in many hooks, so what has its default value is left out of the JSON.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use chaperone_sdk::{EntryId, RequestId, ToolCall};
use serde::{Deserialize, Serialize};

use crate::backoff::BackOff;
use crate::errand::Errand;
use crate::evidence::Digest;
use crate::roster::Roster;
use crate::steer::Kind;
use crate::trust::{Hash, Words};

/// How many causes of missing judgements are remembered as told.
const TOLD_CAUSES: usize = 32;

/// Of the session, whatever branch it is on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Watch {
    /// Watching is paused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub off: bool,
    /// Monitors that are silent in this session.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub dismissed: BTreeSet<String>,
    /// The monitors, as `describe` last found them.
    pub roster: Roster,
    /// What the host was asked for that has nothing to do with a branch, until it answers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub errands: BTreeMap<RequestId, Errand>,
    /// What became of the bundled files that are being written.
    #[serde(skip_serializing_if = "Seeding::is_empty")]
    pub seeding: Seeding,
    /// The causes of missing judgements that the user was told of, the latest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<String>,
    /// A digest of the faults that the user was told of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told_faults: Option<u64>,
    /// Monitors that are not trusted, with the content that the user was told of.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub told_untrusted: BTreeMap<String, Hash>,
    /// A provider has refused to hold answers to a form: judges are asked for plain ones.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub plain_answers: bool,
    /// What the status bar shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

/// The bundled files that the host was asked to write, by what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeding {
    /// Written.
    pub written: Vec<String>,
    /// There already, and left alone.
    pub there: Vec<String>,
    /// Not written, each with the reason.
    pub failed: Vec<String>,
}

/// Of the project, across its sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Habits {
    /// The user does not want the bundled monitors to be offered again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub declined_seeding: bool,
    /// What the user said of the project's monitors.
    #[serde(skip_serializing_if = "Words::is_empty")]
    pub trust: Words,
}

/// Of the branch: it goes back with the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// The user's message that the notes are about.
    #[serde(skip_serializing_if = "Prompt::is_unknown")]
    pub prompt: Prompt,
    /// The user has spoken since, so there may be a newer one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prompt_may_be_old: bool,
    /// By monitor.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, Notes>,
    /// What is under way.
    #[serde(skip_serializing_if = "Run::is_quiet")]
    pub run: Run,
    /// The tool calls that were refused, until it is seen whether they ran all the same.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<String, Flagged>,
}

/// The user's latest message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prompt {
    /// To be looked up in the branch.
    #[default]
    Unknown,
    /// The branch holds none.
    None,
    /// This entry.
    Entry(EntryId),
}

/// What is remembered of one monitor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Notes {
    /// Steers delivered since the last clean verdict, or calls refused since the user's message.
    #[serde(skip_serializing_if = "is_zero")]
    pub count: u32,
    /// It counts refused calls.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub refuses: bool,
    /// Digests of the evidence that was judged for this prompt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<Digest>,
    /// How often the judge was asked for this prompt.
    #[serde(skip_serializing_if = "is_zero")]
    pub calls: u32,
    /// For `every(N)`: its events for this prompt.
    #[serde(skip_serializing_if = "is_zero")]
    pub activations: u32,
    /// How the judge fares.
    #[serde(skip_serializing_if = "BackOff::is_idle")]
    pub back_off: BackOff,
}

/// What is under way, from the first activation to the delivery of what was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    /// The agent has come to its end; what is still being judged is late.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// The calls under way for events; those for commands are errands.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub judging: BTreeMap<RequestId, Judging>,
    /// The state of the repository is being looked up, for these.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub looking: BTreeMap<RequestId, Looking>,
    /// Monitors that wait for others that they exclude themselves for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<String>,
    /// What was found and is to be told to the agent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flagged: Vec<Flagged>,
}

/// What of a run was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The calls to cancel.
    pub calls: Vec<RequestId>,
    /// What the agent does not hear of.
    pub flagged: Vec<Flagged>,
}

/// What the state of the repository is looked up for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Looking {
    /// The monitors whose judges are asked then.
    pub monitors: Vec<String>,
    /// The newest entry when that began: what the agent has done since may not be in the answer.
    pub entry: Option<EntryId>,
    /// The tool call that they look at, which runs meanwhile; none: they look at what there is then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ToolCall>,
}

/// A call under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judging {
    /// Whose.
    pub monitor: String,
    /// Of the evidence.
    pub digest: Digest,
    /// The newest entry of the evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryId>,
}

/// A finding that the agent is to hear of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flagged {
    /// Who found it.
    pub monitor: String,
    /// What the judge said.
    pub verdict: Kind,
    /// What was found; may be empty.
    pub description: String,
    /// What to tell the agent.
    pub steer: String,
    /// The monitor's.
    pub ceiling: u32,
    /// The model call that it rests on.
    #[serde(default)]
    pub request: RequestId,
    /// Whether it became a pattern.
    #[serde(default, skip_serializing_if = "Learning::is_no")]
    pub learning: Learning,
    /// It need not wait for the others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_once: bool,
}

/// Whether a finding became a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Learning {
    /// It did not, and will not.
    #[default]
    No,
    /// The host was asked to write it down.
    Asked(RequestId),
    /// It stands in the patterns file.
    Done,
}

impl Watch {
    /// The state of a new session over the same monitors.
    pub fn anew(self) -> Self {
        Self { roster: self.roster, ..Self::default() }
    }

    /// Whether a cause of a missing judgement is told for the first time; from now on it is not.
    pub fn tells(&mut self, cause: &str) -> bool {
        if self.told.iter().any(|told| told == cause) {
            return false;
        }
        if self.told.len() == TOLD_CAUSES {
            self.told.remove(0);
        }
        self.told.push(cause.into());
        true
    }
}

impl Seeding {
    /// Whether nothing is under way.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Memory {
    /// What is remembered of a monitor.
    pub fn notes(&mut self, monitor: &str) -> &mut Notes {
        if !self.notes.contains_key(monitor) {
            self.notes.insert(monitor.into(), Notes::default());
        }
        self.notes.get_mut(monitor).expect("it was just put there")
    }

    /// The steers of a monitor in a row.
    pub fn count(&self, monitor: &str) -> u32 {
        self.notes.get(monitor).map_or(0, |notes| notes.count)
    }

    /// Makes the notes be about this message of the user; what belonged to an earlier one is forgotten.
    pub fn turn_to(&mut self, prompt: Prompt) {
        self.prompt_may_be_old = false;
        if self.prompt != prompt {
            self.prompt = prompt;
            self.refused.clear();
            for notes in self.notes.values_mut() {
                let count = if notes.refuses { 0 } else { notes.count };
                *notes = Notes { count, back_off: std::mem::take(&mut notes.back_off), ..Notes::default() };
            }
            self.notes.retain(|_, notes| *notes != Notes::default());
        }
    }

    /// Whether a judge has failed and has not spoken since.
    pub fn judge_is_failing(&self) -> bool {
        self.notes.values().any(|notes| notes.back_off.is_failing())
    }
}

impl Run {
    /// Whether nothing is under way.
    pub fn is_quiet(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a monitor is being judged for an event, or is about to be, or waits for others.
    pub fn is_undecided(&self, monitor: &str) -> bool {
        self.judging.values().any(|judging| judging.monitor == monitor)
            || self.looking.values().any(|looking| looking.is_for(monitor))
            || self.waiting.iter().any(|waiting| waiting == monitor)
    }

    /// Whether no judge has anything left to say.
    pub fn is_decided(&self) -> bool {
        self.judging.is_empty() && self.looking.is_empty() && self.waiting.is_empty()
    }

    /// Whether a finding of a monitor is going to be told to the agent at the end of the run.
    pub fn steers(&self, monitor: &str) -> bool {
        self.flagged.iter().any(|flagged| flagged.monitor == monitor && !flagged.at_once)
    }

    /// Gives up what is being looked up for those that are meant.
    pub fn stop_looking(&mut self, is_meant: impl Fn(&Looking, &str) -> bool) {
        for looking in self.looking.values_mut() {
            let monitors = std::mem::take(&mut looking.monitors);
            looking.monitors = monitors.into_iter().filter(|monitor| !is_meant(looking, monitor)).collect();
        }
        self.looking.retain(|_, looking| !looking.monitors.is_empty());
    }

    /// Gives up what concerns `monitor`, or all (none): nothing of it reaches the agent. If nothing is left, the run is
    /// over.
    pub fn drop(&mut self, monitor: Option<&str>) -> Dropped {
        let concerns = |name: &str| monitor.is_none_or(|monitor| monitor == name);
        let flagged = self.flagged.extract_if(.., |flagged| concerns(&flagged.monitor)).collect();
        self.waiting.retain(|waiting| !concerns(waiting));
        self.stop_looking(|_, monitor| concerns(monitor));
        let cancelled =
            self.judging.iter().filter(|(_, judging)| concerns(&judging.monitor)).map(|(&id, _)| id).collect();
        self.judging.retain(|_, judging| !concerns(&judging.monitor));
        self.ended &= !(self.is_decided() && self.flagged.is_empty());
        Dropped { calls: cancelled, flagged }
    }
}

impl Looking {
    /// Whether it is for the judge of a monitor.
    pub fn is_for(&self, monitor: &str) -> bool {
        self.monitors.iter().any(|name| name == monitor)
    }
}

impl Prompt {
    fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

impl Learning {
    fn is_no(&self) -> bool {
        *self == Self::No
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}
