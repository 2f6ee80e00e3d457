//! Recordings: every hook of a session with everything that it read and asked for, so that it can be run again.
//!
//! One JSON object a line, in the contract's JSON form. The first line says what wrote it; each session begins with a
//! line that names its plugins, and ends with one that says so.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use chaperone_contract::*;
use serde::{Deserialize, Serialize};

use crate::transaction::{Cause, FileRead, Outcome, TraceRead};

/// The version of the format.
pub const FORMAT: u32 = 2;

/// The version that did not say where a session ends; it can still be read.
pub const FORMAT_WITHOUT_END: u32 = 1;

/// One line of a recording.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// The first line.
    Recording {
        /// [`FORMAT`]
        format: u32,
        /// The version of the contract.
        contract: String,
    },
    /// A session begins.
    Session {
        /// Its id.
        id: String,
        /// The plugins.
        plugins: Vec<RecordedPlugin>,
    },
    /// An entry joined the branch.
    Entry(Arc<Entry>),
    /// The session went to another branch.
    Branch(Vec<EntryId>),
    /// A hook ran.
    Hook(Box<RecordedHook>),
    /// The session is over, and all of it is written down.
    End {},
}

/// A plugin of a recorded session.
#[derive(Debug, Serialize, Deserialize)]
pub struct RecordedPlugin {
    /// Its name in the session.
    pub name: String,
    /// Where its component came from.
    pub source: String,
    /// The component's content, as a BLAKE3 hash in hexadecimal.
    pub digest: String,
    /// The models that it may name.
    pub models: Vec<ModelInfo>,
    /// What it remembered when the session began, by scope.
    pub state: Vec<RecordedState>,
}

/// A value that a plugin remembered.
#[derive(Debug, Serialize, Deserialize)]
pub struct RecordedState {
    /// How far the value reaches.
    pub scope: Scope,
    /// Of the branch scope: the entry at which it was committed; none: before the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryId>,
    /// The value.
    #[serde(with = "json::bytes")]
    pub value: Vec<u8>,
}

/// A hook that ran.
#[derive(Debug, Serialize, Deserialize)]
pub struct RecordedHook {
    /// The plugin's name.
    pub plugin: String,
    /// What it was called with.
    pub event: Event,
    /// `session.current`
    pub snapshot: Snapshot,
    /// The id of its first request.
    pub next_request: RequestId,
    /// The file reads that it made, in order.
    pub reads: Vec<FileRead>,
    /// The questions for traces that it asked, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<TraceRead>,
    /// What came of it.
    pub result: RecordedResult,
}

/// What came of a recorded hook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedResult {
    /// It came to its end.
    Ok {
        /// What it returned.
        reply: Reply,
        /// What it asked for, in order.
        effects: Vec<Effect>,
    },
    /// It did not.
    Failed(Cause),
}

impl RecordedResult {
    /// What is written down of a hook's outcome.
    pub fn of(outcome: &Outcome) -> Self {
        match &outcome.result {
            Ok(committed) => Self::Ok { reply: committed.reply.clone(), effects: committed.effects.clone() },
            Err(failure) => Self::Failed(failure.cause.clone()),
        }
    }
}

/// Writes a recording. Each line is handed on as a whole as soon as it is complete: when the process is killed, what it
/// has recorded is there.
pub struct Recorder {
    out: Box<dyn Write + Send>,
    /// The line that is being written.
    line: Vec<u8>,
    /// The entries of the session that are written down already.
    known: HashSet<EntryId>,
}

impl Recorder {
    /// A recording in a new file; one that is there is replaced.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn create(path: &Path) -> std::io::Result<Self> {
        Self::new(Box::new(File::create(path)?))
    }

    /// A recording on any writer.
    ///
    /// # Errors
    /// Where it cannot be written to.
    pub fn new(out: Box<dyn Write + Send>) -> std::io::Result<Self> {
        let mut recorder = Self { out, line: Vec::new(), known: HashSet::new() };
        recorder.line(&Line::Recording { format: FORMAT, contract: VERSION.into() })?;
        Ok(recorder)
    }

    /// A session begins.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn session(&mut self, id: &str, plugins: Vec<RecordedPlugin>) -> std::io::Result<()> {
        self.known.clear();
        self.line(&Line::Session { id: id.into(), plugins })
    }

    /// An entry joined the branch.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn entry(&mut self, entry: &Arc<Entry>) -> std::io::Result<()> {
        self.known.insert(entry.id.clone());
        self.line(&Line::Entry(entry.clone()))
    }

    /// The session went to another branch.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn branch(&mut self, branch: &Branch) -> std::io::Result<()> {
        for entry in branch.entries() {
            if !self.known.contains(&entry.id) {
                self.entry(entry)?;
            }
        }
        self.line(&Line::Branch(branch.entries().iter().map(|entry| entry.id.clone()).collect()))
    }

    /// A hook ran.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn hook(&mut self, hook: RecordedHook) -> std::io::Result<()> {
        self.line(&Line::Hook(Box::new(hook)))
    }

    /// The session is over. A recorder can write down another one after it.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn end(&mut self) -> std::io::Result<()> {
        self.line(&Line::End {})?;
        self.out.flush()
    }

    fn line(&mut self, line: &Line) -> std::io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, line)?;
        self.line.push(b'\n');
        self.out.write_all(&self.line)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Keeps each piece that is written.
    #[derive(Clone, Default)]
    struct Pieces(Arc<Mutex<Vec<String>>>);

    impl Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().push(String::from_utf8(bytes.to_vec()).unwrap());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn each_line_is_there_as_a_whole_as_soon_as_it_is_complete() {
        let pieces = Pieces::default();
        let mut recorder = Recorder::new(Box::new(pieces.clone())).unwrap();
        recorder.session("s", Vec::new()).unwrap();
        let entry = |id: &str| Arc::new(Entry { id: id.into(), timestamp: 0, body: EntryBody::Other("x".into()) });
        recorder.branch(&["a", "b"].into_iter().map(entry).collect()).unwrap();
        recorder.end().unwrap();
        // Whoever is killed says nothing any more.
        std::mem::forget(recorder);
        let kinds = ["recording", "session", "entry", "entry", "branch", "end"];
        let pieces = pieces.0.lock().unwrap();
        assert_eq!(pieces.len(), kinds.len());
        for (piece, kind) in pieces.iter().zip(kinds) {
            assert!(piece.starts_with(&format!("{{\"{kind}\":")) && piece.ends_with("}\n"), "{piece}");
        }
    }
}
