//! A component, loaded: its hooks can be called, each on an instance of its own.

mod cache;
mod components;
mod exports;
mod imports;

use std::path::Path;
use std::sync::Arc;

use chaperone_contract::{Effect, Event, Level};
use wasmtime::Store;
use wasmtime::component::{Component, InstancePre, Linker};

pub use cache::Cache;
pub use components::Components;

use crate::engine::Engine;
use crate::transaction::{Cause, Committed, Failure, FileRead, Input, Limits, Outcome};
use exports::Exports;
use imports::Call;

/// A component that meets the contract.
pub struct Plugin {
    engine: Engine,
    instance: InstancePre<Call>,
    exports: Exports,
    digest: Digest,
}

/// The content of a component, as a hash.
pub type Digest = blake3::Hash;

/// Why a component cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {path}")]
    Read {
        /// The file.
        path: std::path::PathBuf,
        /// The operating system's words.
        source: std::io::Error,
    },
    /// It is a core module: somebody forgot a step.
    #[error(
        "this is a core WebAssembly module, not a component; encode it first: `wasm-tools component new module.wasm -o component.wasm`"
    )]
    CoreModule,
    /// It is no component that the engine can compile.
    #[error("this is not a WebAssembly component: {0}")]
    NotAComponent(String),
    /// It wants something that the contract does not have.
    #[error("the component imports {0}, which is not part of the contract chaperone:agent@{version}", version = chaperone_contract::VERSION)]
    ForeignImport(String),
    /// It does not meet the contract.
    #[error("the component does not meet the contract chaperone:agent@{version}: {0}", version = chaperone_contract::VERSION)]
    Contract(String),
    /// The engine cannot be made.
    #[error("this machine cannot run WebAssembly: {0}")]
    Engine(String),
}

impl Plugin {
    /// Loads a component from a file, for one session. What several use is loaded by [`Components`].
    ///
    /// # Errors
    /// As [`LoadError`] says.
    pub fn load(path: &Path, cache: &Cache) -> Result<Self, LoadError> {
        Self::from_bytes(&read(path)?, cache)
    }

    /// Loads a component from memory. What is compiled once comes from the cache from then on.
    ///
    /// # Errors
    /// As [`LoadError`] says.
    pub fn from_bytes(bytes: &[u8], cache: &Cache) -> Result<Self, LoadError> {
        Self::of_content(bytes, blake3::hash(bytes), cache)
    }

    /// Loads a component whose digest is known already. It has to be the right one, since the cache goes by it: where the
    /// cache has compiled code, the component itself is not looked at.
    ///
    /// # Errors
    /// As [`LoadError`] says.
    pub fn of_content(bytes: &[u8], digest: Digest, cache: &Cache) -> Result<Self, LoadError> {
        let engine = Engine::shared().map_err(|error| LoadError::Engine(format!("{error:#}")))?;
        let component = cache.component(&engine, bytes, &digest)?;
        Self::link(engine, &component, digest)
    }

    fn link(engine: Engine, component: &Component, digest: Digest) -> Result<Self, LoadError> {
        for (name, _) in component.component_type().imports(engine.wasmtime()) {
            if !name.starts_with("chaperone:agent/") {
                return Err(LoadError::ForeignImport(name.into()));
            }
        }
        let contract = |error: wasmtime::Error| LoadError::Contract(format!("{error:#}"));
        let mut linker = Linker::new(engine.wasmtime());
        imports::add_to_linker(&mut linker).map_err(contract)?;
        let instance = linker.instantiate_pre(component).map_err(contract)?;
        let exports = Exports::find(component).map_err(LoadError::Contract)?;
        let plugin = Self { engine, instance, exports, digest };
        plugin.check_types().map_err(contract)?;
        Ok(plugin)
    }

    /// The content of the component.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Runs one hook on a fresh instance.
    pub fn call(&self, limits: &Limits, input: Input, event: &Event) -> Outcome {
        let mut store = self.store(limits, input);
        let reply =
            self.instance.instantiate(&mut store).and_then(|instance| self.exports.call(&mut store, &instance, event));
        let call = store.into_data();
        let (mut effects, reads, traces, stopped) = call.into_parts();
        let result = match reply {
            Ok(reply) => {
                let permitted = event.permitted();
                effects.retain(|effect| permitted.includes(effect));
                Ok(Committed { reply, effects })
            }
            Err(error) => {
                Err(Failure { cause: stopped.unwrap_or_else(|| cause(&error, limits)), log: log_of(effects) })
            }
        };
        Outcome { result, reads, traces }
    }

    fn store(&self, limits: &Limits, input: Input) -> Store<Call> {
        let mut store = Store::new(self.engine.wasmtime(), Call::new(*limits, input));
        store.limiter(|call| call);
        store.set_epoch_deadline(Engine::ticks(limits.time));
        store.set_hostcall_fuel(limits.effect_bytes.max(1 << 20));
        store
    }

    /// Holds the type of every export against the contract, on an instance that is never called.
    fn check_types(&self) -> wasmtime::Result<()> {
        let mut store = self.store(&Limits::default(), Input::empty());
        let instance = self.instance.instantiate(&mut store)?;
        self.exports.check_types(&mut store, &instance)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    std::fs::read(path).map_err(|source| LoadError::Read { path: path.into(), source })
}

fn log_of(effects: Vec<Effect>) -> Vec<(Level, String)> {
    effects
        .into_iter()
        .filter_map(|effect| match effect {
            Effect::Log { level, message } => Some((level, message)),
            _ => None,
        })
        .collect()
}

fn cause(error: &wasmtime::Error, limits: &Limits) -> Cause {
    match error.downcast_ref::<wasmtime::Trap>() {
        Some(wasmtime::Trap::Interrupt) => Cause::TimedOut(limits.time.as_millis() as u64),
        Some(trap) => Cause::Trapped(trap.to_string()),
        None => Cause::Trapped(error.root_cause().to_string()),
    }
}

impl Input {
    /// Nothing to read, for calls that read nothing.
    fn empty() -> Self {
        use chaperone_contract::{FileError, Location, Snapshot};

        struct NoFiles;
        impl crate::transaction::ReadFiles for NoFiles {
            fn read(&self, _: &Location) -> Result<String, FileError> {
                Err(FileError::NotFound)
            }
            fn entries(&self, _: &Location) -> Result<Vec<String>, FileError> {
                Err(FileError::NotFound)
            }
        }
        Self {
            snapshot: Snapshot::new("", "", 0),
            branch: Arc::default(),
            state: Default::default(),
            models: Arc::new([]),
            files: Arc::new(NoFiles),
            traces: Arc::new(crate::transaction::NoTraces),
            next_request: 1,
        }
    }
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plugin").field("digest", &self.digest.to_hex()).finish_non_exhaustive()
    }
}

#[allow(dead_code, reason = "states that plugins can be shared between threads")]
fn plugins_are_shared_between_threads(plugin: Plugin, read: FileRead) -> impl Send + Sync {
    (plugin, read)
}
