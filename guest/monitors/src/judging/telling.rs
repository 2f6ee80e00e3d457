//! What the user sees of a verdict.

use chaperone_sdk::text::one_line;
use chaperone_sdk::{Line, Notice, Span, Tone};

use super::answer::Found;
use super::consequences::Occasion;
use crate::desk::Desk;
use crate::steer::Kind;

/// The kind of notice that shows a verdict.
pub const CUSTOM_TYPE: &str = "monitor-verdict";

/// What is told with a finding.
pub struct Told<'a> {
    /// Its id.
    pub finding: &'a str,
    /// What the agent is to be told.
    pub steer: Option<&'a str>,
    /// The file that it goes to.
    pub file: Option<&'a str>,
}

/// A finding, and what is to be done about it.
pub fn wrong(desk: &mut Desk, name: &str, found: &Found, told: &Told, occasion: Occasion) {
    let &Told { finding, steer, file } = told;
    let description = one_line(found.description);
    let (tone, word) = match found.kind {
        Kind::Flag => (Tone::Error, "FLAG"),
        Kind::New => (Tone::Warning, "NEW"),
    };
    let details = [
        Some(format!("verdict: {}", word.to_lowercase())),
        found.pattern_id.or(found.pattern).map(|pattern| format!("pattern: {}", one_line(pattern))),
        steer.map(|steer| format!("steer: {}", one_line(steer))),
        file.map(|file| format!("record: {file}")),
        Some(format!("finding: {finding}")),
    ];
    desk.cx.show(Notice {
        custom_type: CUSTOM_TYPE.into(),
        title: title(name, &description, tone),
        details: details.into_iter().flatten().map(plain).collect(),
        data: Some(
            serde_json::json!({
                "monitor": name, "verdict": found.kind, "description": found.description, "pattern": found.pattern,
                "pattern_id": found.pattern_id, "steer": steer, "file": file, "finding": finding,
            })
            .to_string(),
        ),
    });
    if matches!(occasion, Occasion::Command { .. }) {
        desk.cx.notify(format!("[{name}] {word}: {description}"), tone);
    }
}

/// No judgement came about.
pub fn unknown(desk: &mut Desk, name: &str, reason: &str) {
    desk.cx.show(Notice {
        custom_type: CUSTOM_TYPE.into(),
        title: title(name, &format!("No verdict: {}", one_line(reason)), Tone::Warning),
        details: vec![plain("verdict: unknown".into())],
        data: Some(serde_json::json!({"monitor": name, "verdict": "unknown", "description": reason}).to_string()),
    });
    desk.cx.notify(format!("[{name}] No verdict: {reason}"), Tone::Warning);
}

/// The call was ended early, so there is nothing to tell but to whoever ran a command.
pub fn no_verdict(desk: &mut Desk, name: &str, occasion: Occasion) {
    if matches!(occasion, Occasion::Command { .. }) {
        desk.cx.notify(format!("[{name}] The call was ended early: no verdict"), Tone::Warning);
    }
}

fn title(name: &str, text: &str, tone: Tone) -> Line {
    vec![Span { text: format!("[{name}] "), tone: Tone::Normal }, Span { text: text.into(), tone }]
}

fn plain(text: String) -> Line {
    vec![Span { text, tone: Tone::Muted }]
}
