//! The `excludes` of all monitors together: each must name a monitor, and none may wait for itself.

use super::{Listed, Roster};
use crate::fault::Report;

const POINTER: &str = "/classify/excludes";

/// Adds a fault for each unknown name, and takes every monitor out of service that is part of a cycle.
pub fn check(roster: &mut Roster) {
    for position in 0..roster.monitors.len() {
        let monitor = &roster.monitors[position];
        let mut report = Report::new(&monitor.mount, &monitor.file);
        for (index, name) in monitor.excludes.iter().enumerate().filter(|(_, name)| roster.find(name).is_none()) {
            let pointer = format!("{POINTER}/{index}");
            report.warning(pointer, format!("there is no monitor `{name}`"), "correct the name, or remove it");
        }
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
