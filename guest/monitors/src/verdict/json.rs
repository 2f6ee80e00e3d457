//! A verdict as a JSON object: `{"verdict": "NEW", "pattern": …, "description": …}`.

use chaperone_sdk::text::one_line;
use serde_json::{Map, Value};

use super::{Stated, Verdict, line};
use crate::learning::LONGEST_ID;

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
    let new_pattern = text(members, &["newpattern"]).filter(|text| !text.trim().is_empty());
    let pattern = text(members, &["patternid", "pattern"]).map(one_line).filter(|text| !text.is_empty());
    let pattern = pattern.map(|pattern| pattern.chars().take(LONGEST_ID).collect::<String>());
    let stated = match verdict.to_ascii_uppercase().as_str() {
        "CLEAN" => Some(Stated::Clean),
        "FLAG" => Some(Stated::Flag(behind("FLAG", description).into())),
        "NEW" => {
            let pattern = new_pattern.map(str::to_owned).or_else(|| pattern.clone()).unwrap_or_default();
            Some(match (new_pattern, behind("NEW", description).split_once('|')) {
                // The line of text that the instructions ask for, in the place of a description.
                (None, Some((pattern, description))) => Stated::New(pattern.into(), description.into()),
                _ => Stated::New(pattern, behind("NEW", description).into()),
            })
        }
        _ => line::read(verdict, &[]).next(),
    };
    let verdict = stated.map_or_else(|| Verdict::unknown(format!("`{verdict}` is no verdict")), Stated::into_verdict);
    Some(match verdict {
        Verdict::Flag { description, .. } => Verdict::Flag { description, pattern_id: pattern },
        verdict => verdict,
    })
}

/// A description without the keyword that stands before it in a line of text.
fn behind<'t>(keyword: &str, description: &'t str) -> &'t str {
    description.trim().strip_prefix(keyword).and_then(|rest| rest.strip_prefix(':')).unwrap_or(description)
}

/// The first member of one of these names, whatever their case, hyphens and underscores.
fn text<'m>(members: &'m Map<String, Value>, names: &[&str]) -> Option<&'m str> {
    let matches = |key: &str, name: &str| key.to_ascii_lowercase().replace(['_', '-'], "") == name;
    names.iter().find_map(|name| members.iter().find(|(key, _)| matches(key, name))?.1.as_str())
}
