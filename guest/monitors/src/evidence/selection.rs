//! Which evidence a judge is shown, and how much of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::definition::{Collector, Trigger};

/// How many characters all evidence of a judge may have together, where the file does not say.
pub const DEFAULT_BUDGET: u32 = 40_000;

/// The most that a file may ask for, of characters and of items.
pub const MOST_CHARACTERS: u32 = 200_000;
/// The most items of one collector.
pub const MOST_ITEMS: u32 = 500;

/// What one judge is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// `classify.context`: the parts, in their order; each at most once.
    pub collectors: Vec<Collector>,
    /// `classify.limits`: where they are not those of [`Limit::of`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<Collector, Limit>,
    /// `classify.budget`: how many characters all parts may have together.
    #[serde(default = "default_budget", skip_serializing_if = "is_default_budget")]
    pub budget: u32,
}

/// How much one collector shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// How many items, the newest ones; 1 for a collector that shows one text.
    pub items: u32,
    /// How many characters of each item, or of that text.
    pub characters: u32,
}

impl Limit {
    /// What a collector shows where the file does not say.
    pub const fn of(collector: Collector) -> Self {
        let (items, characters) = match collector {
            Collector::UserText | Collector::AssistantText | Collector::CustomMessages => (1, 20_000),
            Collector::ToolCall => (1, 8_000),
            Collector::ToolResults => (5, 2_000),
            Collector::ToolCalls => (20, 2_000),
            Collector::ConversationHistory => (3, 2_000),
            Collector::GitStatus => (1, 2_000),
        };
        Self { items, characters }
    }
}

impl Collector {
    /// Whether it shows a list, so that its items can be limited.
    pub const fn has_items(self) -> bool {
        matches!(self, Self::ToolResults | Self::ToolCalls | Self::ConversationHistory)
    }

    /// What a judge is shown where the file does not say.
    pub fn default_context(event: Trigger) -> Vec<Self> {
        match event {
            Trigger::ToolCall => vec![Self::UserText, Self::ToolCall],
            _ => vec![Self::ToolResults, Self::AssistantText],
        }
    }
}

impl Selection {
    /// These parts, as much of them as is usual.
    pub fn new(collectors: impl Into<Vec<Collector>>) -> Self {
        Self { collectors: collectors.into(), limits: BTreeMap::new(), budget: DEFAULT_BUDGET }
    }

    /// Whether a judge is shown this.
    pub fn shows(&self, collector: Collector) -> bool {
        self.collectors.contains(&collector)
    }

    /// How much a collector shows.
    pub fn limit(&self, collector: Collector) -> Limit {
        self.limits.get(&collector).copied().unwrap_or(Limit::of(collector))
    }
}

/// How much of each of several texts is shown so that all together keep to a budget: those that are small enough are
/// shown whole, and the others share what is left. All numbers are of characters.
pub fn shares(sizes: &[usize], budget: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&text| sizes[text]);
    let mut shares = vec![0; sizes.len()];
    let mut left = budget;
    for (position, &text) in order.iter().enumerate() {
        shares[text] = sizes[text].min(left / (order.len() - position));
        left -= shares[text];
    }
    shares
}

fn default_budget() -> u32 {
    DEFAULT_BUDGET
}

fn is_default_budget(budget: &u32) -> bool {
    *budget == DEFAULT_BUDGET
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn small_texts_are_whole_and_large_ones_share_what_is_left() {
        assert_eq!(shares(&[5, 100, 10], 45), [5, 30, 10]);
        assert_eq!(shares(&[100, 100], 60), [30, 30]);
        assert_eq!(shares(&[1, 2], 60), [1, 2]);
        assert_eq!(shares(&[], 60), [0; 0]);
    }

    #[test]
    fn what_is_usual_is_left_out_of_the_json() {
        let selection = Selection::new([Collector::UserText]);
        let json = serde_json::json!({"collectors": ["user_text"]});
        assert_eq!(serde_json::to_value(&selection).unwrap(), json);
        assert_eq!(serde_json::from_value::<Selection>(json).unwrap(), selection);
    }

    proptest! {
        #[test]
        fn the_budget_is_kept_and_used(sizes in prop::collection::vec(0_usize..50, 0..6), budget in 0_usize..150) {
            let shares = shares(&sizes, budget);
            let total: usize = shares.iter().sum();
            prop_assert!(shares.iter().zip(&sizes).all(|(share, size)| share <= size));
            prop_assert!(total <= budget);
            prop_assert!(total + sizes.len() > budget || shares == sizes, "nothing is wasted but by rounding");
        }
    }
}
