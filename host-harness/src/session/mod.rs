//! Recorded sessions: what an agent wrote to its session file, and the hooks that it called while it did.
//!
//! [`pi`] reads a file into a tree of entries, and picks one branch of it; [`mod@steps`] tells a branch as the sequence of
//! hooks that a watcher would have met. Both are pure. [`read`] is the one place that touches a disk.

pub(crate) mod line;
pub mod pi;
pub mod steps;

use std::path::{Path, PathBuf};
use std::{fs, io};

pub use pi::{BranchEntry, Leaf, Recorded, SessionError};
pub use steps::{Step, TimedStep, steps};

/// Why a file gave no session.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("cannot read the session {path}: {source}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file holds something else.
    #[error("{path}: {source}", path = path.display())]
    NotASession {
        /// The file.
        path: PathBuf,
        /// What it holds.
        source: SessionError,
    },
}

/// Reads a session file of pi. Bytes that are not UTF-8 become U+FFFD, as in pi itself.
pub fn read(path: &Path) -> Result<Recorded, ReadError> {
    let bytes = fs::read(path).map_err(|source| ReadError::Unreadable { path: path.into(), source })?;
    pi::parse(&String::from_utf8_lossy(&bytes)).map_err(|source| ReadError::NotASession { path: path.into(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_even_where_its_bytes_are_not_utf_8() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        let mut bytes = b"{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/\xff\"}\n{\"type\":\"la".to_vec();
        bytes.push(0xe2);
        fs::write(&path, bytes).unwrap();
        let recorded = read(&path).unwrap();
        assert_eq!(recorded.cwd, "/\u{fffd}");
        assert_eq!(recorded.report.torn_last_line, Some(2));
    }

    #[test]
    fn errors_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        assert!(read(&path).unwrap_err().to_string().contains("notes.txt"));
        fs::write(&path, "remember the milk\n").unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("notes.txt") && error.contains("plain text"), "{error}");
    }
}
