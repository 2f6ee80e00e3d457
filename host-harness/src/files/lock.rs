//! Locks that processes hold while they change a file, kept out of the user's folders.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use etcetera::BaseStrategy;

/// How long to wait for another process that changes the same file.
const PATIENCE: Duration = Duration::from_secs(10);
const BETWEEN_TRIES: Duration = Duration::from_millis(2);
const LONGEST_BETWEEN_TRIES: Duration = Duration::from_millis(32);

/// The folder of the lock files: one for each file that was ever changed, empty, named after a hash of its path. They
/// stay, since removing one would let two processes hold "the same" lock.
#[derive(Clone, Debug)]
pub struct Locks {
    folder: PathBuf,
    patience: Duration,
}

impl Locks {
    /// The locks of this user: in the cache folder, or where that cannot be written, such as in a sandbox with a
    /// read-only home, in the folder for temporary files.
    ///
    /// The runtime folder would be cleaner, but one process may know it and another may not, and they must meet.
    pub fn of_user() -> io::Result<Locks> {
        let strategy = etcetera::choose_base_strategy().ok();
        let cache = strategy.as_ref().map(|strategy| strategy.cache_dir().join("chaperone").join("locks"));
        let whose = strategy.as_ref().map(|strategy| strategy.home_dir().to_path_buf()).unwrap_or_default();
        let temporary = std::env::temp_dir().join(format!("chaperone-locks-{}", short_hash(&whose)));
        let candidates = cache.into_iter().chain([temporary]);
        Locks::in_first_writable(candidates)
    }

    /// Locks in a folder of the caller's choice; it is made when it is needed.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Locks {
        Locks { folder: folder.into(), patience: PATIENCE }
    }

    fn in_first_writable(candidates: impl IntoIterator<Item = PathBuf>) -> io::Result<Locks> {
        let mut latest = io::Error::from(io::ErrorKind::NotFound);
        for folder in candidates {
            let locks = Locks::in_folder(folder);
            match locks.open("probe") {
                Ok(_) => return Ok(locks),
                Err(error) => latest = io::Error::new(error.kind(), format!("{}: {error}", locks.folder.display())),
            }
        }
        Err(latest)
    }

    /// Waits for the lock of the file at `path`, which has no symlinks; it is held until the result is dropped.
    pub(super) fn hold(&self, path: &Path) -> io::Result<Lock> {
        self.hold_until(path, Instant::now() + self.patience)
    }

    /// Waits for the lock of this name until the deadline; it is held until the result is dropped.
    ///
    /// # Errors
    /// Where another process still has it then, or the lock file cannot be made.
    pub fn hold_until(&self, name: &Path, deadline: Instant) -> io::Result<Lock> {
        let file = self.open(&short_hash(name))?;
        let mut pause = BETWEEN_TRIES;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock(file)),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "another process has locked it"));
                }
                Err(TryLockError::WouldBlock) => thread::sleep(pause),
            }
            // Where many wait for long, their tries must not keep the one that works from working.
            pause = (pause * 2).min(LONGEST_BETWEEN_TRIES);
        }
    }

    fn open(&self, name: &str) -> io::Result<File> {
        std::fs::create_dir_all(&self.folder)?;
        OpenOptions::new().create(true).write(true).truncate(false).open(self.folder.join(format!("{name}.lock")))
    }
}

/// A lock that is held; closing its file lets it go.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "held, never read")] File);

fn short_hash(path: &Path) -> String {
    blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_excludes_others_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let locks = Locks { patience: Duration::ZERO, ..Locks::in_folder(folder.path()) };
        let held = locks.hold(Path::new("/a")).unwrap();
        assert_eq!(locks.hold(Path::new("/a")).unwrap_err().kind(), io::ErrorKind::TimedOut);
        locks.hold(Path::new("/b")).unwrap();
        drop(held);
        locks.hold(Path::new("/a")).unwrap();
    }

    #[test]
    fn where_the_first_folder_cannot_be_made_the_next_one_serves() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("file");
        std::fs::write(&blocked, "").unwrap();
        let good = folder.path().join("good");
        let locks = Locks::in_first_writable([blocked.join("locks"), good.clone()]).unwrap();
        assert_eq!(locks.folder, good);
        let error = Locks::in_first_writable([blocked.join("locks")]).unwrap_err();
        assert!(error.to_string().contains("file/locks"), "{error}");
    }
}
