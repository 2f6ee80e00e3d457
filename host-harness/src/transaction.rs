//! A hook as a transaction: what goes in, and what comes out.

use std::sync::Arc;
use std::time::Duration;

use chaperone_contract::{
    Account, Branch, Effect, FileError, Level, Location, ModelInfo, Reply, RequestId, Scope, Snapshot, Trace,
    TraceQuery, json,
};
use serde::{Deserialize, Serialize};

/// What a hook reads while it runs.
#[derive(Clone)]
pub struct Input {
    /// `session.current`
    pub snapshot: Snapshot,
    /// The current branch.
    pub branch: Arc<Branch>,
    /// `state.get`, by scope.
    pub state: States,
    /// `llm.models`
    pub models: Arc<[ModelInfo]>,
    /// `files.read` and `files.entries`
    pub files: Arc<dyn ReadFiles>,
    /// `traces.read` and `traces.accounts`
    pub traces: Arc<dyn ReadTraces>,
    /// The id of the hook's first request; the next ones follow.
    pub next_request: RequestId,
}

/// The plugin's state by scope, as a hook finds it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct States([Option<Arc<[u8]>>; 3]);

impl States {
    /// The value of a scope.
    pub fn get(&self, scope: Scope) -> Option<&Arc<[u8]>> {
        self.0[scope as usize].as_ref()
    }

    /// Replaces the value of a scope.
    pub fn set(&mut self, scope: Scope, value: Option<Arc<[u8]>>) {
        self.0[scope as usize] = value;
    }
}

/// Where a hook's file reads are answered from: the mounts, or a recording.
pub trait ReadFiles: Send + Sync {
    /// `files.read`
    ///
    /// # Errors
    /// As [`FileError`] says.
    fn read(&self, file: &Location) -> Result<String, FileError>;

    /// `files.entries`
    ///
    /// # Errors
    /// As [`FileError`] says.
    fn entries(&self, folder: &Location) -> Result<Vec<String>, FileError>;
}

/// A file read that a hook made, and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "named as in the contract")]
pub enum FileRead {
    /// `files.read`
    Read {
        file: Location,
        #[serde(with = "json::outcome")]
        answer: Result<String, FileError>,
    },
    /// `files.entries`
    Entries {
        folder: Location,
        #[serde(with = "json::outcome")]
        answer: Result<Vec<String>, FileError>,
    },
}

impl FileRead {
    /// The file or folder.
    pub fn location(&self) -> &Location {
        match self {
            Self::Read { file, .. } => file,
            Self::Entries { folder, .. } => folder,
        }
    }
}

/// Where a hook's questions for traces are answered from: the store, or a recording.
pub trait ReadTraces: Send + Sync {
    /// `traces.read`
    fn read(&self, query: &TraceQuery) -> Vec<Trace>;

    /// `traces.accounts`
    fn accounts(&self, whole_project: bool) -> Vec<Account>;
}

/// There are no traces, since nothing is kept.
pub struct NoTraces;

impl ReadTraces for NoTraces {
    fn read(&self, _: &TraceQuery) -> Vec<Trace> {
        Vec::new()
    }

    fn accounts(&self, _: bool) -> Vec<Account> {
        Vec::new()
    }
}

/// A question for traces that a hook asked, and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "named as in the contract")]
pub enum TraceRead {
    /// `traces.read`
    Read { query: TraceQuery, answer: Vec<Trace> },
    /// `traces.accounts`
    Accounts { whole_project: bool, answer: Vec<Account> },
}

/// What a hook may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run.
    pub time: Duration,
    /// How much memory it may have, in bytes.
    pub memory: usize,
    /// How many effects it may ask for.
    pub effects: usize,
    /// How large all its effects may be together, in bytes.
    pub effect_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_millis(200), memory: 64 << 20, effects: 1024, effect_bytes: 8 << 20 }
    }
}

/// What came of a hook.
#[derive(Debug)]
pub struct Outcome {
    /// The reply and the effects, or why there are none.
    pub result: Result<Committed, Failure>,
    /// The file reads that it made, in order.
    pub reads: Vec<FileRead>,
    /// The questions for traces that it asked, in order.
    pub traces: Vec<TraceRead>,
}

/// A hook that came to its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Committed {
    /// What it returned.
    pub reply: Reply,
    /// What it asked for, in order.
    pub effects: Vec<Effect>,
}

/// A hook that did not come to its end. It has no effects.
#[derive(Debug, thiserror::Error)]
#[error("{cause}{}", log_lines(.log))]
pub struct Failure {
    /// What stopped it.
    pub cause: Cause,
    /// What it wrote to the log before.
    pub log: Vec<(Level, String)>,
}

/// What stopped a hook.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It ran too long.
    #[error("the hook ran longer than {0} ms")]
    TimedOut(u64),
    /// It wanted more memory than it may have.
    #[error("the hook wanted more than {0} MiB of memory")]
    OutOfMemory(usize),
    /// It asked for more than it may.
    #[error("the hook asked for more than {0} effects, or more than {1} bytes of them")]
    TooManyEffects(usize, usize),
    /// It broke down: a panic, or whatever else the engine says.
    #[error("the hook broke down: {0}")]
    Trapped(String),
}

fn log_lines(log: &[(Level, String)]) -> String {
    log.iter().rev().take(5).rev().map(|(level, line)| format!("\n  {}: {line}", level.name())).collect()
}
