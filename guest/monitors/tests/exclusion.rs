//! Who keeps out of whose way.
#![allow(clippy::unwrap_used, reason = "tests may")]

mod support;

use chaperone_sdk::*;
use serde_json::json;
use support::*;

#[test]
fn d16_exclusion_follows_the_names_not_the_order_of_the_files() {
    let mut host = host(&[monitor("a", json!({"classify": {"excludes": ["b"]}})), monitor("b", json!({}))]);
    exchange(&mut host, "u", "bad");
    assert_eq!(asked(&host), ["b"], "a waits for b");
    judge(&mut host, &["FLAG:v"]);
    assert_eq!(steers(&host), ["[b] v. S."]);
    assert!(calls(&host).is_empty(), "a kept out");
}

#[test]
fn d16_who_waited_is_judged_once_the_other_one_is_clean() {
    let mut host = host(&[monitor("a", json!({"classify": {"excludes": ["b"]}})), monitor("b", json!({}))]);
    exchange(&mut host, "u", "bad");
    let asked = std::cell::RefCell::new(Vec::new());
    host.answer_all(|request| {
        asked.borrow_mut().push(request.label.clone());
        Ok(if request.label == "b" { "CLEAN" } else { "FLAG:v" }.into())
    });
    assert_eq!(asked.into_inner(), ["b", "a"]);
    assert_eq!(steers(&host), ["[a] v. S."]);
}

#[test]
fn d16_who_waits_is_also_released_by_a_judge_that_fails() {
    let mut host = host(&[monitor("a", json!({"classify": {"excludes": ["b"]}})), monitor("b", json!({}))]);
    exchange(&mut host, "u", "bad");
    host.answer_all(|request| match request.label.as_str() {
        "b" => Err(LlmError::TimedOut),
        _ => Ok("FLAG:v".into()),
    });
    assert_eq!(steers(&host), ["[a] v. S."]);
}

#[test]
fn d16_a_finding_that_says_nothing_to_the_agent_keeps_nobody_out() {
    let quiet = json!({"actions": {"on_flag": {"steer": null}}});
    let mut host = host(&[monitor("a", quiet), monitor("b", json!({"classify": {"excludes": ["a"]}}))]);
    exchange(&mut host, "u", "bad");
    judge(&mut host, &["FLAG:v", "FLAG:w"]);
    assert_eq!(steers(&host), ["[b] w. S."]);
}

#[test]
fn d16_exclusion_goes_from_one_event_to_a_later_one_of_the_same_run() {
    let mut host = host(&[
        monitor("a", json!({"event": "message_end"})),
        monitor("b", json!({"event": "turn_end", "classify": {"excludes": ["a"]}})),
        monitor("c", json!({"classify": {"excludes": ["b"]}})),
    ]);
    exchange(&mut host, "u", "bad");
    assert_eq!(asked(&host), ["a"]);
    let asked = std::cell::RefCell::new(Vec::new());
    host.answer_all(|request| {
        asked.borrow_mut().push(request.label.clone());
        Ok("FLAG:v".into())
    });
    assert_eq!(asked.into_inner(), ["a", "c"], "b keeps out for a, so nothing keeps c out");
    assert_eq!(steers(&host), ["[a] v. S.", "[c] v. S."]);
}

#[test]
fn d16_who_was_judged_before_the_one_it_excludes_itself_for_still_keeps_out_of_its_message() {
    let mut host =
        host(&[monitor("a", json!({"event": "turn_end", "classify": {"excludes": ["b"]}})), monitor("b", json!({}))]);
    host.user("u");
    host.turn("bad", &[]);
    judge(&mut host, &["FLAG:v"]);
    host.end();
    judge(&mut host, &["FLAG:w"]);
    assert_eq!(steers(&host), ["[b] w. S."]);
}

#[test]
fn d16_exclusion_ends_with_the_run() {
    let mut host = host(&[monitor("a", json!({})), monitor("b", json!({"classify": {"excludes": ["a"]}}))]);
    exchange(&mut host, "1", "bad");
    judge(&mut host, &["FLAG:v"]);
    exchange(&mut host, "2", "bad");
    judge(&mut host, &["CLEAN", "FLAG:w"]);
}

#[test]
fn d16_monitors_that_exclude_each_other_are_refused_and_the_others_work() {
    let mut host = host(&[
        monitor("a", json!({"classify": {"excludes": ["b"]}})),
        monitor("b", json!({"classify": {"excludes": ["a"]}})),
        monitor("c", json!({})),
    ]);
    assert_eq!(notes(&host).len(), 2);
    exchange(&mut host, "u", "bad");
    assert_eq!(asked(&host), ["c"]);
}

#[test]
fn d26_dismissing_the_one_that_is_waited_for_lets_the_waiting_one_go() {
    let mut host = host(&[monitor("a", json!({"classify": {"excludes": ["b"]}})), monitor("b", json!({}))]);
    exchange(&mut host, "u", "bad");
    monitors(&mut host, "b dismiss");
    assert_eq!(asked(&host), ["a"]);
    let id = call_ids(&host)[0];
    host.answer(id, Ok(fake::completion("FLAG:v")));
    assert_eq!(steers(&host), ["[a] v. S."]);
}
