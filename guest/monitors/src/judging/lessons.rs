//! Adding what a judge calls new to a monitor's patterns, where its file allows that.

use chaperone_sdk::failure::not_written;
use chaperone_sdk::{FileError, Level, RequestId, Tone};

use crate::definition::Monitor;
use crate::desk::Desk;
use crate::errand::{Errand, TRIES};
use crate::memory::{Flagged, Learning};
use crate::{learning, patterns, roster};

/// Asks the host to write a new pattern down, unless it is known, or the file is none to write to.
pub fn learn(desk: &mut Desk, monitor: &Monitor, pattern: &str, tries: u32) -> Learning {
    let list = match patterns::load(desk.cx, &monitor.patterns) {
        Ok(list) => list,
        Err(fault) => {
            not_learned(desk, &monitor.name, pattern, &fault.to_string());
            return Learning::No;
        }
    };
    let Some(learned) = learning::learn(&list, pattern, desk.cx.session().now) else { return Learning::No };
    let (file, change) = (&monitor.patterns, learned.change);
    let id = desk.cx.patch(&file.mount, &file.path, change.initial, change.patch);
    desk.watch.sent(id, Errand::Pattern { monitor: monitor.name.clone(), pattern: pattern.into(), tries });
    Learning::Asked(id)
}

/// The host has written the pattern down, or has not; a file that was changed meanwhile is read and tried again.
pub fn stored(desk: &mut Desk, id: RequestId, name: &str, pattern: &str, tries: u32, outcome: Result<(), FileError>) {
    let learning = match outcome {
        Ok(()) => Learning::Done,
        Err(FileError::Conflict(_)) if tries + 1 < TRIES => {
            let listed = desk.watch.roster.find(name).cloned();
            match listed.and_then(|listed| roster::load(desk.cx, &listed).ok()) {
                Some(monitor) => learn(desk, &monitor, pattern, tries + 1),
                None => Learning::No,
            }
        }
        Err(error) => {
            not_learned(desk, name, pattern, &not_written(&error));
            Learning::No
        }
    };
    let waits = |flagged: &&mut Flagged| flagged.learning == Learning::Asked(id);
    let asked_about = desk.watch.ceiling_dialog(name).and_then(Option::as_mut);
    for flagged in desk.memory.run.flagged.iter_mut().chain(asked_about).filter(waits) {
        flagged.learning = learning;
    }
}

fn not_learned(desk: &mut Desk, name: &str, pattern: &str, reason: &str) {
    let text = format!("[{name}] Not learned, since {reason}: {pattern}");
    desk.cx.log(Level::Warn, text.clone());
    desk.cx.notify(text, Tone::Warning);
}
