//! The folders of a plugin: what `interface files` of the contract reads and writes.
//!
//! Neither `..` nor a symlink leaves a mount. Writes replace whole files, and hold a lock that other processes of this
//! program respect. A dry run keeps what is written in memory, where later reads find it. Beside folders there is the
//! mount of a [`Repository`], whose file is on no disk.

mod disk;
mod grant;
mod lock;
mod made;
mod overlay;
mod patch;
mod place;
mod rewrite;
mod storage;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use chaperone_contract::{FileError, Location};

pub use disk::SIZE_LIMIT;
pub use grant::{Access, BadGlob, Globs, Grant};
pub use lock::{Lock, Locks};
pub use made::Repository;
pub use overlay::Overlay;
pub use place::Folder;
pub use storage::Storage;

use crate::transaction::ReadFiles;
use disk::Unreadable;
use made::Made;
use patch::Unpatched;
use place::{Astray, Kind, Place};
use storage::Found;

/// The folders of one plugin, by name.
#[derive(Clone, Debug)]
pub struct Mounts {
    storage: Storage,
    mounts: BTreeMap<String, Mount>,
}

#[derive(Clone, Debug)]
enum Mount {
    Disk(OfDisk),
    Made(Made),
}

#[derive(Clone, Debug)]
struct OfDisk {
    folder: Folder,
    grant: Grant,
}

/// What a write did.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The file, as the plugin named it.
    pub location: Location,
    /// Its absolute path, symlinks followed: for people.
    pub path: PathBuf,
    /// Its text before; none where there was no file.
    pub before: Option<String>,
    /// Its text now; equal to `before` where there was nothing to do.
    pub after: String,
}

/// What tells whether a file or folder is still as it was: two stamps of one location are equal where nothing has
/// changed. A folder's stamp tells when names come and go, not when its files change.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamp {
    on_disk: Option<OnDisk>,
    in_memory: u64,
}

#[derive(Clone, Debug, PartialEq)]
struct OnDisk {
    kind: Kind,
    size: u64,
    modified: Option<SystemTime>,
    identity: u64,
}

impl Mounts {
    /// No folders yet.
    pub fn new(storage: Storage) -> Mounts {
        Mounts { storage, mounts: BTreeMap::new() }
    }

    /// Adds a folder, or puts another in the place of the one with this name.
    pub fn mount(&mut self, name: impl Into<String>, folder: Folder, grant: Grant) {
        self.mounts.insert(name.into(), Mount::Disk(OfDisk { folder, grant }));
    }

    /// Adds the state of a repository as a folder with the file `status`, which is there once it was made.
    pub fn mount_repository(&mut self, name: impl Into<String>, repository: Repository, read: Access) {
        self.mounts.insert(name.into(), Mount::Made(Made::new(repository, read)));
    }

    /// The whole file, without a byte order mark.
    pub fn read(&self, file: &Location) -> Result<String, FileError> {
        let target = match self.target(file)? {
            Target::Disk(target) => target,
            Target::Made { name, made, path } => return made.read(name, &path),
        };
        let found = target.find(Wish::Read)?;
        self.storage.look().text(&found).map_err(|error| target.unreadable(error))?.ok_or(FileError::NotFound)
    }

    /// The names directly inside a folder, sorted; folders end in `/`. Shows what may be read and what is on the way
    /// there. A symlink that leads nowhere, or out of the mount, is not shown.
    pub fn entries(&self, folder: &Location) -> Result<Vec<String>, FileError> {
        let target = match self.target(folder)? {
            Target::Disk(target) => target,
            Target::Made { name, made, path } => return made.entries(name, &path),
        };
        let found = target.find(Wish::List)?;
        let names = self.storage.look().names(&found).map_err(|error| target.io(error))?;
        let read = &target.mount.grant.read;
        let inside = |name: &str| match found.place.path.as_str() {
            "" => name.to_owned(),
            folder => format!("{folder}/{name}"),
        };
        let mut names = names.ok_or(FileError::NotFound)?;
        names.retain(|name| match name.strip_suffix('/') {
            Some(folder) => read.reaches_into(&inside(folder)),
            None => read.allows(&inside(name)),
        });
        Ok(names.into_iter().collect())
    }

    /// Writes the whole file and makes its folders. With `only_if_absent`, a file that is there is a conflict. A file
    /// that [`Mounts::read`] could not give, such as a picture, is left alone.
    pub fn write(&self, file: &Location, text: &str, only_if_absent: bool) -> Result<Change, FileError> {
        self.change(file, if only_if_absent { Edit::Create(text) } else { Edit::Write(text) })
    }

    /// Applies a JSON Patch (RFC 6902) to the file's document, which is `initial` where there is no file.
    ///
    /// What the patch does not touch keeps its text: layout, key order, the spelling of numbers. What it adds is
    /// indented as the file is, or with two spaces. The file ends in a line break, without a byte order mark.
    pub fn patch(&self, file: &Location, initial: &str, patch: &str) -> Result<Change, FileError> {
        self.change(file, Edit::Patch { initial, patch })
    }

    /// Where the text of a file comes from that the host makes.
    pub fn repository(&self, file: &Location) -> Result<&Repository, FileError> {
        match self.target(file)? {
            Target::Made { name, made, path } => made.repository(name, &path),
            Target::Disk(target) => Err(FileError::Denied(format!("`{target}` is on the disk, and is not made anew"))),
        }
    }

    /// Keeps the text of a file that the host has made; where there is none, what was made before is gone.
    pub fn keep(&self, file: &Location, text: Result<String, FileError>) -> Result<(), FileError> {
        let Target::Made { made, .. } = self.target(file)? else { return Err(FileError::NotFound) };
        let (text, outcome) = match text {
            Ok(text) => (Some(text), Ok(())),
            Err(error) => (None, Err(error)),
        };
        made.keep(text);
        outcome
    }

    /// The state of a file or folder; of one that the plugin may not read, that there is nothing. One that the host makes
    /// changes whenever the plugin asks for that, which is no news to it: it has always the same stamp.
    pub fn stamp(&self, location: &Location) -> Stamp {
        let nothing = Stamp { on_disk: None, in_memory: 0 };
        match self.target(location) {
            Ok(Target::Disk(target)) => match target.find(Wish::Read).or_else(|_| target.find(Wish::List)) {
                Ok(found) => self.storage.look().stamp(&found),
                Err(_) => nothing,
            },
            Ok(Target::Made { .. }) | Err(_) => nothing,
        }
    }

    fn change(&self, location: &Location, edit: Edit<'_>) -> Result<Change, FileError> {
        let target = match self.target(location)? {
            Target::Disk(target) => target,
            Target::Made { name, path, .. } => {
                return Err(FileError::Denied(format!("`{name}:{path}` is the host's to make; it cannot be written")));
            }
        };
        let to_lock = target.find(Wish::Write)?.real;
        let mut held = self.storage.hold(&to_lock).map_err(|error| target.io(error))?;
        // What was there before the lock was held may have been replaced since.
        let found = target.find(Wish::Write)?;
        if matches!(edit, Edit::Create(_)) && held.is_there(&found) {
            return Err(FileError::Conflict(format!("`{target}` is there already")));
        }
        let before = held.text(&found).map_err(|error| target.unreadable(error))?;
        let after = match edit {
            Edit::Write(text) | Edit::Create(text) => text.to_owned(),
            Edit::Patch { initial, patch } => {
                patch::patched(before.as_deref(), initial, patch).map_err(|why| match why {
                    Unpatched::NotJson(why) => FileError::NotJson(format!("`{target}`, {why}")),
                    Unpatched::Conflict(why) => FileError::Conflict(format!("`{target}`: {why}")),
                })?
            }
        };
        if after.len() as u64 > SIZE_LIMIT {
            return Err(FileError::TooLarge(after.len() as u64));
        }
        if before.as_ref() != Some(&after) {
            held.put(&found, &after).map_err(|error| target.io(error))?;
        }
        Ok(Change { location: location.clone(), path: found.real, before, after })
    }

    fn target(&self, location: &Location) -> Result<Target<'_>, FileError> {
        let Location { mount: name, path } = location;
        let Some((name, mount)) = self.mounts.get_key_value(name) else {
            let names: Vec<&str> = self.mounts.keys().map(String::as_str).collect();
            let there = if names.is_empty() { "none".to_owned() } else { format!("`{}`", names.join("`, `")) };
            return Err(FileError::Denied(format!("no mount `{name}` is granted; granted are: {there}")));
        };
        match place::normal(path) {
            Ok(path) => Ok(match mount {
                Mount::Disk(mount) => Target::Disk(OnMount { name, mount, path }),
                Mount::Made(made) => Target::Made { name, made, path },
            }),
            Err(why) => Err(FileError::Denied(format!("the path `{name}:{path}` {why}"))),
        }
    }
}

/// What becomes of a file.
enum Edit<'e> {
    Write(&'e str),
    Create(&'e str),
    Patch { initial: &'e str, patch: &'e str },
}

/// What a plugin wants of a path.
#[derive(Clone, Copy)]
enum Wish {
    Read,
    List,
    Write,
}

/// A path in normal form, in a mount that is there.
enum Target<'m> {
    Disk(OnMount<'m>),
    Made { name: &'m str, made: &'m Made, path: String },
}

/// A path in normal form, in a mount that is a folder of the disk.
struct OnMount<'m> {
    name: &'m str,
    mount: &'m OfDisk,
    path: String,
}

impl fmt::Display for OnMount<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.path)
    }
}

impl OnMount<'_> {
    /// Where the path leads. Both the path and the place that its symlinks lead to must be granted, or a symlink could
    /// reach around a pattern.
    fn find(&self, wish: Wish) -> Result<Found, FileError> {
        self.check(wish, &self.path)?;
        let folder = &self.mount.folder;
        let dir = folder.open().map_err(|error| self.io(error))?;
        let place = match &dir {
            Some(dir) => place::follow(dir, &self.path).map_err(|astray| match astray {
                Astray::Out(link) => {
                    FileError::Denied(format!("the symlink `{}:{link}` leads out of the mount", self.name))
                }
                Astray::Io(error) => self.io(error),
            })?,
            None => Place { path: self.path.clone(), kind: None },
        };
        self.check(wish, &place.path)?;
        let mount = folder.real_path().map_err(|error| self.io(error))?;
        let real = if place.path.is_empty() { mount } else { mount.join(&place.path) };
        Ok(Found { folder: folder.clone(), dir, place, real })
    }

    fn check(&self, wish: Wish, path: &str) -> Result<(), FileError> {
        let Grant { read, write } = &self.mount.grant;
        let (granted, verb, access) = match wish {
            Wish::Read => (read.allows(path), "read", read),
            Wish::List => (read.reaches_into(path), "read", read),
            Wish::Write => (write.allows(path), "write", write),
        };
        if granted {
            return Ok(());
        }
        let name = self.name;
        Err(FileError::Denied(format!("`{verb}` on `{name}:{path}` is not granted; in this mount it is on {access}")))
    }

    fn unreadable(&self, error: Unreadable) -> FileError {
        match error {
            Unreadable::TooLarge(size) => FileError::TooLarge(size),
            Unreadable::NotUtf8 => FileError::NotUtf8,
            // It was there a moment ago.
            Unreadable::Io(error) if error.kind() == io::ErrorKind::NotFound => FileError::NotFound,
            Unreadable::Io(error) => self.io(error),
        }
    }

    fn io(&self, error: io::Error) -> FileError {
        FileError::Io(format!("`{self}`: {error}"))
    }
}

impl ReadFiles for Mounts {
    fn read(&self, file: &Location) -> Result<String, FileError> {
        Mounts::read(self, file)
    }

    fn entries(&self, folder: &Location) -> Result<Vec<String>, FileError> {
        Mounts::entries(self, folder)
    }
}

#[cfg(test)]
mod tests;
