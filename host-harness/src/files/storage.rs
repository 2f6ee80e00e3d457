//! Where written files go: to the disk, or into memory over the disk.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;

use cap_std::fs::Dir;

use super::disk::{self, Unreadable};
use super::lock::{Lock, Locks};
use super::overlay::{Changes, Overlay};
use super::place::{Folder, Kind, Place};
use super::{OnDisk, Stamp};

/// Where written files go.
#[derive(Clone, Debug)]
pub enum Storage {
    /// To the disk, under locks that other processes respect.
    Disk(Locks),
    /// Into memory: a dry run. The disk is only read.
    Memory(Overlay),
}

impl Storage {
    /// For reading.
    pub(super) fn look(&self) -> Held<'_> {
        match self {
            Storage::Disk(_) => Held::Disk(None),
            Storage::Memory(overlay) => Held::Memory(overlay.hold()),
        }
    }

    /// For changing the file at `path`: nobody else changes it until the result is dropped.
    pub(super) fn hold(&self, path: &Path) -> io::Result<Held<'_>> {
        match self {
            Storage::Disk(locks) => Ok(Held::Disk(Some(locks.hold(path)?))),
            Storage::Memory(overlay) => Ok(Held::Memory(overlay.hold())),
        }
    }
}

/// A location that was looked up on the disk.
pub(super) struct Found {
    /// The mount's.
    pub folder: Folder,
    /// The mount's, where it exists.
    pub dir: Option<Dir>,
    pub place: Place,
    /// Absolute, symlinks followed.
    pub real: PathBuf,
}

/// A storage while it is looked at or changed.
pub(super) enum Held<'s> {
    Disk(#[expect(dead_code, reason = "held, never read")] Option<Lock>),
    Memory(MutexGuard<'s, Changes>),
}

impl Held<'_> {
    pub(super) fn is_there(&self, found: &Found) -> bool {
        found.place.kind.is_some()
            || self
                .changes()
                .is_some_and(|changes| changes.text(&found.real).is_some() || changes.is_folder(&found.real))
    }

    /// None: there is no such file.
    pub(super) fn text(&self, found: &Found) -> Result<Option<String>, Unreadable> {
        if let Some(changes) = self.changes() {
            if let Some(text) = changes.text(&found.real) {
                return Ok(Some(disk::without_mark(text.to_owned())));
            }
            if changes.is_folder(&found.real) {
                return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
            }
        }
        match (found.place.kind, &found.dir) {
            (Some(Kind::File), Some(dir)) => disk::read(dir, &found.place.path).map(Some),
            (Some(Kind::Folder), _) => Err(io::Error::from(io::ErrorKind::IsADirectory).into()),
            (Some(Kind::Special), _) => Err(io::Error::other("not a regular file").into()),
            (None, _) | (_, None) => Ok(None),
        }
    }

    /// None: there is no such folder.
    pub(super) fn names(&self, found: &Found) -> io::Result<Option<BTreeSet<String>>> {
        let mut names = self.changes().map(|changes| changes.names(&found.real)).unwrap_or_default();
        let is_file = self.changes().is_some_and(|changes| changes.text(&found.real).is_some());
        match (found.place.kind, &found.dir) {
            (Some(Kind::Folder), Some(dir)) => names.extend(disk::names(dir, &found.place.path)?),
            (Some(Kind::File | Kind::Special), _) => return Err(io::ErrorKind::NotADirectory.into()),
            _ if is_file => return Err(io::ErrorKind::NotADirectory.into()),
            _ if names.is_empty() => return Ok(None),
            _ => {}
        }
        Ok(Some(names))
    }

    /// Replaces the whole file; makes its folders.
    pub(super) fn put(&mut self, found: &Found, text: &str) -> io::Result<()> {
        match self {
            Held::Disk(_) => disk::replace(&found.folder.create()?, &found.place.path, text),
            Held::Memory(changes) if changes.is_below_a_file(&found.real) => Err(io::ErrorKind::NotADirectory.into()),
            Held::Memory(changes) => {
                changes.put(found.real.clone(), text.to_owned());
                Ok(())
            }
        }
    }

    pub(super) fn stamp(&self, found: &Found) -> Stamp {
        let path = if found.place.path.is_empty() { "." } else { &found.place.path };
        let metadata =
            found.dir.as_ref().filter(|_| found.place.kind.is_some()).and_then(|dir| dir.metadata(path).ok());
        let on_disk = metadata.map(|metadata| OnDisk {
            kind: Kind::of(&metadata),
            size: metadata.len(),
            modified: metadata.modified().ok().map(|time| time.into_std()),
            identity: disk::identity(&metadata),
        });
        Stamp { on_disk, in_memory: self.changes().map_or(0, |changes| changes.revision(&found.real)) }
    }

    fn changes(&self) -> Option<&Changes> {
        match self {
            Held::Disk(_) => None,
            Held::Memory(changes) => Some(changes),
        }
    }
}
