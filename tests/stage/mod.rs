//! A project in a folder of its own, and sessions of real plugins in it.

mod judges;
mod pipe;
mod seen;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use chaperone::config::{Config, REPOSITORY};
use chaperone::drive::{Grants, Memory, Running, Session, Setup};
use chaperone::files::{Folder, Locks, Mounts, Overlay, Repository, Storage};
use chaperone::llm::Provider;
use chaperone::plugin::{Cache, Plugin};
use chaperone::project::CONFIG_FOLDER;
use chaperone::record::Recorder;
use chaperone_contract::{ModelId, Snapshot};
use tempfile::TempDir;

pub use judges::{Judge, Silence};
pub use pipe::{Pipe, Told};
pub use seen::{Seen, SeenHook};

/// The bundled monitors, their sessions and scripts.
pub const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../monitors-examples");

/// The built-in monitors.
pub fn monitors() -> Arc<Plugin> {
    static MONITORS: OnceLock<Arc<Plugin>> = OnceLock::new();
    load(&MONITORS, chaperone_artifacts::MONITORS)
}

/// The built-in stop guard.
pub fn stop_guard() -> Arc<Plugin> {
    static STOP_GUARD: OnceLock<Arc<Plugin>> = OnceLock::new();
    load(&STOP_GUARD, chaperone_artifacts::STOP_GUARD)
}

/// The guest that misbehaves on command.
pub fn hostile() -> Arc<Plugin> {
    static HOSTILE: OnceLock<Arc<Plugin>> = OnceLock::new();
    load(&HOSTILE, chaperone_artifacts::HOSTILE)
}

fn load(once: &OnceLock<Arc<Plugin>>, component: &[u8]) -> Arc<Plugin> {
    once.get_or_init(|| Arc::new(Plugin::from_bytes(component, &Cache::None).unwrap())).clone()
}

/// A project, and beside it the folder of its user. Both are gone when this is dropped.
pub struct Stage {
    folder: TempDir,
}

impl Stage {
    /// A project without any file.
    pub fn bare() -> Self {
        let stage = Self { folder: TempDir::new().unwrap() };
        std::fs::create_dir(stage.project()).unwrap();
        stage
    }

    /// A project with the bundled monitors.
    pub fn with_bundled_monitors() -> Self {
        let stage = Self::bare();
        for file in std::fs::read_dir(EXAMPLES).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let name = path.file_name().unwrap().to_str().unwrap();
                stage.put(&format!("{CONFIG_FOLDER}/monitors/{name}"), &std::fs::read_to_string(&path).unwrap());
            }
        }
        stage
    }

    /// The project's root.
    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// The folder that the project and the user's folder are in. No mount reaches it.
    pub fn outside(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of the user's own files.
    pub fn user_folder(&self) -> PathBuf {
        self.folder.path().join("user")
    }

    /// Writes a file of the project, and makes its folders.
    pub fn put(&self, path: &str, text: &str) {
        write(&self.project().join(path), text);
    }

    /// Writes a file of the user's own, and makes its folders.
    pub fn put_of_user(&self, path: &str, text: &str) {
        write(&self.user_folder().join(path), text);
    }

    /// A storage that keeps what is written in memory.
    pub fn dry(&self) -> Storage {
        Storage::Memory(Overlay::new())
    }

    /// A storage that writes to the disk.
    pub fn disk(&self) -> Storage {
        Storage::Disk(Locks::in_folder(self.folder.path().join("locks")))
    }

    /// A plugin over this project, with the grants that the built-in one of that name has, or the monitors.
    pub fn plugin(&self, name: &str, component: Arc<Plugin>, storage: Storage) -> Running {
        let mut builtin = Config::default().plugins;
        let of_this_name = builtin.iter().position(|plugin| plugin.name == name);
        let granted = builtin.swap_remove(of_this_name.unwrap_or(0)).grants;
        let mut mounts = Mounts::new(storage);
        for (name, grant) in granted.files {
            let folder = match name.as_str() {
                REPOSITORY => {
                    mounts.mount_repository(name, Repository::Of(self.project()), grant.read);
                    continue;
                }
                "workspace" => Folder::at(self.project()),
                "project" => Folder::inside(self.project(), CONFIG_FOLDER),
                _ => Folder::at(self.user_folder()),
            };
            mounts.mount(name, folder, grant);
        }
        let mut running = Running::new(name, format!("stage:{name}"), component, mounts);
        running.grants = Grants { inject: granted.inject, llm: granted.llm };
        // Tests run side by side, and unoptimised: what is measured in hooks is measured elsewhere.
        running.limits.time = std::time::Duration::from_secs(10);
        running
    }

    /// Begins a session of these plugins.
    pub fn session(&self, plugins: Vec<Running>, provider: Arc<dyn Provider>, seen: &mut Seen) -> Session {
        self.recorded_session(plugins, provider, None, seen)
    }

    /// Begins a session of these plugins that is written down.
    pub fn recorded_session(
        &self,
        plugins: Vec<Running>,
        provider: Arc<dyn Provider>,
        recorder: Option<Recorder>,
        seen: &mut Seen,
    ) -> Session {
        let snapshot = Snapshot { cwd: self.project().display().to_string(), ..snapshot() };
        let setup = Setup { recorder, ..Setup::new(snapshot, plugins, provider) };
        Session::new(setup, seen).unwrap()
    }

    /// Begins a session of these plugins that is remembered.
    pub fn remembered_session(
        &self,
        id: &str,
        plugins: Vec<Running>,
        provider: Arc<dyn Provider>,
        memory: Memory,
        seen: &mut Seen,
    ) -> Session {
        let snapshot = Snapshot { cwd: self.project().display().to_string(), session_id: id.into(), ..snapshot() };
        let setup = Setup { memory: Some(memory), ..Setup::new(snapshot, plugins, provider) };
        Session::new(setup, seen).unwrap()
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A session that has just begun.
pub fn snapshot() -> Snapshot {
    let model = ModelId { provider: "scripted".into(), model: "scripted-agent".into() };
    Snapshot { model: Some(model), ..Snapshot::new("stage", "/", 1_760_000_000_000) }
}
