//! The state of the repository: looked up, for those who show it to their judges, once nothing else is in the way of the
//! question.

use chaperone_sdk::FileError;

use super::moment::Moment;
use super::{asking, proceed};
use crate::desk::Desk;
use crate::evidence::git;
use crate::memory::Looking;

/// Has it looked up for a monitor that an event is for. Those who look at the same time share the answer.
pub fn begin(desk: &mut Desk, monitor: &str) {
    match &mut desk.memory.run.looking {
        Some(looking) => looking.monitors.push(monitor.into()),
        looking => {
            let request = git::look_up(desk.cx);
            *looking = Some(Looking { request, monitors: vec![monitor.into()] });
        }
    }
}

/// The host has found out, or cannot: the judges are asked about what there is now.
pub fn end(desk: &mut Desk, looking: &Looking, outcome: Result<(), FileError>) {
    let roster = &desk.watch.roster;
    let listed: Vec<_> = looking.monitors.iter().filter_map(|name| roster.find(name)).cloned().collect();
    let moment = Moment::now(desk.cx, &listed).with_git_status(git::status(desk.cx, outcome));
    for listed in &listed {
        asking::ask(desk, listed, &moment.window(), &moment.transcript());
    }
    proceed(desk);
}
