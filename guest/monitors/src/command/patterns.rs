//! `/monitors <name> patterns …`: the patterns, and what becomes of those that were proposed or learned.
//!
//! Files are changed one after the other, each once the host has written the one before.

use chaperone_sdk::failure::not_written;
use chaperone_sdk::{FileError, Level, Tone};
use serde_json::Value;

use super::answers;
use super::grammar::{self, Which};
use crate::consent;
use crate::definition::Monitor;
use crate::desk::Desk;
use crate::errand::{Approval, Errand, Ruling};
use crate::fault::Fault;
use crate::patterns::Pattern;
use crate::proposals::{self, Proposal};
use crate::roster::{self, Listed, unreadable};
use crate::sidecar::{Change, Sidecar};
use crate::{learning, patterns};

/// All that is known of a monitor's patterns.
struct Lists {
    monitor: Monitor,
    patterns: Sidecar<Pattern>,
    proposals: Sidecar<Proposal>,
}

/// Lists the patterns, and those that wait.
pub fn list(desk: &mut Desk, listed: &Listed) {
    let name = &listed.name;
    match load(desk, name) {
        Ok(lists) => {
            let waiting = answers::proposals(name, &lists.proposals.open());
            desk.cx.notify(answers::patterns(name, &lists.patterns.entries) + &waiting, Tone::Normal);
        }
        Err(reason) => desk.cx.notify(format!("[{name}] {reason}"), Tone::Error),
    }
}

/// Does what is to become of them.
pub fn rule(desk: &mut Desk, listed: &Listed, ruling: grammar::Ruling) {
    let (name, ruling, which) = match ruling {
        grammar::Ruling::Undo => return undo(desk, listed),
        grammar::Ruling::Approve(which) => (&listed.name, Ruling::Approved, which),
        grammar::Ruling::Reject(which) => (&listed.name, Ruling::Rejected, which),
    };
    let lists = match load(desk, name) {
        Ok(lists) => lists,
        Err(reason) => return desk.cx.notify(format!("[{name}] {reason}"), Tone::Error),
    };
    let open = lists.proposals.open();
    let meant: Vec<String> = match which {
        Which::All => open.iter().map(|proposal| proposal.description.clone()).collect(),
        Which::Number(number) => number
            .checked_sub(1)
            .and_then(|index| open.get(index))
            .map(|it| it.description.clone())
            .into_iter()
            .collect(),
    };
    match (meant.is_empty(), which) {
        (false, _) => next(desk, name, ruling, meant),
        (true, Which::All) => desk.cx.notify(format!("[{name}] (no proposed patterns)"), Tone::Normal),
        (true, Which::Number(number)) => {
            let text = format!("[{name}] Invalid index {number}: {} patterns are proposed", open.len());
            desk.cx.notify(text, Tone::Error);
        }
    }
}

/// A proposed pattern was put among the others, or was not.
pub fn approved(desk: &mut Desk, approval: Approval, outcome: Result<(), FileError>) {
    let Approval { monitor: name, description, rest, keeps_trust } = approval;
    if let Err(error) = outcome {
        return not_saved(desk, &name, &error);
    }
    if keeps_trust {
        consent::renew(desk, &name);
    }
    desk.cx.notify(format!("[{name}] Pattern approved: {description}"), Tone::Normal);
    take_out(desk, &name, description, rest);
}

/// A proposal was taken out or marked, or was not.
pub fn ruled(
    desk: &mut Desk,
    name: &str,
    description: &str,
    ruling: Ruling,
    rest: Vec<String>,
    outcome: Result<(), FileError>,
) {
    match (ruling, outcome) {
        (Ruling::Rejected, Ok(())) => {
            let text = format!("[{name}] Pattern rejected: {description}. It is not proposed again");
            desk.cx.notify(text, Tone::Normal);
        }
        (Ruling::Rejected, Err(error)) => return not_saved(desk, name, &error),
        (Ruling::Approved, Ok(())) => {}
        // What is among the patterns is not listed as proposed, whatever the file holds.
        (Ruling::Approved, Err(error)) => {
            desk.cx.log(Level::Warn, format!("[{name}] an approved pattern stays proposed: {}", not_written(&error)));
        }
    }
    next(desk, name, ruling, rest);
}

/// The pattern that was learned last was taken out, or was not. It is kept in mind that it is not wanted.
pub fn unlearned(desk: &mut Desk, name: &str, pattern: &Value, keeps_trust: bool, outcome: Result<(), FileError>) {
    if let Err(error) = outcome {
        return not_saved(desk, name, &error);
    }
    if keeps_trust {
        consent::renew(desk, name);
    }
    let description = pattern["description"].as_str().unwrap_or_default().to_owned();
    desk.cx.notify(format!("[{name}] Pattern taken out again: {description}"), Tone::Normal);
    match load(desk, name) {
        Ok(lists) => {
            let change = lists.proposals.refuse(pattern, desk.cx.session().now);
            let id = patch_proposals(desk, &lists.monitor, change);
            desk.watch.sent(id, Errand::Refusal { monitor: name.into(), description });
        }
        Err(reason) => may_come_again(desk, name, &description, &reason),
    }
}

/// It was kept in mind that a pattern is not wanted, or was not.
pub fn refused(desk: &mut Desk, name: &str, description: &str, outcome: Result<(), FileError>) {
    if let Err(error) = outcome {
        may_come_again(desk, name, description, &not_written(&error));
    }
}

/// Approves or rejects the first of these, and the others after it.
fn next(desk: &mut Desk, name: &str, ruling: Ruling, mut descriptions: Vec<String>) {
    if descriptions.is_empty() {
        return;
    }
    let description = descriptions.remove(0);
    let lists = match load(desk, name) {
        Ok(lists) => lists,
        Err(reason) => return desk.cx.notify(format!("[{name}] {reason}"), Tone::Error),
    };
    let open = lists.proposals.open();
    let Some(proposal) = open.iter().find(|proposal| proposal.description == description) else {
        return next(desk, name, ruling, descriptions);
    };
    let (max, now) = (lists.monitor.max_learned.get() as usize, desk.cx.session().now);
    if ruling == Ruling::Rejected {
        let id = patch_proposals(desk, &lists.monitor, proposal.reject(now));
        let errand = Errand::Proposal { monitor: name.into(), description, ruling, rest: descriptions };
        return desk.watch.sent(id, errand);
    }
    match learning::approve(&lists.patterns, proposal, max, now) {
        Ok(Some(change)) => {
            let keeps_trust = keeps_trust(desk, name, &lists.monitor);
            let file = &lists.monitor.patterns;
            let id = desk.cx.patch(&file.mount, &file.path, change.initial, change.patch);
            let approval = Approval { monitor: name.into(), description, rest: descriptions, keeps_trust };
            desk.watch.sent(id, Errand::Approval(approval));
        }
        Ok(None) => take_out(desk, name, description, descriptions),
        Err(reason) => desk.cx.notify(format!("[{name}] Not approved, since {reason}: {description}"), Tone::Error),
    }
}

/// Takes a proposal out that stands among the patterns now.
fn take_out(desk: &mut Desk, name: &str, description: String, rest: Vec<String>) {
    let change = load_all(desk, name).ok().and_then(|lists| {
        let proposal = lists.proposals.entries.iter().find(|it| it.description == description && !it.is_rejected)?;
        Some((proposal.remove(), lists.monitor))
    });
    let Some((change, monitor)) = change else { return next(desk, name, Ruling::Approved, rest) };
    let id = patch_proposals(desk, &monitor, change);
    desk.watch.sent(id, Errand::Proposal { monitor: name.into(), description, ruling: Ruling::Approved, rest });
}

fn undo(desk: &mut Desk, listed: &Listed) {
    let name = &listed.name;
    let read = roster::load(desk.cx, listed).and_then(|monitor| {
        let file = &monitor.patterns;
        let text =
            desk.cx.read(&file.mount, &file.path).map_err(|error| unreadable(&file.mount, &file.path, &error))?;
        patterns::parse(&file.mount, &file.path, &text)?;
        Ok((learning::unlearn(&text), monitor))
    });
    match read {
        Ok((Some((pattern, change)), monitor)) => {
            let keeps_trust = keeps_trust(desk, name, &monitor);
            let id = desk.cx.patch(&monitor.patterns.mount, &monitor.patterns.path, change.initial, change.patch);
            desk.watch.sent(id, Errand::Unlearned { monitor: name.clone(), pattern, keeps_trust });
        }
        Ok((None, monitor)) => {
            let has_refused = proposals::load(desk.cx, &monitor.patterns)
                .is_ok_and(|list| list.entries.iter().any(|proposal| proposal.is_rejected));
            let remedy = match has_refused {
                true => format!(". To allow a rejected one again, remove its entry from {}", refused_in(&monitor)),
                false => String::new(),
            };
            desk.cx.notify(format!("[{name}] No pattern was learned{remedy}"), Tone::Normal);
        }
        Err(fault) => desk.cx.notify(format!("[{name}] {fault}"), Tone::Error),
    }
}

fn keeps_trust(desk: &Desk, name: &str, monitor: &Monitor) -> bool {
    desk.watch.roster.find(name).is_some_and(|listed| consent::holds(desk, listed, monitor))
}

fn patch_proposals(desk: &mut Desk, monitor: &Monitor, change: Change) -> chaperone_sdk::RequestId {
    let file = proposals::file_beside(&monitor.patterns);
    desk.cx.patch(&file.mount, &file.path, change.initial, change.patch)
}

/// The lists of a monitor, without proposals that are among the patterns already.
fn load(desk: &Desk, name: &str) -> Result<Lists, String> {
    let mut lists =
        load_all(desk, name).map_err(|fault| fault.map_or_else(|| GONE.into(), |fault| fault.to_string()))?;
    let known = &lists.patterns.entries;
    lists.proposals.entries.retain(|it| it.is_rejected || !learning::is_known(known, &it.description));
    Ok(lists)
}

fn load_all(desk: &Desk, name: &str) -> Result<Lists, Option<Fault>> {
    let listed = desk.watch.roster.find(name).ok_or(None)?;
    let monitor = roster::load(desk.cx, listed)?;
    let patterns = patterns::load(desk.cx, &monitor.patterns)?;
    let proposals = proposals::load(desk.cx, &monitor.patterns)?;
    Ok(Lists { monitor, patterns, proposals })
}

/// The file in which it is kept that a pattern is not wanted.
fn refused_in(monitor: &Monitor) -> String {
    let file = proposals::file_beside(&monitor.patterns);
    format!("{}:{}", file.mount, file.path)
}

const GONE: &str = "the monitor is no longer there";

fn not_saved(desk: &mut Desk, name: &str, error: &FileError) {
    let text = match error {
        FileError::Conflict(_) => {
            format!("[{name}] Not saved, since the file was changed meanwhile; see /monitors {name} patterns")
        }
        error => format!("[{name}] Not saved, since {}", not_written(error)),
    };
    desk.cx.notify(text, Tone::Error);
}

fn may_come_again(desk: &mut Desk, name: &str, description: &str, reason: &str) {
    let text = format!("[{name}] It may be learned again, since it cannot be kept in mind: {reason}: {description}");
    desk.cx.notify(text, Tone::Warning);
}
