//! `actions`: what is said, and what is written down.

use serde_json::{Value, json};

use super::{good, is_error, is_warning, on_flag};

#[test]
fn d37_a_findings_file_is_in_the_project() {
    let write = |path: &str| {
        on_flag(json!({"write": {"path": path, "array_field": "gaps", "template": {"d": "{description}"}}}))
    };
    let outside =
        ["/etc/rc", "~/rc", "../g.json", "a/../../g.json", "a/../g.json", "C:/g.json", "a\\g.json", "a/", ".", " "];
    for path in outside {
        is_error(write(path), "/actions/on_flag/write/path");
    }
    let path = |path: &str| good(write(path)).actions.on_flag.unwrap().write.unwrap().file.path;
    assert_eq!(path("./a//b/./g.json"), "a/b/g.json");
    assert_eq!(path("..g.json"), "..g.json");
}

#[test]
fn d11_a_write_that_cannot_work_is_found_at_load() {
    let write = |changes: Value| {
        let mut write =
            json!({"path": "g.json", "merge": "upsert", "array_field": "gaps", "template": {"id": "{finding_id}"}});
        write.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        on_flag(json!({"write": write}))
    };
    good(write(json!({})));
    is_error(write(json!({"array_field": null})), "/actions/on_flag/write/array_field");
    is_error(write(json!({"array_field": ""})), "/actions/on_flag/write/array_field");
    is_error(write(json!({"template": null})), "/actions/on_flag/write/template");
    is_error(write(json!({"template": "x"})), "/actions/on_flag/write/template");
    is_error(write(json!({"template": {"d": "x"}})), "/actions/on_flag/write/template");
    is_error(write(json!({"merge": "replace"})), "/actions/on_flag/write/merge");
    good(write(json!({"merge": "append", "template": {"d": "x"}})));
}

#[test]
fn a_placeholder_of_an_entry_that_nothing_is_put_into_is_a_warning() {
    let template = json!({"id": "{finding_id}", "at": [{"d": "{description} {timestamp}"}, "{monitor} {severity}"]});
    let write = json!({"path": "g.json", "array_field": "gaps", "template": template});
    is_warning(on_flag(json!({"write": write})), "/actions/on_flag/write/template/at/1");
}

#[test]
fn a_steer_that_says_nothing_is_none_and_one_that_nobody_hears_is_a_warning() {
    for nothing in [json!(null), json!(""), json!("  ")] {
        assert_eq!(good(on_flag(json!({"steer": nothing}))).actions.on_flag.unwrap().steer, None);
    }
    let deaf = json!({"scope": {"target": "subagent"}, "actions": {"on_flag": {"steer": "Stop."}}});
    let monitor = is_warning(deaf, "/actions/on_flag/steer");
    assert_eq!(monitor.steer(monitor.actions.on_flag.as_ref().unwrap()), None);
    let heard = good(on_flag(json!({"steer": "Stop."})));
    assert_eq!(heard.steer(heard.actions.on_flag.as_ref().unwrap()), Some("Stop."));
}
