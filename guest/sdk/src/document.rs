//! JSON documents that people write: read once, with the keys that stand in them more than once.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A document that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// What it holds. Of members with one key, the last one counts.
    pub value: Value,
    /// The members whose key stands in their object more than once, each named once, as JSON pointers (RFC 6901).
    pub repeated: Vec<String>,
}

/// Reads a document. A byte order mark before it is passed over.
///
/// # Errors
/// Where it is no JSON, with line and column.
pub fn parse(text: &str) -> Result<Document, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text.trim_start_matches('\u{feff}'));
    let (mut pointer, mut repeated) = (String::new(), Vec::new());
    let value = Reader { pointer: &mut pointer, repeated: &mut repeated }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(Document { value, repeated })
}

/// A JSON pointer to a member or element below another.
pub fn pointer_to(parent: &str, key: &str) -> String {
    let mut pointer = parent.to_owned();
    push(&mut pointer, key);
    pointer
}

fn push(pointer: &mut String, key: &str) {
    pointer.push('/');
    for char in key.chars() {
        match char {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            char => pointer.push(char),
        }
    }
}

/// Reads one value.
struct Reader<'r> {
    /// Where it stands.
    pointer: &'r mut String,
    repeated: &'r mut Vec<String>,
}

impl Reader<'_> {
    /// For a value below this one. The pointer has to be cut off behind it.
    fn below(&mut self, key: &str) -> Reader<'_> {
        push(self.pointer, key);
        Reader { pointer: self.pointer, repeated: self.repeated }
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<Value, A::Error> {
        let (mut list, here) = (Vec::new(), self.pointer.len());
        while let Some(element) = elements.next_element_seed(self.below(&list.len().to_string()))? {
            list.push(element);
            self.pointer.truncate(here);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Value, A::Error> {
        let (mut object, here) = (Map::new(), self.pointer.len());
        while let Some(key) = members.next_key::<String>()? {
            let value = members.next_value_seed(self.below(&key))?;
            if object.insert(key, value).is_some() && !self.repeated.contains(self.pointer) {
                self.repeated.push(self.pointer.clone());
            }
            self.pointer.truncate(here);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn repeated(text: &str) -> Vec<String> {
        parse(text).unwrap().repeated
    }

    #[test]
    fn keys_that_stand_more_than_once_in_one_object_are_named_by_their_place_and_the_last_one_counts() {
        let text =
            r#"{"a": 1, "b": [0, {"c/d": 1, "e": {}, "c/d": 2, "c/d": 3}], "a": {"x": 1, "x": 2}, "": 0, "": 1}"#;
        assert_eq!(repeated(text), ["/b/1/c~1d", "/a/x", "/a", "/"]);
        assert_eq!(parse(text).unwrap().value, serde_json::from_str::<Value>(text).unwrap());
    }

    #[test]
    fn the_same_key_in_another_object_is_another_one() {
        assert_eq!(repeated(r#"[{"a": {"a": 1}, "b": {"a": 1}}, {"a": 1}]"#), [""; 0]);
        assert_eq!(repeated(r#"[{"a": 1}, [], {"a": 1, "a": 2}]"#), ["/2/a"]);
        assert_eq!(repeated(r#"{"a": 1, "\u0061": 2}"#), ["/a"], "however it is spelt");
    }

    #[test]
    fn what_is_no_json_is_told_with_line_and_column() {
        assert_eq!(parse("{\n  \"a\": 1,\n}").unwrap_err().to_string(), "trailing comma at line 3 column 1");
        assert_eq!(parse("{} {}").unwrap_err().to_string(), "trailing characters at line 1 column 4");
        assert!(parse(&"[".repeat(100_000)).is_err(), "nothing is too deep to be refused");
        assert!(parse("\u{feff}{}").is_ok());
    }

    #[test]
    fn pointers_escape_what_has_a_meaning_in_them() {
        assert_eq!(pointer_to("/actions", "a/b~c"), "/actions/a~1b~0c");
    }

    proptest! {
        #[test]
        fn every_text_is_read_as_serde_json_reads_it(
            text in r#"([ \n{}\[\]",:.eE~/-]|"a":|"a/b":|true|null|[0-9]{1,20}|\\u00e9|é){0,24}"#,
        ) {
            match (parse(&text), serde_json::from_str::<Value>(&text)) {
                (Ok(document), Ok(value)) => {
                    prop_assert_eq!(&document.value, &value);
                    for pointer in document.repeated {
                        prop_assert!(pointer.starts_with('/'));
                    }
                }
                (Err(ours), Err(theirs)) => prop_assert_eq!(ours.to_string(), theirs.to_string()),
                (ours, theirs) => prop_assert!(false, "{ours:?} {theirs:?}"),
            }
        }
    }
}
