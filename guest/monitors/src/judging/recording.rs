//! Writing a finding into the file that its monitor names.

use chaperone_sdk::failure::not_written;
use chaperone_sdk::{FileError, Finding, Level, Tone};

use crate::decision::{self, About};
use crate::definition::{Monitor, Write};
use crate::desk::Desk;
use crate::errand::{Errand, Record, TRIES};
use crate::finding::{self, Facts};
use crate::roster;
use crate::steer::Kind;

/// What a monitor's file says about recording such a verdict. No kind: a clean one.
pub fn write(monitor: &Monitor, kind: Option<Kind>) -> Option<&Write> {
    let action = match kind {
        Some(Kind::Flag) => &monitor.actions.on_flag,
        Some(Kind::New) => &monitor.actions.on_new,
        None => &monitor.actions.on_clean,
    };
    action.as_ref()?.write.as_ref()
}

/// Asks the host to put a finding into its file, or, where that one cannot take it, into the one beside it.
pub fn send(desk: &mut Desk, record: Record, write: &Write) {
    let facts = Facts {
        finding_id: &record.id,
        description: &record.description,
        severity: record.severity,
        monitor_name: &record.monitor,
        now: record.timestamp,
    };
    let entry = finding::entry(&write.template, &facts);
    let place = finding::record(write, &entry, |file| desk.cx.read(&file.mount, &file.path));
    match place {
        Ok(finding::Record { file, change, aside }) => {
            let id = desk.cx.patch(&file.mount, &file.path, change.initial, change.patch);
            let file = format!("{}:{}", file.mount, file.path);
            desk.watch.sent(id, Errand::Finding(Record { file, aside, ..record }));
        }
        Err(reason) => not_recorded(desk, &record, &reason.to_string()),
    }
}

/// The host has put the finding into its file, or has not; a file that was changed meanwhile is read and tried again.
pub fn stored(desk: &mut Desk, record: Record, outcome: Result<(), FileError>) {
    match outcome {
        Ok(()) => recorded(desk, record),
        Err(FileError::Conflict(_) | FileError::NotJson(_)) if record.tries + 1 < TRIES => {
            let listed = desk.watch.roster.find(&record.monitor).cloned();
            let monitor = listed.and_then(|listed| roster::load(desk.cx, &listed).ok());
            match monitor.as_ref().and_then(|monitor| write(monitor, record.verdict)) {
                Some(write) => send(desk, Record { tries: record.tries + 1, ..record }, write),
                None => not_recorded(desk, &record, "its monitor no longer says where"),
            }
        }
        Err(error) => not_recorded(desk, &record, &not_written(&error)),
    }
}

fn recorded(desk: &mut Desk, record: Record) {
    let Record { monitor, request, verdict, id, description, file, aside, .. } = record;
    About { monitor: &monitor, request }.became(desk.cx, decision::RECORDED, Some(&file));
    if let Some(reason) = aside {
        let text = format!("[{monitor}] Recorded in {file}, since {reason}");
        desk.cx.log(Level::Warn, text.clone());
        desk.cx.notify(text, Tone::Warning);
    }
    if verdict.is_some() {
        desk.cx.found(Finding { id, watcher: monitor, description, file });
    }
}

fn not_recorded(desk: &mut Desk, record: &Record, reason: &str) {
    let about = About { monitor: &record.monitor, request: record.request };
    about.became(desk.cx, decision::NOT_RECORDED, Some(reason));
    let text = format!("[{}] Not recorded, since {reason}: {}", record.monitor, record.description);
    desk.cx.log(Level::Error, text.clone());
    desk.cx.notify(text, Tone::Error);
}
