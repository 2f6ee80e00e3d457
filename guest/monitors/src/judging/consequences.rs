//! What follows a verdict.

use chaperone_sdk::{Level, Tone};

use super::answer::{self, Found};
use super::{JUDGED, ceiling_dialog, learning, recording, telling};
use crate::ceiling::{self, Passage};
use crate::definition::{Action, Monitor};
use crate::desk::Desk;
use crate::evidence::Digest;
use crate::memory::{Flagged, Learning};
use crate::patterns::{self, Severity};
use crate::roster;
use crate::steer::Kind;
use crate::verdict::Verdict;

/// Why a monitor was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// Something happened; the evidence has this digest.
    Event(Digest),
    /// Somebody ran its command.
    Command {
        /// Things have changed since: the agent is left alone.
        outdated: bool,
    },
}

/// What the monitor's file wants done about a finding. None: it is only reported.
pub fn action<'m>(monitor: &'m Monitor, kind: Kind) -> Option<&'m Action> {
    match kind {
        Kind::Flag => monitor.actions.on_flag.as_ref(),
        Kind::New => monitor.actions.on_new.as_ref(),
    }
}

/// What is to become a pattern.
pub fn lesson<'v>(monitor: &Monitor, action: &Action, found: &Found<'v>) -> Option<&'v str> {
    found.pattern.filter(|_| monitor.learn && action.learn_pattern)
}

/// Does what follows a verdict.
pub fn follow(desk: &mut Desk, name: &str, verdict: &Verdict, occasion: Occasion) {
    if let Verdict::Unknown { reason } = verdict {
        return unknown(desk, name, reason, occasion);
    }
    let notes = desk.memory.notes(name);
    notes.back_off.spoke();
    if let Occasion::Event(digest) = occasion {
        if notes.judged.len() == JUDGED {
            notes.judged.remove(0);
        }
        notes.judged.push(digest);
    }
    let listed = desk.watch.roster.find(name).cloned();
    let monitor = match &listed {
        Some(listed) => roster::load(desk.cx, listed).map_err(|fault| fault.to_string()),
        None => Err(format!("the monitor `{name}` is no longer there")),
    };
    let monitor = monitor.inspect_err(|reason| desk.cx.log(Level::Warn, format!("[{name}] {reason}"))).ok();
    match answer::found(verdict) {
        None => clean(desk, name, monitor.as_ref(), occasion),
        Some(found) => wrong(desk, name, &found, monitor.as_ref(), occasion),
    }
}

fn unknown(desk: &mut Desk, name: &str, reason: &str, occasion: Occasion) {
    match occasion {
        Occasion::Command { .. } => desk.cx.notify(format!("[{name}] No verdict: {reason}"), Tone::Error),
        Occasion::Event(_) => {
            desk.memory.notes(name).back_off.failed();
            if desk.watch.tells(answer::cause(reason)) {
                telling::unknown(desk, name, reason);
            }
        }
    }
}

fn clean(desk: &mut Desk, name: &str, monitor: Option<&Monitor>, occasion: Occasion) {
    desk.memory.notes(name).count = 0;
    if matches!(occasion, Occasion::Command { .. }) {
        desk.cx.notify(format!("[{name}] CLEAN"), Tone::Success);
    }
    let write = monitor.and_then(|monitor| monitor.actions.on_clean.as_ref()).and_then(|action| action.write.as_ref());
    if let Some(write) = write {
        recording::record(desk, name, None, "No issue found", Severity::Info, write);
    }
}

fn wrong(desk: &mut Desk, name: &str, found: &Found, monitor: Option<&Monitor>, occasion: Occasion) {
    let action = monitor.and_then(|monitor| action(monitor, found.kind));
    let (Some(monitor), Some(action)) = (monitor, action) else {
        return telling::wrong(desk, name, found, None, None, occasion);
    };
    let known = patterns::load(desk.cx, &monitor.patterns).map(|list| list.entries).unwrap_or_default();
    let severity = patterns::severity_of(&known, found.description);
    let steer = monitor.steer(action);
    let file = action.write.as_ref().map(|write| format!("{}:{}", write.file.mount, write.file.path));
    telling::wrong(desk, name, found, steer, file.as_deref(), occasion);
    if let Some(write) = &action.write {
        recording::record(desk, name, Some(found.kind), found.description, severity, write);
    }
    let learning = match lesson(monitor, action, found) {
        Some(pattern) => learning::learn(desk, monitor, pattern, 0),
        None => Learning::No,
    };
    if let Some(steer) = steer.filter(|_| occasion != Occasion::Command { outdated: true }) {
        let flagged = Flagged {
            monitor: name.into(),
            verdict: found.kind,
            description: found.description.into(),
            steer: steer.into(),
            ceiling: monitor.ceiling.get(),
            learning,
            at_once: matches!(occasion, Occasion::Command { .. }),
        };
        pass(desk, monitor, flagged);
    }
}

/// Lets a steer pass, or escalates.
fn pass(desk: &mut Desk, monitor: &Monitor, flagged: Flagged) {
    match ceiling::passage(desk.memory.count(&monitor.name), monitor.ceiling, monitor.escalate) {
        Passage::Passes => desk.memory.run.flagged.push(flagged),
        Passage::Asks => ceiling_dialog::ask(desk, flagged),
        Passage::Dismisses => ceiling_dialog::silence(desk, &monitor.name, &flagged.description),
    }
}
