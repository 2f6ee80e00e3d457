//! Files that people wrote are never lost.

use std::sync::Arc;

use chaperone::drive::Dialogs;
use chaperone::project::root_of;
use serde_json::{Value, json};

use super::play::*;

fn recorder(changes: Value) -> Value {
    let template = json!({"id": "{finding_id}", "d": "{description}"});
    let write = json!({"path": "g.json", "merge": "append", "array_field": "gaps", "template": template});
    let mut write = write;
    for (key, value) in changes.as_object().unwrap() {
        write[key] = value.clone();
    }
    json!({"actions": {"on_flag": {"write": write}}})
}

#[test]
fn d11_what_cannot_take_a_finding_is_left_as_it_is() {
    for text in [
        "{\"gaps\":[{\"id\":\"keep\"}],}",
        "{\n  // mine\n  \"gaps\": []\n}",
        "{\"gaps\":{\"open\":[1]},\"o\":1}",
        "[{\"id\":\"keep\"}]",
        "null",
        "\"x\"",
        "",
    ] {
        let mut play = Play::with(recorder(json!({})));
        play.stage.put("g.json", text);
        play.answers(&["FLAG:x"]);
        play.exchange("go", "bad");
        assert_eq!(play.file("g.json").unwrap(), text);
        assert_eq!(play.json("g.findings.json")["gaps"][0]["d"], "x", "{text}");
        assert!(play.told("Recorded in workspace:g.findings.json"), "{text}");
    }
    let mut play = Play::with(recorder(json!({})));
    play.stage.put("g.json", "{\n  \"own\": 1.50,\n  \"gaps\": [null]\n}\n");
    play.answers(&["FLAG:x"]);
    play.exchange("go", "bad");
    assert!(play.file("g.json").unwrap().contains("\"own\": 1.50"), "what is not touched keeps its text");
    assert_eq!(play.json("g.json")["gaps"][0], Value::Null);
    for wrong in
        [json!({"array_field": null}), json!({"template": null}), json!({"merge": "upsert", "template": {"d": "x"}})]
    {
        assert!(Play::with(recorder(wrong)).told("m.monitor.json#/actions/on_flag/write"));
    }
}

#[test]
fn d11_an_update_touches_only_the_entry_with_its_id() {
    let template = json!({"id": "fixed", "d": "{description}"});
    let mut play = Play::with(recorder(json!({"merge": "upsert", "template": template})));
    play.stage.put("g.json", r#"{"gaps": [{"title": "mine"}, {"id": "fixed", "note": "keep"}]}"#);
    play.answers(&["FLAG:x"]);
    play.exchange("go", "bad");
    assert_eq!(play.json("g.json")["gaps"], json!([{"title": "mine"}, {"id": "fixed", "note": "keep", "d": "x"}]));
}

#[test]
fn d12_rules_are_kept_and_taken_word_for_word() {
    const BROKEN: &str = "[{\"text\":\"one\"},{\"text\":\"two\"},]";
    let mut play = Play::with(json!({}));
    play.stage.put(".pi/monitors/m.instructions.json", BROKEN);
    play.command("monitors", "m rules add three");
    assert_eq!(play.file(".pi/monitors/m.instructions.json").unwrap(), BROKEN);
    assert!(play.told("is not JSON"), "{:?}", play.seen.notices());
    play.stage.put(".pi/monitors/m.instructions.json", "[{\"text\":\"one\"}]");
    play.command("monitors", "m rules add three   spaced");
    let rules = play.json(".pi/monitors/m.instructions.json");
    assert_eq!((&rules[0]["text"], &rules[1]["text"]), (&json!("one"), &json!("three   spaced")));
    play.seen.clear();
    play.command("monitors", "m rules remove 2abc");
    assert_eq!(play.json(".pi/monitors/m.instructions.json").as_array().unwrap().len(), 2);
}

#[test]
fn d13_a_patterns_file_that_is_being_saved_is_left_alone() {
    const HALF: &str = "[{\"id\":\"p\",\"description\":\"pd\"},{\"id\":";
    let mut play = Play::with(json!({}));
    play.answers(&["NEW:q|x"]);
    play.meanwhile(".pi/monitors/m.patterns.json", HALF);
    play.exchange("go", "bad");
    assert_eq!(play.calls().len(), 1);
    assert_eq!(play.file(".pi/monitors/m.patterns.json").unwrap(), HALF);
    assert_eq!(play.steers(), ["[m] x. S."], "and nothing is claimed to be learned");
    assert!(play.told("[m] Not learned"), "{:?}", play.seen.notices());
}

#[test]
fn d36_two_sessions_in_one_project_lose_nothing_of_each_other() {
    let mut first = Play::with(recorder(json!({})));
    let mut second = Play::on(first.stage.clone(), Dialogs::Unavailable);
    for round in 0..3 {
        for play in [&mut first, &mut second] {
            play.answers(&["FLAG:x"]);
            play.exchange(&round.to_string(), "bad");
        }
    }
    assert_eq!(first.json("g.json")["gaps"].as_array().unwrap().len(), 6);
}

#[test]
fn d37_no_finding_leaves_the_project() {
    for path in ["/tmp/rc", "~/rc", "../rc", "a/../../rc"] {
        let mut play = Play::with(recorder(json!({"path": path})));
        assert!(play.told("m.monitor.json#/actions/on_flag/write/path"), "{path}");
        play.exchange("go", "bad");
        assert_eq!(play.calls().len(), 0);
    }
}

#[test]
fn d37_a_monitor_that_came_with_a_repository_acts_only_once_it_is_trusted() {
    let mut play = Play::with(recorder(json!({})));
    play.command("monitors", "untrust m");
    play.exchange("go", "bad");
    assert_eq!((play.calls().len(), play.file("g.json")), (0, None));
    play.trust();
    play.answers(&["FLAG:x"]);
    play.exchange("go on", "bad");
    assert_eq!(play.json("g.json")["gaps"].as_array().unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn d37_no_finding_leaves_the_project_by_a_link() {
    let mut play = Play::with(recorder(json!({"path": "out/g.json"})));
    let outside = play.stage.outside().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, play.stage.project().join("out")).unwrap();
    play.answers(&["FLAG:x"]);
    play.exchange("go", "bad");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    assert!(play.told("Not recorded") || play.told("Recorded in"), "{:?}", play.seen.notices());
}

#[test]
fn d38_findings_go_to_the_project_that_owns_the_monitor() {
    let mut play = Play::with(recorder(json!({})));
    let root = play.stage.project();
    let below = root.join("sub/deeper");
    std::fs::create_dir_all(&below).unwrap();
    assert_eq!(root_of(&below, None, |path| path.exists()), root);
    play.answers(&["FLAG:x"]);
    play.exchange("go", "bad");
    assert_eq!(play.json("g.json")["gaps"].as_array().unwrap().len(), 1);
}

#[test]
fn d39_values_are_put_in_literally_and_keep_their_types() {
    let template = json!({"d": "{description}", "n": 3, "deep": {"list": ["{monitor_name}", true]}});
    let mut play = Play::with(recorder(json!({"template": template})));
    play.answers(&["FLAG:cost $$5 $& and {severity} $'"]);
    play.exchange("go", "bad");
    let entry = &play.json("g.json")["gaps"][0];
    assert_eq!(entry["d"], "cost $$5 $& and {severity} $'");
    assert_eq!((&entry["n"], &entry["deep"]), (&json!(3), &json!({"list": ["m", true]})));
}

#[test]
fn d40_ids_of_findings_differ_within_one_millisecond() {
    let mut play = Play::with(recorder(json!({})));
    for prompt in 0..20 {
        play.answers(&["FLAG:x"]);
        play.exchange(&prompt.to_string(), "bad");
    }
    let file = play.json("g.json");
    let ids: std::collections::HashSet<&str> =
        file["gaps"].as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap()).collect();
    assert!(ids.len() >= 5, "the ceiling may end it, and no two are the same");
    assert_eq!(ids.len(), file["gaps"].as_array().unwrap().len());
    assert!(Arc::strong_count(&play.stage) == 1);
}
