//! The files of the monitors that are measured.

use std::path::Path;

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, anyhow, bail};
use chaperone_contract::{Effect, Location, Tone};

use super::Scene;
use super::trial::{Bench, File};
use crate::cli::monitors::component::Monitors;
use crate::cli::setup;
use crate::config::Config;
use crate::drive::{HookRun, Note, Observer};
use crate::files::{Change, Repository};
use crate::project::{CONFIG_FOLDER, Project};

const FOLDER: &str = "monitors";
const DEFINITION: &str = ".monitor.json";

/// The command that tells of a monitor; how it begins the line about its state, and that of one that never looks.
const COMMAND: &str = "monitors";
const STATE: &str = "state: ";
const INACTIVE: &str = "inactive: ";

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
        let entries = std::fs::read_dir(folder).map_err(|error| {
            anyhow!("no monitors at {}: {error}; name their folder with --monitors", folder.display())
        })?;
        for entry in entries {
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
            let names: Vec<_> = self.0.iter().filter_map(|file| name(file)?.strip_suffix(DEFINITION)).collect();
            match &names[..] {
                [] => bail!(
                    "there is no {monitor}{DEFINITION}, nor another monitor; name the folder of NAME{DEFINITION} with --monitors"
                ),
                names => bail!("there is no {monitor}{DEFINITION}; there is {}", names.join(", ")),
            }
        }
        let is_other = |file: &&File| file.location != own && file.location.path.ends_with(DEFINITION);
        Ok(self.0.iter().filter(|file| !is_other(file)).cloned().collect())
    }
}

/// Asks the plugin about each monitor that is to be measured: one that cannot look would be right wherever nothing is
/// wrong.
///
/// # Errors
/// Why the first of them cannot look, in the plugin's words.
pub async fn check(bench: &Bench<'_>, scenes: &[Scene<'_>]) -> Result<()> {
    let by_monitor: BTreeMap<&str, &[File]> =
        scenes.iter().map(|(case, files)| (case.watcher.as_str(), files.as_slice())).collect();
    for (monitor, files) in by_monitor {
        let mut answer = Answer::default();
        let nowhere = Repository::OutOfReach("no case is tried".into());
        let mut session = bench.open("check".into(), 0, files, nowhere, &mut answer)?;
        session.command(COMMAND, monitor, &mut answer)?;
        session.quiet(&mut answer).await?;
        if let Some(fault) = answer.fault {
            bail!("{monitor}{DEFINITION} cannot be measured: {}", fault.trim_start_matches(&format!("[{monitor}] ")));
        }
    }
    Ok(())
}

/// What the plugin says of a monitor, where it does not work.
#[derive(Default)]
struct Answer {
    fault: Option<String>,
}

impl Observer for Answer {
    fn hook(&mut self, run: &HookRun<'_>) {
        let committed = match run.result {
            Ok(committed) => committed,
            Err(failure) => return self.fault = Some(failure.to_string()),
        };
        for effect in &committed.effects {
            if let Effect::Notify { text, tone } = effect {
                let state = text.lines().find_map(|line| line.strip_prefix(STATE));
                let inactive = state.filter(|state| state.starts_with(INACTIVE));
                let fault = if *tone == Tone::Error { Some(text.as_str()) } else { inactive };
                self.fault = self.fault.take().or(fault.map(str::to_owned));
            }
        }
    }

    fn changed(&mut self, _: &str, _: &Change) {}

    fn note(&mut self, _: &str, _: &Note) {}
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
