//! Writing a changed JSON document so that what did not change keeps its text.

use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// The text of `new`, which came from `old`, a text and its value. Values that are in both keep their text; objects
/// keep the order of their keys, with new ones last. The rest is laid out with the indentation and the line ends of the
/// old text, or with two spaces and line feeds. Ends in a line break.
pub(super) fn rewrite(old: Option<(&str, &Value)>, new: &Value) -> String {
    let text = old.map_or("", |(text, _)| text);
    let mut writer = Writer { indent: indent_of(text), line_end: line_end_of(text), out: String::new() };
    writer.value(new, old.map(|(text, value)| Old { text: text.trim(), value }), 0);
    writer.out.push_str(writer.line_end);
    writer.out
}

/// A value of the old document and its text.
#[derive(Clone, Copy)]
struct Old<'o> {
    text: &'o str,
    value: &'o Value,
}

impl<'o> Old<'o> {
    fn items(self) -> Vec<Old<'o>> {
        let Value::Array(values) = self.value else { return Vec::new() };
        let texts: Vec<&RawValue> = serde_json::from_str(self.text).unwrap_or_default();
        texts.into_iter().zip(values).map(|(text, value)| Old { text: text.get(), value }).collect()
    }

    /// In the order of the text.
    fn members(self) -> Vec<(&'o str, Old<'o>)> {
        let Value::Object(values) = self.value else { return Vec::new() };
        let texts: HashMap<String, &RawValue> = serde_json::from_str(self.text).unwrap_or_default();
        let member = |(key, value): (&'o String, &'o Value)| {
            texts.get(key).map(|text| (key.as_str(), Old { text: text.get(), value }))
        };
        values.iter().filter_map(member).collect()
    }
}

struct Writer<'t> {
    indent: &'t str,
    line_end: &'static str,
    out: String,
}

impl Writer<'_> {
    fn value(&mut self, new: &Value, old: Option<Old<'_>>, depth: usize) {
        if let Some(old) = old
            && old.value == new
        {
            self.out.push_str(old.text);
            return;
        }
        match new {
            Value::Array(items) if !items.is_empty() => {
                let old_items = old.map(Old::items).unwrap_or_default();
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.start_line(index, depth);
                    self.value(item, counterpart(&old_items, items, index), depth + 1);
                }
                self.end_block(']', depth);
            }
            Value::Object(members) if !members.is_empty() => {
                let old_members = old.map(Old::members).unwrap_or_default();
                let old_of: HashMap<&str, Old<'_>> = old_members.iter().copied().collect();
                let kept = old_members.iter().filter_map(|(key, _)| members.get_key_value(*key));
                let added = members.iter().filter(|(key, _)| !old_of.contains_key(key.as_str()));
                self.out.push('{');
                for (index, (key, member)) in kept.chain(added).enumerate() {
                    self.start_line(index, depth);
                    self.out.push_str(&Value::from(key.as_str()).to_string());
                    self.out.push_str(": ");
                    self.value(member, old_of.get(key.as_str()).copied(), depth + 1);
                }
                self.end_block('}', depth);
            }
            scalar_or_empty => self.out.push_str(&scalar_or_empty.to_string()),
        }
    }

    fn start_line(&mut self, index: usize, depth: usize) {
        if index > 0 {
            self.out.push(',');
        }
        self.break_line(depth + 1);
    }

    fn end_block(&mut self, bracket: char, depth: usize) {
        self.break_line(depth);
        self.out.push(bracket);
    }

    fn break_line(&mut self, depth: usize) {
        self.out.push_str(self.line_end);
        for _ in 0..depth {
            self.out.push_str(self.indent);
        }
    }
}

/// The old element that stands where the new one does, counted from the front, or else from the back where only that
/// one is equal.
fn counterpart<'o>(old: &[Old<'o>], new: &[Value], index: usize) -> Option<Old<'o>> {
    let from_front = old.get(index).copied();
    let from_back = (old.len() + index).checked_sub(new.len()).and_then(|index| old.get(index)).copied();
    let equal = |old: &Option<Old<'o>>| old.is_some_and(|old| *old.value == new[index]);
    if !equal(&from_front) && equal(&from_back) { from_back } else { from_front }
}

/// The white space before the first indented line, two spaces where there is none.
fn indent_of(text: &str) -> &str {
    let indent = |line: &'_ str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let indented = text.lines().find(|line| indent(line) > 0 && !line.trim().is_empty());
    indented.map_or("  ", |line| &line[..indent(line)])
}

fn line_end_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn rewritten(old: &str, change: impl FnOnce(&mut Value)) -> String {
        let before: Value = serde_json::from_str(old).unwrap();
        let mut after = before.clone();
        change(&mut after);
        rewrite(Some((old, &before)), &after)
    }

    #[test]
    fn what_did_not_change_keeps_its_layout_and_its_numbers() {
        let old =
            "{\n    \"pi\": 3.14159265358979323846264338327950288,\n    \"rows\": [ [1,2], [3,4] ],\n    \"n\": 1\n}\n";
        let new = rewritten(old, |document| document["rows"][1] = json!([5, 6]));
        assert_eq!(
            new,
            "{\n    \"pi\": 3.14159265358979323846264338327950288,\n    \"rows\": [\n        [1,2],\n        [\n            5,\n            6\n        ]\n    ],\n    \"n\": 1\n}\n"
        );
    }

    #[test]
    fn an_element_put_first_leaves_the_text_of_the_others() {
        let new = rewritten("[{\"a\":1e2},{\"b\":2}]", |document| document.as_array_mut().unwrap().insert(0, json!(0)));
        assert_eq!(new, "[\n  0,\n  {\"a\":1e2},\n  {\"b\":2}\n]\n");
    }

    #[test]
    fn a_key_taken_away_does_not_move_the_others() {
        let new = rewritten("{\"z\":1,\"y\":2,\"x\":3,\"w\":4}", |document| {
            document.as_object_mut().unwrap().remove("z");
            document["new"] = json!(null);
        });
        assert_eq!(new, "{\n  \"y\": 2,\n  \"x\": 3,\n  \"w\": 4,\n  \"new\": null\n}\n");
    }

    #[test]
    fn tabs_and_windows_line_ends_go_on() {
        let new = rewritten("{\r\n\t\"a\": 1\r\n}\r\n", |document| document["b"] = json!([1]));
        assert_eq!(new, "{\r\n\t\"a\": 1,\r\n\t\"b\": [\r\n\t\t1\r\n\t]\r\n}\r\n");
    }

    fn documents() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a-z\"\\\\\n é]{0,5}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map("[a-d\"]{0,2}", inner, 0..4).prop_map(Value::from_iter),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_document_rewritten_into_any_other_reads_back_as_the_other(
            old in documents(), new in documents(), pretty: bool
        ) {
            let text = if pretty { serde_json::to_string_pretty(&old).unwrap() } else { old.to_string() };
            let rewritten = rewrite(Some((&text, &old)), &new);
            prop_assert_eq!(serde_json::from_str::<Value>(&rewritten).unwrap(), new);
        }
    }
}
