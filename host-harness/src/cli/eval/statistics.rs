//! Counts, and what they are worth. Pure.

use std::time::Duration;

use serde::Serialize;

use crate::cases::{Expect, Said};

/// How often which answer came where which one was right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Matrix {
    /// Where nothing was wrong.
    pub clean: Row,
    /// Where something was.
    pub flag: Row,
}

/// How often which answer came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Row {
    pub clean: u64,
    pub flag: u64,
    pub unknown: u64,
    pub not_asked: u64,
}

impl Row {
    fn total(&self) -> u64 {
        self.clean + self.flag + self.unknown + self.not_asked
    }

    fn of(&mut self, said: Said) -> &mut u64 {
        match said {
            Said::Clean => &mut self.clean,
            Said::Flag => &mut self.flag,
            Said::Unknown => &mut self.unknown,
            Said::NotAsked => &mut self.not_asked,
        }
    }
}

impl Matrix {
    pub fn count(&mut self, expect: Expect, said: Said) {
        let row = match expect {
            Expect::Clean => &mut self.clean,
            Expect::Flag => &mut self.flag,
        };
        *row.of(said) += 1;
    }

    pub fn total(&self) -> u64 {
        self.clean.total() + self.flag.total()
    }

    /// How often nothing was wrong.
    pub fn clean(&self) -> u64 {
        self.clean.total()
    }

    /// The share of right answers, as [`Expect::is_met_by`] has it; none of nothing.
    pub fn accuracy(&self) -> Option<f64> {
        share(self.clean.clean + self.clean.not_asked + self.flag.flag, self.total())
    }

    /// The share of flags that were right; none where nothing was flagged.
    pub fn precision(&self) -> Option<f64> {
        share(self.flag.flag, self.flag.flag + self.clean.flag)
    }

    /// The share of what was wrong that was flagged; none where nothing was wrong.
    pub fn recall(&self) -> Option<f64> {
        share(self.flag.flag, self.flag.total())
    }
}

/// A part of a whole; none of nothing.
pub fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The 95 % score interval of Wilson (1927) around a share that was seen in `trials` independent trials, at least one.
/// Unlike the textbook's interval it stays between 0 and 1, and says something also where all or nothing was right.
pub fn wilson(share: f64, trials: u64) -> [f64; 2] {
    /// The 97.5 % quantile of the normal distribution.
    const Z: f64 = 1.959_963_984_540_054;
    let n = trials as f64;
    let spread = 1.0 + Z * Z / n;
    let middle = (share + Z * Z / (2.0 * n)) / spread;
    let reach = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt() / spread;
    [(middle - reach).max(0.0), (middle + reach).min(1.0)]
}

/// How long calls took, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latency {
    pub median_ms: f64,
    /// As long as 95 % of the calls took at most.
    pub p95_ms: f64,
}

/// None of no calls.
pub fn latency(mut took: Vec<Duration>) -> Option<Latency> {
    took.sort_unstable();
    let ms = |duration: &Duration| duration.as_secs_f64() * 1000.0;
    let (lower, upper) = (took.get(took.len().checked_sub(1)? / 2)?, took.get(took.len() / 2)?);
    // The nearest rank: the first that has 95 % at or below it.
    let p95 = took.get((took.len() * 95).div_ceil(100) - 1)?;
    Some(Latency { median_ms: f64::midpoint(ms(lower), ms(upper)), p95_ms: ms(p95) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_interval_has_the_values_that_newcombe_printed() {
        // R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
        for (part, whole, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
            (8, 10, 0.4902, 0.9433),
            (10, 10, 0.7225, 1.0),
        ] {
            let [found_low, found_high] = wilson(f64::from(part) / whole as f64, whole);
            assert!((found_low - low).abs() < 5e-5, "{part}/{whole}: {found_low}");
            assert!((found_high - high).abs() < 5e-5, "{part}/{whole}: {found_high}");
        }
    }

    fn matrix(clean: [u64; 4], flag: [u64; 4]) -> Matrix {
        let row = |[clean, flag, unknown, not_asked]: [u64; 4]| Row { clean, flag, unknown, not_asked };
        Matrix { clean: row(clean), flag: row(flag) }
    }

    #[test]
    fn each_answer_is_counted_in_its_own_cell() {
        let mut counted = Matrix::default();
        for (times, said) in [(1, Said::Clean), (2, Said::Flag), (3, Said::Unknown), (4, Said::NotAsked)] {
            (0..times).for_each(|_| counted.count(Expect::Clean, said));
            (0..times + 4).for_each(|_| counted.count(Expect::Flag, said));
        }
        assert_eq!(counted, matrix([1, 2, 3, 4], [5, 6, 7, 8]));
        assert_eq!((counted.total(), counted.clean()), (36, 10));
    }

    #[test]
    fn the_rates_are_those_of_the_textbook() {
        let matrix = matrix([70, 10, 5, 15], [20, 60, 10, 10]);
        assert_eq!(matrix.accuracy(), Some(145.0 / 200.0));
        assert_eq!(matrix.precision(), Some(60.0 / 70.0));
        assert_eq!(matrix.recall(), Some(60.0 / 100.0));
    }

    #[test]
    fn nothing_has_no_rate() {
        let nothing = Matrix::default();
        assert_eq!((nothing.accuracy(), nothing.precision(), nothing.recall()), (None, None, None));
        assert_eq!(matrix([3, 0, 0, 0], [0; 4]).precision(), None);
        assert_eq!(matrix([3, 0, 0, 0], [0; 4]).recall(), None);
    }

    #[test]
    fn the_median_lies_in_the_middle_and_95_in_100_are_below_the_other() {
        let of = |ms: &[u64]| latency(ms.iter().copied().map(Duration::from_millis).collect());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[7]), Some(Latency { median_ms: 7.0, p95_ms: 7.0 }));
        assert_eq!(of(&[9, 1, 4, 2]), Some(Latency { median_ms: 3.0, p95_ms: 9.0 }));
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!(of(&hundred), Some(Latency { median_ms: 50.5, p95_ms: 95.0 }));
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_share_and_shrinks_with_more_trials(part in 0_u64..=50, more in 0_u64..=50) {
            let whole = part + more;
            prop_assume!(whole > 0);
            let share = part as f64 / whole as f64;
            let [low, high] = wilson(share, whole);
            let [nearer_low, nearer_high] = wilson(share, whole * 4);
            prop_assert!(0.0 <= low && low <= share + 1e-12 && share <= high + 1e-12 && high <= 1.0);
            prop_assert!(nearer_high - nearer_low < high - low);
        }
    }
}
