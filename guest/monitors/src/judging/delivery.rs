//! When what was found reaches the agent, and as what.

use chaperone_sdk::{Delivery, Injection, Level};

use super::activation;
use crate::decision::{self, About};
use crate::desk::Desk;
use crate::memory::{Flagged, Learning, Memory, Run};
use crate::roster::{Listed, Roster};
use crate::steer::{self, Remark};

/// Takes from the run what the agent is to hear now: what need not wait, and, once the agent has come to its end and
/// nothing is being judged any more, all the rest. That ends the run.
///
/// Who excludes itself for another one in the same message is left out: it was judged before the other one was.
pub fn take_due(run: &mut Run, roster: &Roster) -> Vec<Flagged> {
    let is_written_down = |flagged: &Flagged| !matches!(flagged.learning, Learning::Asked(_));
    let rest_is_due =
        run.ended && run.is_decided() && run.flagged.iter().all(|flagged| flagged.at_once || is_written_down(flagged));
    let is_due = |flagged: &Flagged| if flagged.at_once { is_written_down(flagged) } else { rest_is_due };
    let (mut due, later): (Vec<Flagged>, Vec<Flagged>) = std::mem::take(&mut run.flagged).into_iter().partition(is_due);
    run.flagged = later;
    run.ended &= !rest_is_due;
    let kept_out = kept_out(&due, roster);
    due.retain(|flagged| flagged.at_once || !kept_out.contains(&flagged.monitor));
    let mut once: Vec<Flagged> = Vec::with_capacity(due.len());
    for flagged in due {
        let said = |earlier: &Flagged| earlier.monitor == flagged.monitor && earlier.description == flagged.description;
        if !once.iter().any(said) {
            once.push(flagged);
        }
    }
    once
}

/// The monitors that exclude themselves for another one that is due.
fn kept_out(due: &[Flagged], roster: &Roster) -> Vec<String> {
    let is_due = |listed: &&Listed| due.iter().any(|flagged| flagged.monitor == listed.name && !flagged.at_once);
    let (mut speaking, mut kept_out) = (Vec::new(), Vec::new());
    for listed in activation::in_order(roster.monitors.iter().filter(is_due).collect()) {
        match listed.excludes.iter().any(|name| speaking.contains(name)) {
            true => kept_out.push(listed.name),
            false => speaking.push(listed.name),
        }
    }
    kept_out
}

/// Counts a steer for each monitor that speaks in the message, once, and words the message.
pub fn inject(memory: &mut Memory, due: &[Flagged]) -> Injection {
    for (position, flagged) in due.iter().enumerate() {
        if !due[..position].iter().any(|earlier| earlier.monitor == flagged.monitor) {
            memory.notes(&flagged.monitor).count += 1;
        }
    }
    let remarks: Vec<Remark<'_>> = due
        .iter()
        .map(|flagged| Remark {
            monitor: &flagged.monitor,
            verdict: flagged.verdict,
            description: &flagged.description,
            steer: &flagged.steer,
            count: memory.count(&flagged.monitor),
            ceiling: flagged.ceiling,
            learned: flagged.learning == Learning::Done,
        })
        .collect();
    Injection {
        custom_type: steer::CUSTOM_TYPE.into(),
        content: steer::message(&remarks),
        display: true,
        details: Some(steer::details(&remarks)),
        delivery: Delivery::Steer,
        trigger_turn: true,
    }
}

/// Tells the agent what is due, in one message. What is not asked for by a command is given up where the user has
/// something to say that the agent has not read yet: that comes first, and may settle the matter.
pub fn deliver(desk: &mut Desk) {
    let mut due = take_due(&mut desk.memory.run, &desk.watch.roster);
    if due.iter().any(|flagged| !flagged.at_once) && desk.cx.session().input_pending {
        for flagged in due.extract_if(.., |flagged| !flagged.at_once) {
            about(&flagged).became(desk.cx, decision::DROPPED, Some("the user has spoken"));
        }
        desk.cx.log(Level::Info, "findings were not passed on to the agent, since the user has spoken");
    }
    if !due.is_empty() {
        let message = inject(&mut desk.memory, &due);
        desk.cx.inject(message);
        for flagged in &due {
            about(flagged).became(desk.cx, decision::STEERED, None);
        }
    }
}

fn about(flagged: &Flagged) -> About<'_> {
    About { monitor: &flagged.monitor, request: Some(flagged.request) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steer::Kind;

    fn flagged(monitor: &str, description: &str) -> Flagged {
        Flagged {
            monitor: monitor.into(),
            verdict: Kind::Flag,
            description: description.into(),
            steer: "S.".into(),
            ceiling: 5,
            request: 0,
            learning: Learning::No,
            at_once: false,
        }
    }

    fn ended(flagged: &[Flagged]) -> Run {
        Run { ended: true, flagged: flagged.to_vec(), ..Run::default() }
    }

    #[test]
    fn all_is_told_at_the_end_and_only_then() {
        let found = [flagged("a", "x"), flagged("b", "y")];
        let mut run = ended(&found);
        assert_eq!(take_due(&mut run, &Roster::default()), found);
        assert!(run.is_quiet(), "that was the run");
        let mut run = Run { ended: false, ..ended(&found) };
        assert_eq!(take_due(&mut run, &Roster::default()), []);
        assert_eq!(run.flagged, found);
    }

    #[test]
    fn those_who_are_not_decided_yet_are_waited_for() {
        let mut run = Run { waiting: vec!["c".into()], ..ended(&[flagged("a", "x")]) };
        assert_eq!(take_due(&mut run, &Roster::default()), []);
        assert!(run.ended);
    }

    #[test]
    fn nothing_is_told_before_it_is_known_whether_it_was_learned() {
        let asked = Flagged { learning: Learning::Asked(1), ..flagged("a", "x") };
        let mut run = ended(&[asked.clone(), flagged("b", "y")]);
        assert_eq!(take_due(&mut run, &Roster::default()), []);
        let mut run = Run { flagged: vec![Flagged { at_once: true, ..asked }], ..Run::default() };
        assert_eq!(take_due(&mut run, &Roster::default()), []);
        assert_eq!(run.flagged.len(), 1);
    }

    #[test]
    fn what_need_not_wait_goes_alone() {
        let at_once = Flagged { at_once: true, ..flagged("c", "z") };
        let mut run = Run { flagged: vec![flagged("a", "x"), at_once.clone()], ..Run::default() };
        assert_eq!(take_due(&mut run, &Roster::default()), [at_once]);
        assert_eq!(run.flagged, [flagged("a", "x")]);
    }

    #[test]
    fn a_monitor_counts_once_a_message_and_says_the_same_thing_once() {
        let mut run = ended(&[flagged("a", "x"), flagged("a", "x"), flagged("a", "y")]);
        let due = take_due(&mut run, &Roster::default());
        assert_eq!(due, [flagged("a", "x"), flagged("a", "y")]);
        let mut memory = Memory::default();
        inject(&mut memory, &due);
        assert_eq!(memory.count("a"), 1);
    }
}
