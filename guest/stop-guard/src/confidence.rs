//! How sure a judge is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A number from 0 to 1, both included.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Confidence(f64);

impl Confidence {
    /// As sure as can be.
    pub const FULL: Self = Self(1.0);

    /// None where the number is out of range, or is none.
    pub fn new(number: f64) -> Option<Self> {
        (0.0..=1.0).contains(&number).then_some(Self(number))
    }

    /// From 0 to 1.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Confidence {
    type Error = String;

    fn try_from(number: f64) -> Result<Self, String> {
        Self::new(number).ok_or_else(|| format!("{number} is not between 0 and 1"))
    }
}

impl From<Confidence> for f64 {
    fn from(confidence: Confidence) -> f64 {
        confidence.0
    }
}

/// In per cent, with one decimal where it is not whole: `92%`, `59.9%`.
impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 1000.0).round();
        let decimals = usize::from(tenths % 10.0 != 0.0);
        write!(f, "{:.decimals$}%", tenths / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_from_zero_to_one_are_a_confidence() {
        for number in [0.0, -0.0, 0.6, 1.0] {
            assert!(Confidence::new(number).is_some(), "{number}");
        }
        for number in [-0.01, 1.01, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Confidence::new(number), None, "{number}");
        }
    }

    #[test]
    fn it_reads_in_per_cent() {
        for (number, text) in [(0.92, "92%"), (1.0, "100%"), (0.0, "0%"), (0.29, "29%"), (0.599, "59.9%")] {
            assert_eq!(Confidence::new(number).unwrap().to_string(), text);
        }
    }
}
