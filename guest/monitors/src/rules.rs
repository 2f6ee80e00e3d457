//! The user's own rules for a judge: the instructions file of a monitor.

use chaperone_sdk::{Context, FileError, Location};
use serde_json::Value;

use crate::fault::{Fault, Report};
use crate::roster::unreadable;
use crate::sidecar::Sidecar;

/// One rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The rule, word for word. Never blank.
    pub text: String,
    /// Where it stands in the file, from 0.
    index: usize,
    /// Its whole entry.
    entry: Value,
}

/// Reads the rules of a monitor; a missing file has none.
///
/// # Errors
/// Where the file cannot be used as a whole; it must not be written then.
pub fn load(cx: &Context, file: &Location) -> Result<Sidecar<Rule>, Fault> {
    match cx.read(&file.mount, &file.path) {
        Ok(text) => parse(&file.mount, &file.path, &text),
        Err(FileError::NotFound) => Ok(Sidecar::default()),
        Err(error) => Err(unreadable(&file.mount, &file.path, &error)),
    }
}

/// Reads the text of an instructions file.
///
/// # Errors
/// Where it cannot be used as a whole; it must not be written then.
pub fn parse(mount: &str, file: &str, text: &str) -> Result<Sidecar<Rule>, Fault> {
    Sidecar::parse(mount, file, text, entry)
}

/// The rules as the judge gets them: nothing where there are none; else a heading and one bullet each, on lines of
/// their own.
pub fn list(rules: &[Rule]) -> String {
    if rules.is_empty() {
        return String::new();
    }
    let mut list = String::from("\nOperating instructions from the user (follow these strictly):\n");
    for rule in rules {
        list.extend(["- ", &rule.text, "\n"]);
    }
    list
}

fn entry(report: &mut Report, index: usize, value: &Value) -> Option<Rule> {
    match value.get("text").and_then(Value::as_str).filter(|text| !text.trim().is_empty()) {
        Some(text) => Some(Rule { text: text.into(), index, entry: value.clone() }),
        None => {
            let mend = "write an object such as {\"text\": \"…\"}";
            report.error(format!("/{index}"), "has no text, and is left out", mend);
            None
        }
    }
}
