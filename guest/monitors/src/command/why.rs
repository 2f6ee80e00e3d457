//! `/monitors why <finding>`: how a judgement came about, and what became of it.

use chaperone_sdk::{Line, Notice, Selection, Span, Tone, Trace, TraceQuery, Verdict};

use crate::clock;
use crate::desk::Desk;
use chaperone_sdk::text::one_line;

/// The kind of notice that shows what the judge was asked.
pub const CUSTOM_TYPE: &str = "monitor-trace";

/// How many judgements are named where several are meant.
const NAMED: usize = 5;

/// Tells how a finding came about.
pub fn tell(desk: &mut Desk, finding: &str) {
    match find(desk, finding, true) {
        Ok(trace) => {
            desk.cx.notify(summary(&trace), Tone::Normal);
            desk.cx.show(notice(&trace));
        }
        Err(reason) => desk.cx.notify(reason, Tone::Error),
    }
}

/// The judgement that is meant: by its number, with or without `#`, or by a finding's id or the beginning of one.
///
/// # Errors
/// Where there is none, or several, in words for the user.
pub fn find(desk: &Desk, finding: &str, texts: bool) -> Result<Trace, String> {
    let read = |selection| {
        let limit = NAMED as u32 + 1;
        desk.cx.traces(&TraceQuery { selection, watcher: None, limit, texts })
    };
    let number = finding.strip_prefix('#').unwrap_or(finding).parse().ok();
    let mut found = number.map(|number| read(Selection::Id(number))).unwrap_or_default();
    if found.is_empty() {
        found = read(Selection::Finding(finding.into()));
    }
    if found.len() > 1 {
        let named: Vec<String> =
            found.iter().take(NAMED).map(|trace| format!("\n  {}", super::log::line(trace))).collect();
        let more = if found.len() > NAMED { "\n  …" } else { "" };
        return Err(format!("`{finding}` is the beginning of several findings:{}{more}", named.concat()));
    }
    found.pop().ok_or_else(|| {
        format!("No judgement `{finding}` is kept; /monitors log lists those of this session and of earlier ones")
    })
}

/// All but the texts.
fn summary(trace: &Trace) -> String {
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

/// What the judge was asked, and what it said.
fn notice(trace: &Trace) -> Notice {
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
        custom_type: CUSTOM_TYPE.into(),
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
