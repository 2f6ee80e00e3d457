//! Files that are on no disk: the host makes them when a plugin asks for that, and keeps them for this plugin.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use chaperone_contract::FileError;

use super::Access;

/// The only file in the mount of a repository.
const STATUS: &str = "status";

/// Where the text of the file `status` comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Repository {
    /// From git: the repository that this folder is in.
    Of(PathBuf),
    /// What git said was written down.
    Said(String),
    /// From nowhere, for this reason, in words that stand alone.
    OutOfReach(String),
}

/// The mount of a repository. Copies share what was made.
#[derive(Clone, Debug)]
pub(super) struct Made {
    repository: Repository,
    read: Access,
    /// The text, once it was made.
    text: Arc<Mutex<Option<String>>>,
}

impl Made {
    pub(super) fn new(repository: Repository, read: Access) -> Self {
        Self { repository, read, text: Arc::default() }
    }

    /// Where the text of a file comes from; `mount` is what the plugin calls this.
    pub(super) fn repository(&self, mount: &str, path: &str) -> Result<&Repository, FileError> {
        self.check(mount, path)?;
        Ok(&self.repository)
    }

    pub(super) fn keep(&self, text: Option<String>) {
        *self.text() = text;
    }

    pub(super) fn read(&self, mount: &str, path: &str) -> Result<String, FileError> {
        self.check(mount, path)?;
        self.text().clone().ok_or(FileError::NotFound)
    }

    pub(super) fn entries(&self, mount: &str, path: &str) -> Result<Vec<String>, FileError> {
        if !path.is_empty() {
            return Err(FileError::NotFound);
        }
        self.check(mount, STATUS)?;
        Ok(self.text().iter().map(|_| STATUS.to_owned()).collect())
    }

    fn check(&self, mount: &str, path: &str) -> Result<(), FileError> {
        match path {
            STATUS if self.read.allows(STATUS) => Ok(()),
            STATUS => Err(FileError::Denied(format!(
                "`read` on `{mount}:{STATUS}` is not granted; in this mount it is on {}",
                self.read
            ))),
            _ => Err(FileError::NotFound),
        }
    }

    fn text(&self) -> MutexGuard<'_, Option<String>> {
        self.text.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
