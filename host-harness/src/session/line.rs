//! One line of a session file, of whichever agent, as a JSON object, and forgiving ways to read its fields.

use chaperone_contract::{ModelId, Timestamp};
use serde_json::{Map, Value};

pub(crate) type Object = Map<String, Value>;

/// A line that is a JSON object.
#[derive(Debug, PartialEq)]
pub(crate) struct ReadLine {
    pub object: Object,
    /// Halves of surrogate pairs had to be replaced.
    pub mended: bool,
}

/// Reads a line; the error says what is wrong with it.
pub(crate) fn object(line: &str) -> Result<ReadLine, String> {
    let (value, mended) = match serde_json::from_str(line) {
        Ok(value) => (value, false),
        Err(error) => match without_lone_surrogates(line).and_then(|line| serde_json::from_str(&line).ok()) {
            Some(value) => (value, true),
            None => return Err(not_json(&error)),
        },
    };
    match value {
        Value::Object(object) => Ok(ReadLine { object, mended }),
        _ => Err("JSON, but no object".into()),
    }
}

fn not_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    format!("no JSON (column {}: {what})", error.column())
}

/// The line with every `\uD800`–`\uDFFF` that stands alone replaced by `\uFFFD`; none where there is none.
pub(crate) fn without_lone_surrogates(line: &str) -> Option<String> {
    let mut mended = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = line[at..].find('\\') {
        let escape = at + found;
        at = match (surrogate(line, escape), surrogate(line, escape + 6)) {
            (Some(Half::Leading), Some(Half::Trailing)) => escape + 12,
            (Some(_), _) => {
                mended += &line[copied..escape];
                mended += "\\ufffd";
                copied = escape + 6;
                copied
            }
            // The character behind the backslash may be of any length.
            (None, _) => escape + 1 + line[escape + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    (copied > 0).then(|| mended + &line[copied..])
}

enum Half {
    Leading,
    Trailing,
}

/// The half of a surrogate pair that is escaped at byte `at`.
fn surrogate(line: &str, at: usize) -> Option<Half> {
    let digits = line.get(at..at + 6)?.strip_prefix("\\u")?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::Leading),
        0xdc00..=0xdfff => Some(Half::Trailing),
        _ => None,
    }
}

/// Takes a text out of the object.
pub(crate) fn text(object: &mut Object, key: &str) -> Option<String> {
    match object.get_mut(key) {
        Some(Value::String(text)) => Some(std::mem::take(text)),
        _ => None,
    }
}

/// Takes anything but `null` out of the object, as JSON text.
pub(crate) fn json(object: &Object, key: &str) -> Option<String> {
    object.get(key).filter(|value| !value.is_null()).map(Value::to_string)
}

/// A count; what is not a number, or below 0, is none.
pub(crate) fn count(object: &Object, key: &str) -> Option<u64> {
    let number = object.get(key)?;
    number.as_u64().or_else(|| number.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64))
}

/// A model, by the names of its two fields.
pub(crate) fn model(object: &Object, provider: &str, model: &str) -> Option<ModelId> {
    let text = |key| object.get(key).and_then(Value::as_str).map(String::from);
    Some(ModelId { provider: text(provider)?, model: text(model)? })
}

/// `timestamp`: a date of ISO 8601, as entries have it, or milliseconds since 1970, as messages do.
pub(crate) fn timestamp(object: &Object) -> Option<Timestamp> {
    match object.get("timestamp")? {
        Value::String(date) => date_time(date),
        _ => count(object, "timestamp"),
    }
}

/// A date of ISO 8601.
pub(crate) fn date_time(date: &str) -> Option<Timestamp> {
    date.parse::<jiff::Timestamp>().ok()?.as_millisecond().try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(line: &str) -> (String, bool) {
        let mut read = object(line).unwrap();
        (text(&mut read.object, "a").unwrap(), read.mended)
    }

    #[test]
    fn halves_of_surrogate_pairs_are_replaced_and_whole_pairs_kept() {
        assert_eq!(string(r#"{"a":"\ud83d\ude00"}"#), ("\u{1f600}".into(), false));
        assert_eq!(string(r#"{"a":"x\ud83d"}"#), ("x\u{fffd}".into(), true));
        assert_eq!(string(r#"{"a":"\ude00x"}"#), ("\u{fffd}x".into(), true));
        assert_eq!(string(r#"{"a":"\ud83d\ud83d\ude00é"}"#), ("\u{fffd}\u{1f600}é".into(), true));
        assert_eq!(string(r#"{"a":"\\ud83d \ud83dé"}"#), ("\\ud83d \u{fffd}é".into(), true));
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said_with_its_column() {
        assert_eq!(object("[1]").unwrap_err(), "JSON, but no object");
        assert_eq!(object(r#"{"a":"#).unwrap_err(), "no JSON (column 5: EOF while parsing a value)");
        assert!(object(r#"{"a":\é}"#).unwrap_err().starts_with("no JSON (column 6"));
    }

    #[test]
    fn times_are_dates_or_milliseconds() {
        let read = |value: &str| timestamp(&object(&format!("{{\"timestamp\":{value}}}")).unwrap().object);
        assert_eq!(read("\"2026-11-30T08:10:07.580Z\""), Some(1_796_026_207_580));
        assert_eq!(read("\"2026-11-30T09:10:07.580+01:00\""), Some(1_796_026_207_580));
        assert_eq!(read("1796026207580"), Some(1_796_026_207_580));
        assert_eq!(read("1796026207580.5"), Some(1_796_026_207_580));
        assert_eq!(read("\"yesterday\""), None);
        assert_eq!(read("\"1969-12-31T23:59:59Z\""), None);
        assert_eq!(read("-1"), None);
        assert_eq!(read("null"), None);
    }
}
