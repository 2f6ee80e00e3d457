//! The files of the monitors that are measured.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use chaperone_contract::Location;

use super::trial::File;
use crate::cli::monitors::component::Monitors;
use crate::cli::setup;
use crate::config::Config;
use crate::project::{CONFIG_FOLDER, Project};

const FOLDER: &str = "monitors";
const DEFINITION: &str = ".monitor.json";

/// The files of several monitors.
pub struct Shelf(Vec<File>);

impl Shelf {
    /// The bundled monitors, from whom brings them along: the plugin writes them into a project in memory. `folder` is
    /// empty, and stays so.
    pub fn bundled(folder: &Path) -> Result<Self> {
        let project = Project { root: folder.into(), config_dir: folder.join(CONFIG_FOLDER) };
        let mut monitors = Monitors::open(&Config::default(), project, &setup::storage(false)?, None)?;
        monitors.ask("init all")?;
        let files = monitors.files();
        let names = files.entries(&of_project("")).map_err(|error| anyhow!("no bundled monitors: {error:?}"))?;
        let file = |name: &String| -> Result<File> {
            let text = files.read(&of_project(name)).map_err(|error| anyhow!("the bundled {name}: {error:?}"))?;
            Ok(File { location: location(name), text })
        };
        names.iter().map(file).collect::<Result<_>>().map(Self)
    }

    /// The monitors of a folder.
    pub fn of(folder: &Path) -> Result<Self> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_file() && name.ends_with(".json") {
                let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
                files.push(File { location: location(&name), text });
            }
        }
        files.sort_by(|a, b| a.location.path.cmp(&b.location.path));
        Ok(Self(files))
    }

    /// What a session finds in which one monitor watches: its files, and what may belong to it, but no other monitor.
    pub fn only(&self, monitor: &str) -> Result<Vec<File>> {
        let own = location(&format!("{monitor}{DEFINITION}"));
        if !self.0.iter().any(|file| file.location == own) {
            let names = self.0.iter().filter_map(|file| name(file)?.strip_suffix(DEFINITION));
            bail!("there is no {monitor}{DEFINITION}; there is {}", names.collect::<Vec<_>>().join(", "));
        }
        let is_other = |file: &&File| file.location != own && file.location.path.ends_with(DEFINITION);
        Ok(self.0.iter().filter(|file| !is_other(file)).cloned().collect())
    }
}

/// Where they stand to be measured: in the user's own folder, since whoever measures them means them to act.
fn location(name: &str) -> Location {
    Location { mount: "user".into(), ..of_project(name) }
}

fn of_project(name: &str) -> Location {
    let path = if name.is_empty() { FOLDER.into() } else { format!("{FOLDER}/{name}") };
    Location { mount: "project".into(), path }
}

fn name(file: &File) -> Option<&str> {
    file.location.path.strip_prefix(FOLDER)?.strip_prefix('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_monitor_comes_with_everything_but_the_other_monitors() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.monitor.json", "b.monitor.json", "shared.patterns.json", "notes.txt"] {
            std::fs::write(folder.path().join(name), "[]").unwrap();
        }
        let shelf = Shelf::of(folder.path()).unwrap();
        let only = shelf.only("b").unwrap();
        let names: Vec<_> = only.iter().filter_map(name).collect();
        assert_eq!(names, ["b.monitor.json", "shared.patterns.json"]);
        let error = shelf.only("c").unwrap_err().to_string();
        assert_eq!(error, "there is no c.monitor.json; there is a, b");
    }
}
