//! What hosts write down of a conversation: JSON Lines that are still being written while they are read.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use crate::session::BranchEntry;
use crate::session::pi::{BadLine, Report};

/// Of a longer transcript, only this much of its end is read, in bytes. Watchers look at what came since the user's
/// latest message, and a file may grow without end.
pub const MAX_BYTES: u64 = 32 << 20;

/// So many lines that cannot be read are told; more would only say the same.
const MAX_BAD_LINES: usize = 100;

/// A conversation, as its transcript tells it up to now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// The current branch, oldest first.
    pub entries: Vec<BranchEntry>,
    /// The session that it went on from under an id of its own, where it says so. Entries that both have are called the
    /// same in both.
    pub forked_from: Option<String>,
    /// What was passed over.
    pub report: Report,
}

/// Whose conversation is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// That of the agent that the user talks to.
    Main,
    /// That of an agent that it started.
    Subagent,
}

/// The end of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Tail {
    /// From the first line that is whole.
    pub text: String,
    /// Where that is in the file, in bytes.
    pub start: u64,
}

/// Reads the end of a transcript. Bytes that are not UTF-8 become U+FFFD.
///
/// # Errors
/// Where it cannot be read.
pub fn read(path: &Path) -> io::Result<Tail> {
    read_up_to(path, u64::MAX, MAX_BYTES)
}

/// Reads at most so many bytes of a transcript that come before this place in it.
pub(super) fn read_up_to(path: &Path, end: u64, most: u64) -> io::Result<Tail> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len().min(end);
    let mut start = length.saturating_sub(most);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::with_capacity((length - start) as usize);
    // It grows while it is read: what comes later, the next hook reads.
    file.take(length - start).read_to_end(&mut bytes)?;
    if start > 0 {
        let first = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |end| end + 1);
        bytes.drain(..first);
        start += first as u64;
    }
    let text = String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Ok(Tail { text, start })
}

/// One line that is not blank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'t> {
    /// From 1.
    pub number: usize,
    /// Where it begins in the text, in bytes.
    pub offset: usize,
    pub text: &'t str,
    /// No line break ends it: it is still being written.
    pub is_open: bool,
}

pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut offset = 0;
    text.split_inclusive('\n').zip(1..).filter_map(move |(line, number)| {
        let start = offset;
        offset += line.len();
        let trimmed = line.trim();
        (!trimmed.is_empty()).then_some(Line { number, offset: start, text: trimmed, is_open: !line.ends_with('\n') })
    })
}

/// Notes a line that could not be read.
pub(super) fn pass_over(report: &mut Report, line: Line<'_>, reason: impl std::fmt::Display) {
    if line.is_open {
        report.torn_last_line = Some(line.number);
    } else if report.bad_lines.len() < MAX_BAD_LINES {
        report.bad_lines.push(BadLine { line: line.number, reason: reason.to_string() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_file_the_last_whole_lines_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        std::fs::write(&path, "first\nsecond\nthird\n").unwrap();
        let tail = |most| read_up_to(&path, u64::MAX, most).unwrap();
        assert_eq!(tail(100), Tail { text: "first\nsecond\nthird\n".into(), start: 0 });
        assert_eq!(tail(9), Tail { text: "third\n".into(), start: 13 });
        assert_eq!(tail(3), Tail { text: String::new(), start: 19 });
        assert_eq!(read_up_to(&path, 13, 8).unwrap(), Tail { text: "second\n".into(), start: 6 });
        std::fs::write(&path, b"a\xff\n").unwrap();
        assert_eq!(tail(100).text, "a\u{fffd}\n");
    }

    #[test]
    fn lines_know_where_they_stand_and_whether_they_are_whole() {
        let all: Vec<_> =
            lines("é\r\n\n x\ny").map(|line| (line.number, line.offset, line.text, line.is_open)).collect();
        assert_eq!(all, [(1, 0, "é", false), (3, 5, "x", false), (4, 8, "y", true)]);
    }

    #[test]
    fn not_every_bad_line_of_a_hostile_file_is_told() {
        let mut report = Report::default();
        lines(&"{\n".repeat(10_000)).for_each(|line| pass_over(&mut report, line, "no JSON"));
        assert_eq!(report.bad_lines.len(), MAX_BAD_LINES);
    }
}
