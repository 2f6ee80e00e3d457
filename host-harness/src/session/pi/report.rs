//! What reading a session met on its way.

use std::collections::BTreeMap;
use std::fmt;

use chaperone_contract::EntryId;

/// What reading a session passed over or mended. Lines count from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The file's version, where it is newer than what is known here; it was read like the newest known one.
    pub newer_version: Option<u32>,
    /// How often something without a known meaning occurred: an entry's type; `message/ROLE`; `content/TYPE` for a part
    /// of a message; `stopReason/REASON`. Such entries are kept as `other`, such parts are left out.
    pub unknown_types: BTreeMap<String, usize>,
    /// The last line, where it was cut short while it was written.
    pub torn_last_line: Option<usize>,
    /// Lines that gave no entry, in order.
    pub bad_lines: Vec<BadLine>,
    /// Entries that were kept, but not quite as they stand in the file.
    pub mended: Vec<Mended>,
}

/// A line that gave no entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Its number.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// An entry that is not quite as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mended {
    /// The number of its line.
    pub line: usize,
    /// What was done to it.
    pub mend: Mend,
}

/// What was done to an entry so that it could be kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mend {
    /// Half of a surrogate pair is no Unicode text; pi writes it where a text was cut in the middle of a character.
    #[error("halves of surrogate pairs became U+FFFD")]
    LoneSurrogates,
    /// It has no readable time, so it got that of the entry before it.
    #[error("without a readable `timestamp`; takes the time of the entry before it")]
    NoTimestamp,
    /// No entry has the id that it names as its parent; like in pi, it is a root.
    #[error("its parent `{0}` is missing; branches begin here")]
    MissingParent(EntryId),
    /// It would be its own ancestor through this parent; it is a root instead.
    #[error("its parent `{0}` descends from it; branches begin here")]
    Cycle(EntryId),
}

impl Report {
    /// Whether the whole file was read as it stands.
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn count_unknown(&mut self, what: String) {
        *self.unknown_types.entry(what).or_default() += 1;
    }

    pub(super) fn pass_over(&mut self, line: usize, reason: impl Into<String>) {
        self.bad_lines.push(BadLine { line, reason: reason.into() });
    }

    pub(super) fn mend(&mut self, line: usize, mend: Mend) {
        self.mended.push(Mended { line, mend });
    }

    pub(super) fn sort(&mut self) {
        self.bad_lines.sort_by_key(|bad| bad.line);
        self.mended.sort_by_key(|mended| mended.line);
    }
}

/// One line for each remark; nothing where the report is clean.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(version) = self.newer_version {
            writeln!(f, "version {version} of the format is not known here, read as {}", super::NEWEST_VERSION)?;
        }
        for (what, times) in &self.unknown_types {
            writeln!(f, "unknown: {what} ({times})")?;
        }
        for BadLine { line, reason } in &self.bad_lines {
            writeln!(f, "line {line} passed over: {reason}")?;
        }
        for Mended { line, mend } in &self.mended {
            writeln!(f, "line {line}: {mend}")?;
        }
        match self.torn_last_line {
            Some(line) => writeln!(f, "line {line}, the last one, is cut short and passed over"),
            None => Ok(()),
        }
    }
}
