//! The `excludes` of all monitors together: each must name a monitor, and none may wait for itself.

use super::{Listed, Roster};
use crate::fault::Report;
use crate::seeding;
use crate::trust::Standing;

const POINTER: &str = "/classify/excludes";

/// Adds a fault for each unknown name, and takes every monitor out of service that is part of a cycle.
pub fn check(roster: &mut Roster) {
    check_names(roster);
    // What is not trusted must not put the others out of service.
    let untrusted = roster.monitors.iter_mut().filter(|monitor| matches!(monitor.trust, Standing::Untrusted(_)));
    untrusted.for_each(|monitor| monitor.excludes.clear());
    check_cycles(roster);
}

fn check_names(roster: &mut Roster) {
    let mut faults = Vec::new();
    for monitor in &roster.monitors {
        let mut report = Report::new(&monitor.mount, &monitor.file);
        for (index, name) in monitor.excludes.iter().enumerate().filter(|(_, name)| roster.find(name).is_none()) {
            let pointer = format!("{POINTER}/{index}");
            let message = format!("there is no monitor `{name}`");
            match seeding::is_bundled(name) {
                true => report.remark(
                    pointer,
                    message,
                    format!("/monitors init {name} adds it; nothing is wrong without it"),
                ),
                false => report.warning(pointer, message, "correct the name, or remove it"),
            }
        }
        faults.extend(report.into_faults());
    }
    roster.faults.extend(faults);
}

fn check_cycles(roster: &mut Roster) {
    for position in 0..roster.monitors.len() {
        let monitor = &roster.monitors[position];
        let mut report = Report::new(&monitor.mount, &monitor.file);
        let cycle = cycle(&roster.monitors, position).map(|path| path.join(" -> "));
        if let Some(cycle) = &cycle {
            let message = format!("these monitors wait for each other: {cycle}");
            report.error(POINTER, message, "remove one of the names on that way");
        }
        let faults = report.into_faults();
        roster.faults.extend(faults);
        if let Some(cycle) = cycle {
            roster.monitors[position].inactive.get_or_insert(format!("excludes form a cycle: {cycle}"));
        }
    }
}

/// The shortest way along `excludes` from a monitor back to itself.
fn cycle(monitors: &[Listed], start: usize) -> Option<Vec<&str>> {
    let mut came_from = vec![None; monitors.len()];
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for name in &monitors[at].excludes {
            let Some(next) = monitors.iter().position(|monitor| monitor.name == *name) else { continue };
            if next == start {
                let mut path = vec![monitors[start].name.as_str()];
                let mut step = Some(at);
                while let Some(position) = step {
                    path.push(&monitors[position].name);
                    step = came_from[position];
                }
                path.reverse();
                return Some(path);
            }
            if came_from[next].is_none() {
                came_from[next] = Some(at);
                queue.push_back(next);
            }
        }
    }
    None
}
