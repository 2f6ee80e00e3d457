//! Recording a finding in a JSON file: the `write` block of an action.
//!
//! A file is changed only where its shape is understood: an object, whose field is a list or is missing. Into any other
//! file nothing is ever written; the finding goes to a file beside it.

#[cfg(test)]
mod tests;

use chaperone_sdk::clock;
use chaperone_sdk::document::pointer_to;
use chaperone_sdk::{FileError, Location, RequestId, Timestamp};
use serde_json::{Map, Value, json};

use crate::definition::{Merge, Write};
use crate::evidence::hash64;
use crate::patterns::Severity;
use crate::sidecar::Change;
use crate::template;

/// What is known of a finding: the values of a template's placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts<'a> {
    /// `{finding_id}`
    pub finding_id: &'a str,
    /// `{description}`
    pub description: &'a str,
    /// `{severity}`
    pub severity: Severity,
    /// `{monitor_name}`
    pub monitor_name: &'a str,
    /// `{timestamp}`
    pub now: Timestamp,
}

/// How a finding gets into a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The file.
    pub file: Location,
    /// What adds the finding to it.
    pub change: Change,
    /// Why it is not the file that the monitor names, but the one beside it.
    pub aside: Option<String>,
}

/// Neither the file nor the one beside it can take the finding; which, and why not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoPlace(String);

/// The placeholders of an entry's template.
pub const PLACEHOLDERS: [&str; 5] = ["finding_id", "description", "severity", "monitor_name", "timestamp"];

/// An id for a finding: the monitor's name, a hyphen, and letters and digits that no other finding has.
///
/// `request` is the model call that the finding rests on; it is unique within the session. The same arguments give the
/// same id, so that a replay gives the same findings.
pub fn id(monitor: &str, now: Timestamp, request: RequestId, session_id: &str) -> String {
    /// 36 to the power of 6: the rest of a division by it has six digits.
    const SESSIONS: u64 = 2_176_782_336;
    let session = hash64(session_id.as_bytes()) % SESSIONS;
    format!("{monitor}-{}{:0>6}{}", base36(now), base36(session), base36(request))
}

/// The entry that a template makes of the facts: placeholders in its strings, at any depth, are filled in; everything
/// else stays what it is.
pub fn entry(template: &Map<String, Value>, facts: &Facts) -> Map<String, Value> {
    let timestamp = clock::iso(facts.now);
    let value = |word: &str| match word {
        "finding_id" => Some(facts.finding_id),
        "description" => Some(facts.description),
        "severity" => Some(facts.severity.word()),
        "monitor_name" => Some(facts.monitor_name),
        "timestamp" => Some(timestamp.as_str()),
        _ => None,
    };
    filled_members(template, &value)
}

fn filled_members<'v>(members: &Map<String, Value>, value: &impl Fn(&str) -> Option<&'v str>) -> Map<String, Value> {
    members.iter().map(|(key, member)| (key.clone(), filled(member, value))).collect()
}

fn filled<'v>(template: &Value, value: &impl Fn(&str) -> Option<&'v str>) -> Value {
    match template {
        Value::String(text) => Value::String(template::fill(text, value)),
        Value::Array(items) => items.iter().map(|item| filled(item, value)).collect(),
        Value::Object(members) => Value::Object(filled_members(members, value)),
        other => other.clone(),
    }
}

/// Where and how to record an entry. `read` gives the text of a file as it is now; after a conflict, ask again.
///
/// # Errors
/// Where neither the monitor's file nor the one beside it can take the entry.
pub fn record(
    write: &Write,
    entry: &Map<String, Value>,
    read: impl Fn(&Location) -> Result<String, FileError>,
) -> Result<Record, NoPlace> {
    let file = write.file.clone();
    let reason = match change(write, entry, read(&file)) {
        Ok(change) => return Ok(Record { file, change, aside: None }),
        Err(reason) => reason,
    };
    let aside = file_beside(&file);
    match change(write, entry, read(&aside)) {
        Ok(change) => Ok(Record { file: aside, change, aside: Some(format!("{} {reason}", file.path)) }),
        Err(aside_reason) => Err(NoPlace(format!("{} {reason}, and {} {aside_reason}", file.path, aside.path))),
    }
}

/// The file that takes what another one cannot: `gaps.findings.json` for `gaps.json`.
pub fn file_beside(file: &Location) -> Location {
    let path = file.path.strip_suffix(".json").unwrap_or(&file.path);
    Location { mount: file.mount.clone(), path: format!("{path}.findings.json") }
}

/// What adds an entry to a file of that content, or why nothing can.
///
/// Every change begins with a test of what it relies on: an addition alone would replace a field that has appeared
/// meanwhile, and would make a member called `-` of what has become an object.
fn change(write: &Write, entry: &Map<String, Value>, content: Result<String, FileError>) -> Result<Change, String> {
    let field = write.array_field.as_str();
    let list = pointer_to("", field);
    let initial = json!({field: []});
    let document = match content {
        Ok(text) => serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| format!("is not JSON: {error}"))?,
        Err(FileError::NotFound) => initial.clone(),
        Err(FileError::Denied(reason)) => return Err(format!("may not be read: {reason}")),
        Err(FileError::TooLarge(bytes)) => return Err(format!("is too large to be read: {bytes} bytes")),
        Err(FileError::NotUtf8) => return Err("is not UTF-8 text".into()),
        Err(FileError::NotJson(reason) | FileError::Conflict(reason) | FileError::Io(reason)) => {
            return Err(format!("cannot be read: {reason}"));
        }
    };
    let Value::Object(members) = &document else { return Err("holds no object".into()) };
    let patch = match members.get(field) {
        Some(Value::Array(entries)) => match position_to_update(write, entry, entries) {
            Some(position) => update(&list, position, entry),
            // The same session judged again finds the same, under the same id.
            None if let Some(position) = position_of_same(entry, entries) => {
                json!([{"op": "test", "path": format!("{list}/{position}"), "value": entry}])
            }
            None => {
                json!([first_entry_test(&list, entries), {"op": "add", "path": format!("{list}/-"), "value": entry}])
            }
        },
        Some(_) => return Err(format!("has a field `{field}` that is not a list")),
        None => json!([
            {"op": "test", "path": "", "value": document},
            {"op": "add", "path": list, "value": [entry]},
        ]),
    };
    Ok(Change { initial: initial.to_string(), patch: patch.to_string() })
}

fn first_entry_test(list: &str, entries: &[Value]) -> Value {
    match entries.first() {
        Some(first) => json!({"op": "test", "path": format!("{list}/0"), "value": first}),
        None => json!({"op": "test", "path": list, "value": []}),
    }
}

/// The first entry with the same `id`, where entries are to be updated.
fn position_to_update(write: &Write, entry: &Map<String, Value>, entries: &[Value]) -> Option<usize> {
    let id = entry.get("id").filter(|id| !id.is_null() && write.merge == Merge::Upsert)?;
    entries.iter().position(|existing| existing.get("id") == Some(id))
}

/// Where an entry stands already, under its own id.
fn position_of_same(entry: &Map<String, Value>, entries: &[Value]) -> Option<usize> {
    entry.get("id").filter(|id| !id.is_null())?;
    entries.iter().position(|existing| existing.as_object() == Some(entry))
}

/// Sets the entry's fields on an existing entry, whose other fields stay.
fn update(list: &str, position: usize, entry: &Map<String, Value>) -> Value {
    let place = format!("{list}/{position}");
    let guard = json!({"op": "test", "path": format!("{place}/id"), "value": entry.get("id")});
    let fields = entry.iter().map(|(key, value)| json!({"op": "add", "path": pointer_to(&place, key), "value": value}));
    std::iter::once(guard).chain(fields).collect()
}

fn base36(mut number: u64) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut digits = Vec::new();
    loop {
        digits.push(char::from(DIGITS[(number % 36) as usize]));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}
