//! What happens at the ceiling: the dialog, and falling silent.

use chaperone_sdk::{Answer, Level, Tone};

use crate::ceiling::{self, Decision};
use crate::command::{self, answers};
use crate::decision::{self, About};
use crate::desk::Desk;
use crate::errand::Errand;
use crate::memory::Flagged;

/// Asks the user whether a monitor goes on. If that is being asked already, the newest finding is the one that it is
/// asked about.
pub fn ask(desk: &mut Desk, flagged: Flagged) {
    about(&flagged).became(desk.cx, decision::CEILING, None);
    if let Some(asked_about) = desk.watch.ceiling_dialog(&flagged.monitor) {
        *asked_about = Some(flagged);
        return;
    }
    let count = desk.memory.count(&flagged.monitor);
    let id = desk.cx.ask(ceiling::question(&flagged.monitor, count, &flagged.description));
    desk.watch.sent(id, Errand::Ceiling { monitor: flagged.monitor.clone(), flagged: Some(flagged) });
}

/// Does what the user decided. `flagged` is what the monitor wants to say, if that still holds.
pub fn answered(desk: &mut Desk, name: &str, flagged: Option<Flagged>, answer: &Answer) {
    match ceiling::decision(answer) {
        Decision::GoesOn => {
            desk.memory.notes(name).count = 0;
            desk.memory.run.flagged.extend(flagged.map(|flagged| Flagged { at_once: true, ..flagged }));
        }
        Decision::Silenced => {
            if let Some(flagged) = &flagged {
                about(flagged).became(desk.cx, decision::DISMISSED, None);
            }
            command::dismiss(desk, name);
            desk.cx.notify(answers::dismissed(name), Tone::Normal);
        }
        Decision::Unasked => silence(desk, name, flagged.as_ref()),
    }
}

/// Silences a monitor that nobody was asked about, and says so.
pub fn silence(desk: &mut Desk, name: &str, flagged: Option<&Flagged>) {
    let count = desk.memory.count(name);
    let description = flagged.map_or("", |flagged| &flagged.description);
    if let Some(flagged) = flagged {
        about(flagged).became(desk.cx, decision::DISMISSED, Some("at its ceiling, with nobody to ask"));
    }
    let left_unsaid = if description.is_empty() { String::new() } else { format!(" Not passed on: {description}") };
    let text = format!("{} after {count} steers in a row.{left_unsaid}", answers::dismissed(name));
    command::dismiss(desk, name);
    desk.cx.log(Level::Warn, text.clone());
    desk.cx.notify(text, Tone::Warning);
}

fn about(flagged: &Flagged) -> About<'_> {
    About { monitor: &flagged.monitor, request: Some(flagged.request) }
}
