//! What a single monitor did, out of what the plugin of all monitors did.

use chaperone_contract::{Effect, Notice, Prompt};
use serde_json::Value;

use crate::transaction::Committed;

/// The part of a hook that is one monitor's. None: the hook has nothing of it.
pub fn narrow(committed: &Committed, monitor: &str) -> Option<Committed> {
    let effects = committed.effects.iter().filter(|effect| concerns(effect, monitor));
    let effects: Vec<_> = effects.cloned().collect();
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
    use chaperone_contract::{Delivery, Finding, Injection, Judgement, Scope, Tone, Verdict};

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
    fn a_hook_without_anything_of_the_monitor_is_none_of_its_own() {
        let hook = Committed { effects: vec![judged("fragility"), told("[fragility] x")], ..Committed::default() };
        assert_eq!(narrow(&hook, "hedge"), None);
        assert!(is_judged(&hook, "fragility") && !is_judged(&hook, "hedge"));
    }
}
