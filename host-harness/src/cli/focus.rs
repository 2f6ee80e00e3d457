//! What a single monitor did, out of what the plugin of all monitors did.

use chaperone_contract::{Decision, Effect, Notice, Prompt};
use serde_json::Value;

use crate::transaction::Committed;

/// What a monitor says became of its judgement where it has refused a tool call.
const REFUSED: &str = "refused";

/// The part of a hook that is one monitor's. None: the hook has nothing of it.
pub fn narrow(committed: &Committed, monitor: &str) -> Option<Committed> {
    // A refusal says whose it is in its words alone; the monitor's own account of it stands beside it.
    let is_refusing = |effect: &Effect| matches!(effect, Effect::Decided(Decision { watcher, outcome, .. }) if watcher == monitor && outcome == REFUSED);
    let refuses = committed.effects.iter().any(is_refusing);
    let is_own = |effect: &&Effect| match effect {
        Effect::Release { refusal: Some(_), .. } => refuses,
        effect => concerns(effect, monitor),
    };
    let effects: Vec<_> = committed.effects.iter().filter(is_own).cloned().collect();
    (!effects.is_empty()).then(|| Committed { effects, ..Committed::default() })
}

/// Whether the monitor was judged in a hook: what the hook wrote is then the monitor's.
pub fn is_judged(committed: &Committed, monitor: &str) -> bool {
    committed.effects.iter().any(|effect| matches!(effect, Effect::Judged(judgement) if judgement.watcher == monitor))
}

/// Texts for the user begin with the monitor's name in brackets; everything else names it in a field.
fn concerns(effect: &Effect, monitor: &str) -> bool {
    let is_headed = |text: &str| text.starts_with(&format!("[{monitor}]"));
    match effect {
        Effect::Judged(judgement) => judgement.watcher == monitor,
        Effect::Spared(sparing) => sparing.watcher == monitor,
        Effect::Found(finding) => finding.watcher == monitor,
        Effect::Decided(decision) => decision.watcher == monitor,
        Effect::Complete(call) => call.request.label == monitor,
        Effect::Inject(message) => {
            let details = message.details.as_deref().and_then(|details| serde_json::from_str::<Value>(details).ok());
            let remarks = details.as_ref().and_then(|details| details["monitors"].as_array());
            remarks.is_some_and(|remarks| remarks.iter().any(|remark| remark["monitor"] == monitor))
        }
        Effect::Show(Notice { data: Some(data), .. }) => {
            serde_json::from_str::<Value>(data).is_ok_and(|data| data["monitor"] == monitor)
        }
        Effect::Notify { text, .. } | Effect::Log { message: text, .. } => is_headed(text),
        Effect::Ask {
            prompt:
                Prompt::Confirm((title, _))
                | Prompt::Select((title, _))
                | Prompt::Input((title, _))
                | Prompt::Settings((title, _)),
            ..
        } => is_headed(title),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use chaperone_contract::{Delivery, Finding, Injection, Judgement, Scope, Subject, Tone, Verdict};

    use super::*;

    fn judged(watcher: &str) -> Effect {
        Effect::Judged(Judgement {
            watcher: watcher.into(),
            verdict: Verdict::Clean,
            description: None,
            request: None,
            entry: None,
        })
    }

    fn told(text: &str) -> Effect {
        Effect::Notify { text: text.into(), tone: Tone::Normal }
    }

    fn injected(details: &str) -> Effect {
        Effect::Inject(Injection {
            custom_type: "monitor-steer".into(),
            content: "…".into(),
            display: true,
            details: Some(details.into()),
            delivery: Delivery::Steer,
            trigger_turn: true,
        })
    }

    fn narrowed(effects: Vec<Effect>) -> Vec<Effect> {
        narrow(&Committed { effects, ..Committed::default() }, "hedge").map(|kept| kept.effects).unwrap_or_default()
    }

    #[test]
    fn verdicts_findings_and_words_of_the_monitor_stay_and_others_go() {
        let found = |watcher: &str| {
            let [id, description, file] = ["i", "d", "f"].map(String::from);
            Effect::Found(Finding { id, watcher: watcher.into(), description, file })
        };
        let state = Effect::Set { scope: Scope::Branch, value: Vec::new() };
        let kept = vec![judged("hedge"), found("hedge"), told("[hedge] CLEAN")];
        let mut all = kept.clone();
        all.extend([judged("hedge-more"), found("fragility"), told("[hedge-more] CLEAN"), told("hedge: x"), state]);
        assert_eq!(narrowed(all), kept);
    }

    #[test]
    fn a_message_to_the_agent_stays_where_the_monitor_has_a_part_in_it() {
        let both = injected(r#"{"monitors":[{"monitor":"fragility"},{"monitor":"hedge"}]}"#);
        let other = injected(r#"{"monitors":[{"monitor":"fragility"}]}"#);
        assert_eq!(narrowed(vec![both.clone(), other, injected("no JSON")]), [both]);
    }

    #[test]
    fn a_refusal_stays_where_it_is_the_monitors() {
        let refused = |watcher: &str| {
            let (watcher, outcome) = (watcher.into(), REFUSED.into());
            let subject = Subject::Call(1);
            Effect::Decided(Decision { watcher, subject, outcome, detail: None, finding: None, evidence: None })
        };
        let release = Effect::Release { call_id: "c".into(), refusal: Some("no".into()) };
        let own = vec![refused("hedge"), release.clone()];
        assert_eq!(narrowed(own.clone()), own);
        assert_eq!(narrowed(vec![refused("fragility"), release, judged("hedge")]), [judged("hedge")]);
    }

    #[test]
    fn a_hook_without_anything_of_the_monitor_is_none_of_its_own() {
        let hook = Committed { effects: vec![judged("fragility"), told("[fragility] x")], ..Committed::default() };
        assert_eq!(narrow(&hook, "hedge"), None);
        assert!(is_judged(&hook, "fragility") && !is_judged(&hook, "hedge"));
    }
}
