//! What plugins wait for, beyond the life of a process.

use chaperone_contract::*;

use super::Session;
use crate::store::{Awaited, Requests};

impl Session {
    /// Goes on where an earlier process left a plugin. What it waited for there cannot come any more, but for timers: it
    /// is told so with the next event.
    pub(super) fn resume(&mut self, index: usize, awaited: Vec<(RequestId, Awaited)>) {
        for (id, awaited) in awaited {
            let event = match awaited {
                Awaited::Completion => Event::LlmCompleted { id, outcome: Err(LlmError::Cancelled) },
                Awaited::Answer => Event::Answered { id, answer: Answer::Unavailable },
                Awaited::Stored => {
                    let told = "the host stopped before it could tell what became of the file";
                    Event::Stored { id, outcome: Err(FileError::Io(told.into())) }
                }
                Awaited::Timer(at) => {
                    self.timers.insert((at, (index, id)));
                    continue;
                }
            };
            self.due.push_back((index, event));
        }
    }
}

/// How a hook changes what its plugin waits for. A hook that failed has had its answer all the same, and has no effects.
pub(super) fn requests(event: &Event, effects: &[Effect], now: Timestamp) -> Requests {
    let mut requests = Requests { asked: Vec::new(), over: answered(event).into_iter().collect() };
    for effect in effects {
        let (id, awaited) = match effect {
            Effect::Complete(CompleteEffect { id, .. }) => (*id, Awaited::Completion),
            Effect::Ask { id, .. } => (*id, Awaited::Answer),
            Effect::Refresh { id, .. } | Effect::Write { id, .. } | Effect::Patch { id, .. } => (*id, Awaited::Stored),
            Effect::Arm { id, milliseconds } => (*id, Awaited::Timer(fires_at(now, *milliseconds))),
            Effect::Disarm { id } => {
                requests.asked.retain(|(asked, _)| asked != id);
                requests.over.push(*id);
                continue;
            }
            _ => continue,
        };
        requests.asked.push((id, awaited));
    }
    requests
}

/// The request that is over with an event.
fn answered(event: &Event) -> Option<RequestId> {
    match event {
        // A panel of settings stays open for further changes.
        Event::Answered { answer: Answer::Changed(_), .. } => None,
        Event::LlmCompleted { id, .. }
        | Event::Answered { id, .. }
        | Event::Stored { id, .. }
        | Event::TimerFired { id } => Some(*id),
        _ => None,
    }
}

/// When a timer fires that is armed now. One that fired at once and was armed again would never let time go on.
pub(super) fn fires_at(now: Timestamp, milliseconds: u64) -> Timestamp {
    now.saturating_add(milliseconds.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_hook_asks_for_is_awaited_until_it_is_answered_or_disarmed() {
        let effects = [
            Effect::Arm { id: 4, milliseconds: 0 },
            Effect::Arm { id: 5, milliseconds: 10 },
            Effect::Ask { id: 6, prompt: Prompt::Confirm(("a".into(), "b".into())) },
            Effect::Disarm { id: 4 },
            Effect::Disarm { id: 2 },
            Effect::Abort,
        ];
        let requests = requests(&Event::TimerFired { id: 1 }, &effects, 100);
        assert_eq!(requests.asked, [(5, Awaited::Timer(110)), (6, Awaited::Answer)]);
        assert_eq!(requests.over, [1, 4, 2]);
    }

    #[test]
    fn a_panel_of_settings_is_open_until_it_is_closed() {
        let answered = |answer| requests(&Event::Answered { id: 3, answer }, &[], 0).over;
        assert!(answered(Answer::Changed(("key".into(), "value".into()))).is_empty());
        assert_eq!(answered(Answer::Dismissed), [3]);
    }
}
