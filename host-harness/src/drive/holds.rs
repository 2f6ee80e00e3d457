//! Tool calls that wait for plugins.

use std::collections::{BTreeMap, BTreeSet};

use chaperone_contract::{Gate, Reply, Timestamp};

/// How long a call waits at most for the plugins that hold it, in milliseconds of the session's clock: longer than any
/// judge takes, so that it only ends what a plugin forgets.
pub const LONGEST_HOLD_MS: u64 = 60_000;

/// The calls that plugins hold, by id.
#[derive(Debug, Default)]
pub struct Holds {
    open: BTreeMap<String, Hold>,
    /// The latest decision, and about which call.
    latest: Option<(String, Decision)>,
}

#[derive(Debug)]
struct Hold {
    /// The plugins that have not let it go yet.
    by: BTreeSet<usize>,
    until: Timestamp,
}

/// What has been decided about a call that was held: none, it runs; else why it is refused.
pub type Decision = Option<String>;

impl Holds {
    /// What becomes of a call, by what each plugin replied: a refusal decides, whoever else would wait; who holds it is
    /// waited for.
    pub fn gate(&mut self, call: &str, replies: &[(usize, Reply)], now: Timestamp) -> Gate {
        let mut by = BTreeSet::new();
        for (plugin, reply) in replies {
            match reply {
                Reply::Gate(Gate::Refuse(reason)) => return Gate::Refuse(reason.clone()),
                Reply::Gate(Gate::Hold) => _ = by.insert(*plugin),
                _ => {}
            }
        }
        if by.is_empty() {
            return Gate::Allow;
        }
        self.open.insert(call.into(), Hold { by, until: now.saturating_add(LONGEST_HOLD_MS) });
        Gate::Hold
    }

    /// Whether a call is held.
    pub fn contains(&self, call: &str) -> bool {
        self.open.contains_key(call)
    }

    /// A plugin lets a call go, or refuses it. The decision, once there is one.
    pub fn release(&mut self, plugin: usize, call: &str, refusal: Option<String>) -> Option<Decision> {
        let hold = self.open.get_mut(call)?;
        if !hold.by.remove(&plugin) || refusal.is_none() && !hold.by.is_empty() {
            return None;
        }
        self.open.remove(call);
        self.latest = Some((call.into(), refusal.clone()));
        Some(refusal)
    }

    /// What becomes of a call by now that was to be held when it began: it may have been decided about meanwhile.
    pub fn by_now(&mut self, call: &str, gate: Gate) -> Gate {
        match self.latest.take_if(|(decided, _)| decided == call) {
            Some((_, Some(reason))) if gate == Gate::Hold => Gate::Refuse(reason),
            Some((_, None)) if gate == Gate::Hold => Gate::Allow,
            _ => gate,
        }
    }

    /// A call is not held any longer, whatever plugins think of it.
    pub fn forget(&mut self, call: &str) {
        self.open.remove(call);
    }

    /// A plugin is called no more: it holds nothing. The calls that run therefore.
    pub fn drop_plugin(&mut self, plugin: usize) -> Vec<String> {
        let calls: Vec<String> = self.open.keys().cloned().collect();
        calls.into_iter().filter(|call| self.release(plugin, call, None).is_some()).collect()
    }

    /// When the first of the calls will have waited for long enough.
    pub fn next_end(&self) -> Option<Timestamp> {
        self.open.values().map(|hold| hold.until).min()
    }

    /// The call that has waited longest of those that wait no longer at `now`.
    pub fn take_expired(&mut self, now: Timestamp) -> Option<String> {
        let expired = self.open.iter().filter(|(_, hold)| hold.until <= now);
        let (_, call) = expired.map(|(call, hold)| (hold.until, call.clone())).min()?;
        self.open.remove(&call);
        Some(call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(replies: &[(usize, Gate)]) -> (Holds, Gate) {
        let mut holds = Holds::default();
        let replies: Vec<_> = replies.iter().map(|(plugin, gate)| (*plugin, Reply::Gate(gate.clone()))).collect();
        let gate = holds.gate("c", &replies, 1_000);
        (holds, gate)
    }

    #[test]
    fn a_refusal_decides_whoever_else_would_wait() {
        let no = || Gate::Refuse("no".into());
        assert_eq!(held(&[(0, Gate::Allow), (1, Gate::Hold), (2, no())]).1, no());
        assert_eq!(held(&[(0, Gate::Allow), (1, Gate::Hold)]).1, Gate::Hold);
        assert_eq!(held(&[(0, Gate::Allow)]).1, Gate::Allow);
        assert_eq!(held(&[]).1, Gate::Allow);
    }

    #[test]
    fn a_call_runs_once_all_have_let_it_go_and_is_refused_by_the_first_who_refuses() {
        let (mut holds, _) = held(&[(0, Gate::Hold), (1, Gate::Hold)]);
        assert_eq!(holds.release(0, "c", None), None);
        assert_eq!(holds.release(0, "c", Some("again".into())), None, "it has let it go");
        assert_eq!(holds.release(1, "c", None), Some(None));
        assert_eq!(holds.release(1, "c", None), None, "it is decided");
        let (mut holds, _) = held(&[(0, Gate::Hold), (1, Gate::Hold)]);
        assert_eq!(holds.release(1, "c", Some("no".into())), Some(Some("no".into())));
        assert!(!holds.contains("c"));
    }

    #[test]
    fn what_was_decided_at_once_need_not_be_waited_for() {
        let (mut holds, gate) = held(&[(0, Gate::Hold)]);
        holds.release(0, "c", Some("no".into()));
        assert_eq!(holds.by_now("c", gate.clone()), Gate::Refuse("no".into()));
        assert_eq!(holds.by_now("c", gate.clone()), gate, "that was said");
    }

    #[test]
    fn nobody_is_waited_for_for_ever() {
        let (mut holds, _) = held(&[(0, Gate::Hold)]);
        assert_eq!(holds.take_expired(1_000 + LONGEST_HOLD_MS - 1), None);
        assert_eq!(holds.take_expired(1_000 + LONGEST_HOLD_MS).as_deref(), Some("c"));
        let (mut holds, _) = held(&[(0, Gate::Hold), (1, Gate::Hold)]);
        assert_eq!(holds.drop_plugin(0), [""; 0]);
        assert_eq!(holds.drop_plugin(1), ["c"]);
    }
}
