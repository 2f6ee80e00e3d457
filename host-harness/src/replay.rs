//! Runs a recording again, and says where what comes out differs.

use std::collections::HashMap;
use std::io::BufRead;
use std::sync::{Arc, Mutex};

use chaperone_contract::*;

use crate::plugin::Plugin;
use crate::record::{FORMAT, FORMAT_WITHOUT_END, Line, RecordedHook, RecordedPlugin, RecordedResult, RecordedState};
use crate::state::History;
use crate::transaction::{Cause, FileRead, Input, Limits, ReadFiles, ReadTraces, TraceRead};

/// Why a recording cannot be run again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// It cannot be read.
    #[error("cannot read the recording")]
    Read(#[from] std::io::Error),
    /// A line is not what a recording has.
    #[error("line {line} is not a line of a recording: {source}")]
    Line {
        /// Counts from 1.
        line: usize,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// It was written in another format.
    #[error("the recording has format {found}, this program reads {FORMAT_WITHOUT_END} and {FORMAT}")]
    Format {
        /// The format that it names.
        found: u32,
    },
    /// It was written for another version of the contract.
    #[error("the recording is of the contract {found}, this program speaks {VERSION}")]
    Contract {
        /// The version that it names.
        found: String,
    },
    /// It does not begin as a recording does.
    #[error("this is not a recording: its first line should be {{\"recording\":…}}")]
    NoRecording,
    /// A hook stands before its session, or belongs to a plugin that its session does not name.
    #[error("line {line}: there is no plugin `{plugin}` in this session")]
    NoPlugin {
        /// Counts from 1.
        line: usize,
        /// The plugin's name.
        plugin: String,
    },
    /// A branch names an entry that the recording does not hold.
    #[error("line {line}: there is no entry `{entry}` in this session")]
    NoEntry {
        /// Counts from 1.
        line: usize,
        /// The entry's id.
        entry: EntryId,
    },
    /// A plugin of the recording could not be loaded.
    #[error("cannot load the plugin `{plugin}`: {reason}")]
    Load {
        /// The plugin's name.
        plugin: String,
        /// Why not.
        reason: String,
    },
}

/// What a replay found.
#[derive(Debug)]
pub struct Report {
    /// How many hooks ran.
    pub hooks: usize,
    /// The first hook that came out differently.
    pub difference: Option<Difference>,
    /// Plugins whose component is not the one that was recorded.
    pub changed_components: Vec<String>,
    /// Whether the recording is all that there was.
    pub ending: Ending,
}

/// Whether a recording is all that there was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It is.
    Complete,
    /// It breaks off: what wrote it was killed, or failed.
    CutOff,
    /// It does not say, as those of the first format, or it was not read to its end.
    Unknown,
}

/// A hook that came out differently.
#[derive(Debug)]
pub struct Difference {
    /// The line of the recording; counts from 1.
    pub line: usize,
    /// The plugin.
    pub plugin: String,
    /// The hook.
    pub event: Event,
    /// What was recorded.
    pub recorded: RecordedResult,
    /// What came out now.
    pub now: RecordedResult,
    /// File reads that the recording does not have.
    pub unrecorded_reads: Vec<Location>,
}

/// Runs a recording again, up to the first difference.
///
/// `load` brings the component of a recorded plugin.
///
/// # Errors
/// As [`ReplayError`] says.
pub fn replay(
    mut recording: impl BufRead,
    mut load: impl FnMut(&RecordedPlugin) -> Result<Arc<Plugin>, String>,
) -> Result<Report, ReplayError> {
    let mut report = Report { hooks: 0, difference: None, changed_components: Vec::new(), ending: Ending::Unknown };
    let mut text = Vec::new();
    recording.read_until(b'\n', &mut text)?;
    let format = head(&text)?;
    let mut session = Session::default();
    let without_end = if format == FORMAT_WITHOUT_END { Ending::Unknown } else { Ending::CutOff };
    let mut ending = without_end;
    for line in 2.. {
        text.clear();
        if recording.read_until(b'\n', &mut text)? == 0 {
            break;
        }
        let parsed = match serde_json::from_slice(&text) {
            Ok(parsed) => parsed,
            // Nobody has written the rest of it.
            Err(error) if error.is_eof() && !text.ends_with(b"\n") => {
                ending = Ending::CutOff;
                break;
            }
            Err(source) => return Err(ReplayError::Line { line, source }),
        };
        ending = if matches!(parsed, Line::End {}) { Ending::Complete } else { without_end };
        match parsed {
            Line::Recording { .. } => {}
            Line::Session { plugins, .. } => {
                session = Session::default();
                for recorded in plugins {
                    let component = load(&recorded)
                        .map_err(|reason| ReplayError::Load { plugin: recorded.name.clone(), reason })?;
                    if component.digest().to_hex().as_str() != recorded.digest
                        && !report.changed_components.contains(&recorded.name)
                    {
                        report.changed_components.push(recorded.name.clone());
                    }
                    session.plugins.insert(recorded.name.clone(), Replayed::new(component, recorded));
                }
            }
            Line::Entry(entry) => session.append(entry),
            Line::Branch(ids) => session.go_to(&ids).map_err(|entry| ReplayError::NoEntry { line, entry })?,
            Line::Hook(hook) => {
                report.hooks += 1;
                report.difference = session.run(line, *hook)?;
                if report.difference.is_some() {
                    return Ok(report);
                }
            }
            Line::End {} => session = Session::default(),
        }
    }
    report.ending = ending;
    Ok(report)
}

/// The format that the first line names.
fn head(line: &[u8]) -> Result<u32, ReplayError> {
    match serde_json::from_slice(line) {
        Ok(Line::Recording { format, contract }) => match format {
            FORMAT | FORMAT_WITHOUT_END if contract == VERSION => Ok(format),
            FORMAT | FORMAT_WITHOUT_END => Err(ReplayError::Contract { found: contract }),
            _ => Err(ReplayError::Format { found: format }),
        },
        _ => Err(ReplayError::NoRecording),
    }
}

#[derive(Default)]
struct Session {
    branch: Arc<Branch>,
    entries: HashMap<EntryId, Arc<Entry>>,
    plugins: HashMap<String, Replayed>,
}

/// A plugin of the recording.
struct Replayed {
    component: Arc<Plugin>,
    models: Arc<[ModelInfo]>,
    history: History,
}

impl Replayed {
    fn new(component: Arc<Plugin>, recorded: RecordedPlugin) -> Self {
        let (mut session, mut project, mut branches) = (None, None, HashMap::new());
        for RecordedState { scope, entry, value } in recorded.state {
            let value: Arc<[u8]> = value.into();
            match scope {
                Scope::Session => session = Some(value),
                Scope::Project => project = Some(value),
                Scope::Branch => _ = branches.insert(entry, value),
            }
        }
        let mut history = History::starting_with(session, project).with_branches(branches);
        history.follow(&Branch::default());
        Self { component, models: recorded.models.into(), history }
    }
}

impl Session {
    fn append(&mut self, entry: Arc<Entry>) {
        self.entries.insert(entry.id.clone(), entry.clone());
        Arc::make_mut(&mut self.branch).push(entry);
    }

    fn go_to(&mut self, ids: &[EntryId]) -> Result<(), EntryId> {
        let entries: Result<Vec<_>, EntryId> =
            ids.iter().map(|id| self.entries.get(id).cloned().ok_or_else(|| id.clone())).collect();
        self.branch = Arc::new(entries?.into_iter().collect());
        for plugin in self.plugins.values_mut() {
            plugin.history.follow(&self.branch);
        }
        Ok(())
    }

    fn run(&mut self, line: usize, hook: RecordedHook) -> Result<Option<Difference>, ReplayError> {
        let RecordedHook { plugin, event, snapshot, next_request, reads, traces, result } = hook;
        let Some(replayed) = self.plugins.get_mut(&plugin) else {
            return Err(ReplayError::NoPlugin { line, plugin });
        };
        let files = Arc::new(RecordedReads::new(reads));
        let input = Input {
            snapshot,
            branch: self.branch.clone(),
            state: replayed.history.current().clone(),
            models: replayed.models.clone(),
            files: files.clone(),
            traces: Arc::new(RecordedTraces(traces)),
            next_request,
        };
        let outcome = replayed.component.call(&generous_limits(), input, &event);
        let now = RecordedResult::of(&outcome);
        if !is_same(&result, &now) {
            let unrecorded_reads = files.unrecorded();
            return Ok(Some(Difference { line, plugin, event, recorded: result, now, unrecorded_reads }));
        }
        if let RecordedResult::Ok { effects, .. } = &result {
            replayed.history.commit(effects, &self.branch);
        }
        Ok(None)
    }
}

/// Time is not part of a recording: on a slow machine a hook may take longer than it could when it was recorded.
fn generous_limits() -> Limits {
    Limits { time: std::time::Duration::from_secs(10), memory: crate::engine::MAX_MEMORY, ..Limits::default() }
}

/// Whether two results are the same, as far as they are the plugin's doing: which of its limits stopped it depends on
/// the machine and the limits.
fn is_same(recorded: &RecordedResult, now: &RecordedResult) -> bool {
    match (recorded, now) {
        (RecordedResult::Failed(Cause::TimedOut(_) | Cause::OutOfMemory(_)), _) => true,
        (RecordedResult::Failed(_), RecordedResult::Failed(_)) => true,
        _ => recorded == now,
    }
}

/// The answers to a hook's file reads, from the recording.
struct RecordedReads {
    answers: Vec<FileRead>,
    unrecorded: Mutex<Vec<Location>>,
}

impl RecordedReads {
    fn new(answers: Vec<FileRead>) -> Self {
        Self { answers, unrecorded: Mutex::default() }
    }

    fn unrecorded(&self) -> Vec<Location> {
        self.unrecorded.lock().map(|locations| locations.clone()).unwrap_or_default()
    }

    fn miss<T>(&self, location: &Location) -> Result<T, FileError> {
        if let Ok(mut unrecorded) = self.unrecorded.lock() {
            unrecorded.push(location.clone());
        }
        Err(FileError::Io("the recording does not have this".into()))
    }
}

impl ReadFiles for RecordedReads {
    fn read(&self, file: &Location) -> Result<String, FileError> {
        let answer = self.answers.iter().find_map(|read| match read {
            FileRead::Read { file: recorded, answer } if recorded == file => Some(answer.clone()),
            _ => None,
        });
        answer.unwrap_or_else(|| self.miss(file))
    }

    fn entries(&self, folder: &Location) -> Result<Vec<String>, FileError> {
        let answer = self.answers.iter().find_map(|read| match read {
            FileRead::Entries { folder: recorded, answer } if recorded == folder => Some(answer.clone()),
            _ => None,
        });
        answer.unwrap_or_else(|| self.miss(folder))
    }
}

/// The answers to a hook's questions for traces, from the recording. What it did not ask then is not there.
struct RecordedTraces(Vec<TraceRead>);

impl ReadTraces for RecordedTraces {
    fn read(&self, query: &TraceQuery) -> Vec<Trace> {
        let answer = self.0.iter().find_map(|read| match read {
            TraceRead::Read { query: recorded, answer } if recorded == query => Some(answer.clone()),
            _ => None,
        });
        answer.unwrap_or_default()
    }

    fn accounts(&self, whole_project: bool) -> Vec<Account> {
        let answer = self.0.iter().find_map(|read| match read {
            TraceRead::Accounts { whole_project: recorded, answer } if *recorded == whole_project => {
                Some(answer.clone())
            }
            _ => None,
        });
        answer.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
