//! Changes that stay in memory, over files that stay as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Files written in a dry run. Clones share one content, so that several plugins see each other's changes.
#[derive(Clone, Debug, Default)]
pub struct Overlay(Arc<Mutex<Changes>>);

impl Overlay {
    /// No changes yet.
    pub fn new() -> Overlay {
        Overlay::default()
    }

    pub(super) fn hold(&self) -> MutexGuard<'_, Changes> {
        // A change is one insertion: whoever panicked while holding the lock left nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The files by absolute path, without symlinks.
#[derive(Debug, Default)]
pub(super) struct Changes {
    files: BTreeMap<PathBuf, Written>,
    revision: u64,
}

#[derive(Debug)]
struct Written {
    text: String,
    revision: u64,
}

impl Changes {
    pub(super) fn text(&self, path: &Path) -> Option<&str> {
        self.files.get(path).map(|written| written.text.as_str())
    }

    pub(super) fn put(&mut self, path: PathBuf, text: String) {
        self.revision += 1;
        self.files.insert(path, Written { text, revision: self.revision });
    }

    /// The names directly inside a folder; none where nothing was written below it. Folders end in `/`.
    pub(super) fn names(&self, folder: &Path) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for (path, _) in self.below(folder) {
            let rest = path.strip_prefix(folder).expect("it is below");
            let mut components = rest.components();
            if let Some(name) = components.next().and_then(|name| name.as_os_str().to_str()) {
                names.insert(if components.next().is_some() { format!("{name}/") } else { name.to_owned() });
            }
        }
        names
    }

    /// Whether files were written below `path`, which makes it a folder.
    pub(super) fn is_folder(&self, path: &Path) -> bool {
        self.below(path).next().is_some()
    }

    /// Whether a file was written at a place above `path`, which leaves no room for it.
    pub(super) fn is_below_a_file(&self, path: &Path) -> bool {
        path.ancestors().skip(1).any(|above| self.files.contains_key(above))
    }

    /// Grows with each change of the file, or of a file below the folder; 0 where there was none.
    pub(super) fn revision(&self, path: &Path) -> u64 {
        let itself = self.files.get(path).map(|written| written.revision);
        let newest_below = self.below(path).map(|(_, written)| written.revision).max();
        itself.max(newest_below).unwrap_or(0)
    }

    fn below(&self, folder: &Path) -> impl Iterator<Item = (&PathBuf, &Written)> {
        self.files
            .range(folder.to_path_buf()..)
            .take_while(move |(path, _)| path.starts_with(folder))
            .filter(move |(path, _)| path.as_path() != folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(paths: &[&str]) -> Changes {
        let mut changes = Changes::default();
        for path in paths {
            changes.put(PathBuf::from(path), String::new());
        }
        changes
    }

    #[test]
    fn a_folder_shows_what_was_written_directly_and_deeper() {
        let changes = changes(&["/p/a", "/p/b/c", "/p/b/d/e", "/pq", "/p.x/y"]);
        assert_eq!(changes.names(Path::new("/p")), BTreeSet::from(["a".to_owned(), "b/".to_owned()]));
        assert!(changes.is_folder(Path::new("/p/b/d")));
        assert!(!changes.is_folder(Path::new("/p/a")));
        assert!(changes.is_below_a_file(Path::new("/p/a/x")));
        assert!(!changes.is_below_a_file(Path::new("/p/b/x")));
    }

    #[test]
    fn every_change_below_moves_the_revision() {
        let mut changes = changes(&["/p/a"]);
        let before = changes.revision(Path::new("/p"));
        changes.put(PathBuf::from("/q"), String::new());
        assert_eq!(changes.revision(Path::new("/p")), before);
        changes.put(PathBuf::from("/p/a"), "same size or not".into());
        assert!(changes.revision(Path::new("/p")) > before);
        assert_eq!(changes.revision(Path::new("/nowhere")), 0);
    }
}
