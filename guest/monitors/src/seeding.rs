//! The bundled monitors, and how they get into a project: only when somebody says so.

use chaperone_sdk::failure::not_written;
use chaperone_sdk::{Answer, Context, FileError, Mode, Prompt, Scope, Tone};

use crate::consent;
use crate::desk::Desk;
use crate::errand::Errand;
use crate::memory::{Habits, Seeding};
use crate::roster;

/// A bundled monitor.
pub struct Bundled {
    /// Its name.
    pub name: &'static str,
    /// `NAME.monitor.json`
    pub monitor: &'static str,
    /// `NAME.patterns.json`
    pub patterns: &'static str,
    /// `NAME.instructions.json`
    pub instructions: &'static str,
}

/// Whether a bundled monitor has this name.
pub fn is_bundled(name: &str) -> bool {
    BUNDLED.iter().any(|bundled| bundled.name == name)
}

impl Bundled {
    /// Its files: name and text.
    pub fn files(&self) -> [(String, &'static str); 3] {
        [("monitor", self.monitor), ("patterns", self.patterns), ("instructions", self.instructions)]
            .map(|(kind, text)| (format!("{}.{kind}.json", self.name), text))
    }
}

macro_rules! bundled {
    ($($name:literal,)*) => {
        [$(Bundled {
            name: $name,
            monitor: include_str!(concat!("../../../monitors-examples/", $name, ".monitor.json")),
            patterns: include_str!(concat!("../../../monitors-examples/", $name, ".patterns.json")),
            instructions: include_str!(concat!("../../../monitors-examples/", $name, ".instructions.json")),
        }),*]
    };
}

/// The bundled monitors.
pub const BUNDLED: [Bundled; 11] = bundled![
    "fragility",
    "hedge",
    "work-quality",
    "commit-hygiene",
    "missing-deliverable",
    "needless-permission",
    "preexisting-excuse",
    "repeated-failure",
    "scope-creep",
    "unauthorised-action",
    "unproven-success",
];

/// How many of them, from the first, are added where none is named.
const USUAL: usize = 3;

/// Which of the bundled monitors are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Those to start with.
    Usual,
    /// All of them.
    All,
    /// These, by name.
    Named(Vec<String>),
}

/// Where they go.
const MOUNT: &str = roster::MOUNTS[0];

/// Asks whether the bundled monitors are wanted, where there is somebody to ask, no monitor at all, and no earlier no.
pub fn offer(desk: &mut Desk) {
    let asks = match desk.cx.session().mode {
        Mode::Interactive | Mode::Rpc => true,
        Mode::OneShot => false,
    };
    if !asks || roster::MOUNTS.iter().any(|mount| has_monitor_files(desk.cx, mount)) {
        return;
    }
    if desk.cx.state::<Habits>(Scope::Project).declined_seeding {
        return;
    }
    let id = desk.cx.ask(Prompt::Confirm((
        "Add monitors to this project?".into(),
        "Monitors watch what the agent does and tell it when something is wrong. There are none yet. Three can be copied \
         into .pi/monitors, to be edited or deleted at will:\n\
         fragility (errors and failures left behind), hedge (questions and detours in place of an answer), work-quality \
         (a look at how the work was done, with /work-quality).\n\
         Each judgement is a call of a language model. With no, this is not asked again; /monitors init adds them at any \
         time."
            .into(),
    )));
    desk.watch.sent(id, Errand::SeedOffer);
}

/// The user has answered the offer. Only a plain no is remembered.
pub fn answered(desk: &mut Desk, answer: &Answer) {
    match answer {
        Answer::Confirmed(true) => init(desk, &Wanted::Usual),
        Answer::Confirmed(false) => {
            let mut habits: Habits = desk.cx.state(Scope::Project);
            habits.declined_seeding = true;
            desk.cx.set_state(Scope::Project, &habits);
        }
        _ => {}
    }
}

/// Writes those of the bundled files that are absent.
pub fn init(desk: &mut Desk, wanted: &Wanted) {
    if desk.watch.errands.values().any(|errand| matches!(errand, Errand::Seed { .. })) {
        return desk.cx.notify("The bundled monitors are being written.", Tone::Normal);
    }
    let monitors: Vec<&Bundled> = match wanted {
        Wanted::Usual => BUNDLED.iter().take(USUAL).collect(),
        Wanted::All => BUNDLED.iter().collect(),
        Wanted::Named(names) => {
            if let Some(name) = names.iter().find(|name| BUNDLED.iter().all(|bundled| bundled.name != **name)) {
                let there_is = BUNDLED.map(|bundled| bundled.name).join(", ");
                return desk
                    .cx
                    .notify(format!("There is no bundled monitor {name}\nAvailable: all, {there_is}"), Tone::Error);
            }
            BUNDLED.iter().filter(|bundled| names.iter().any(|name| name == bundled.name)).collect()
        }
    };
    for (file, text) in monitors.into_iter().flat_map(Bundled::files) {
        let id = desk.cx.write(MOUNT, &format!("{}/{file}", roster::FOLDER), text, true);
        desk.watch.sent(id, Errand::Seed { file });
    }
}

/// A bundled file was written, or was not; after the last one, the user hears what became of them.
pub fn stored(desk: &mut Desk, file: String, outcome: Result<(), FileError>) {
    let seeding = &mut desk.watch.seeding;
    match outcome {
        Ok(()) => seeding.written.push(file),
        Err(FileError::Conflict(_)) => seeding.there.push(file),
        Err(error) => seeding.failed.push(format!("{file} ({})", not_written(&error))),
    }
    if !desk.watch.errands.values().any(|errand| matches!(errand, Errand::Seed { .. })) {
        let (text, tone) = report(&std::mem::take(&mut desk.watch.seeding));
        desk.cx.notify(text, tone);
        consent::adopt(desk, BUNDLED.iter().map(|bundled| bundled.name));
    }
}

fn report(seeding: &Seeding) -> (String, Tone) {
    let Seeding { written, there, failed } = seeding;
    let mut lines = Vec::new();
    if !written.is_empty() {
        lines.push(format!("Written to .pi/monitors: {}. Edit or delete them to customize.", written.join(", ")));
    }
    if !there.is_empty() {
        lines.push(format!("There already, and left as they are: {}.", there.join(", ")));
    }
    if !failed.is_empty() {
        lines.push(format!("Not written: {}.", failed.join(", ")));
    }
    (lines.join("\n"), if failed.is_empty() { Tone::Success } else { Tone::Error })
}

fn has_monitor_files(cx: &Context, mount: &str) -> bool {
    cx.list(mount, roster::FOLDER).is_ok_and(|names| names.iter().any(|name| name.ends_with(roster::SUFFIX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{definition, patterns, rules};

    #[test]
    fn the_bundled_files_are_without_fault() {
        for bundled in &BUNDLED {
            let Bundled { name, monitor, patterns, instructions } = bundled;
            assert_eq!(definition::parse(MOUNT, name, monitor).1, [], "{name}");
            assert_eq!(patterns::parse(MOUNT, name, patterns).unwrap().faults, [], "{name}");
            assert_eq!(rules::parse(MOUNT, name, instructions).unwrap().faults, [], "{name}");
        }
    }

    #[test]
    fn the_report_tells_all_three_kinds_of_outcome_apart() {
        let seeding = Seeding {
            written: vec!["a.json".into(), "b.json".into()],
            there: vec!["c.json".into()],
            failed: vec!["d.json (no room)".into()],
        };
        let (text, tone) = report(&seeding);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("a.json, b.json") && lines[1].contains("c.json") && lines[2].contains("no room"));
        assert_eq!(tone, Tone::Error);
    }
}
