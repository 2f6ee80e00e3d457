//! What is written, and what is left alone: findings, patterns.
#![allow(clippy::unwrap_used, reason = "tests may")]

mod support;

use chaperone_sdk::*;
use serde_json::{Value, json};
use support::*;

fn gaps() -> Value {
    json!({
        "path": ".workflow/gaps.json", "array_field": "gaps",
        "template": {"id": "{finding_id}", "description": "{description}", "severity": "{severity}", "by": "{monitor_name}"},
    })
}

fn recorder() -> TestHost {
    host_with(json!({"actions": {"on_flag": {"write": gaps()}, "on_new": {"write": gaps()}}}))
}

fn found(host: &TestHost) -> Vec<&Finding> {
    let found = host.effects().iter().filter_map(|effect| match effect {
        Effect::Found(finding) => Some(finding),
        _ => None,
    });
    found.collect()
}

fn flag(host: &mut TestHost, answer: &str) {
    exchange(host, "go", "bad");
    judge(host, &[answer]);
}

#[test]
fn a_finding_is_recorded_and_reported_once_it_stands_in_its_file() {
    let mut host = recorder();
    flag(&mut host, "FLAG:x");
    let entry = &json_file(&host, "workspace", ".workflow/gaps.json")["gaps"][0];
    assert_eq!((&entry["description"], &entry["by"]), (&json!("x"), &json!("m")));
    let finding = found(&host)[0];
    assert_eq!(entry["id"], finding.id.as_str());
    assert_eq!(finding.file, "workspace:.workflow/gaps.json");
    assert_eq!((finding.watcher.as_str(), finding.description.as_str()), ("m", "x"));
}

#[test]
fn d40_ids_differ_also_within_one_millisecond() {
    let mut host = recorder();
    for _ in 0..3 {
        flag(&mut host, "FLAG:x");
    }
    let ids: std::collections::BTreeSet<&str> = found(&host).iter().map(|finding| finding.id.as_str()).collect();
    assert_eq!(ids.len(), 3);
}

#[test]
fn d14_the_severity_is_that_of_the_pattern_which_the_judge_names() {
    let mut host = recorder();
    host.put(
        "project",
        "monitors/m.patterns.json",
        r#"[{"id":"empty-catch","description":"drops an error","severity":"error"},{"id":"x","description":"y"}]"#,
    );
    trust_all(&mut host);
    flag(&mut host, "FLAG:empty-catch in parser.py");
    flag(&mut host, "FLAG:something else");
    let gaps = &json_file(&host, "workspace", ".workflow/gaps.json")["gaps"];
    assert_eq!((&gaps[0]["severity"], &gaps[1]["severity"]), (&json!("error"), &json!("warning")));
}

#[test]
fn d11_a_file_that_cannot_be_read_is_left_alone_and_the_finding_goes_beside_it() {
    for text in [r#"{"gaps":[{"id":"keep"}],}"#, r#"{"gaps":{"open":[1]},"o":1}"#, r#"[{"id":"keep"}]"#, "null"] {
        let mut host = recorder();
        host.put("workspace", ".workflow/gaps.json", text);
        flag(&mut host, "FLAG:x");
        assert_eq!(host.file("workspace", ".workflow/gaps.json"), Some(text));
        assert_eq!(json_file(&host, "workspace", ".workflow/gaps.findings.json")["gaps"][0]["description"], "x");
        assert_eq!(found(&host)[0].file, "workspace:.workflow/gaps.findings.json");
        assert!(note(&host).contains("gaps.findings.json"));
        assert_eq!(steers(&host), ["[m] x. S."], "and the agent is told all the same");
    }
}

#[test]
fn d36_a_file_that_somebody_else_changed_is_read_again_three_times_at_most() {
    let mut host = recorder();
    exchange(&mut host, "go", "bad");
    host.file_errors.extend(std::iter::repeat_n(FileError::Conflict("test failed".into()), 2));
    judge(&mut host, &["FLAG:x"]);
    assert_eq!(json_file(&host, "workspace", ".workflow/gaps.json")["gaps"][0]["description"], "x");
    assert_eq!(found(&host).len(), 1);

    let mut host = recorder();
    exchange(&mut host, "go", "bad");
    host.file_errors.extend(std::iter::repeat_n(FileError::Conflict("test failed".into()), 9));
    judge(&mut host, &["FLAG:x"]);
    assert_eq!(host.file_errors.len(), 6);
    assert!(found(&host).is_empty());
    assert!(note(&host).starts_with("[m] Not recorded, since the file was changed meanwhile"));
}

#[test]
fn a_file_that_may_not_be_written_is_told_and_nothing_is_reported_as_found() {
    let mut host = recorder();
    exchange(&mut host, "go", "bad");
    host.file_errors.push_back(FileError::Denied("workspace is read-only".into()));
    judge(&mut host, &["FLAG:x"]);
    assert!(found(&host).is_empty());
    assert_eq!(note(&host), "[m] Not recorded, since the file may not be written: workspace is read-only: x",);
}

#[test]
fn a_clean_verdict_can_be_recorded_and_is_no_finding() {
    let write =
        json!({"path": "log.json", "array_field": "log", "template": {"at": "{timestamp}", "by": "{monitor_name}"}});
    let mut host = host_with(json!({"actions": {"on_clean": {"write": write}}}));
    flag(&mut host, "CLEAN");
    assert_eq!(json_file(&host, "workspace", "log.json")["log"][0]["by"], "m");
    assert!(found(&host).is_empty());
}

fn patterns(host: &TestHost) -> Vec<Value> {
    json_file(host, "project", "monitors/m.patterns.json").as_array().unwrap().clone()
}

#[test]
fn a_new_finding_becomes_a_pattern_and_the_agent_hears_of_it_once_it_did() {
    let mut host = host_with(json!({}));
    flag(&mut host, "NEW:Deletes tests|it deleted a test");
    assert_eq!(steers(&host), ["[m] it deleted a test — new pattern learned. S."]);
    let learned = &patterns(&host)[1];
    assert_eq!((&learned["id"], &learned["description"]), (&json!("deletes-tests"), &json!("Deletes tests")));
    assert_eq!((&learned["severity"], &learned["source"]), (&json!("warning"), &json!("learned")));
    assert_eq!(learned["learned_at"], "2023-11-14T22:13:20.000Z");
}

#[test]
fn d15_learning_is_off_where_the_file_says_so_and_then_nobody_claims_otherwise() {
    for changes in [json!({"patterns": {"learn": false}}), json!({"actions": {"on_new": {"learn_pattern": false}}})] {
        let mut host = host_with(changes);
        flag(&mut host, "NEW:p q|x");
        assert_eq!(steers(&host), ["[m] x. S."]);
        assert_eq!(patterns(&host).len(), 1);
    }
}

#[test]
fn d15_what_is_known_is_not_learned_again_whatever_its_case_and_punctuation() {
    let mut host = host_with(json!({}));
    flag(&mut host, "NEW:Foo bar|x");
    flag(&mut host, "NEW:foo,  BAR!|y");
    assert_eq!(patterns(&host).len(), 2);
    assert_eq!(steers(&host), ["[m] x — new pattern learned. S.", "[m] y. S."]);
}

#[test]
fn d15_what_could_not_be_written_down_is_not_called_learned() {
    let mut host = host_with(json!({}));
    exchange(&mut host, "go", "bad");
    host.file_errors.push_back(FileError::Denied("no grant".into()));
    judge(&mut host, &["NEW:p q|x"]);
    assert_eq!(steers(&host), ["[m] x. S."]);
    assert!(note(&host).starts_with("[m] Not learned, since"));
}

#[test]
fn d13_a_patterns_file_that_is_half_saved_stays_as_it_is() {
    let mut host = host_with(json!({}));
    exchange(&mut host, "go", "bad");
    let half = r#"[{"id":"p","description":"pd"},{"id":"#;
    host.put("project", "monitors/m.patterns.json", half);
    judge(&mut host, &["NEW:p q|x"]);
    assert_eq!(host.file("project", "monitors/m.patterns.json"), Some(half));
    assert_eq!(steers(&host), ["[m] x. S."]);
    assert!(note(&host).contains("m.patterns.json"));
}

#[test]
fn a_pattern_is_tried_again_where_the_file_was_changed_meanwhile() {
    let mut host = host_with(json!({}));
    exchange(&mut host, "go", "bad");
    host.file_errors.extend(std::iter::repeat_n(FileError::Conflict("test failed".into()), 2));
    judge(&mut host, &["NEW:p q|x"]);
    assert_eq!(patterns(&host).len(), 2);
    assert_eq!(steers(&host), ["[m] x — new pattern learned. S."]);
}

#[test]
fn what_was_learned_while_the_user_is_asked_about_the_ceiling_is_still_said_afterwards() {
    let mut host = host_with(json!({"ceiling": 1}));
    flag(&mut host, "FLAG:x");
    flag(&mut host, "NEW:p q|y");
    answer_dialog(&mut host, Answer::Confirmed(true));
    assert_eq!(steers(&host), ["[m] y — new pattern learned. S."]);
}

#[test]
fn d37_a_write_path_outside_the_project_is_refused() {
    for path in ["/home/me/.bashrc", "../g.json", "a/../../g.json", "~/g.json"] {
        let write = json!({"path": path, "array_field": "gaps", "template": {}});
        let mut host = host_with(json!({"actions": {"on_flag": {"write": write}}}));
        assert!(note(&host).contains("must be relative to the project"), "{path}");
        exchange(&mut host, "go", "bad");
        assert!(calls(&host).is_empty());
    }
}
