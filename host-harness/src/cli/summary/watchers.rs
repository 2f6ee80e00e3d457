//! What each watcher did, in figures: what somebody looks at who tunes one.

use std::collections::BTreeMap;

use chaperone_contract::{Effect, Gate, Judgement, Reply, Verdict};
use serde::Serialize;

use super::{Tokens, Verdicts, micros};
use crate::drive::Note;
use crate::transaction::Committed;

/// The outcomes of a judgement that are counted, as watchers report them with `traces.decided`.
const STEERED: &str = "steered";
const DROPPED: &str = "dropped";
const REFUSED: &str = "refused";

/// What saved a call, where a watcher settled a matter itself and does not say by what.
const RULES: &str = "rules";
/// The same, where it has spared its judge.
const OTHER: &str = "other";

/// The figures of each watcher that did anything, by plugin and name.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Watchers(Vec<Figures>);

/// What one watcher did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// The plugin that it belongs to.
    pub plugin: String,
    /// Its name, as in judgements and in the labels of model calls.
    pub watcher: String,
    /// How often it looked: asked its judge, or saved the call.
    pub looks: u64,
    /// Model calls that were answered, one way or the other.
    pub llm_calls: u64,
    /// Those of them without an answer.
    pub failed_calls: u64,
    /// Model calls that were saved, by what made them needless.
    pub saved: BTreeMap<String, u64>,
    /// Verdicts by kind.
    pub verdicts: Verdicts,
    /// Findings that were put before the agent.
    pub steered: u64,
    /// Findings that were to be put before the agent, and were not.
    pub dropped: u64,
    /// Findings for which a tool call was refused, or would have been.
    pub refused: u64,
    /// Findings that stand in a file.
    pub findings: u64,
    /// What the calls cost.
    pub tokens: Tokens,
    /// How long the calls took together, in microseconds.
    pub llm_micros: u64,
}

impl Figures {
    /// Model calls that were saved, whatever made them needless.
    pub fn all_saved(&self) -> u64 {
        self.saved.values().sum()
    }
}

impl Watchers {
    /// In the order of plugins and names.
    pub fn all(&self) -> &[Figures] {
        &self.0
    }

    /// Counts what a hook did.
    pub fn hook(&mut self, plugin: &str, Committed { reply, effects }: &Committed) {
        // What is not granted is missing here, whatever the watcher made of its judgement.
        let speaks = effects.iter().any(|effect| matches!(effect, Effect::Inject(_)));
        let refuses = matches!(reply, Reply::Gate(Gate::Refuse(_)))
            || effects.iter().any(|effect| matches!(effect, Effect::Release { refusal: Some(_), .. }));
        for effect in effects {
            match effect {
                Effect::Complete(call) => self.of(plugin, &call.request.label).looks += 1,
                Effect::Judged(judgement) => {
                    let figures = self.of(plugin, &judgement.watcher);
                    *figures.verdicts.of(judgement.verdict) += 1;
                    if is_settled(judgement) {
                        figures.save(judgement.description.as_deref().and_then(cause).unwrap_or(RULES));
                    }
                }
                Effect::Spared(sparing) => {
                    self.of(plugin, &sparing.watcher).save(cause(&sparing.reason).unwrap_or(OTHER));
                }
                Effect::Found(finding) => self.of(plugin, &finding.watcher).findings += 1,
                Effect::Decided(decision) => {
                    let figures = self.of(plugin, &decision.watcher);
                    match decision.outcome.as_str() {
                        STEERED if speaks => figures.steered += 1,
                        STEERED | DROPPED => figures.dropped += 1,
                        REFUSED if refuses => figures.refused += 1,
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }

    /// Counts what the host has to say.
    pub fn note(&mut self, plugin: &str, note: &Note) {
        if let Note::Answered { label, usage, ok, took } = note {
            let figures = self.of(plugin, label);
            figures.llm_calls += 1;
            figures.failed_calls += u64::from(!ok);
            figures.tokens.add(usage.as_ref());
            figures.llm_micros += micros(*took);
        }
    }

    fn of(&mut self, plugin: &str, watcher: &str) -> &mut Figures {
        let place = self
            .0
            .binary_search_by(|figures| (figures.plugin.as_str(), figures.watcher.as_str()).cmp(&(plugin, watcher)));
        let place = place.unwrap_or_else(|place| {
            let figures = Figures { plugin: plugin.into(), watcher: watcher.into(), ..Figures::default() };
            self.0.insert(place, figures);
            place
        });
        &mut self.0[place]
    }
}

impl Figures {
    /// A look without a call.
    fn save(&mut self, cause: &str) {
        self.looks += 1;
        *self.saved.entry(cause.to_owned()).or_default() += 1;
    }
}

/// Whether a judgement was made without a model, so that a call was saved. One that did not come about has saved none.
pub fn is_settled(judgement: &Judgement) -> bool {
    judgement.request.is_none() && judgement.verdict != Verdict::Unknown
}

/// The word with which a reason begins, as in `exempt: waiting_on_user`.
fn cause(reason: &str) -> Option<&str> {
    let (word, _) = reason.split_once(": ")?;
    let is_word = !word.is_empty() && word.chars().all(|char| char.is_alphanumeric() || matches!(char, '-' | '_'));
    is_word.then_some(word)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chaperone_contract::{Decision, Delivery, Injection, Sparing, Subject, Usage};

    use super::*;

    fn judged(watcher: &str, verdict: Verdict, request: Option<u64>, description: Option<&str>) -> Effect {
        let description = description.map(str::to_owned);
        Effect::Judged(Judgement { watcher: watcher.into(), verdict, description, request, entry: None })
    }

    fn spared(reason: &str) -> Effect {
        Effect::Spared(Sparing { watcher: "hedge".into(), reason: reason.into(), entry: None })
    }

    fn decided(outcome: &str) -> Effect {
        Effect::Decided(Decision {
            watcher: "hedge".into(),
            subject: Subject::Call(1),
            outcome: outcome.into(),
            detail: None,
            finding: None,
            evidence: None,
        })
    }

    fn injected() -> Effect {
        Effect::Inject(Injection {
            custom_type: "monitor-steer".into(),
            content: "…".into(),
            display: true,
            details: None,
            delivery: Delivery::Steer,
            trigger_turn: true,
        })
    }

    /// The only watcher's figures, after one hook with these effects.
    fn figures(effects: Vec<Effect>) -> Figures {
        let mut watchers = Watchers::default();
        watchers.hook("monitors", &Committed { effects, ..Committed::default() });
        assert_eq!(watchers.all().len(), 1);
        watchers.0.remove(0)
    }

    #[test]
    fn a_look_without_a_call_is_counted_by_the_word_that_its_reason_begins_with() {
        let figures = figures(vec![
            spared("exempt: waiting_on_user"),
            spared("exempt: background_work"),
            spared("known: this was judged before"),
            spared("for a reason of its own: none"),
            judged("hedge", Verdict::Clean, None, Some("precheck: has_bash")),
            judged("hedge", Verdict::Flag, None, Some("It asks: why?")),
            judged("hedge", Verdict::Unknown, None, Some("config: rejected")),
            judged("hedge", Verdict::Clean, Some(1), Some("precheck: no")),
        ]);
        let saved: Vec<_> = figures.saved.iter().map(|(cause, times)| (cause.as_str(), *times)).collect();
        assert_eq!(saved, [("exempt", 2), ("known", 1), ("other", 1), ("precheck", 1), ("rules", 1)]);
        assert_eq!((figures.looks, figures.all_saved()), (6, 6));
        let Verdicts { clean, flag, new, unknown } = figures.verdicts;
        assert_eq!([clean, flag, new, unknown], [2, 1, 0, 1]);
    }

    #[test]
    fn a_finding_counts_as_told_only_where_the_host_let_it_be_told() {
        let told = figures(vec![injected(), decided("steered"), decided("dropped"), decided("noted")]);
        assert_eq!((told.steered, told.dropped), (1, 1));
        let not_granted = figures(vec![decided("steered")]);
        assert_eq!((not_granted.steered, not_granted.dropped), (0, 1));
        let released = Effect::Release { call_id: "c".into(), refusal: Some("no".into()) };
        assert_eq!(figures(vec![decided("refused"), released]).refused, 1);
        assert_eq!(figures(vec![decided("refused")]).refused, 0);
    }

    #[test]
    fn calls_belong_to_the_watcher_that_their_label_names_and_plugins_are_kept_apart() {
        let mut watchers = Watchers::default();
        let answered = |label: &str, ok| Note::Answered {
            label: label.into(),
            usage: Some(Usage { input: 10, output: 2, cache_read: 0, cache_write: 0, total: 12 }),
            ok,
            took: Duration::from_millis(3),
        };
        for (plugin, note) in [
            ("monitors", answered("hedge", true)),
            ("theirs", answered("hedge", true)),
            ("monitors", answered("hedge", false)),
            ("monitors", answered("fragility", true)),
            ("monitors", Note::Denied { effect: "inject" }),
        ] {
            watchers.note(plugin, &note);
        }
        let all: Vec<_> = watchers
            .all()
            .iter()
            .map(|of| (&*of.plugin, &*of.watcher, of.llm_calls, of.failed_calls, of.tokens.input, of.llm_micros))
            .collect();
        assert_eq!(
            all,
            [
                ("monitors", "fragility", 1, 0, 10, 3_000),
                ("monitors", "hedge", 2, 1, 20, 6_000),
                ("theirs", "hedge", 1, 0, 10, 3_000)
            ]
        );
    }
}
