//! What one watcher said last.

use chaperone_contract::{Effect, Level};

use crate::cases::Said;

/// What a watcher said last, and why.
#[derive(Debug)]
pub struct LastWord {
    pub said: Said,
    /// The reason that it gave, or for which its judge was not asked.
    pub reason: Option<String>,
    /// It judged without asking a model.
    pub saved: bool,
}

impl LastWord {
    /// Nothing was said yet.
    pub const NONE: Self = Self { said: Said::NotAsked, reason: None, saved: false };

    /// Whether it had no reason to look at all.
    pub fn has_never_looked(&self) -> bool {
        self.said == Said::NotAsked && self.reason.is_none()
    }

    /// Hears what the watcher says in an effect, if it says anything.
    pub fn hear(&mut self, watcher: &str, effect: &Effect) {
        match effect {
            Effect::Judged(judgement) if judgement.watcher == watcher => {
                self.said = judgement.verdict.into();
                self.reason = judgement.description.clone();
                self.saved = judgement.request.is_none() && self.said != Said::Unknown;
            }
            Effect::Spared(sparing) if sparing.watcher == watcher && self.said == Said::NotAsked => {
                self.reason = Some(sparing.reason.clone());
            }
            // A look that came to nothing, such as one without patterns.
            Effect::Log { level: Level::Warn, message } if self.said == Said::NotAsked => {
                let own = message.strip_prefix(&format!("[{watcher}] "));
                self.reason = own.map(str::to_owned).or(self.reason.take());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use chaperone_contract::{Judgement, Sparing, Verdict};

    use super::*;

    fn judged(watcher: &str, verdict: Verdict, request: Option<u64>) -> Effect {
        let description = Some(format!("{verdict:?}"));
        Effect::Judged(Judgement { watcher: watcher.into(), verdict, description, request, entry: None })
    }

    fn heard(effects: impl IntoIterator<Item = Effect>) -> LastWord {
        let mut last = LastWord::NONE;
        effects.into_iter().for_each(|effect| last.hear("hedge", &effect));
        last
    }

    #[test]
    fn the_last_word_of_the_watcher_counts_and_nobody_elses() {
        let last = heard([
            judged("hedge", Verdict::Flag, Some(1)),
            judged("hedge", Verdict::Clean, Some(2)),
            judged("fragility", Verdict::New, Some(3)),
        ]);
        assert_eq!((last.said, last.reason.as_deref(), last.saved), (Said::Clean, Some("Clean"), false));
        let other = heard([judged("fragility", Verdict::New, Some(3))]);
        assert!(other.said == Said::NotAsked && other.has_never_looked());
    }

    #[test]
    fn a_judgement_without_a_call_has_saved_one_unless_it_is_none() {
        assert!(heard([judged("hedge", Verdict::Flag, None)]).saved);
        assert!(!heard([judged("hedge", Verdict::Unknown, None)]).saved);
        assert!(!heard([judged("hedge", Verdict::Clean, None), judged("hedge", Verdict::Clean, Some(1))]).saved);
        assert!(!heard([]).saved);
    }

    #[test]
    fn who_spares_its_judge_has_looked() {
        let spared = Effect::Spared(Sparing { watcher: "hedge".into(), reason: "exempt: x".into(), entry: None });
        let last = heard([spared.clone()]);
        assert_eq!((last.said, last.reason.as_deref()), (Said::NotAsked, Some("exempt: x")));
        assert!(!last.has_never_looked());
        let log = |message: &str| Effect::Log { level: Level::Warn, message: message.into() };
        let last = heard([log("[hedge] is not judged: no patterns"), log("[other] is not judged: x")]);
        assert_eq!(last.reason.as_deref(), Some("is not judged: no patterns"));
        let judged_before = heard([judged("hedge", Verdict::Flag, Some(1)), spared]);
        assert_eq!(judged_before.reason.as_deref(), Some("Flag"));
    }
}
