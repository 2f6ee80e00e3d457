//! The known faults of a monitor: its patterns file.

use std::fmt::Write as _;

use chaperone_sdk::text::one_line;
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

/// The patterns as the judge gets them: a numbered list, one line each, with the id by which it can name one.
pub fn list(patterns: &[Pattern]) -> String {
    let mut list = String::new();
    for (number, Pattern { id, severity, description, .. }) in (1..).zip(patterns) {
        let newline = if number == 1 { "" } else { "\n" };
        let (description, id) = (one_line(description), one_line(id));
        write!(list, "{newline}{number}. [{severity}] {description} ({id})").expect("a String takes everything");
    }
    list
}

/// How bad a finding is: as bad as the pattern that the judge named, else as the one that its description names, by id or
/// in its own words; else a warning.
///
/// Of several such patterns, the one with the longest description counts.
pub fn severity_of(patterns: &[Pattern], named: Option<&str>, finding: &str) -> Severity {
    let named = named.map(learning::key).filter(|named| !named.is_empty());
    if let Some(pattern) = patterns.iter().find(|pattern| Some(learning::key(&pattern.id)) == named) {
        return pattern.severity;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(text: &str) -> Sidecar<Pattern> {
        parse("project", "p.json", text).unwrap()
    }

    #[test]
    fn the_judge_gets_a_numbered_list_with_severities() {
        let text = r#"[
            {"id": "a", "description": "First", "severity": "error", "category": "c", "examples": ["unseen"]},
            {"id": "b", "description": "Second"},
            {"id": "c", "description": "Third", "severity": "info", "source": "learned"}
        ]"#;
        let patterns = patterns(text);
        assert_eq!(list(&patterns.entries), "1. [error] First (a)\n2. [warning] Second (b)\n3. [info] Third (c)");
        assert_eq!(patterns.entries[2].source.as_deref(), Some("learned"));
        assert_eq!(patterns.faults, []);
    }

    #[test]
    fn d22_a_bad_entry_is_a_fault_and_leaves_the_others_in_use() {
        let text = r#"[null, {"id": "a"}, {"id": "b", "description": " "}, {"description": "No id!"}, "x",
            {"id": "c", "description": "d", "severity": "critical"}]"#;
        let patterns = patterns(text);
        let ids: Vec<&str> = patterns.entries.iter().map(|pattern| pattern.id.as_str()).collect();
        assert_eq!(ids, ["no-id", "c"]);
        assert_eq!(patterns.entries[1].severity, Severity::Warning);
        let faults: Vec<(&str, bool)> =
            patterns.faults.iter().map(|fault| (&*fault.pointer, fault.is_error())).collect();
        assert_eq!(
            faults,
            [("/0", true), ("/1", true), ("/2", true), ("/3", false), ("/4", true), ("/5/severity", false)]
        );
    }

    #[test]
    fn a_key_that_stands_twice_in_an_entry_is_a_warning_and_the_last_one_counts() {
        let patterns = patterns(r#"[{"id": "a", "description": "x"}, {"id": "b", "description": "x", "id": "c"}]"#);
        assert_eq!(patterns.entries[1].id, "c");
        let faults: Vec<String> = patterns.faults.iter().map(ToString::to_string).collect();
        let told = "stands there more than once, and the last one counts (keep the one that is meant)";
        assert_eq!(faults, [format!("project:p.json#/1/id: {told}")]);
        assert!(!patterns.faults[0].is_error());
    }

    #[test]
    fn d22_a_file_that_is_no_list_is_one_fault_and_a_byte_order_mark_is_none() {
        for text in ["{}", "null", "[", ""] {
            assert!(parse("project", "p.json", text).is_err(), "{text:?}");
        }
        assert_eq!(patterns("\u{feff}[{\"id\":\"a\",\"description\":\"d\"}]").entries.len(), 1);
    }

    #[test]
    fn d14_a_finding_is_as_bad_as_the_pattern_that_it_names() {
        let text = r#"[
            {"id": "empty-catch", "description": "Silently catching exceptions", "severity": "error"},
            {"id": "catch", "description": "Catching", "severity": "info"},
            {"id": "no-plan", "description": "Starts without a plan", "severity": "info"}
        ]"#;
        let patterns = patterns(text).entries;
        let severity = |finding: &str| severity_of(&patterns, None, finding);
        assert_eq!(severity("empty-catch in a.ts"), Severity::Error);
        assert_eq!(severity("It is *silently* catching  exceptions, in a.ts"), Severity::Error);
        assert_eq!(severity("1. [info] Starts without a plan: renames at random"), Severity::Info);
        assert_eq!(severity("matches no-plan"), Severity::Info);
        assert_eq!(severity("empty-catches everywhere"), Severity::Warning, "whole words only");
        assert_eq!(severity("something else"), Severity::Warning);
        assert_eq!(severity(""), Severity::Warning);
        assert_eq!(
            severity_of(&patterns, Some("No-Plan"), "empty-catch in a.ts"),
            Severity::Info,
            "the judge's word counts"
        );
        assert_eq!(severity_of(&patterns, Some("gone"), "empty-catch in a.ts"), Severity::Error);
    }
}
