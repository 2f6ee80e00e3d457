use proptest::prelude::*;
use serde_json::json;

use super::*;

fn conflict(old: &str, patch: &str) -> String {
    match patched(Some(old), "null", patch) {
        Err(Unpatched::Conflict(why)) => why,
        other => panic!("a conflict, not {other:?}"),
    }
}

#[test]
fn an_appended_finding_stands_beside_the_old_ones() {
    let old = "{\n  \"owner\": \"me\",\n  \"gaps\": [\n    { \"id\": \"keep\" }\n  ]\n}\n";
    let new = patched(Some(old), "{}", r#"[{"op":"add","path":"/gaps/-","value":{"id":"new"}}]"#).unwrap();
    assert_eq!(
        new,
        "{\n  \"owner\": \"me\",\n  \"gaps\": [\n    { \"id\": \"keep\" },\n    {\n      \"id\": \"new\"\n    }\n  ]\n}\n"
    );
}

#[test]
fn a_missing_file_starts_as_the_initial_document() {
    let new = patched(None, r#"{"gaps":[]}"#, r#"[{"op":"add","path":"/gaps/-","value":1}]"#).unwrap();
    assert_eq!(new, "{\n  \"gaps\": [\n    1\n  ]\n}\n");
    assert_eq!(patched(None, "[ ]", "[]").unwrap(), "[]\n");
}

#[test]
fn a_patch_that_changes_nothing_leaves_every_byte() {
    let old = "{ \"a\" : 1.50 }";
    assert_eq!(patched(Some(old), "{}", r#"[{"op":"test","path":"/a","value":1.5}]"#).unwrap(), old);
}

#[test]
fn what_is_not_json_is_refused_with_its_place() {
    for (old, why) in [
        ("{\"gaps\":[{\"id\":\"keep\"}],}", "line 1, column 25: trailing comma"),
        ("{\n  // mine\n}", "line 2, column 3: key must be a string"),
        ("", "line 1, column 1: EOF while parsing a value"),
        ("[1] [2]", "line 1, column 5: trailing characters"),
    ] {
        assert_eq!(patched(Some(old), "{}", "[]").unwrap_err(), Unpatched::NotJson(why.into()));
    }
}

#[test]
fn a_conflict_names_the_operation_and_the_reason() {
    let old = r#"{"gaps":{"open":[1]},"o":1}"#;
    for (patch, why) in [
        (
            r#"[{"op":"test","path":"/o","value":1},{"op":"test","path":"/o","value":2}]"#,
            "operation 2 of 2, `test` at `/o`: `1` is there, not `2`",
        ),
        (
            r#"[{"op":"add","path":"/none/-","value":1}]"#,
            "operation 1 of 1, `add` at `/none/-`: there is no place for a value",
        ),
        (r#"[{"op":"remove","path":"/x"}]"#, "operation 1 of 1, `remove` at `/x`: there is nothing at this path"),
        (
            r#"[{"op":"move","from":"/x","path":"/y"}]"#,
            "operation 1 of 1, `move` at `/y`: there is nothing at its `from` path",
        ),
        (
            r#"[{"op":"move","from":"/gaps","path":"/gaps/y"}]"#,
            "operation 1 of 1, `move` at `/gaps/y`: a value cannot be moved into itself",
        ),
        (
            r#"[{"op":"remove","path":"/gaps/open/-"}]"#,
            "operation 1 of 1, `remove` at `/gaps/open/-`: there is nothing at `/gaps/open/-`",
        ),
    ] {
        assert_eq!(conflict(old, patch), why);
    }
}

#[test]
fn a_patch_that_is_none_is_a_conflict_and_says_so() {
    assert!(
        conflict("{}", "[{}]").starts_with("the patch is not a JSON Patch (RFC 6902): line 1, column 3: missing field")
    );
    assert!(conflict("{}", r#"[{"op":"append","path":"/a"}]"#).contains("unknown variant `append`"));
    assert!(matches!(patched(None, "[,]", "[]"), Err(Unpatched::Conflict(why)) if why.contains("initial document")));
}

#[test]
fn taking_from_the_end_of_an_empty_array_is_a_conflict() {
    assert!(conflict("[]", r#"[{"op":"remove","path":"/-"}]"#).contains("there is nothing"));
    assert!(conflict("[[]]", r#"[{"op":"move","from":"/0/-","path":"/-"}]"#).contains("there is nothing"));
}

#[test]
fn a_dash_is_an_ordinary_key_of_an_object() {
    let new = patched(Some(r#"{"-":1,"a":2}"#), "{}", r#"[{"op":"remove","path":"/-"}]"#).unwrap();
    assert_eq!(new, "{\n  \"a\": 2\n}\n");
}

#[test]
fn copies_cannot_grow_a_document_without_end() {
    let double = r#"{"op":"copy","from":"","path":"/-"}"#;
    let why = conflict("[\"some text\"]", &format!("[{}]", [double; 60].join(",")));
    assert!(why.contains("the copies add more than 4194304 bytes") || why.contains("nested"), "{why}");
}

#[test]
fn a_document_cannot_be_nested_deeper_than_can_be_read() {
    let deeper = r#"{"op":"copy","from":"","path":"/0"}"#;
    let why = conflict("[0]", &format!("[{}]", [deeper; 200].join(",")));
    assert!(why.contains("nested more than 127 deep") || why.contains("copies"), "{why}");
}

#[test]
fn values_that_are_quoted_are_cut() {
    let long = format!("\"{}\"", "ä".repeat(500));
    let why = conflict(&long, r#"[{"op":"test","path":"","value":null}]"#);
    assert!(why.len() < 300 && why.ends_with("…` is there, not `null`"), "{why}");
}

fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(json!(null)), any::<u32>().prop_map(Value::from), "[a-z]{0,3}".prop_map(Value::from)];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map("[a-c/~]{1,2}", inner, 0..3).prop_map(Value::from_iter),
        ]
    })
}

fn operations() -> impl Strategy<Value = Value> {
    let path = || prop_oneof![Just(String::new()), "(/(0|1|-|a|b|c|~0)){1,3}"];
    prop_oneof![
        (path(), documents()).prop_map(|(path, value)| json!({"op": "add", "path": path, "value": value})),
        (path(), documents()).prop_map(|(path, value)| json!({"op": "replace", "path": path, "value": value})),
        path().prop_map(|path| json!({"op": "remove", "path": path})),
        (path(), path()).prop_map(|(from, path)| json!({"op": "move", "from": from, "path": path})),
        (path(), path()).prop_map(|(from, path)| json!({"op": "copy", "from": from, "path": path})),
    ]
}

proptest! {
    #[test]
    fn appending_keeps_everything_that_was_there(items in prop::collection::vec(documents(), 0..6), new in documents(), pretty: bool) {
        let document = json!({"title": "mine", "gaps": items, "after": [1, 2]});
        let old = if pretty { serde_json::to_string_pretty(&document).unwrap() } else { document.to_string() };
        let patch = json!([{"op": "add", "path": "/gaps/-", "value": new}]).to_string();
        let text = patched(Some(&old), "{}", &patch).unwrap();
        let mut expected = document.clone();
        expected["gaps"].as_array_mut().unwrap().push(new);
        prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
    }

    #[test]
    fn any_patch_either_gives_a_document_that_reads_back_or_a_conflict(
        document in documents(), operations in prop::collection::vec(operations(), 0..6)
    ) {
        let patch = Value::from(operations).to_string();
        match patched(Some(&document.to_string()), "null", &patch) {
            Ok(text) => { serde_json::from_str::<Value>(&text).unwrap(); }
            Err(error) => prop_assert!(matches!(error, Unpatched::Conflict(_)), "{:?}", error),
        }
    }

    #[test]
    fn any_text_as_file_or_patch_is_answered(old in ".{0,30}", patch in ".{0,30}") {
        let _answered = patched(Some(&old), "{}", &patch);
    }
}
