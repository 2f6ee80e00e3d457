//! A project on the disk, and the program run in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Once;

use assert_cmd::Command;
use tempfile::TempDir;

/// An empty project, and an empty home, of one test.
pub struct World {
    folder: TempDir,
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // A repository, so that nobody looks for a project above it.
        for name in ["home", "project/.git"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let world = Self { folder };
        compile_once(&world);
        world
    }

    /// With the bundled monitors.
    pub fn with_monitors() -> Self {
        let world = Self::new();
        world.chaperone(["monitors", "init"]).assert().success();
        world
    }

    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The program, in the project, with nothing around it that is not the test's own.
    pub fn chaperone<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chaperone"));
        command.args(arguments).current_dir(self.project()).env_clear().envs(self.environment());
        command
    }

    /// The variables that the program sees.
    pub fn environment(&self) -> [(&'static str, PathBuf); 3] {
        [("HOME", self.home()), ("USERPROFILE", self.home()), ("XDG_CACHE_HOME", cache())]
    }

    /// What a command prints on stdout, when it goes well.
    pub fn prints<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> String {
        text(&self.chaperone(arguments).assert().success().get_output().stdout)
    }

    /// What a command prints on stderr, when it fails with this code.
    pub fn fails<'a>(&self, code: i32, arguments: impl IntoIterator<Item = &'a str>) -> String {
        text(&self.chaperone(arguments).assert().code(code).get_output().stderr)
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, content: &str) {
        write(&self.project().join(path), content);
    }

    /// Writes a file of the user's own folder.
    pub fn write_of_user(&self, path: &str, content: &str) {
        write(&self.home().join(".pi/agent").join(path), content);
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.project().join(path)).unwrap()
    }

    /// Every file of the project and of the home, with its content.
    pub fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut tree = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => _ = tree.insert(path.clone(), std::fs::read(path).unwrap()),
                }
            }
        }
        tree
    }
}

/// Compiled components are shared by all tests of this binary: compiling one takes seconds.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-cache")
}

fn compile_once(world: &World) {
    static COMPILED: Once = Once::new();
    COMPILED.call_once(|| _ = world.chaperone(["monitors", "list"]).assert().success());
}

fn write(path: &Path, content: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The folder of the bundled sessions.
pub fn sessions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../monitors-examples/sessions")
}

/// A bundled session, and the script that judges it.
pub fn session(name: &str) -> [String; 2] {
    [format!("{name}.jsonl"), format!("{name}.script.yaml")].map(|file| sessions().join(file).display().to_string())
}

/// The names of all bundled sessions.
pub fn session_names() -> Vec<String> {
    let files = std::fs::read_dir(sessions()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = files.filter_map(|file| file.strip_suffix(".jsonl").map(str::to_owned)).collect();
    names.sort();
    names
}
