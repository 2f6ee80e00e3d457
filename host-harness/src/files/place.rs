//! From a path that a plugin names to a place in the file system that lies inside its mount.

use std::io;
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata};

/// As many symlinks as Linux follows in one path.
const SYMLINK_LIMIT: u32 = 40;

/// A folder of the file system. It need not exist before something is written to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Folder {
    anchor: PathBuf,
    below: String,
}

impl Folder {
    /// The folder at `path`, wherever symlinks on the way lead: for paths that the user chose.
    pub fn at(path: impl Into<PathBuf>) -> Folder {
        Folder { anchor: path.into(), below: String::new() }
    }

    /// The folder `below` (relative, with `/`) inside `anchor`. Symlinks in `below` may not lead out of `anchor`: for
    /// folders that came with a repository.
    pub fn inside(anchor: impl Into<PathBuf>, below: &str) -> Folder {
        Folder { anchor: anchor.into(), below: below.to_owned() }
    }

    /// Where it is, symlinks not yet followed.
    pub fn path(&self) -> PathBuf {
        if self.below.is_empty() { self.anchor.clone() } else { self.anchor.join(&self.below) }
    }

    /// None: it does not exist.
    pub(super) fn open(&self) -> io::Result<Option<Dir>> {
        let opened = Dir::open_ambient_dir(&self.anchor, ambient_authority());
        let opened = opened.and_then(|dir| if self.below.is_empty() { Ok(dir) } else { dir.open_dir(&self.below) });
        match opened {
            Ok(dir) => Ok(Some(dir)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens it, made first where it is missing.
    pub(super) fn create(&self) -> io::Result<Dir> {
        Dir::create_ambient_dir_all(&self.anchor, ambient_authority())?;
        let dir = Dir::open_ambient_dir(&self.anchor, ambient_authority())?;
        if self.below.is_empty() {
            return Ok(dir);
        }
        dir.create_dir_all(&self.below)?;
        dir.open_dir(&self.below)
    }

    /// Its path with every symlink followed, as far as it exists; equal for equal places.
    pub(super) fn real_path(&self) -> io::Result<PathBuf> {
        let path = std::path::absolute(self.path())?;
        for existing in path.ancestors() {
            match existing.canonicalize() {
                Ok(real) => {
                    let rest = path.strip_prefix(existing).expect("an ancestor is a prefix");
                    return Ok(if rest.as_os_str().is_empty() { real } else { real.join(rest) });
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            }
        }
        Ok(path)
    }
}

/// Brings a path to normal form: names with `/` between them, no `.`, no empty name. Refuses what leaves the mount,
/// with the reason.
pub(super) fn normal(path: &str) -> Result<String, &'static str> {
    if path.starts_with('/') {
        return Err("is absolute; paths are relative to the mount");
    }
    if path.contains('\\') {
        return Err("has a `\\`; names are separated by `/`");
    }
    if path.contains('\0') {
        return Err("has a NUL character");
    }
    let names: Vec<&str> = path.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    if names.contains(&"..") {
        return Err("has a `..`; a mount cannot be left");
    }
    if cfg!(windows) && names.iter().any(|name| name.contains(':')) {
        return Err("has a `:`; it cannot name a drive or a stream");
    }
    Ok(names.join("/"))
}

/// Where a path leads once its symlinks are followed.
#[derive(Debug, PartialEq)]
pub(super) struct Place {
    /// Relative to the mount, in normal form, without symlinks.
    pub path: String,
    /// None: nothing is there.
    pub kind: Option<Kind>,
}

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    File,
    Folder,
    /// A pipe, a socket or a device.
    Special,
}

impl Kind {
    pub(super) fn of(metadata: &Metadata) -> Kind {
        if metadata.is_dir() {
            Kind::Folder
        } else if metadata.is_file() {
            Kind::File
        } else {
            Kind::Special
        }
    }
}

/// Why a path leads nowhere.
#[derive(Debug)]
pub(super) enum Astray {
    /// The symlink of this path leads out of the mount.
    Out(String),
    Io(io::Error),
}

impl From<io::Error> for Astray {
    fn from(error: io::Error) -> Self {
        Astray::Io(error)
    }
}

/// Follows `path`, which is in normal form, through the folder. Beyond the first name that does not exist, it is taken
/// as it stands.
pub(super) fn follow(dir: &Dir, path: &str) -> Result<Place, Astray> {
    let mut ahead: Vec<String> = path.split('/').filter(|name| !name.is_empty()).rev().map(str::to_owned).collect();
    let mut real: Vec<String> = Vec::new();
    let mut kind = Some(Kind::Folder);
    let mut symlinks = 0;
    let mut latest_link = String::new();
    while let Some(name) = ahead.pop() {
        if name == ".." {
            if real.pop().is_none() {
                return Err(Astray::Out(latest_link));
            }
            kind = Some(Kind::Folder);
            continue;
        }
        match kind {
            Some(Kind::Folder) | None => real.push(name),
            Some(_) => return Err(io::Error::from(io::ErrorKind::NotADirectory).into()),
        }
        if kind.is_none() {
            continue;
        }
        let here = real.join("/");
        let metadata = match dir.symlink_metadata(&here) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                kind = None;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        if !metadata.is_symlink() {
            kind = Some(Kind::of(&metadata));
            continue;
        }
        symlinks += 1;
        if symlinks > SYMLINK_LIMIT {
            return Err(io::Error::other(format!("too many symlinks, the last one `{here}`")).into());
        }
        let link = dir.read_link_contents(&here)?;
        ahead.extend(link_names(&link).ok_or_else(|| Astray::Out(here.clone()))?.into_iter().rev());
        real.pop();
        latest_link = here;
    }
    Ok(Place { path: real.join("/"), kind })
}

/// The names of a symlink's content; none where it is absolute or not UTF-8.
fn link_names(link: &Path) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for component in link.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => names.push("..".to_owned()),
            Component::Normal(name) => names.push(name.to_str()?.to_owned()),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dots_and_doubled_slashes_vanish() {
        assert_eq!(normal("./a//b/./c/").unwrap(), "a/b/c");
        assert_eq!(normal("").unwrap(), "");
        assert_eq!(normal("a..b/...").unwrap(), "a..b/...");
    }

    #[test]
    fn what_leaves_the_mount_is_refused() {
        for path in ["/etc/passwd", "..", "a/../../b", "a/../b", "..\\b", "a\0"] {
            assert!(normal(path).is_err(), "{path:?}");
        }
    }

    proptest! {
        #[test]
        fn a_normal_path_has_no_way_up_and_stays_normal(path in "[a./\\\\ ]{0,12}") {
            if let Ok(once) = normal(&path) {
                prop_assert!(!once.starts_with('/') && once.split('/').all(|name| name != ".."));
                prop_assert_eq!(normal(&once).unwrap(), once);
            }
        }
    }

    #[cfg(unix)]
    mod symlinks {
        use std::os::unix::fs::symlink;

        use super::*;

        fn folder() -> (tempfile::TempDir, Dir) {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(folder.path().join("in/deep")).unwrap();
            std::fs::write(folder.path().join("in/file"), "").unwrap();
            let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
            (folder, dir)
        }

        #[test]
        fn a_symlink_is_followed_to_its_end_inside() {
            let (folder, dir) = folder();
            symlink("deep/../file", folder.path().join("in/one")).unwrap();
            symlink("in/one", folder.path().join("two")).unwrap();
            let place = follow(&dir, "two").unwrap();
            assert_eq!(place, Place { path: "in/file".into(), kind: Some(Kind::File) });
        }

        #[test]
        fn a_symlink_to_nothing_leads_to_where_the_file_would_be() {
            let (folder, dir) = folder();
            symlink("in/later", folder.path().join("link")).unwrap();
            assert_eq!(follow(&dir, "link").unwrap(), Place { path: "in/later".into(), kind: None });
        }

        #[test]
        fn a_symlink_out_is_named() {
            let (folder, dir) = folder();
            symlink("../../x", folder.path().join("in/up")).unwrap();
            symlink("/etc", folder.path().join("root")).unwrap();
            assert!(matches!(follow(&dir, "in/up").unwrap_err(), Astray::Out(link) if link == "in/up"));
            assert!(matches!(follow(&dir, "root/passwd").unwrap_err(), Astray::Out(link) if link == "root"));
        }

        #[test]
        fn a_ring_of_symlinks_ends_in_an_error() {
            let (folder, dir) = folder();
            symlink("b", folder.path().join("a")).unwrap();
            symlink("a", folder.path().join("b")).unwrap();
            let Astray::Io(error) = follow(&dir, "a").unwrap_err() else { panic!("an I/O error") };
            assert!(error.to_string().contains("too many symlinks"), "{error}");
        }

        #[test]
        fn a_file_is_no_folder() {
            let (_folder, dir) = folder();
            let Astray::Io(error) = follow(&dir, "in/file/x").unwrap_err() else { panic!("an I/O error") };
            assert_eq!(error.kind(), io::ErrorKind::NotADirectory);
        }
    }
}
