//! Compiled components on disk, so that each is compiled once.
//!
//! What is in the cache is native code. It is loaded only from a folder that belongs to the user and that nobody else
//! can write to.

use std::fs;
use std::path::{Path, PathBuf};

use wasmtime::component::Component;

use super::{Digest, LoadError};
use crate::engine::Engine;

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
    let unfinished = file.with_extension(format!("{}.tmp", std::process::id()));
    fs::write(&unfinished, compiled)?;
    fs::rename(&unfinished, file).inspect_err(|_| _ = fs::remove_file(&unfinished))
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
