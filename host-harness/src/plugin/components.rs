//! Components that are loaded once for a whole process.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Cache, Digest, LoadError, Plugin};

/// Loads components, each of them once, however many sessions use it. They are known by their content: a file that has
/// changed is another component for whoever loads it next, and the same for those who have it already.
///
/// What nobody uses any more is let go when something new is loaded, and not before: sessions that follow one another
/// share as well.
#[derive(Debug)]
pub struct Components {
    cache: Cache,
    loaded: Mutex<HashMap<Digest, Arc<Place>>>,
}

/// Where one component is; none: it is being loaded, or could not be.
type Place = Mutex<Option<Arc<Plugin>>>;

impl Components {
    /// None so far. What has to be compiled goes through the cache.
    pub fn new(cache: Cache) -> Self {
        Self { cache, loaded: Mutex::default() }
    }

    /// A component from a file, as the file is now.
    ///
    /// # Errors
    /// As [`LoadError`] says.
    pub fn load(&self, path: &Path) -> Result<Arc<Plugin>, LoadError> {
        self.from_bytes(&super::read(path)?)
    }

    /// A component from memory. While it is loaded, only who wants the same one waits. What could not be loaded is tried
    /// anew the next time.
    ///
    /// # Errors
    /// As [`LoadError`] says.
    pub fn from_bytes(&self, bytes: &[u8]) -> Result<Arc<Plugin>, LoadError> {
        self.of_content(bytes, blake3::hash(bytes))
    }

    /// As [`from_bytes`](Self::from_bytes), where the digest is known already; see [`Plugin::of_content`].
    ///
    /// # Errors
    /// As [`LoadError`] says.
    pub fn of_content(&self, bytes: &[u8], digest: Digest) -> Result<Arc<Plugin>, LoadError> {
        let place = self.place(digest);
        let mut component = lock(&place);
        if let Some(component) = &*component {
            return Ok(component.clone());
        }
        let loaded = Arc::new(Plugin::of_content(bytes, digest, &self.cache)?);
        *component = Some(loaded.clone());
        Ok(loaded)
    }

    fn place(&self, digest: Digest) -> Arc<Place> {
        let mut loaded = lock(&self.loaded);
        if let Some(place) = loaded.get(&digest) {
            return place.clone();
        }
        loaded.retain(|_, place| is_used(place));
        loaded.entry(digest).or_default().clone()
    }
}

/// Whether somebody has what is there, or is loading it.
fn is_used(place: &Arc<Place>) -> bool {
    Arc::strong_count(place) > 1 || lock(place).as_ref().is_some_and(|component| Arc::strong_count(component) > 1)
}

/// A thread that broke down while it loaded has left nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
