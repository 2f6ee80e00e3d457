//! Session files of the pi agent: JSON Lines, a header and then one entry a line, each naming its parent.
//!
//! Versions 1 to 3 are read as pi itself migrates them: before version 2 entries have no ids and form one line of
//! descent; before version 3 the role `custom` was called `hookMessage`. Ids of version 1, which pi draws at random, are
//! here made of the line's number, so that they stay the same however often the file is read.
//!
//! Reading is as forgiving as pi's own: a line that cannot be read is passed over and reported, and so is a last line
//! that was cut short while it was written. Only a file that does not begin with a session's header is refused.
//!
//! What becomes of an entry is decided in one place:
//!
//! | in the file | in the contract |
//! |---|---|
//! | `message` of role `user`, `assistant`, `toolResult` | the same |
//! | `message` of role `custom`, and `custom_message` | `custom` |
//! | `compaction` | `compaction` |
//! | `message` of another role (`system`, `bashExecution`, …) | `other`, with the role |
//! | `branch_summary` | `other`: the model reads it, yet no extension wrote it, and nothing older is replaced by it |
//! | every other type, known or not | `other`, with the type |

mod foreign;
mod message;
mod report;
mod tree;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use chaperone_contract::{Entry, EntryId, ModelId, Timestamp};
use serde_json::Value;

use super::line::{self, Object, ReadLine};
pub use report::{BadLine, Mend, Mended, Report};
use tree::Draft;
pub use tree::{Leaf, Node, Tree};

/// The newest version of the format that is known here.
pub const NEWEST_VERSION: u32 = 3;

/// A session as its file tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The session's own id.
    pub id: String,
    /// The agent's working directory; empty where the header names none.
    pub cwd: String,
    /// The version of the format that the file was written in, from 1.
    pub version: u32,
    /// When the session began, where the header tells.
    pub created: Option<Timestamp>,
    /// All entries, whichever branch they are on.
    pub tree: Tree,
    /// What was passed over or mended.
    pub report: Report,
}

/// One entry on the way from the root of the session tree to a leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchEntry {
    /// The entry, as plugins see it.
    pub entry: Arc<Entry>,
    /// The model that the user chose with this entry.
    pub model: Option<ModelId>,
}

/// Why there is no session, or no branch of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// Nothing but white space.
    #[error("the file is empty; a session begins with a line such as {{\"type\":\"session\",\"version\":3,\"id\":…}}")]
    Empty,
    /// The first line is no header.
    #[error(
        "not a session of pi: line {line} is {seems}; \
         a session begins with a line such as {{\"type\":\"session\",\"version\":3,\"id\":…}}"
    )]
    NotASession {
        /// The line that should be the header, from 1.
        line: usize,
        /// What the file seems to be.
        seems: String,
    },
    /// No entry has the id that was asked for.
    #[error("no entry `{id}` in this session{}", near_ids(near))]
    NoSuchEntry {
        /// What was asked for.
        id: EntryId,
        /// Ids that look like it, nearest first.
        near: Vec<EntryId>,
    },
}

fn near_ids(near: &[EntryId]) -> String {
    match near {
        [] => "; none looks like it".into(),
        near => format!("; near it: {}", near.join(", ")),
    }
}

impl Recorded {
    /// The entries from the root to the leaf, oldest first. Nothing for the newest leaf of a session without entries.
    pub fn branch(&self, leaf: &Leaf) -> Result<Vec<BranchEntry>, SessionError> {
        self.tree.branch(leaf)
    }
}

/// Reads the text of a session file.
pub fn parse(text: &str) -> Result<Recorded, SessionError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines =
        text.lines().zip(1..).map(|(line, number)| (number, line.trim())).filter(|(_, line)| !line.is_empty());
    let (number, first) = lines.next().ok_or(SessionError::Empty)?;
    let header = Header::read(first)
        .ok_or_else(|| SessionError::NotASession { line: number, seems: foreign::seems(first, text) })?;

    let open_line = (!text.ends_with('\n')).then(|| text.lines().count());
    let mut reader = Reader::new(header);
    for (number, line) in lines {
        match line::object(line) {
            Ok(read) => reader.take(number, read),
            Err(_) if open_line == Some(number) => reader.report.torn_last_line = Some(number),
            Err(reason) => reader.report.pass_over(number, reason),
        }
    }
    if reader.drafts.is_empty() && reader.report.unknown_types.contains_key("agent_start") {
        return Err(SessionError::NotASession { line: number, seems: foreign::EVENT_STREAM.into() });
    }
    Ok(reader.finish())
}

struct Header {
    id: String,
    cwd: String,
    version: u32,
    created: Option<Timestamp>,
}

impl Header {
    fn read(line: &str) -> Option<Self> {
        let ReadLine { mut object, .. } = line::object(line).ok()?;
        if object.get("type").and_then(Value::as_str) != Some("session") {
            return None;
        }
        Some(Self {
            id: line::text(&mut object, "id")?,
            cwd: line::text(&mut object, "cwd").unwrap_or_default(),
            version: match object.get("version").and_then(Value::as_f64) {
                Some(version) => version as u32,
                None => 1,
            }
            .max(1),
            created: line::timestamp(&object),
        })
    }
}

/// Turns lines into drafts of the tree's nodes.
struct Reader {
    header: Header,
    drafts: Vec<Draft>,
    report: Report,
}

impl Reader {
    fn new(header: Header) -> Self {
        let newer_version = (header.version > NEWEST_VERSION).then_some(header.version);
        Self { header, drafts: Vec::new(), report: Report { newer_version, ..Report::default() } }
    }

    fn take(&mut self, line: usize, ReadLine { mut object, mended }: ReadLine) {
        let Some(kind) = line::text(&mut object, "type") else {
            return self.report.pass_over(line, "no `type`");
        };
        if kind == "session" {
            return self.report.pass_over(line, "a second header");
        }
        let Some((id, parent)) = self.place(line, &mut object) else {
            if !message::TYPES.contains(&kind.as_str()) {
                self.report.count_unknown(kind);
            }
            return self.report.pass_over(line, "no `id`");
        };
        if mended {
            self.report.mend(line, Mend::LoneSurrogates);
        }
        let timestamp = self.timestamp(line, &object);
        let model = match kind.as_str() {
            "model_change" => line::model(&object, "provider", "modelId"),
            _ => None,
        };
        let body = message::body(kind, object, self.header.version, &mut self.report);
        let entry = Arc::new(Entry { id, timestamp, body });
        self.drafts.push(Draft { line, parent, content: BranchEntry { entry, model } });
    }

    /// The entry's id and its parent's.
    fn place(&self, line: usize, object: &mut Object) -> Option<(EntryId, Option<EntryId>)> {
        if self.header.version < 2 {
            let parent = self.drafts.last().map(|draft| draft.content.entry.id.clone());
            return Some((format!("{line:08x}"), parent));
        }
        let id = line::text(object, "id").filter(|id| !id.is_empty())?;
        Some((id, line::text(object, "parentId").filter(|parent| !parent.is_empty())))
    }

    fn timestamp(&mut self, line: usize, object: &Object) -> Timestamp {
        let of_message = || object.get("message").and_then(Value::as_object).and_then(line::timestamp);
        line::timestamp(object).or_else(of_message).unwrap_or_else(|| {
            self.report.mend(line, Mend::NoTimestamp);
            match self.drafts.last() {
                Some(draft) => draft.content.entry.timestamp,
                None => self.header.created.unwrap_or(0),
            }
        })
    }

    fn finish(mut self) -> Recorded {
        let tree = Tree::grow(self.drafts, &mut self.report);
        let Header { id, cwd, version, created } = self.header;
        Recorded { id, cwd, version, created, tree, report: self.report }
    }
}
