//! What follows from a verdict: whether the agent is sent back.

use std::num::NonZeroU32;

use crate::config::Config;
use crate::verdict::{Decision, Verdict};

/// What follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// Stopping here was fine.
    Accept,
    /// The judge would send the agent back, and is not sure enough.
    Unsure,
    /// The agent was sent back as often as it may be for this request.
    LimitReached(NonZeroU32),
    /// The agent is sent back, for the how manieth time.
    Continue(NonZeroU32),
}

impl Ruling {
    /// Rules on a verdict, where the agent was sent back `spent` times for the same request.
    pub fn on(verdict: &Verdict, config: &Config, spent: u32) -> Self {
        match (verdict.decision, config.max_auto_continues) {
            (Decision::Stop, _) => Self::Accept,
            (Decision::Continue, _) if verdict.confidence < config.confidence_threshold => Self::Unsure,
            (Decision::Continue, Some(limit)) if spent >= limit.get() => Self::LimitReached(limit),
            (Decision::Continue, _) => Self::Continue(NonZeroU32::MIN.saturating_add(spent)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confidence::Confidence;
    use proptest::prelude::*;

    fn verdict(decision: Decision, confidence: f64) -> Verdict {
        Verdict { decision, confidence: Confidence::new(confidence).unwrap(), reason: "x".into() }
    }

    fn ruling(decision: Decision, confidence: f64, limit: u32, spent: u32) -> Ruling {
        let config = Config { max_auto_continues: NonZeroU32::new(limit), ..Config::default() };
        Ruling::on(&verdict(decision, confidence), &config, spent)
    }

    fn count(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).unwrap()
    }

    #[test]
    fn only_a_judge_that_is_sure_enough_sends_the_agent_back() {
        assert_eq!(ruling(Decision::Continue, 0.6, 2, 0), Ruling::Continue(count(1)));
        assert_eq!(ruling(Decision::Continue, 0.59, 2, 0), Ruling::Unsure);
        assert_eq!(ruling(Decision::Stop, 1.0, 2, 0), Ruling::Accept);
        assert_eq!(ruling(Decision::Stop, 0.0, 2, 9), Ruling::Accept);
    }

    #[test]
    fn the_limit_is_the_last_number_and_0_is_none() {
        assert_eq!(ruling(Decision::Continue, 1.0, 2, 1), Ruling::Continue(count(2)));
        assert_eq!(ruling(Decision::Continue, 1.0, 2, 2), Ruling::LimitReached(count(2)));
        assert_eq!(ruling(Decision::Continue, 1.0, 2, 7), Ruling::LimitReached(count(2)), "the limit was lowered");
        assert_eq!(ruling(Decision::Continue, 1.0, 0, 1_000), Ruling::Continue(count(1_001)));
    }

    proptest! {
        #[test]
        fn however_sure_the_judge_is_the_agent_is_sent_back_no_more_often_than_allowed(
            limit in 1_u32..20, verdicts in proptest::collection::vec(0.0..=1.0, 0..60),
        ) {
            let mut spent = 0;
            for confidence in verdicts {
                if let Ruling::Continue(number) = ruling(Decision::Continue, confidence, limit, spent) {
                    prop_assert_eq!(number.get(), spent + 1);
                    prop_assert!(confidence >= 0.6);
                    spent = number.get();
                }
            }
            prop_assert!(spent <= limit);
        }
    }
}
