//! A file's change as a unified diff.

use std::io::{self, Write};

use similar::TextDiff;

use super::style;
use crate::files::Change;

/// Writes the diff of a change, each line behind `indent`.
pub fn write(out: &mut dyn Write, change: &Change, indent: &str) -> io::Result<()> {
    let before = change.before.as_deref().unwrap_or_default();
    let diff = TextDiff::from_lines(before, &change.after);
    for hunk in diff.unified_diff().context_radius(2).iter_hunks() {
        for line in hunk.to_string().lines() {
            let style = match line.chars().next() {
                Some('+') => style::ADDED,
                Some('-') => style::REMOVED,
                _ => style::MUTED,
            };
            writeln!(out, "{indent}{style}{}{}", style::plain(line), style::RESET)?;
        }
    }
    Ok(())
}
