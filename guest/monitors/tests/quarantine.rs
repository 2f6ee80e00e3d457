//! Patterns that a judge reports and the user has not seen yet.
#![allow(clippy::unwrap_used, reason = "tests may")]

mod support;

use chaperone_sdk::*;
use serde_json::{Value, json};
use support::*;

const PROPOSED: &str = "monitors/m.proposed.json";

fn proposing() -> TestHost {
    host_with(json!({"patterns": {"learn": "propose"}}))
}

/// The judge reports these as new, one after the other.
fn report(host: &mut TestHost, patterns: &[&str]) {
    for (number, pattern) in patterns.iter().enumerate() {
        exchange(host, &format!("go {pattern} {number}"), "bad");
        host.answer_all(|_| Ok(format!("NEW:{pattern}|x")));
    }
}

fn patterns(host: &TestHost) -> Vec<Value> {
    json_file(host, "project", "monitors/m.patterns.json").as_array().unwrap().clone()
}

fn proposals(host: &TestHost) -> Vec<Value> {
    host.file("project", PROPOSED).map(|text| serde_json::from_str(text).unwrap()).unwrap_or_default()
}

#[test]
fn d15_a_proposed_pattern_is_kept_apart_and_no_judge_sees_it() {
    let mut host = proposing();
    report(&mut host, &["Says sorry"]);
    assert_eq!(patterns(&host).len(), 1);
    assert_eq!(steers(&host), ["[m] x. S."], "the agent does not hear that anything was learned");
    assert!(notes(&host).contains(&"[m] Pattern proposed: Says sorry (/monitors m patterns)"));
    let proposed = &proposals(&host)[0];
    assert_eq!((&proposed["description"], &proposed["id"]), (&json!("Says sorry"), &json!("says-sorry")));
    let provenance = &proposed["provenance"];
    assert_eq!((&provenance["session"], &provenance["entry"]), (&json!("fake"), &json!("e2")));
    assert_eq!(provenance["evidence"], *host.traces[0].evidence.as_ref().unwrap());
    assert_eq!(provenance["finding"], *host.traces[0].consequences[0].finding.as_ref().unwrap());
    assert_eq!(proposed["proposed_at"], "2023-11-14T22:13:20.000Z");
    host.take_effects();
    exchange(&mut host, "again", "bad");
    assert!(!calls(&host)[0].system.as_ref().unwrap().contains("Says sorry"));
}

#[test]
fn it_is_listed_below_the_patterns_and_becomes_one_when_the_user_says_so() {
    let mut host = proposing();
    report(&mut host, &["Says sorry", "Says please"]);
    host.take_effects();
    assert_eq!(
        monitors(&mut host, "m patterns"),
        "[m] patterns:\n1. [warning] pd\n\
         [m] proposed, not in use (patterns approve <n>|all, patterns reject <n>|all):\n1. Says sorry\n2. Says please"
    );
    assert_eq!(monitors(&mut host, "m patterns approve 2"), "[m] Pattern approved: Says please");
    let learned = &patterns(&host)[1];
    assert_eq!((&learned["description"], &learned["source"]), (&json!("Says please"), &json!("learned")));
    assert_eq!(learned["provenance"]["session"], "fake");
    assert_eq!(proposals(&host).len(), 1);
    host.take_effects();
    exchange(&mut host, "again", "bad");
    let system = calls(&host)[0].system.clone().unwrap();
    assert!(system.contains("Says please") && !system.contains("Says sorry"));
}

#[test]
fn all_are_approved_one_after_the_other() {
    let mut host = proposing();
    report(&mut host, &["One thing", "Other thing", "Third thing"]);
    host.take_effects();
    host.fire(Event::Command { name: "monitors".into(), arguments: "m patterns approve all".into() });
    assert_eq!(notes(&host).len(), 3);
    assert_eq!((patterns(&host).len(), proposals(&host).len()), (4, 0));
}

#[test]
fn d15_a_rejected_pattern_is_not_proposed_again() {
    let mut host = proposing();
    report(&mut host, &["Says sorry"]);
    host.take_effects();
    assert_eq!(
        monitors(&mut host, "m patterns reject 1"),
        "[m] Pattern rejected: Says sorry. It is not proposed again"
    );
    assert_eq!(monitors(&mut host, "m patterns"), "[m] patterns:\n1. [warning] pd");
    report(&mut host, &["says SORRY!"]);
    assert_eq!(proposals(&host).len(), 1);
    let last = host.traces.last().unwrap().consequences.iter().find(|it| it.outcome == "not_learned").unwrap();
    assert_eq!(last.detail.as_deref(), Some("it was rejected"));
}

#[test]
fn d15_undo_takes_the_latest_one_out_and_it_is_not_learned_again() {
    let mut host = host_with(json!({}));
    report(&mut host, &["Says sorry", "Says please"]);
    assert_eq!(patterns(&host).len(), 3);
    host.take_effects();
    assert_eq!(monitors(&mut host, "m patterns undo"), "[m] Pattern taken out again: Says please");
    assert_eq!(patterns(&host).len(), 2);
    report(&mut host, &["Says please"]);
    assert_eq!(patterns(&host).len(), 2);
    host.take_effects();
    assert_eq!(monitors(&mut host, "m patterns undo"), "[m] Pattern taken out again: Says sorry");
    host.take_effects();
    assert_eq!(
        monitors(&mut host, "m patterns undo"),
        "[m] No pattern was learned. To allow a rejected one again, remove its entry from project:monitors/m.proposed.json"
    );
    let mut unlearned = host_with(json!({}));
    assert_eq!(monitors(&mut unlearned, "m patterns undo"), "[m] No pattern was learned");
}

#[test]
fn d15_there_is_a_cap_on_what_is_learned_and_it_is_told_once() {
    let mut host = host_with(json!({"patterns": {"max_learned": 1}}));
    report(&mut host, &["One thing", "Other thing", "Third thing"]);
    assert_eq!(patterns(&host).len(), 2);
    let told: Vec<&str> = notes(&host).into_iter().filter(|note| note.contains("Not learned")).collect();
    assert_eq!(
        told,
        ["[m] Not learned, since there are 1 already, which is as many as patterns.max_learned allows: Other thing"]
    );
}

#[test]
fn a_number_that_no_proposal_has_and_a_word_that_means_nothing_are_told() {
    let mut host = proposing();
    assert_eq!(monitors(&mut host, "m patterns approve 1"), "[m] Invalid index 1: 0 patterns are proposed");
    assert_eq!(monitors(&mut host, "m patterns reject all"), "[m] (no proposed patterns)");
    assert_eq!(monitors(&mut host, "m patterns approve"), "Usage: /monitors m patterns approve <number>|all");
    assert!(monitors(&mut host, "m patterns like 1").starts_with("Unknown patterns action: like"));
}

#[test]
fn a_file_of_proposals_that_is_broken_is_left_alone_and_told() {
    let mut host = proposing();
    host.put("project", PROPOSED, "[{},]");
    report(&mut host, &["Says sorry"]);
    assert_eq!(host.file("project", PROPOSED), Some("[{},]"));
    assert!(notes(&host).iter().any(|note| note.contains("m.proposed.json: is not JSON")));
    assert_eq!(steers(&host), ["[m] x. S."]);
    host.take_effects();
    assert!(monitors(&mut host, "m patterns").contains("m.proposed.json: is not JSON"));
    host.take_effects();
    host.fire(Event::Command { name: "monitors".into(), arguments: "check".into() });
    assert!(note(&host).contains("m.proposed.json: is not JSON"));
}

#[test]
fn what_was_changed_meanwhile_is_not_approved_blindly() {
    let mut host = proposing();
    report(&mut host, &["Says sorry"]);
    host.take_effects();
    host.file_errors.push_back(FileError::Conflict("test failed".into()));
    assert_eq!(
        monitors(&mut host, "m patterns approve 1"),
        "[m] Not saved, since the file was changed meanwhile; see /monitors m patterns"
    );
    assert_eq!((patterns(&host).len(), proposals(&host).len()), (1, 1));
}
