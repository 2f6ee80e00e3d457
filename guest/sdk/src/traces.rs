//! Judgements that the host has kept, in words for the user: how one came about and what became of it, the latest ones in
//! a line each, and what all of them cost.

pub mod cost;
pub mod outcome;

use chaperone_contract::{Consequence, Line, Notice, Selection, Span, Tone, Trace, TraceQuery, Verdict};

use crate::text::one_line;
use crate::{Context, clock};

/// How many judgements are named where several are meant.
const NAMED: usize = 5;

/// How many characters of a description a line of the log shows.
const DESCRIPTION: usize = 80;

/// The latest judgements of the project, the newest one last: all, or those of one watcher.
pub fn log(cx: &Context, watcher: Option<&str>, count: u32) -> String {
    let query =
        TraceQuery { selection: Selection::Project, watcher: watcher.map(str::to_owned), limit: count, texts: false };
    let traces = cx.traces(&query);
    match (traces.is_empty(), watcher) {
        (true, None) => "No judgements are kept of this project.".into(),
        (true, Some(name)) => format!("No judgements of `{name}` are kept."),
        (false, _) => traces.iter().map(line).collect::<Vec<_>>().join("\n"),
    }
}

/// One judgement: its number, when, who, the verdict, what became of it.
pub fn line(trace: &Trace) -> String {
    let at = clock::iso(trace.at);
    let verdict = verdict(trace);
    let mut shown: String = verdict.chars().take(DESCRIPTION).collect();
    if shown.len() < verdict.len() {
        shown.push('…');
    }
    let finding = finding(trace).map(|finding| format!(" ({finding})")).unwrap_or_default();
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

/// The judgement that is meant: by its number, with or without `#`, or by a finding's id or the beginning of one.
/// `log` is the command that lists them.
///
/// # Errors
/// Where there is none, or several, in words for the user.
pub fn find(cx: &Context, finding: &str, texts: bool, log: &str) -> Result<Trace, String> {
    let read = |selection| {
        let limit = NAMED as u32 + 1;
        cx.traces(&TraceQuery { selection, watcher: None, limit, texts })
    };
    let number = finding.strip_prefix('#').unwrap_or(finding).parse().ok();
    let mut found = number.map(|number| read(Selection::Id(number))).unwrap_or_default();
    if found.is_empty() {
        found = read(Selection::Finding(finding.into()));
    }
    if found.len() > 1 {
        let named: Vec<String> = found.iter().take(NAMED).map(|trace| format!("\n  {}", line(trace))).collect();
        let more = if found.len() > NAMED { "\n  …" } else { "" };
        return Err(format!("`{finding}` is the beginning of several findings:{}{more}", named.concat()));
    }
    found.pop().ok_or_else(|| {
        format!("No judgement `{finding}` is kept; {log} lists those of this session and of earlier ones")
    })
}

/// How it came about, and what became of it: all but the texts.
pub fn summary(trace: &Trace) -> String {
    let mut lines = vec![format!("[{}] {}", trace.watcher, verdict(trace))];
    lines.push(format!("judgement: #{}, {}, session {}", trace.id, clock::iso(trace.at), trace.session_id));
    if let Some(finding) = finding(trace) {
        lines.push(format!("finding: {finding}"));
    }
    let evidence = [
        trace.entry.as_ref().map(|entry| format!("up to entry {entry}")),
        trace.evidence.as_ref().map(|digest| format!("digest {digest}")),
    ];
    let evidence: Vec<String> = evidence.into_iter().flatten().collect();
    if !evidence.is_empty() {
        lines.push(format!("evidence: {}", evidence.join(", ")));
    }
    lines.extend(call(trace));
    for consequence in &trace.consequences {
        let detail = consequence.detail.as_ref().map(|detail| format!(": {}", one_line(detail))).unwrap_or_default();
        lines.push(format!("{} {}{detail}", clock::iso(consequence.at), consequence.outcome.replace('_', " ")));
    }
    lines.join("\n")
}

/// The call, in one line. None: nobody was asked.
fn call(trace: &Trace) -> Option<String> {
    let milliseconds = trace.duration_ms?;
    let mut parts = Vec::new();
    parts.extend(trace.model.as_ref().map(|model| format!("{}/{}", model.provider, model.model)));
    parts.extend(trace.usage.as_ref().map(|usage| format!("{} tokens in, {} out", usage.input, usage.output)));
    parts.push(format!("{milliseconds} ms"));
    parts.extend(trace.stop_reason.map(|reason| format!("ended by {}", reason.name())));
    parts.extend(trace.error.as_ref().map(|error| format!("no answer: {}", one_line(error))));
    Some(format!("judge: {}", parts.join(", ")))
}

/// What the judge was asked, and what it said, as a block of this kind.
pub fn notice(trace: &Trace, custom_type: &str) -> Notice {
    let mut details: Vec<Line> = Vec::new();
    let mut part = |heading: &str, text: &str| {
        details.push(vec![Span { text: heading.into(), tone: Tone::Normal }]);
        let lines = text.lines().map(|line| vec![Span { text: format!("  {line}"), tone: Tone::Muted }]);
        details.extend(lines);
    };
    match &trace.answer {
        Some(answer) => part("answer", answer),
        None => part("answer", "(not kept)"),
    }
    for message in &trace.messages {
        part("evidence", &message.text);
    }
    if let Some(system) = &trace.system {
        part("instructions", system);
    }
    let title = format!("[{}] #{}: what the judge was asked, and what it said", trace.watcher, trace.id);
    Notice {
        custom_type: custom_type.into(),
        title: vec![Span { text: title, tone: Tone::Normal }],
        details,
        data: serde_json::to_string(trace).ok(),
    }
}

/// The verdict with its description.
pub fn verdict(trace: &Trace) -> String {
    let word = match trace.verdict {
        Some(Verdict::Clean) => "CLEAN",
        Some(Verdict::Flag) => "FLAG",
        Some(Verdict::New) => "NEW",
        Some(Verdict::Unknown) => "UNKNOWN",
        None if trace.duration_ms.is_some() => "no verdict",
        None => "not asked",
    };
    match &trace.description {
        Some(description) => format!("{word} — {}", one_line(description)),
        None => word.into(),
    }
}

/// The id of the finding.
pub fn finding(trace: &Trace) -> Option<&str> {
    trace.consequences.iter().find_map(|consequence| consequence.finding.as_deref())
}
