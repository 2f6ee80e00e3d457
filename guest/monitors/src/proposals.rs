//! Patterns that wait for the user's word, and those that were refused: a file of their own beside the patterns file. No
//! judge ever sees it.

use chaperone_sdk::clock;
use chaperone_sdk::{Context, FileError, Location, Timestamp};
use serde_json::{Value, json};

use crate::fault::{Fault, Report};
use crate::roster::unreadable;
use crate::sidecar::{Change, Sidecar};

/// A pattern that a judge reported.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// What a judge is to look for, if the user agrees. Never blank.
    pub description: String,
    /// The user does not agree: it is kept so that it is not proposed again.
    pub is_rejected: bool,
    /// Where it stands in the file, from 0.
    index: usize,
    /// Its whole entry.
    entry: Value,
}

/// The file beside a patterns file: `hedge.proposed.json` for `hedge.patterns.json`.
pub fn file_beside(patterns: &Location) -> Location {
    let path = patterns.path.strip_suffix(".json").unwrap_or(&patterns.path);
    let path = path.strip_suffix(".patterns").unwrap_or(path);
    Location { mount: patterns.mount.clone(), path: format!("{path}.proposed.json") }
}

/// Reads the proposals beside a patterns file; a missing file has none.
///
/// # Errors
/// Where the file cannot be used as a whole; it must not be written then.
pub fn load(cx: &Context, patterns: &Location) -> Result<Sidecar<Proposal>, Fault> {
    let file = file_beside(patterns);
    match cx.read(&file.mount, &file.path) {
        Ok(text) => parse(&file.mount, &file.path, &text),
        Err(FileError::NotFound) => Ok(Sidecar::default()),
        Err(error) => Err(unreadable(&file.mount, &file.path, &error)),
    }
}

/// Reads the text of a file of proposals.
///
/// # Errors
/// Where it cannot be used as a whole; it must not be written then.
pub fn parse(mount: &str, file: &str, text: &str) -> Result<Sidecar<Proposal>, Fault> {
    Sidecar::parse(mount, file, text, entry)
}

fn entry(report: &mut Report, index: usize, value: &Value) -> Option<Proposal> {
    match value.get("description").and_then(Value::as_str).filter(|text| !text.trim().is_empty()) {
        Some(description) => Some(Proposal {
            description: description.into(),
            is_rejected: value.get("rejected_at").is_some_and(|at| !at.is_null()),
            index,
            entry: value.clone(),
        }),
        None => {
            report.error(format!("/{index}"), "has no description, and is left out", "remove it");
            None
        }
    }
}

/// Changes of the proposals. Each conflicts where the proposal that it is about is no longer what it was.
impl Sidecar<Proposal> {
    /// Those that wait, in the order of the file.
    pub fn open(&self) -> Vec<&Proposal> {
        self.entries.iter().filter(|proposal| !proposal.is_rejected).collect()
    }

    /// Adds a pattern that was learned and is wanted no more, as refused.
    pub fn refuse(&self, pattern: &Value, now: Timestamp) -> Change {
        let mut entry = pattern.as_object().cloned().unwrap_or_default();
        entry.insert("rejected_at".into(), clock::iso(now).into());
        self.append(&Value::Object(entry))
    }
}

impl Proposal {
    /// Its whole entry.
    pub fn entry(&self) -> &Value {
        &self.entry
    }

    /// Takes it out: it has become a pattern.
    pub fn remove(&self) -> Change {
        self.change(json!({"op": "remove", "path": self.pointer()}))
    }

    /// Keeps it as refused.
    pub fn reject(&self, now: Timestamp) -> Change {
        self.change(json!({"op": "add", "path": format!("{}/rejected_at", self.pointer()), "value": clock::iso(now)}))
    }

    fn pointer(&self) -> String {
        format!("/{}", self.index)
    }

    fn change(&self, operation: Value) -> Change {
        let guard = json!({"op": "test", "path": self.pointer(), "value": self.entry});
        Change { initial: "[]".into(), patch: json!([guard, operation]).to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::apply;

    const FILE: &str = r#"[
        {"id": "a", "description": "first", "rejected_at": "2026-03-15T02:30:00.000Z"},
        {"id": "b", "description": "second"}, {"id": "c"}, {"id": "d", "description": "third"}
    ]"#;

    fn list() -> Sidecar<Proposal> {
        parse("project", "m.proposed.json", FILE).unwrap()
    }

    #[test]
    fn the_file_is_called_after_the_patterns_file() {
        let beside = |path: &str| file_beside(&Location { mount: "project".into(), path: path.into() }).path;
        assert_eq!(beside("monitors/hedge.patterns.json"), "monitors/hedge.proposed.json");
        assert_eq!(beside("shared/p.json"), "shared/p.proposed.json");
        assert_eq!(beside("shared/p"), "shared/p.proposed.json");
    }

    #[test]
    fn only_those_wait_that_were_not_refused() {
        let list = list();
        let open: Vec<&str> = list.open().iter().map(|proposal| proposal.description.as_str()).collect();
        assert_eq!(open, ["second", "third"]);
        assert_eq!(list.faults.len(), 1, "an entry that cannot be used is told");
    }

    #[test]
    fn a_proposal_is_taken_out_or_refused_where_it_still_stands() {
        let list = list();
        let open = list.open();
        let after = apply(&open[1].remove(), Some(FILE)).unwrap();
        assert_eq!(after.as_array().unwrap().len(), 3);
        assert!(apply(&open[1].remove(), Some(&after.to_string())).is_err());
        let after = apply(&open[0].reject(1_773_541_800_000), Some(FILE)).unwrap();
        assert_eq!(after[1]["rejected_at"], "2026-03-15T02:30:00.000Z");
        assert!(apply(&open[0].reject(0), Some("[]")).is_err());
    }
}
