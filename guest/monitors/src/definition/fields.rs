//! Reading the fields of a JSON object, with a fault for each that is not what it should be.

use std::num::NonZeroU32;

use chaperone_sdk::document::pointer_to;
use serde_json::{Map, Value};

use crate::fault::Report;

/// One object of the file. `null` counts as absent everywhere.
pub struct Fields<'a> {
    pointer: String,
    members: Members<'a>,
}

enum Members<'a> {
    There(&'a Map<String, Value>),
    Absent,
    /// Something else stands there, which was reported.
    Wrong,
}

impl<'a> Fields<'a> {
    /// The file's root.
    pub fn root(members: &'a Map<String, Value>) -> Self {
        Self { pointer: String::new(), members: Members::There(members) }
    }

    /// An object at another place.
    pub fn at(pointer: String, members: &'a Map<String, Value>) -> Self {
        Self { pointer, members: Members::There(members) }
    }

    /// Its own place.
    pub fn place(&self) -> &str {
        &self.pointer
    }

    /// The names of its fields that are not `null`, in the file's order.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> {
        let members = match self.members {
            Members::There(members) => Some(members),
            Members::Absent | Members::Wrong => None,
        };
        members.into_iter().flatten().filter(|(_, value)| !value.is_null()).map(|(key, _)| key.as_str())
    }

    /// The place of a field.
    pub fn pointer(&self, key: &str) -> String {
        pointer_to(&self.pointer, key)
    }

    /// A field's value.
    pub fn value(&self, key: &str) -> Option<&'a Value> {
        match self.members {
            Members::There(members) => members.get(key).filter(|value| !value.is_null()),
            Members::Absent | Members::Wrong => None,
        }
    }

    /// Whether the object is there.
    pub fn is_present(&self) -> bool {
        matches!(self.members, Members::There(_))
    }

    /// Warns of every field that is not among the known ones.
    pub fn warn_of_others(&self, report: &mut Report, known: &[&str]) {
        let Members::There(members) = self.members else { return };
        for key in members.keys().filter(|key| !known.contains(&key.as_str())) {
            report.warning(
                self.pointer(key),
                format!("`{key}` is not a known field and has no effect"),
                format!("remove it, or write one of {}", known.join(", ")),
            );
        }
    }

    /// An object; absent or wrong, it has no fields.
    pub fn object(&self, report: &mut Report, key: &str) -> Self {
        let pointer = self.pointer(key);
        let members = match (self.value(key), &self.members) {
            (None, Members::Wrong) => Members::Wrong,
            (None, _) => Members::Absent,
            (Some(Value::Object(members)), _) => Members::There(members),
            (Some(other), _) => {
                report.error(
                    pointer.as_str(),
                    format!("is {}, not an object", kind(other)),
                    "write an object in braces",
                );
                Members::Wrong
            }
        };
        Self { pointer, members }
    }

    /// A text.
    pub fn text(&self, report: &mut Report, key: &str) -> Option<&'a str> {
        match self.value(key)? {
            Value::String(text) => Some(text),
            other => {
                report.error(self.pointer(key), format!("is {}, not a text", kind(other)), "write it in quotes");
                None
            }
        }
    }

    /// A text that must be there and not be blank.
    pub fn required_text(&self, report: &mut Report, key: &str, mend: &str) -> Option<&'a str> {
        match (self.text(report, key), self.value(key), &self.members) {
            (Some(text), ..) if !text.trim().is_empty() => return Some(text),
            (Some(_), ..) => report.error(self.pointer(key), "is empty", mend),
            (None, None, Members::There(_) | Members::Absent) => report.error(self.pointer(key), "is missing", mend),
            (None, Some(_), _) | (None, None, Members::Wrong) => {}
        }
        None
    }

    /// One of several words.
    pub fn choice<T: Copy + 'static>(
        &self,
        report: &mut Report,
        key: &str,
        all: &[T],
        word: impl Fn(T) -> &'static str,
        default: T,
    ) -> T {
        let Some(text) = self.text(report, key) else { return default };
        all.iter().copied().find(|&case| word(case) == text.trim()).unwrap_or_else(|| {
            report.error(
                self.pointer(key),
                format!("`{text}` is not known"),
                format!("write {}", alternatives(all, word)),
            );
            default
        })
    }

    /// A whole number from 1.
    pub fn count(&self, report: &mut Report, key: &str, default: NonZeroU32) -> NonZeroU32 {
        let Some(value) = self.value(key) else { return default };
        let number = match value {
            Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        match number.and_then(|number| u32::try_from(number).ok()).and_then(NonZeroU32::new) {
            Some(count) => {
                if value.is_string() {
                    report.warning(self.pointer(key), "is a number in quotes", "write it without the quotes");
                }
                count
            }
            None => {
                let message = format!("`{value}` is not a whole number from 1");
                report.error(self.pointer(key), message, "write a whole number from 1");
                default
            }
        }
    }

    /// `true` or `false`.
    pub fn flag(&self, report: &mut Report, key: &str, default: bool) -> bool {
        match self.value(key) {
            None => default,
            Some(Value::Bool(flag)) => *flag,
            Some(Value::String(text)) if matches!(text.trim(), "true" | "false") => {
                report.warning(self.pointer(key), "is a word in quotes", "write it without the quotes");
                text.trim() == "true"
            }
            Some(other) => {
                report.error(
                    self.pointer(key),
                    format!("is {}, not true or false", kind(other)),
                    "write true or false",
                );
                default
            }
        }
    }

    /// A list of texts with the place of each, or a single text.
    pub fn texts(&self, report: &mut Report, key: &str) -> Option<Vec<(String, &'a str)>> {
        let items = match self.value(key)? {
            Value::Array(items) => items,
            Value::String(text) => return Some(vec![(self.pointer(key), text)]),
            other => {
                report.error(
                    self.pointer(key),
                    format!("is {}, not a list of texts", kind(other)),
                    "write a list in brackets",
                );
                return None;
            }
        };
        let mut texts = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let pointer = format!("{}/{index}", self.pointer(key));
            match item {
                Value::String(text) => texts.push((pointer, text.as_str())),
                other => report.error(pointer, format!("is {}, not a text", kind(other)), "write it in quotes"),
            }
        }
        Some(texts)
    }
}

fn whole(number: f64) -> Option<u64> {
    // Below 2^32 the conversion is exact.
    ((0.0..4_294_967_296.0).contains(&number) && number.fract() == 0.0).then_some(number as u64)
}

/// The words of several cases, for a mend.
pub fn alternatives<T: Copy>(all: &[T], word: impl Fn(T) -> &'static str) -> String {
    let words: Vec<&str> = all.iter().map(|&case| word(case)).collect();
    words.join(", ")
}

/// What a value is, in the words of a fault.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
