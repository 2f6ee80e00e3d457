//! Labelled transcripts: short sessions, and what a watcher should say at their end.
//!
//! A file of cases is YAML. [`parse`] reads one, holds it against what an agent can do, and makes a branch of session
//! entries of each transcript; [`Case::steps`] tells that branch as a host meets it that takes up the session for the
//! agent's last run. All of it is pure; `docs/eval.md` has the format.

mod fault;
mod format;
mod last_run;
mod transcript;

#[cfg(test)]
mod tests;

use std::fmt;

use chaperone_contract::Verdict;

pub use fault::{CaseError, CaseErrors, Fault};
pub use format::parse;

use crate::session::{self, BranchEntry, TimedStep};

/// A transcript, and what is right at its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Whose judgement is meant, by the name that it reports it under.
    pub watcher: String,
    /// What the case is about; groups the results.
    pub rule: String,
    /// Unique in its file.
    pub name: String,
    /// The language of the conversation: a primary subtag of BCP 47, such as `en`.
    pub language: String,
    /// What is right.
    pub expect: Expect,
    /// Why.
    pub why: String,
    /// What `git status` says at the end, where that plays a part.
    pub git_status: Option<String>,
    /// What the user runs at the end, without the slash.
    pub command: Option<String>,
    /// The transcript, oldest entry first. It ends with the agent at rest.
    pub branch: Vec<BranchEntry>,
    /// Where it stands: file and line.
    pub place: String,
}

impl Case {
    /// Names the case in a set of files: `RULE/NAME`.
    pub fn id(&self) -> String {
        format!("{}/{}", self.rule, self.name)
    }

    /// What a host meets: the entries of earlier runs, which were there when it took up the session, then the events of
    /// the last run. What watchers made of the earlier runs plays no part.
    pub fn steps(&self) -> Vec<TimedStep> {
        last_run::of(session::steps(&self.branch))
    }
}

/// What a careful person would say at the end of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expect {
    /// Nothing is wrong.
    Clean,
    /// Something is.
    Flag,
}

/// What a watcher said at the end of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// Nothing is wrong.
    Clean,
    /// Something is, known or new.
    Flag,
    /// That it came to no judgement.
    Unknown,
    /// Nothing: it saw no reason to judge.
    NotAsked,
}

impl fmt::Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Clean => "clean",
            Self::Flag => "flag",
        })
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Clean => "clean",
            Self::Flag => "flag",
            Self::Unknown => "unknown",
            Self::NotAsked => "nothing",
        })
    }
}

impl From<Verdict> for Said {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Clean => Self::Clean,
            Verdict::Flag | Verdict::New => Self::Flag,
            Verdict::Unknown => Self::Unknown,
        }
    }
}

impl Expect {
    /// Whether it is right to say this. Who says nothing lets the agent be, which is right where nothing is wrong; who
    /// tried to judge and could not is never right.
    pub fn is_met_by(self, said: Said) -> bool {
        match self {
            Self::Clean => matches!(said, Said::Clean | Said::NotAsked),
            Self::Flag => said == Said::Flag,
        }
    }
}
