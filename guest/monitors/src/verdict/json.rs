//! A verdict as a JSON object: `{"verdict": "NEW", "pattern": …, "description": …}`.

use serde_json::{Map, Value};

use super::{Stated, Verdict, line};

/// The object of an answer, with what stands before and behind it.
pub fn split(answer: &str) -> Option<(&str, Map<String, Value>, &str)> {
    let (start, end) = (answer.find('{')?, answer.rfind('}')? + 1);
    match serde_json::from_str(answer.get(start..end)?) {
        Ok(Value::Object(members)) => Some((&answer[..start], members, &answer[end..])),
        _ => None,
    }
}

/// What an object states. None if it has no verdict.
pub fn verdict(members: &Map<String, Value>) -> Option<Verdict> {
    let verdict = text(members, &["verdict"])?.trim();
    let description = text(members, &["description", "reason", "message"]).unwrap_or_default();
    let pattern = text(members, &["pattern", "newpattern"]).unwrap_or_default();
    let stated = match verdict.to_ascii_uppercase().as_str() {
        "CLEAN" => Some(Stated::Clean),
        "FLAG" => Some(Stated::Flag(description.into())),
        "NEW" => Some(Stated::New(pattern.into(), description.into())),
        _ => line::read(verdict, &[]).next(),
    };
    Some(stated.map_or_else(|| Verdict::unknown(format!("`{verdict}` is no verdict")), Stated::into_verdict))
}

/// The first member of one of these names, whatever their case, hyphens and underscores.
fn text<'m>(members: &'m Map<String, Value>, names: &[&str]) -> Option<&'m str> {
    let matches = |key: &str, name: &str| key.to_ascii_lowercase().replace(['_', '-'], "") == name;
    names.iter().find_map(|name| members.iter().find(|(key, _)| matches(key, name))?.1.as_str())
}
