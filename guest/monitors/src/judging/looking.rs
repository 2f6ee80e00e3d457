//! The state of the repository: looked up, for those who show it to their judges, once nothing else is in the way of the
//! question.

use chaperone_sdk::FileError;

use super::moment::Moment;
use super::{asking, gate, proceed};
use crate::desk::Desk;
use crate::evidence::{Window, git};
use crate::memory::{Looking, Run};

/// Has it looked up for a monitor that an event is for, or that looks at a call which is not held. Those who look at the
/// same thing share the answer.
pub fn begin(desk: &mut Desk, monitor: &str, window: &Window) {
    match desk.memory.run.looking.values_mut().find(|looking| is_about(looking, window)) {
        Some(looking) => looking.monitors.push(monitor.into()),
        None => {
            let id = git::look_up(desk.cx);
            let entry = window.newest().map(|entry| entry.id.clone());
            let looking = Looking { monitors: vec![monitor.into()], entry, call: window.pending().cloned() };
            desk.memory.run.looking.insert(id, looking);
        }
    }
}

/// Whether the answer for this monitor and this evidence is on its way.
pub fn is_under_way(run: &Run, monitor: &str, window: &Window) -> bool {
    run.looking.values().any(|looking| is_about(looking, window) && looking.is_for(monitor))
}

/// An event shows a monitor more than there was when it began to look: an answer to that would be out of date.
pub fn stop(run: &mut Run, monitor: &str) {
    run.stop_looking(|looking, name| looking.call.is_none() && name == monitor);
}

fn is_about(looking: &Looking, window: &Window) -> bool {
    looking.call.as_ref() == window.pending() && looking.entry == window.newest().map(|entry| entry.id.clone())
}

/// The host has found out, or cannot: the judges are asked about what there is now.
pub fn end(desk: &mut Desk, looking: Looking, outcome: Result<(), FileError>) {
    let roster = &desk.watch.roster;
    let listed: Vec<_> = looking.monitors.iter().filter_map(|name| roster.find(name)).cloned().collect();
    let mut moment = Moment::now(desk.cx, &listed).with_git_status(git::status(desk.cx, outcome));
    if let Some(call) = &looking.call {
        moment = moment.before(call.clone());
    }
    let (window, transcript) = (moment.window(), moment.transcript());
    for listed in &listed {
        match &looking.call {
            Some(call) => gate::look(desk, listed, call, &window, &transcript),
            None => asking::ask(desk, listed, &window, &transcript),
        }
    }
    proceed(desk);
}
