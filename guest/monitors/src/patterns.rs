//! The known faults of a monitor: its patterns file.

use std::fmt::Write as _;

use chaperone_sdk::{Context, Location};
use serde_json::Value;

use crate::fault::{Fault, Report};
use crate::learning;
use crate::roster::unreadable;
use crate::sidecar::Sidecar;
use crate::words::words;

words! {
    /// How bad a fault of the agent is.
    Severity {
        /// Bad.
        Error = "error",
        /// What is assumed where nothing is said.
        Warning = "warning",
        /// Worth knowing.
        Info = "info",
    }
}

/// One known fault. What else its entry holds stays in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Names it.
    pub id: String,
    /// What the judge looks for. Never blank.
    pub description: String,
    /// How bad it is.
    pub severity: Severity,
    /// Where it is from, such as `bundled`, `learned` or `user`.
    pub source: Option<String>,
}

/// Reads the patterns of a monitor.
///
/// # Errors
/// Where the file is missing, or cannot be used as a whole.
pub fn load(cx: &Context, file: &Location) -> Result<Sidecar<Pattern>, Fault> {
    let text = cx.read(&file.mount, &file.path).map_err(|error| unreadable(&file.mount, &file.path, &error))?;
    parse(&file.mount, &file.path, &text)
}

/// Reads the text of a patterns file.
///
/// # Errors
/// Where it cannot be used as a whole.
pub fn parse(mount: &str, file: &str, text: &str) -> Result<Sidecar<Pattern>, Fault> {
    Sidecar::parse(mount, file, text, |report, index, value| entry(report, &format!("/{index}"), value))
}

fn entry(report: &mut Report, pointer: &str, value: &Value) -> Option<Pattern> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let Some(description) = text("description") else {
        report.error(pointer, "has no description, and is left out", "write what the judge is to look for");
        return None;
    };
    let id = text("id").map(str::to_owned).unwrap_or_else(|| {
        report.warning(pointer, "has no id", "give it a short name that stays");
        learning::slug(description)
    });
    let severity = match value.get("severity") {
        None | Some(Value::Null) => Severity::Warning,
        Some(word) => word.as_str().and_then(Severity::from_word).unwrap_or_else(|| {
            let message = format!("{word} is no severity, and counts as warning");
            report.warning(format!("{pointer}/severity"), message, "write error, warning or info");
            Severity::Warning
        }),
    };
    Some(Pattern { id, description: description.into(), severity, source: text("source").map(str::to_owned) })
}

/// The patterns as the judge gets them: a numbered list, one line each.
pub fn list(patterns: &[Pattern]) -> String {
    let mut list = String::new();
    for (number, Pattern { severity, description, .. }) in (1..).zip(patterns) {
        let newline = if number == 1 { "" } else { "\n" };
        let description = learning::one_line(description);
        write!(list, "{newline}{number}. [{severity}] {description}").expect("a String takes everything");
    }
    list
}

/// How bad a finding is: as bad as the pattern that its description names, by id or in its own words; else a warning.
///
/// Of several such patterns, the one with the longest description counts.
pub fn severity_of(patterns: &[Pattern], finding: &str) -> Severity {
    let finding = learning::key(finding);
    let names = |text: &str| {
        let text = learning::key(text);
        !text.is_empty() && format!(" {finding} ").contains(&format!(" {text} "))
    };
    patterns
        .iter()
        .filter(|pattern| names(&pattern.description) || names(&pattern.id))
        .max_by_key(|pattern| pattern.description.len())
        .map_or(Severity::Warning, |pattern| pattern.severity)
}
