//! The figures as text, for people.

use std::io::{self, Write};

use textwrap::core::display_width;

use super::Summary;
use super::watchers::Figures;
use crate::cli::style::{self, HEADING, MUTED, RESET};

/// Prints the figures of a run, those of all together first.
pub fn print(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let Summary { hooks, llm_calls, saved, verdicts, steers, refusals, findings, tokens, .. } = summary;
    let Summary { hook_micros, failures, watchers, .. } = summary;
    writeln!(out, "\n{HEADING}Summary{RESET}")?;
    writeln!(
        out,
        "  verdicts   {} clean, {} flagged, {} new, {} unknown",
        verdicts.clean, verdicts.flag, verdicts.new, verdicts.unknown
    )?;
    writeln!(out, "  steers     {steers}")?;
    writeln!(out, "  findings   {findings}")?;
    writeln!(out, "  judge      {llm_calls} calls, {saved} saved, {} tokens in, {} out", tokens.input, tokens.output)?;
    if *refusals > 0 {
        writeln!(out, "  refusals   {refusals} tool calls")?;
    }
    let each = if *hooks == 0 { 0 } else { hook_micros / hooks };
    writeln!(out, "  hooks      {hooks} in {} ms {MUTED}({each} µs each){RESET}", hook_micros / 1000)?;
    if *failures > 0 {
        writeln!(out, "  {}failed     {failures} hooks{RESET}", style::ERROR)?;
    }
    table(watchers.all(), out)
}

/// A column: its heading, the figure, and when it is there.
struct Column(&'static str, fn(&Figures) -> u64, Shown);

enum Shown {
    Always,
    /// Where it is 0 for all, it says nothing.
    WhereAny,
}

const COLUMNS: [Column; 15] = [
    Column("looks", |of| of.looks, Shown::Always),
    Column("calls", |of| of.llm_calls, Shown::Always),
    Column("failed", |of| of.failed_calls, Shown::WhereAny),
    Column("saved", Figures::all_saved, Shown::Always),
    Column("clean", |of| of.verdicts.clean, Shown::Always),
    Column("flag", |of| of.verdicts.flag, Shown::Always),
    Column("new", |of| of.verdicts.new, Shown::WhereAny),
    Column("unknown", |of| of.verdicts.unknown, Shown::WhereAny),
    Column("steered", |of| of.steered, Shown::Always),
    Column("dropped", |of| of.dropped, Shown::WhereAny),
    Column("refused", |of| of.refused, Shown::WhereAny),
    Column("found", |of| of.findings, Shown::WhereAny),
    Column("tokens in", |of| of.tokens.input, Shown::WhereAny),
    Column("out", |of| of.tokens.output, Shown::WhereAny),
    Column("judge ms", |of| of.llm_micros.div_ceil(1_000), Shown::WhereAny),
];

/// A line for each watcher, and nothing where none did anything.
fn table(watchers: &[Figures], out: &mut dyn Write) -> io::Result<()> {
    if watchers.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = watchers.iter().map(|of| style::plain(&of.watcher)).collect();
    let width = names.iter().map(|name| display_width(name)).chain(["watcher".len()]).max().unwrap_or(0);
    let is_shown = |Column(_, figure, shown): &&Column| match shown {
        Shown::Always => true,
        Shown::WhereAny => watchers.iter().any(|of| figure(of) > 0),
    };
    let columns: Vec<_> = COLUMNS.iter().filter(is_shown).map(|column| (column, column.width(watchers))).collect();
    let is_saved = watchers.iter().any(|of| !of.saved.is_empty());
    write!(out, "\n  {MUTED}watcher{:1$}", "", width - "watcher".len())?;
    columns.iter().try_for_each(|(Column(heading, ..), width)| write!(out, "  {heading:>width$}"))?;
    writeln!(out, "{}{RESET}", if is_saved { "  saved by" } else { "" })?;
    for (of, name) in watchers.iter().zip(names) {
        write!(out, "  {name}{:1$}", "", width - display_width(&name))?;
        for (Column(_, figure, _), width) in &columns {
            let figure = figure(of);
            let style = if figure == 0 { MUTED } else { anstyle::Style::new() };
            write!(out, "  {style}{figure:>width$}{style:#}")?;
        }
        let causes: Vec<_> = of.saved.iter().map(|(cause, times)| format!("{} {times}", style::plain(cause))).collect();
        let gap = if causes.is_empty() { "" } else { "  " };
        writeln!(out, "{gap}{}", causes.join(", "))?;
    }
    Ok(())
}

impl Column {
    /// How wide it is, in columns of the screen.
    fn width(&self, watchers: &[Figures]) -> usize {
        let Self(heading, figure, _) = self;
        watchers.iter().map(|of| figure(of).to_string().len()).chain([heading.len()]).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Tokens, Verdicts};
    use super::*;

    fn printed(watchers: &[Figures]) -> String {
        let mut out = Vec::new();
        table(watchers, &mut out).unwrap();
        anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
    }

    #[test]
    fn a_line_for_each_watcher_has_the_columns_in_which_anything_stands() {
        let hedge = Figures {
            watcher: "hedge".into(),
            looks: 3,
            llm_calls: 1,
            saved: [("exempt".into(), 1), ("known".into(), 1)].into(),
            verdicts: Verdicts { flag: 1, ..Verdicts::default() },
            dropped: 1,
            tokens: Tokens { input: 1_234_567_890, output: 5 },
            llm_micros: 1_001,
            ..Figures::default()
        };
        let guard = Figures { watcher: "größe-守".into(), looks: 12, llm_calls: 12, ..Figures::default() };
        assert_eq!(
            printed(&[hedge, guard]),
            [
                "",
                "  watcher   looks  calls  saved  clean  flag  steered  dropped   tokens in  out  judge ms  saved by",
                "  hedge         3      1      2      0     1        0        1  1234567890    5         2  exempt 1, known 1",
                "  größe-守     12     12      0      0     0        0        0           0    0         0",
                "",
            ]
            .join("\n")
        );
    }

    #[test]
    fn where_nobody_did_anything_there_is_no_table() {
        assert_eq!(printed(&[]), "");
    }
}
