//! What plugins may spend on model calls, and what they did spend.
//!
//! Pure accounting: the driver says when a turn starts, asks before each call and reports what it cost.

use std::collections::BTreeMap;

use chaperone_contract::{LlmError, Usage};
use serde::{Deserialize, Serialize};

/// The limits that a plugin's manifest grants; `None` stands for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    /// Calls between two starts of a turn.
    pub calls_per_turn: Option<u32>,
    /// Tokens of a whole session: read, written, and those that the provider's cache read or wrote.
    pub tokens_per_session: Option<u64>,
}

/// What a plugin has spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Calls since the turn started.
    pub calls_this_turn: u32,
    /// Everything since the session began.
    pub totals: Totals,
}

/// Counts of calls and tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Calls that were admitted, whatever came of them.
    pub calls: u64,
    /// Calls that were refused since the allowance was spent.
    pub refused: u64,
    /// Tokens read, cached ones left out.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens read from the provider's cache.
    pub cache_read: u64,
    /// Tokens written to the provider's cache.
    pub cache_write: u64,
}

impl Totals {
    /// All tokens together.
    pub fn tokens(&self) -> u64 {
        self.input.saturating_add(self.output).saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    fn add(&mut self, other: &Totals) {
        for (mine, theirs) in [
            (&mut self.calls, other.calls),
            (&mut self.refused, other.refused),
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write, other.cache_write),
        ] {
            *mine = mine.saturating_add(theirs);
        }
    }
}

/// The accounts of one session's plugins.
///
/// The tokens of a call are known only after it, so calls that run at the same time may together go beyond the
/// allowance; the next one is refused then.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    accounts: BTreeMap<String, Account>,
}

#[derive(Clone, Debug, Default)]
struct Account {
    allowance: Allowance,
    spent: Spent,
}

impl Ledger {
    /// Sets what a plugin may spend; what it has spent stays. A plugin that was never named here has no limits.
    pub fn allow(&mut self, plugin: &str, allowance: Allowance) {
        self.account(plugin).allowance = allowance;
    }

    /// A turn of the agent started: every plugin has its calls again.
    pub fn turn_started(&mut self) {
        for account in self.accounts.values_mut() {
            account.spent.calls_this_turn = 0;
        }
    }

    /// What a plugin has spent, for a process that goes on with the session.
    pub fn spent(&self, plugin: &str) -> Spent {
        self.accounts.get(plugin).map(|account| account.spent).unwrap_or_default()
    }

    /// Sets what a plugin has spent in an earlier process.
    pub fn resume(&mut self, plugin: &str, spent: Spent) {
        self.account(plugin).spent = spent;
    }

    /// Counts one call of a plugin, or refuses it with [`LlmError::AllowanceSpent`].
    pub fn admit(&mut self, plugin: &str) -> Result<(), LlmError> {
        let account = self.account(plugin);
        let refusal = account.refusal(plugin);
        match refusal {
            None => {
                account.spent.calls_this_turn = account.spent.calls_this_turn.saturating_add(1);
                account.spent.totals.calls = account.spent.totals.calls.saturating_add(1);
                Ok(())
            }
            Some(text) => {
                account.spent.totals.refused = account.spent.totals.refused.saturating_add(1);
                Err(LlmError::AllowanceSpent(text))
            }
        }
    }

    /// Adds what a call of a plugin cost.
    pub fn record(&mut self, plugin: &str, usage: &Usage) {
        self.account(plugin).spent.totals.add(&Totals {
            calls: 0,
            refused: 0,
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
        });
    }

    /// What each plugin spent, by name.
    pub fn plugins(&self) -> impl Iterator<Item = (&str, &Totals)> {
        self.accounts.iter().map(|(name, account)| (name.as_str(), &account.spent.totals))
    }

    /// What all plugins spent together.
    pub fn totals(&self) -> Totals {
        let mut sum = Totals::default();
        for account in self.accounts.values() {
            sum.add(&account.spent.totals);
        }
        sum
    }

    fn account(&mut self, plugin: &str) -> &mut Account {
        self.accounts.entry(plugin.to_owned()).or_default()
    }
}

impl Account {
    fn refusal(&self, plugin: &str) -> Option<String> {
        let Allowance { calls_per_turn, tokens_per_session } = self.allowance;
        if let Some(limit) = calls_per_turn
            && self.spent.calls_this_turn >= limit
        {
            return Some(format!(
                "`{plugin}` has made its {limit} calls of this turn; raise `calls_per_turn` to allow more"
            ));
        }
        let tokens = self.spent.totals.tokens();
        if let Some(limit) = tokens_per_session
            && tokens >= limit
        {
            return Some(format!(
                "`{plugin}` has used {tokens} of its {limit} tokens of this session; raise `tokens_per_session` to \
                 allow more"
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Usage {
        Usage { input, output, cache_read, cache_write, total: input + output + cache_read + cache_write }
    }

    fn refusal(result: Result<(), LlmError>) -> String {
        match result {
            Err(LlmError::AllowanceSpent(text)) => text,
            other => panic!("expected a refusal, got {other:?}"),
        }
    }

    #[test]
    fn the_calls_of_a_turn_are_counted_for_each_plugin_and_come_back_with_the_next_turn() {
        let mut ledger = Ledger::default();
        ledger.allow("a", Allowance { calls_per_turn: Some(2), tokens_per_session: None });
        assert_eq!(ledger.admit("a"), Ok(()));
        assert_eq!(ledger.admit("a"), Ok(()));
        assert!(refusal(ledger.admit("a")).contains("its 2 calls of this turn"));
        assert_eq!(ledger.admit("b"), Ok(()));
        ledger.turn_started();
        assert_eq!(ledger.admit("a"), Ok(()));
    }

    #[test]
    fn tokens_of_every_kind_count_and_do_not_come_back() {
        let mut ledger = Ledger::default();
        ledger.allow("a", Allowance { calls_per_turn: None, tokens_per_session: Some(100) });
        ledger.record("a", &usage(40, 10, 30, 19));
        assert_eq!(ledger.admit("a"), Ok(()));
        ledger.record("a", &usage(0, 1, 0, 0));
        ledger.turn_started();
        assert!(refusal(ledger.admit("a")).contains("100 of its 100 tokens"));
    }

    #[test]
    fn an_allowance_of_nothing_refuses_the_first_call() {
        let mut ledger = Ledger::default();
        ledger.allow("a", Allowance { calls_per_turn: Some(0), tokens_per_session: None });
        refusal(ledger.admit("a"));
        ledger.allow("a", Allowance { calls_per_turn: None, tokens_per_session: Some(0) });
        refusal(ledger.admit("a"));
    }

    #[test]
    fn a_new_allowance_keeps_what_was_spent() {
        let mut ledger = Ledger::default();
        ledger.record("a", &usage(50, 0, 0, 0));
        ledger.allow("a", Allowance { calls_per_turn: None, tokens_per_session: Some(50) });
        refusal(ledger.admit("a"));
    }

    #[test]
    fn totals_are_kept_for_each_plugin_and_for_all() {
        let mut ledger = Ledger::default();
        ledger.allow("b", Allowance { calls_per_turn: Some(1), tokens_per_session: None });
        ledger.admit("b").unwrap();
        refusal(ledger.admit("b"));
        ledger.admit("a").unwrap();
        ledger.record("a", &usage(1, 2, 3, 4));
        ledger.record("b", &usage(10, 20, 30, 40));
        let a = Totals { calls: 1, refused: 0, input: 1, output: 2, cache_read: 3, cache_write: 4 };
        let b = Totals { calls: 1, refused: 1, input: 10, output: 20, cache_read: 30, cache_write: 40 };
        assert_eq!(ledger.plugins().collect::<Vec<_>>(), [("a", &a), ("b", &b)]);
        let all = Totals { calls: 2, refused: 1, input: 11, output: 22, cache_read: 33, cache_write: 44 };
        assert_eq!(ledger.totals(), all);
        assert_eq!(all.tokens(), 110);
    }

    #[test]
    fn counts_beyond_all_measure_do_not_overflow() {
        let mut ledger = Ledger::default();
        ledger.record("a", &Usage { input: u64::MAX, output: 1, cache_read: 0, cache_write: 0, total: 0 });
        ledger.record("a", &Usage { input: u64::MAX, output: 1, cache_read: 0, cache_write: 0, total: 0 });
        assert_eq!(ledger.totals().tokens(), u64::MAX);
    }
}
