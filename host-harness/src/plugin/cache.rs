//! Compiled components on disk, so that each is compiled once.
//!
//! What is in the cache is native code. It is loaded only from a folder that belongs to the user and that nobody else
//! can write to.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use wasmtime::component::Component;

use super::{Digest, LoadError};
use crate::engine::Engine;

/// The end of a name while its file is being written.
const UNFINISHED: &str = "tmp";

/// Nobody writes one file for longer.
const WRITTEN_WITHIN: Duration = Duration::from_secs(60 * 60);

/// Where compiled components are kept.
#[derive(Clone, Debug)]
pub enum Cache {
    /// In this folder.
    Folder(PathBuf),
    /// Nowhere: each is compiled when it is loaded.
    None,
}

impl Cache {
    /// The user's own cache folder, or none where there is no such place.
    pub fn of_user() -> Self {
        use etcetera::BaseStrategy as _;
        match etcetera::choose_base_strategy() {
            Ok(strategy) => Self::Folder(strategy.cache_dir().join("chaperone/components")),
            Err(_) => Self::None,
        }
    }

    /// The compiled form of a component. A cache that cannot be read or written only costs time.
    pub(super) fn component(&self, engine: &Engine, bytes: &[u8], digest: &Digest) -> Result<Component, LoadError> {
        let Some(file) = self.file(engine, digest) else { return compile(engine, bytes) };
        if let Some(component) = load(engine, &file) {
            return Ok(component);
        }
        let component = compile(engine, bytes)?;
        // A full disk or a read-only home must not keep a plugin from running.
        let _ = component.serialize().map(|compiled| save(&file, &compiled));
        Ok(component)
    }

    fn file(&self, engine: &Engine, digest: &Digest) -> Option<PathBuf> {
        let Self::Folder(folder) = self else { return None };
        let folder = folder.join(format!("{:016x}", engine.fingerprint()));
        create_private(&folder).ok()?;
        is_private(&folder).then(|| folder.join(format!("{}.cwasm", digest.to_hex())))
    }
}

fn compile(engine: &Engine, bytes: &[u8]) -> Result<Component, LoadError> {
    Component::from_binary(engine.wasmtime(), bytes).map_err(|error| match bytes.get(..8) {
        Some(b"\0asm\x01\0\0\0") => LoadError::CoreModule,
        _ => LoadError::NotAComponent(format!("{error:#}")),
    })
}

#[allow(unsafe_code, reason = "wasmtime has no safe way to load compiled code")]
fn load(engine: &Engine, file: &Path) -> Option<Component> {
    if !file.exists() {
        return None;
    }
    // SAFETY: the file was written by `save` in a folder that only this user can write to (`is_private`), under a name
    // that holds the hash of the component and of the engine; it is replaced as a whole, never changed in place.
    unsafe { Component::deserialize_file(engine.wasmtime(), file) }.ok()
}

/// Puts the file in place as a whole, so that no process ever maps half of it.
fn save(file: &Path, compiled: &[u8]) -> std::io::Result<()> {
    let unfinished = file.with_extension(format!("{}.{UNFINISHED}", std::process::id()));
    fs::write(&unfinished, compiled)?;
    fs::rename(&unfinished, file).inspect_err(|_| _ = fs::remove_file(&unfinished))?;
    file.parent().map_or(Ok(()), sweep)
}

/// Removes what processes have left that ended while they wrote.
fn sweep(folder: &Path) -> std::io::Result<()> {
    for file in fs::read_dir(folder)? {
        let file = file?;
        let is_unfinished = file.path().extension().is_some_and(|extension| extension == UNFINISHED);
        if is_unfinished && file.metadata()?.modified()?.elapsed().is_ok_and(|age| age > WRITTEN_WITHIN) {
            fs::remove_file(file.path())?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn create_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(unix)]
fn is_private(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let user = rustix::process::geteuid().as_raw();
    fs::metadata(folder).is_ok_and(|folder| folder.uid() == user && folder.mode() & 0o022 == 0)
}

#[cfg(not(unix))]
fn create_private(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(not(unix))]
fn is_private(_: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn what_a_process_left_half_written_is_removed_with_the_next_file_and_what_is_being_written_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (name, hours) in [("a.1.tmp", 2), ("b.2.tmp", 0), ("c.cwasm", 2)] {
            let file = fs::File::create(path(name)).unwrap();
            file.set_modified(SystemTime::now() - hours * WRITTEN_WITHIN).unwrap();
        }
        save(&path("d.cwasm"), b"compiled").unwrap();
        let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["b.2.tmp", "c.cwasm", "d.cwasm"]);
    }
}
