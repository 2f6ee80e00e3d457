//! Whole files read from and written to the disk.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};

use cap_std::fs::{Dir, Metadata};
use cap_tempfile::TempFile;

use super::place::{Kind, Place, follow};

/// The largest file that is read, and the largest text that is written, in bytes: 4 MiB.
pub const SIZE_LIMIT: u64 = 4 << 20;

/// The byte order mark.
const MARK: char = '\u{feff}';

/// Why a file has no text to give.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// Its size in bytes.
    TooLarge(u64),
    NotUtf8,
    Io(io::Error),
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        Unreadable::Io(error)
    }
}

/// The text of a regular file, without a byte order mark.
pub(super) fn read(dir: &Dir, path: &str) -> Result<String, Unreadable> {
    let file = dir.open(path)?;
    let size = file.metadata()?.len();
    if size > SIZE_LIMIT {
        return Err(Unreadable::TooLarge(size));
    }
    let mut bytes = Vec::with_capacity(size as usize);
    (&file).take(SIZE_LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > SIZE_LIMIT {
        return Err(Unreadable::TooLarge(file.metadata()?.len()));
    }
    String::from_utf8(bytes).map(without_mark).map_err(|_| Unreadable::NotUtf8)
}

/// The text without a byte order mark at its start.
pub(super) fn without_mark(mut text: String) -> String {
    if text.starts_with(MARK) {
        text.drain(..MARK.len_utf8());
    }
    text
}

/// The names in a folder; those of folders end in `/`. Leaves out symlinks that lead nowhere or out of the mount, and
/// names that are not UTF-8.
pub(super) fn names(dir: &Dir, path: &str) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in dir.read_dir(if path.is_empty() { "." } else { path })? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let inside = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
        let Ok(Place { kind: Some(kind), .. }) = follow(dir, &inside) else { continue };
        names.insert(if kind == Kind::Folder { format!("{name}/") } else { name });
    }
    Ok(names)
}

/// Puts a new file in the place of the one at `path`, or where none is; its folders are made. Whoever reads sees the
/// old text or the new one, and after a crash one of them is there. The permissions of the old file are kept, and a file
/// that is read-only is left alone, although its folder would allow the replacement.
pub(super) fn replace(dir: &Dir, path: &str, text: &str) -> io::Result<()> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let opened;
    let folder = if folder.is_empty() {
        dir
    } else {
        dir.create_dir_all(folder)?;
        opened = dir.open_dir(folder)?;
        &opened
    };
    let mut file = TempFile::new(folder)?;
    file.write_all(text.as_bytes())?;
    match folder.metadata(name) {
        Ok(old) if old.permissions().readonly() => {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
        }
        Ok(old) => file.as_file().set_permissions(old.permissions())?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    file.as_file().sync_all()?;
    file.replace(name)?;
    // Makes the new name survive a crash. Some file systems cannot, and the file stands in its place all the same.
    if cfg!(unix) {
        let _unsynced = folder.open(".").and_then(|names| names.sync_all());
    }
    Ok(())
}

/// Which file it is: a replaced file is another one, even with the same size and time.
#[cfg(unix)]
pub(super) fn identity(metadata: &Metadata) -> u64 {
    cap_std::fs::MetadataExt::ino(metadata)
}

/// Not known without opening it.
#[cfg(not(unix))]
pub(super) fn identity(_metadata: &Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use cap_std::ambient_authority;

    use super::*;

    fn folder() -> (tempfile::TempDir, Dir) {
        let folder = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        (folder, dir)
    }

    #[test]
    fn a_file_of_just_the_limit_is_read_and_one_byte_more_is_not() {
        let (folder, dir) = folder();
        let mut text = "x".repeat(SIZE_LIMIT as usize);
        std::fs::write(folder.path().join("f"), &text).unwrap();
        assert_eq!(read(&dir, "f").unwrap().len() as u64, SIZE_LIMIT);
        text.push('x');
        std::fs::write(folder.path().join("f"), &text).unwrap();
        assert!(matches!(read(&dir, "f").unwrap_err(), Unreadable::TooLarge(size) if size == SIZE_LIMIT + 1));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_no_text() {
        let (folder, dir) = folder();
        std::fs::write(folder.path().join("f"), b"caf\xe9").unwrap();
        assert!(matches!(read(&dir, "f").unwrap_err(), Unreadable::NotUtf8));
    }

    #[test]
    fn a_byte_order_mark_is_left_out_and_no_line_end_is_changed() {
        let (folder, dir) = folder();
        std::fs::write(folder.path().join("f"), "\u{feff}a\r\nb\n").unwrap();
        assert_eq!(read(&dir, "f").unwrap(), "a\r\nb\n");
    }

    #[test]
    fn replacing_makes_folders_and_leaves_nothing_beside_the_file() {
        let (folder, dir) = folder();
        replace(&dir, "a/b/f", "one").unwrap();
        replace(&dir, "a/b/f", "two").unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("a/b/f")).unwrap(), "two");
        assert_eq!(std::fs::read_dir(folder.path().join("a/b")).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn replacing_keeps_the_permissions() {
        use std::os::unix::fs::PermissionsExt;

        let (folder, dir) = folder();
        let path = folder.path().join("f");
        std::fs::write(&path, "one").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        replace(&dir, "f", "two").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn a_read_only_file_is_left_alone() {
        use std::os::unix::fs::PermissionsExt;

        let (folder, dir) = folder();
        let path = folder.path().join("f");
        std::fs::write(&path, "one").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
        assert_eq!(replace(&dir, "f", "two").unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
    }
}
