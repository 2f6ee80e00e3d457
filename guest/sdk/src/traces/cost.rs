//! What judges cost, and how often they were wrong.

use chaperone_contract::Account;

use super::outcome::WRONG;
use crate::{Context, clock};

/// What each watcher of the plugin has cost, in this session and in the project.
pub fn text(cx: &Context) -> String {
    let (session, project) = (cx.accounts(false), cx.accounts(true));
    if project.is_empty() {
        return "No judgements are kept of this project.".into();
    }
    let since = project.iter().map(|account| account.since).min().unwrap_or_default();
    let mut parts = Vec::new();
    if !session.is_empty() {
        parts.push(format!("This session\n{}", table(&session)));
    }
    parts.push(format!("This project, since {}\n{}", &clock::iso(since)[..10], table(&project)));
    parts.join("\n")
}

fn table(accounts: &[Account]) -> String {
    let mut lines: Vec<String> = accounts.iter().map(line).collect();
    if accounts.len() > 1 {
        lines.push(line(&sum(accounts)));
    }
    lines.join("\n")
}

fn line(account: &Account) -> String {
    let Account { watcher, calls, failed, spared, usage, clean, flag, new, unknown, .. } = account;
    let failed = if *failed == 0 { String::new() } else { format!(" ({failed} failed)") };
    let spared = if *spared == 0 { String::new() } else { format!(", {spared} saved") };
    let unknown = if *unknown == 0 { String::new() } else { format!(", {unknown} unknown") };
    format!(
        "  {watcher}: {calls} calls{failed}{spared}, {} tokens in, {} out; {clean} clean, {flag} flagged, {new} new{unknown}{}",
        usage.input + usage.cache_read + usage.cache_write,
        usage.output,
        wrong(account)
    )
}

/// The share of findings that the user called wrong.
fn wrong(account: &Account) -> String {
    let findings = account.flag + account.new;
    match count(account, WRONG) {
        0 => String::new(),
        wrong => {
            format!("; {wrong} of {findings} findings wrong ({} %)", (100 * wrong).checked_div(findings).unwrap_or(0))
        }
    }
}

fn count(account: &Account, outcome: &str) -> u64 {
    account.outcomes.iter().filter(|tally| tally.outcome == outcome).map(|tally| tally.count).sum()
}

fn sum(accounts: &[Account]) -> Account {
    let mut sum = Account { watcher: "in all".into(), ..accounts[0].clone() };
    for account in &accounts[1..] {
        sum.calls += account.calls;
        sum.failed += account.failed;
        sum.spared += account.spared;
        sum.duration_ms += account.duration_ms;
        for (sum, of_account) in [
            (&mut sum.usage.input, account.usage.input),
            (&mut sum.usage.output, account.usage.output),
            (&mut sum.usage.cache_read, account.usage.cache_read),
            (&mut sum.usage.cache_write, account.usage.cache_write),
            (&mut sum.clean, account.clean),
            (&mut sum.flag, account.flag),
            (&mut sum.new, account.new),
            (&mut sum.unknown, account.unknown),
        ] {
            *sum += of_account;
        }
        sum.outcomes.extend(account.outcomes.iter().cloned());
    }
    sum
}

#[cfg(test)]
mod tests {
    use chaperone_contract::{Tally, Usage};

    use super::*;

    fn account(watcher: &str, flag: u64, wrong: u64) -> Account {
        Account {
            watcher: watcher.into(),
            since: 0,
            calls: 4,
            failed: 1,
            spared: 2,
            usage: Usage { input: 100, output: 5, cache_read: 20, cache_write: 3, total: 128 },
            duration_ms: 10,
            clean: 2,
            flag,
            new: 0,
            unknown: 1,
            outcomes: vec![Tally { outcome: WRONG.into(), count: wrong }],
        }
    }

    #[test]
    fn a_line_tells_calls_tokens_verdicts_and_the_share_of_wrong_ones() {
        assert_eq!(
            table(&[account("hedge", 3, 1)]),
            "  hedge: 4 calls (1 failed), 2 saved, 123 tokens in, 5 out; 2 clean, 3 flagged, 0 new, 1 unknown; \
             1 of 3 findings wrong (33 %)"
        );
    }

    #[test]
    fn several_monitors_are_summed_up() {
        let table = table(&[account("a", 1, 0), account("b", 1, 1)]);
        assert_eq!(
            table.lines().last().unwrap(),
            "  in all: 8 calls (2 failed), 4 saved, 246 tokens in, 10 out; 4 clean, 2 flagged, 0 new, 2 unknown; \
             1 of 2 findings wrong (50 %)"
        );
    }
}
