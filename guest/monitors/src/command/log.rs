//! `/monitors log`: the latest judgements, one line each.

use chaperone_sdk::{Consequence, Selection, Tone, Trace, TraceQuery};

use super::why;
use crate::clock;
use crate::desk::Desk;

/// How many characters of a description the log shows.
const DESCRIPTION: usize = 80;

/// Lists the latest judgements of the project, the newest one last.
pub fn tell(desk: &mut Desk, monitor: Option<String>, count: u32) {
    let query = TraceQuery { selection: Selection::Project, watcher: monitor.clone(), limit: count, texts: false };
    let traces = desk.cx.traces(&query);
    let text = match (traces.is_empty(), monitor) {
        (true, None) => "No judgements are kept of this project.".into(),
        (true, Some(name)) => format!("No judgements of `{name}` are kept."),
        (false, _) => traces.iter().map(line).collect::<Vec<_>>().join("\n"),
    };
    desk.cx.notify(text, Tone::Normal);
}

/// One judgement: its number, when, who, the verdict, what became of it.
pub fn line(trace: &Trace) -> String {
    let at = clock::iso(trace.at);
    let verdict = why::verdict(trace);
    let mut shown: String = verdict.chars().take(DESCRIPTION).collect();
    if shown.len() < verdict.len() {
        shown.push('…');
    }
    let finding = why::finding(trace).map(|finding| format!(" ({finding})")).unwrap_or_default();
    let is_asked = trace.verdict.is_some() || trace.duration_ms.is_some();
    let word = |consequence: &Consequence| match &consequence.detail {
        // Why nobody was asked is all that there is to say.
        Some(detail) if !is_asked => format!("{}: {detail}", consequence.outcome),
        _ => consequence.outcome.replace('_', " "),
    };
    let became: Vec<String> = trace.consequences.iter().map(word).collect();
    let became = if became.is_empty() { String::new() } else { format!(" → {}", became.join(", ")) };
    format!("#{} {} {} [{}] {shown}{finding}{became}", trace.id, &at[..10], &at[11..16], trace.watcher)
}
