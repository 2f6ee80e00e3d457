//! The last run of a session, for a host that takes the session up just before it.

use chaperone_contract::{Event, StartReason};

use crate::session::{Step, TimedStep};

/// Keeps the events of the last run, which begins after the agent came to rest for the last time but one. Of what was
/// before, only the entries stay.
pub fn of(mut steps: Vec<TimedStep>) -> Vec<TimedStep> {
    let is_rest = |step: &TimedStep| matches!(step.step, Step::Event(Event::AgentSettled { .. }));
    let rests: Vec<usize> = steps.iter().enumerate().filter(|(_, step)| is_rest(step)).map(|(at, _)| at).collect();
    let [.., earlier, _] = rests[..] else { return steps };
    let last_run = steps.split_off(earlier + 1);
    let taken_up_at = steps.last().map_or(0, |step| step.at);
    let start = TimedStep {
        at: taken_up_at,
        entry: None,
        idle: true,
        step: Step::Event(Event::SessionStart { reason: StartReason::Resume }),
    };
    let there_already = steps
        .into_iter()
        .filter(|step| !matches!(step.step, Step::Event(_)))
        .map(|step| TimedStep { idle: true, ..step });
    there_already.chain([start]).chain(last_run).collect()
}
