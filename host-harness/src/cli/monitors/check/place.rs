//! From a JSON pointer to a line and a column.

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::common::{Range, Ranged as _};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

/// Where a pointer leads: to the key of a member, to the beginning of an element. Where there is no such thing, to the
/// nearest thing around it that is there. In a text that is no JSON, the place where it stops being JSON.
pub fn of(text: &str, pointer: &str) -> Place {
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
        return of_error(text, &error);
    }
    let ast = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let root = ast.as_ref().ok().and_then(|ast| ast.value.as_ref());
    at(text, root.map_or(0, |root| start(root, pointer)))
}

fn start(root: &Value, pointer: &str) -> usize {
    let (mut value, mut start) = (root, root.range().start);
    for token in pointer.split('/').skip(1) {
        let Some((next, range)) = step(value, &token.replace("~1", "/").replace("~0", "~")) else { break };
        (value, start) = (next, range.start);
    }
    start
}

/// One step down, and what shows the way.
fn step<'v, 'text>(value: &'v Value<'text>, token: &str) -> Option<(&'v Value<'text>, Range)> {
    match value {
        Value::Object(object) => {
            // Of several members with one key, the last one counts.
            let is_named = |member: &&ObjectProp| member.name.as_str() == token;
            let member = object.properties.iter().rfind(is_named)?;
            Some((&member.value, member.name.range()))
        }
        Value::Array(array) => {
            let element = array.elements.get(token.parse::<usize>().ok()?)?;
            Some((element, element.range()))
        }
        _ => None,
    }
}

fn of_error(text: &str, error: &serde_json::Error) -> Place {
    let line_start: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    at(text, line_start + error.column().saturating_sub(1))
}

fn at(text: &str, offset: usize) -> Place {
    let before = &text[..text.floor_char_boundary(offset)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Place { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place(text: &str, pointer: &str) -> (usize, usize) {
        let Place { line, column } = of(text, pointer);
        (line, column)
    }

    const TEXT: &str =
        "{\n  \"ä\": \"ö\", \"when\": 5,\n  \"list\": [\n    1, {\"a/b\": {\"~\": 2}}\n  ],\n  \"when\": 6\n}\n";

    #[test]
    fn a_member_is_where_its_key_is_in_characters() {
        assert_eq!(place(TEXT, "/ä"), (2, 3));
        assert_eq!(place(TEXT, "/list"), (3, 3));
        assert_eq!(place("{\"ä\": 1, \"b\": 2}", "/b"), (1, 10));
    }

    #[test]
    fn an_element_is_where_it_begins_and_keys_are_escaped() {
        assert_eq!(place(TEXT, "/list/1"), (4, 8));
        assert_eq!(place(TEXT, "/list/1/a~1b"), (4, 9));
        assert_eq!(place(TEXT, "/list/1/a~1b/~0"), (4, 17));
    }

    #[test]
    fn of_two_members_with_one_key_the_one_that_counts_is_meant() {
        assert_eq!(place(TEXT, "/when"), (6, 3));
    }

    #[test]
    fn what_is_missing_is_where_it_should_stand() {
        assert_eq!(place(TEXT, ""), (1, 1));
        assert_eq!(place(TEXT, "/classify/prompt"), (1, 1));
        assert_eq!(place(TEXT, "/list/1/nothing"), (4, 8));
        assert_eq!(place(TEXT, "/list/7"), (3, 3));
        assert_eq!(place("\n  []", ""), (2, 3));
    }

    #[test]
    fn a_text_that_is_no_json_is_shown_where_it_stops_being_json() {
        assert_eq!(place("[\n  {\"ä\": 1,}\n]", ""), (2, 11));
        assert_eq!(place("[\n  // no comments\n]", "/0"), (2, 3));
        assert_eq!(place("[1, 2", ""), (1, 5));
        assert_eq!(place("", ""), (1, 1));
        assert_eq!(place("[1\n", ""), (2, 1));
    }

    proptest! {
        #[test]
        fn every_text_and_pointer_has_a_place_in_it(text in "[\\[{\"a:,0ä\n }\\]]{0,20}", pointer in "(/[a0~]{0,2}){0,3}") {
            let Place { line, column } = of(&text, &pointer);
            let of_line = text.split('\n').nth(line - 1).map(|line| line.chars().count());
            prop_assert!(of_line.is_some_and(|length| column <= length + 1), "{}:{}", line, column);
        }
    }
}
