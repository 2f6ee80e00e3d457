use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;

use super::*;
use crate::definition::WORKSPACE;
use crate::samples::apply;

fn write(merge: Merge) -> Write {
    let Value::Object(template) = json!({"id": "monitor-{finding_id}", "description": "{description}"}) else {
        unreachable!("it is written as an object")
    };
    let file = Location { mount: WORKSPACE.into(), path: "g.json".into() };
    Write { file, merge, array_field: "gaps".into(), template }
}

fn facts(description: &str) -> Facts<'_> {
    Facts { finding_id: "m-1", description, severity: Severity::Error, monitor_name: "m", now: 1_773_541_800_000 }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("{other} is no object"),
    }
}

/// The files after a finding was recorded; and why not in the file itself.
fn after(
    write: &Write,
    files: &[(&str, &str)],
    entry: &Map<String, Value>,
) -> (BTreeMap<String, Value>, Option<String>) {
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    let read = |file: &Location| files.get(file.path.as_str()).map(|&text| text.to_owned()).ok_or(FileError::NotFound);
    let record = record(write, entry, read).unwrap();
    let changed = apply(&record.change, files.get(record.file.path.as_str()).copied()).unwrap();
    (BTreeMap::from([(record.file.path, changed)]), record.aside)
}

fn appended(text: &str) -> Value {
    let entry = entry(&write(Merge::Append).template, &facts("d"));
    let (files, aside) = after(&write(Merge::Append), &[("g.json", text)], &entry);
    assert_eq!(aside, None);
    files["g.json"].clone()
}

#[test]
fn every_placeholder_is_filled_in_at_any_depth_and_other_values_keep_their_type() {
    let template = object(json!({
        "id": "monitor-{finding_id}", "text": "{description} ({severity})", "by": ["{monitor_name}", 1, null, true],
        "at": {"time": "{timestamp}", "{description}": 2.5}, "unknown": "{other} {",
    }));
    assert_eq!(
        entry(&template, &facts("d")),
        object(json!({
            "id": "monitor-m-1", "text": "d (error)", "by": ["m", 1, null, true],
            "at": {"time": "2026-03-15T02:30:00.000Z", "{description}": 2.5}, "unknown": "{other} {",
        }))
    );
}

#[test]
fn d39_descriptions_are_put_in_literally() {
    let description = "cost $$5 $& and {severity} $'";
    let entry = entry(&object(json!({"d": "{description}"})), &facts(description));
    assert_eq!(entry["d"], description);
}

#[test]
fn a_missing_file_starts_as_an_object_with_the_list() {
    let entry = entry(&write(Merge::Append).template, &facts("d"));
    let (files, aside) = after(&write(Merge::Append), &[], &entry);
    assert_eq!(files["g.json"], json!({"gaps": [{"id": "monitor-m-1", "description": "d"}]}));
    assert_eq!(aside, None);
}

#[test]
fn an_entry_is_appended_and_everything_else_stays() {
    let new = json!({"id": "monitor-m-1", "description": "d"});
    assert_eq!(appended(r#"{"gaps":[{"id":"keep"}],"o":1}"#), json!({"gaps": [{"id": "keep"}, new], "o": 1}));
    assert_eq!(appended(r#"{"o":1}"#), json!({"o": 1, "gaps": [new]}));
    assert_eq!(appended(r#"{"gaps":[]}"#), json!({"gaps": [new]}));
    assert_eq!(appended(r#"{"gaps":[null]}"#), json!({"gaps": [null, new]}));
    assert_eq!(appended("\u{feff}{}"), json!({"gaps": [new]}));
}

#[test]
fn upsert_updates_the_entry_of_the_same_id_and_keeps_its_other_fields() {
    let write = write(Merge::Upsert);
    let new = entry(&write.template, &facts("new"));
    let text = r#"{"gaps":[{"id":"other"},null,{"id":"monitor-m-1","description":"old","owner":"me"}],"o":1}"#;
    let (files, _) = after(&write, &[("g.json", text)], &new);
    assert_eq!(
        files["g.json"],
        json!({"gaps": [{"id": "other"}, null, {"id": "monitor-m-1", "description": "new", "owner": "me"}], "o": 1})
    );
    let (files, _) = after(&write, &[("g.json", r#"{"gaps":[{"title":"mine"}]}"#)], &new);
    assert_eq!(files["g.json"], json!({"gaps": [{"title": "mine"}, new]}), "an entry without an id is nobody's");
}

#[test]
fn append_adds_even_where_the_id_is_there() {
    let text = r#"{"gaps":[{"id":"monitor-m-1"}]}"#;
    assert_eq!(appended(text)["gaps"].as_array().unwrap().len(), 2);
}

#[test]
fn d11_a_file_that_is_not_understood_is_left_alone_and_the_finding_goes_beside_it() {
    let entry = entry(&write(Merge::Append).template, &facts("d"));
    for (text, reason) in [
        (r#"{"gaps":[{"id":"keep"}],}"#, "g.json is not JSON: "),
        ("{\"gaps\":[] // why\n}", "g.json is not JSON: "),
        ("", "g.json is not JSON: "),
        (r#"{"gaps":{"open":[1]},"o":1}"#, "g.json has a field `gaps` that is not a list"),
        (r#"{"gaps":null}"#, "g.json has a field `gaps` that is not a list"),
        (r#"[{"id":"keep"}]"#, "g.json holds no object"),
        ("null", "g.json holds no object"),
        (r#""x""#, "g.json holds no object"),
    ] {
        let (files, aside) = after(&write(Merge::Append), &[("g.json", text)], &entry);
        assert_eq!(files, BTreeMap::from([("g.findings.json".into(), json!({"gaps": [entry]}))]), "{text}");
        assert!(aside.unwrap().starts_with(reason), "{text}");
    }
    let beside = r#"{"gaps":[{"id":"before"}]}"#;
    let (files, _) = after(&write(Merge::Append), &[("g.json", "["), ("g.findings.json", beside)], &entry);
    assert_eq!(files["g.findings.json"], json!({"gaps": [{"id": "before"}, entry]}));
}

#[test]
fn d11_if_the_file_beside_it_is_no_better_nothing_is_written_and_both_are_named() {
    let read = |file: &Location| match file.path.as_str() {
        "g.json" => Err(FileError::Denied("no grant".into())),
        _ => Ok("[".into()),
    };
    let no_place = record(&write(Merge::Append), &Map::new(), read).unwrap_err().to_string();
    assert!(no_place.starts_with("g.json may not be read: no grant, and g.findings.json is not JSON: "), "{no_place}");
}

#[test]
fn the_file_beside_has_a_name_of_its_own() {
    let beside = |path: &str| file_beside(&Location { mount: WORKSPACE.into(), path: path.into() }).path;
    assert_eq!(beside(".workflow/gaps.json"), ".workflow/gaps.findings.json");
    assert_eq!(beside("gaps"), "gaps.findings.json");
}

#[test]
fn d36_a_change_of_somebody_else_conflicts_instead_of_being_lost() {
    let entry = entry(&write(Merge::Upsert).template, &facts("d"));
    let change = |text: Option<&str>| {
        let read = |_: &Location| text.map(str::to_owned).ok_or(FileError::NotFound);
        record(&write(Merge::Upsert), &entry, read).unwrap().change
    };
    for (read, meanwhile) in [
        (None, r#"{"gaps":{"open":[1]}}"#),
        (None, r#"{"gaps":[1]}"#),
        (Some("{}"), r#"{"gaps":[{"id":"keep"}]}"#),
        (Some(r#"{"gaps":[1]}"#), r#"{"gaps":{"open":[1]}}"#),
        (Some(r#"{"gaps":[{"id":"monitor-m-1"}]}"#), r#"{"gaps":[{"id":"x"},{"id":"monitor-m-1"}]}"#),
    ] {
        assert!(apply(&change(read), Some(meanwhile)).is_err(), "{read:?} {meanwhile}");
    }
}

#[test]
fn a_field_name_with_a_slash_is_one_field() {
    let write = Write { array_field: "a/b~c".into(), ..write(Merge::Append) };
    let (files, _) = after(&write, &[("g.json", r#"{"a":{"b~c":[]}}"#)], &object(json!({"x/y": 1})));
    assert_eq!(files["g.json"], json!({"a": {"b~c": []}, "a/b~c": [{"x/y": 1}]}));
}

#[test]
fn ids_are_the_monitors_name_and_base_36() {
    let id = id("m", 1_773_541_800_000, 7, "session");
    let (name, rest) = id.split_once('-').unwrap();
    assert_eq!(name, "m");
    assert!(
        u128::from_str_radix(rest, 36).is_ok() && rest.chars().all(|c| c.is_ascii_digit() || c.is_ascii_lowercase())
    );
    assert_eq!(id, super::id("m", 1_773_541_800_000, 7, "session"), "a replay gives the same id");
}

#[test]
fn d40_ids_of_one_burst_differ_also_between_sessions() {
    let mut ids = HashSet::new();
    for session in ["a", "b", "c"] {
        for request in 0..1000 {
            assert!(ids.insert(id("m", 1_773_541_800_000, request, session)));
        }
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-c{}$~/]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec(("(id|gaps|[a-c~/]{0,2})", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_object() -> impl Strategy<Value = Map<String, Value>> {
    proptest::collection::vec(("(id|gaps|[a-c~/]{0,2})", any_value()), 0..4)
        .prop_map(|members| members.into_iter().collect())
}

proptest! {
    #[test]
    fn whatever_a_file_holds_stays_in_it(
        document in any_object(), entries in proptest::collection::vec(any_value(), 0..4), as_list: bool,
        new in any_object(), upsert: bool,
    ) {
        let mut document = document;
        if as_list {
            document.insert("gaps".into(), entries.clone().into());
        }
        let write = write(if upsert { Merge::Upsert } else { Merge::Append });
        let text = Value::Object(document.clone()).to_string();
        let (files, aside) = after(&write, &[("g.json", &text)], &new);
        let Some(Value::Object(mut changed)) = files.get("g.json").cloned() else {
            prop_assert!(aside.is_some() && document.get("gaps").is_some_and(|gaps| !gaps.is_array()));
            return Ok(());
        };
        let Some(Value::Array(mut list)) = changed.remove("gaps") else { panic!("the list is there") };
        let before = document.remove("gaps").map_or_else(Vec::new, |gaps| gaps.as_array().unwrap().clone());
        prop_assert_eq!(changed, document, "the other fields");
        let same_id = |item: &Value| new.get("id").is_some_and(|id| !id.is_null() && item.get("id") == Some(id));
        match before.iter().position(same_id).filter(|_| upsert) {
            Some(position) => {
                let mut expected = before;
                expected[position].as_object_mut().unwrap().extend(new);
                prop_assert_eq!(list, expected);
            }
            // The same finding, found again.
            None if before.iter().any(|item| same_id(item) && item.as_object() == Some(&new)) => {
                prop_assert_eq!(list, before);
            }
            None => {
                prop_assert_eq!(list.pop(), Some(Value::Object(new)));
                prop_assert_eq!(list, before);
            }
        }
    }
}

#[test]
fn d40_the_same_finding_of_the_same_session_is_not_appended_twice() {
    let once = appended(r#"{"gaps": [{"id": "other"}]}"#);
    assert_eq!(appended(&once.to_string()), once);
}
