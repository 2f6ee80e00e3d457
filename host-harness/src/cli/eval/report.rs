//! The figures as text, for people.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::score::{CaseResult, Report, Score};
use super::statistics::Row;
use crate::cases::{Expect, Said};
use crate::cli::style::{self, HEADING, MUTED, RESET};

pub fn print(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let repeated = match report.repeat {
        1 => String::new(),
        times => format!(", {times} times each"),
    };
    let (cases, judge) = (count(report.score.cases, "case"), style::plain(&report.judge));
    writeln!(out, "{HEADING}{}{RESET}  {cases}{repeated}, judged by `{judge}`\n", report.plugin)?;
    matrix(report, out)?;
    rates(&report.score, out)?;
    // The cause is told once, as an error; a line for each case would bury it.
    if report.void().is_none() {
        groups(report, out)?;
    }
    cost(report, out)
}

/// The same figures by what the cases have in common, and the cases to look at.
fn groups(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    table("rule", &report.rules, out)?;
    if report.watchers.len() > 1 && report.watchers.keys().ne(report.rules.keys()) {
        table("watcher", &report.watchers, out)?;
    }
    table("language", &report.languages, out)?;
    cases_with("misjudged", |result| !result.is_right(), report, out)?;
    let was_not_asked = |result: &CaseResult| result.trials.iter().any(|trial| trial.said == Said::NotAsked);
    cases_with("rightly not asked", |result| result.is_right() && was_not_asked(result), report, out)
}

fn matrix(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{MUTED}expected    said clean      flag   unknown  not asked{RESET}")?;
    let mut row = |name, row: &Row, right: [bool; 4]| {
        write!(out, "{name:<8}")?;
        let cells = [(row.clean, 14), (row.flag, 10), (row.unknown, 10), (row.not_asked, 11)];
        for ((times, width), right) in cells.into_iter().zip(right) {
            let style = match right {
                _ if times == 0 => MUTED,
                true => style::ADDED,
                false => style::ERROR,
            };
            write!(out, "{style}{times:>width$}{RESET}")?;
        }
        writeln!(out)
    };
    let right =
        |expect: Expect| [Said::Clean, Said::Flag, Said::Unknown, Said::NotAsked].map(|said| expect.is_met_by(said));
    row("clean", &report.score.matrix.clean, right(Expect::Clean))?;
    row("flag", &report.score.matrix.flag, right(Expect::Flag))
}

fn rates(score: &Score, out: &mut dyn Write) -> io::Result<()> {
    let Score { accuracy, interval, precision, recall, false_steers, false_steer_rate, matrix, .. } = score;
    writeln!(out)?;
    writeln!(out, "accuracy      {}, 95 % interval {}", percent(*accuracy), range(*interval))?;
    writeln!(out, "flag          precision {}, recall {}", percent(*precision), percent(*recall))?;
    let of = matrix.clean();
    writeln!(out, "false steers  {false_steers} of {of} where nothing was wrong, {}", percent(*false_steer_rate))
}

fn table(title: &str, groups: &BTreeMap<String, Score>, out: &mut dyn Write) -> io::Result<()> {
    let width = groups.keys().map(|name| name.chars().count()).chain([title.len()]).max().unwrap_or(0);
    writeln!(
        out,
        "\n{MUTED}{title:<width$}  cases  accuracy   95 % interval  precision    recall  false steers{RESET}"
    )?;
    for (name, score) in groups {
        let (accuracy, interval) = (percent(score.accuracy), range(score.interval));
        let (precision, recall) = (percent(score.precision), percent(score.recall));
        let (cases, steers) = (score.cases, score.false_steers);
        let name = style::plain(name);
        writeln!(
            out,
            "{name:<width$}  {cases:>5}  {accuracy:>8}  {interval:>14}  {precision:>9}  {recall:>8}  {steers:>12}"
        )?;
    }
    Ok(())
}

/// Lists those cases; nothing where there are none.
fn cases_with(
    title: &str,
    is_meant: impl Fn(&CaseResult) -> bool,
    report: &Report,
    out: &mut dyn Write,
) -> io::Result<()> {
    let meant: Vec<&CaseResult> = report.results.iter().filter(|result| is_meant(result)).collect();
    if meant.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{HEADING}{title}{RESET}")?;
    for result in meant {
        let CaseResult { case, language, expect, why, place, .. } = result;
        let style = match expect {
            Expect::Clean => style::ADDED,
            Expect::Flag => style::ERROR,
        };
        writeln!(
            out,
            "  {HEADING}{case}{RESET} ({language})  expected {style}{expect}{RESET}, said {}",
            all_said(result)
        )?;
        writeln!(out, "    {MUTED}case:  {} ({}){RESET}", style::plain(why), style::plain(place))?;
        // One reason is enough: of the first trial that went wrong, else of the first that gave one.
        let wrong = result.trials.iter().find(|trial| !trial.right);
        if let Some(trial) = wrong.or(result.trials.first())
            && let Some(reason) = trial.reason.as_deref()
        {
            let whose = if trial.said == Said::NotAsked { "spared" } else { "judge" };
            writeln!(out, "    {whose}: {}", style::plain(reason).replace('\n', " "))?;
        }
    }
    Ok(())
}

/// Each answer that came, with how often where there were several trials.
fn all_said(result: &CaseResult) -> String {
    let mut times: BTreeMap<Said, usize> = BTreeMap::new();
    for trial in &result.trials {
        *times.entry(trial.said).or_default() += 1;
    }
    let several = result.trials.len() > 1;
    let one = |(said, times): (Said, usize)| match several {
        true => format!("{said} ({times} of {})", result.trials.len()),
        false => said.to_string(),
    };
    times.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

fn cost(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let cost = &report.cost;
    let (calls, saved) = (count(cost.calls, "call"), cost.saved_calls);
    let (input, output) = (cost.input, cost.output);
    write!(out, "\ncost     {calls}, {} failed, {saved} saved; {input} tokens in, {output} out", cost.failed_calls)?;
    if cost.cache_read + cost.cache_write > 0 {
        write!(out, "; of the provider's cache {} read, {} written", cost.cache_read, cost.cache_write)?;
    }
    writeln!(out)?;
    match &report.latency {
        Some(latency) => {
            writeln!(out, "latency  median {:.0} ms, 95th percentile {:.0} ms", latency.median_ms, latency.p95_ms)
        }
        None => writeln!(out, "latency  no call was answered"),
    }
}

fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "none".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

fn range(interval: Option<[f64; 2]>) -> String {
    interval.map_or_else(|| "none".to_owned(), |[low, high]| format!("{:.1}\u{2013}{:.1} %", low * 100.0, high * 100.0))
}
