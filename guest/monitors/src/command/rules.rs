//! `/monitors <name> rules …`: the user's rules, which are answered for only once they stand in their file.

use chaperone_sdk::failure::not_written;
use chaperone_sdk::{FileError, Tone};

use super::answers;
use super::grammar::Edit;
use crate::consent;
use crate::desk::Desk;
use crate::errand::{Errand, RulesChange, TRIES};
use crate::fault::Fault;
use crate::roster::{self, Listed};
use crate::rules::{self, NoSuchRule, Rule};
use crate::sidecar::{Change, Sidecar};

/// Lists the rules of a monitor.
pub fn list(desk: &mut Desk, listed: &Listed) {
    let rules = roster::load(desk.cx, listed).and_then(|monitor| rules::load(desk.cx, &monitor.instructions));
    match rules {
        Ok(list) => desk.cx.notify(answers::rules(&listed.name, &list.entries), Tone::Normal),
        Err(fault) => unreadable(desk, &listed.name, &fault),
    }
}

/// Asks the host to change the rules file. One that cannot be read is left as it is.
pub fn edit(desk: &mut Desk, listed: &Listed, edit: Edit) {
    send(desk, listed, edit, 0);
}

/// The host has changed the file, or has not. A rule that is only added is tried again where the file was changed
/// meanwhile; where a number is named, the user has to look again, since it may be another rule's by now.
pub fn stored(desk: &mut Desk, change: RulesChange, outcome: Result<(), FileError>) {
    let RulesChange { monitor, edit, was, tries, keeps_trust } = change;
    let name = monitor.as_str();
    match outcome {
        Ok(()) => {
            desk.cx.notify(done(name, &edit, was.as_deref().unwrap_or_default()), Tone::Normal);
            if keeps_trust {
                consent::renew(desk, name);
            }
        }
        Err(FileError::Conflict(_)) if matches!(edit, Edit::Add(_)) && tries + 1 < TRIES => {
            match desk.watch.roster.find(name).cloned() {
                Some(listed) => send(desk, &listed, edit, tries + 1),
                None => not_saved(desk, name, "the monitor is no longer there"),
            }
        }
        Err(FileError::Conflict(_)) => {
            not_saved(desk, name, &format!("the rules were changed meanwhile; see /monitors {name} rules"));
        }
        Err(error) => not_saved(desk, name, &not_written(&error)),
    }
}

fn send(desk: &mut Desk, listed: &Listed, edit: Edit, tries: u32) {
    let name = &listed.name;
    let monitor = match roster::load(desk.cx, listed) {
        Ok(monitor) => monitor,
        Err(fault) => return unreadable(desk, name, &fault),
    };
    let keeps_trust = consent::holds(desk, listed, &monitor);
    let file = monitor.instructions;
    let list = match rules::load(desk.cx, &file) {
        Ok(list) => list,
        Err(fault) => return unreadable(desk, name, &fault),
    };
    match change(&list, &edit, desk.cx.session().now) {
        Ok((was, change)) => {
            let id = desk.cx.patch(&file.mount, &file.path, change.initial, change.patch);
            let monitor = name.clone();
            desk.watch.sent(id, Errand::Rules(RulesChange { monitor, edit, was, tries, keeps_trust }));
        }
        Err(NoSuchRule { number, count }) => {
            desk.cx.notify(answers::no_such_rule(name, number, count), Tone::Error);
        }
    }
}

/// What changes the file, and the text of the rule that it is about.
fn change(list: &Sidecar<Rule>, edit: &Edit, now: u64) -> Result<(Option<String>, Change), NoSuchRule> {
    match edit {
        Edit::Add(text) => Ok((None, list.add(text, now))),
        Edit::Remove(number) => Ok((Some(list.rule(*number)?.text.clone()), list.remove(*number)?)),
        Edit::Replace(number, text) => Ok((Some(list.rule(*number)?.text.clone()), list.replace(*number, text, now)?)),
    }
}

fn done(name: &str, edit: &Edit, was: &str) -> String {
    match edit {
        Edit::Add(text) => format!("[{name}] Rule added: {text}"),
        Edit::Remove(number) => format!("[{name}] Removed rule {number}: {was}"),
        Edit::Replace(number, text) => format!("[{name}] Replaced rule {number}:\n  was: {was}\n  now: {text}"),
    }
}

fn unreadable(desk: &mut Desk, name: &str, fault: &Fault) {
    desk.cx.notify(format!("[{name}] {fault}"), Tone::Error);
}

fn not_saved(desk: &mut Desk, name: &str, reason: &str) {
    desk.cx.notify(format!("[{name}] Not saved, since {reason}"), Tone::Error);
}
