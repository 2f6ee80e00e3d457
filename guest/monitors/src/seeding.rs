//! The bundled monitors, and how they get into a project: only when somebody says so.

use chaperone_sdk::failure::not_written;
use chaperone_sdk::{Answer, Context, FileError, Mode, Prompt, Scope, Tone};

use crate::consent;
use crate::desk::Desk;
use crate::errand::Errand;
use crate::memory::{Habits, Seeding};
use crate::roster;

macro_rules! bundled {
    ($($file:literal,)*) => {
        [$(($file, include_str!(concat!("../../../monitors-examples/", $file)))),*]
    };
}

/// The files of the bundled monitors: name and text.
pub const FILES: [(&str, &str); 9] = bundled![
    "fragility.monitor.json",
    "fragility.patterns.json",
    "fragility.instructions.json",
    "hedge.monitor.json",
    "hedge.patterns.json",
    "hedge.instructions.json",
    "work-quality.monitor.json",
    "work-quality.patterns.json",
    "work-quality.instructions.json",
];

/// The names of the bundled monitors.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter_map(|(file, _)| file.strip_suffix(roster::SUFFIX))
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
        Answer::Confirmed(true) => init(desk),
        Answer::Confirmed(false) => {
            let mut habits: Habits = desk.cx.state(Scope::Project);
            habits.declined_seeding = true;
            desk.cx.set_state(Scope::Project, &habits);
        }
        _ => {}
    }
}

/// Writes the bundled files that are absent.
pub fn init(desk: &mut Desk) {
    if desk.watch.errands.values().any(|errand| matches!(errand, Errand::Seed { .. })) {
        return desk.cx.notify("The bundled monitors are being written.", Tone::Normal);
    }
    for (file, text) in FILES {
        let id = desk.cx.write(MOUNT, &format!("{}/{file}", roster::FOLDER), text, true);
        desk.watch.sent(id, Errand::Seed { file: file.into() });
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
        consent::adopt(desk, names());
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
        for (file, text) in FILES {
            let faults = match file.split('.').nth(1).unwrap() {
                "monitor" => definition::parse(MOUNT, file, text).1,
                "patterns" => patterns::parse(MOUNT, file, text).unwrap().faults,
                _ => rules::parse(MOUNT, file, text).unwrap().faults,
            };
            assert_eq!(faults, [], "{file}");
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
