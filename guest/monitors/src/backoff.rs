//! How long a monitor leaves a judge alone that gave no judgement.

use serde::{Deserialize, Serialize};

/// The most activations that are skipped after one failure.
pub const LONGEST: u32 = 15;

/// The failures of one monitor's judge since it last spoke.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackOff {
    /// Failures in a row.
    #[serde(default, skip_serializing_if = "is_zero")]
    failures: u32,
    /// Activations still to be skipped.
    #[serde(default, skip_serializing_if = "is_zero")]
    skip: u32,
}

impl BackOff {
    /// Whether the judge has failed since it last spoke.
    pub fn is_failing(&self) -> bool {
        self.failures > 0
    }

    /// Whether there is nothing to remember.
    pub fn is_idle(&self) -> bool {
        !self.is_failing()
    }

    /// The judge has failed: after the nth failure in a row, the next `2^n - 1` activations are skipped, at most
    /// [`LONGEST`].
    pub fn failed(&mut self) {
        self.failures = self.failures.saturating_add(1);
        self.skip = 1_u32.checked_shl(self.failures).map_or(LONGEST, |power| (power - 1).min(LONGEST));
    }

    /// The judge has spoken.
    pub fn spoke(&mut self) {
        *self = Self::default();
    }

    /// Whether this activation is to be skipped; if so, it is counted.
    pub fn skips(&mut self) -> bool {
        let skips = self.skip > 0;
        self.skip = self.skip.saturating_sub(1);
        skips
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped_after(failures: u32) -> usize {
        let mut back_off = BackOff::default();
        (0..failures).for_each(|_| back_off.failed());
        (0..100).take_while(|_| back_off.skips()).count()
    }

    #[test]
    fn skips_grow_with_each_failure_up_to_a_limit() {
        assert_eq!([0, 1, 2, 3, 4, 5, 40].map(skipped_after), [0, 1, 3, 7, 15, 15, 15]);
    }

    #[test]
    fn a_judge_that_speaks_again_is_asked_again_at_once() {
        let mut back_off = BackOff::default();
        back_off.failed();
        assert!(back_off.is_failing());
        back_off.spoke();
        assert!(!back_off.is_failing() && !back_off.skips());
    }
}
