//! When a monitor has steered often enough.
#![allow(clippy::unwrap_used, reason = "tests may")]

mod support;

use chaperone_sdk::*;
use serde_json::json;
use support::*;

fn three_prompts(host: &mut TestHost, answer: &str) {
    for prompt in ["1", "2", "3"] {
        exchange(host, prompt, "bad");
        host.answer_all(|_| Ok(answer.into()));
    }
}

#[test]
fn as_many_steers_in_a_row_as_the_ceiling_says_are_delivered_then_the_user_is_asked() {
    let mut host = host_with(json!({"ceiling": 2}));
    three_prompts(&mut host, "FLAG:v");
    assert_eq!(host.injections().len(), 2);
    let dialogs = dialogs(&host);
    assert_eq!(dialogs[0].1, "[m] Steered 2 times");
    assert!(dialogs[0].2.contains('v'));
}

#[test]
fn a_clean_verdict_starts_the_count_anew() {
    let mut host = host_with(json!({"ceiling": 2}));
    for (prompt, answer) in [("1", "FLAG:v"), ("2", "CLEAN"), ("3", "FLAG:v"), ("4", "NEW:p|v"), ("5", "CLEAN")] {
        exchange(&mut host, prompt, "x");
        judge(&mut host, &[answer]);
    }
    assert!(dialogs(&host).is_empty());
    assert_eq!(count(&host), 0);
}

#[test]
fn with_a_yes_the_monitor_goes_on_from_zero_and_the_finding_is_delivered() {
    let mut host = host_with(json!({"ceiling": 2}));
    three_prompts(&mut host, "FLAG:v");
    answer_dialog(&mut host, Answer::Confirmed(true));
    assert_eq!(steers(&host), ["[m] v. S."]);
    assert_eq!(count(&host), 1);
}

#[test]
fn a_yes_that_comes_after_the_user_has_spoken_delivers_nothing_outdated() {
    let mut host = host_with(json!({"ceiling": 2}));
    three_prompts(&mut host, "FLAG:v");
    host.fire(Event::Input { content: vec![Content::Text("4".into())] });
    answer_dialog(&mut host, Answer::Confirmed(true));
    assert!(host.injections().is_empty());
    assert_eq!(count(&host), 0);
}

#[test]
fn with_a_no_or_a_closed_dialog_the_monitor_is_silent_for_the_session() {
    for answer in [Answer::Confirmed(false), Answer::Dismissed] {
        let mut host = host_with(json!({"ceiling": 2}));
        three_prompts(&mut host, "FLAG:v");
        answer_dialog(&mut host, answer);
        assert_eq!(note(&host), "[m] Dismissed for this session");
        exchange(&mut host, "4", "bad");
        assert!(calls(&host).is_empty());
        assert_eq!(status(&host).unwrap(), "1 dismissed");
        assert!(monitors(&mut host, "m reset").contains("Reset"));
        exchange(&mut host, "5", "bad");
        assert_eq!(calls(&host).len(), 1);
    }
}

#[test]
fn while_the_dialog_is_open_it_is_not_opened_again_and_asks_about_the_latest_finding() {
    let mut host = host_with(json!({"ceiling": 2}));
    three_prompts(&mut host, "FLAG:v");
    exchange(&mut host, "4", "bad");
    judge(&mut host, &["FLAG:w"]);
    answer_dialog(&mut host, Answer::Confirmed(true));
    assert_eq!(steers(&host), ["[m] w. S."]);
}

#[test]
fn d19_where_nobody_can_be_asked_the_monitor_falls_silent_and_says_so_once() {
    let mut host = host_with(json!({"ceiling": 2}));
    three_prompts(&mut host, "FLAG:v");
    answer_dialog(&mut host, Answer::Unavailable);
    assert!(note(&host).starts_with("[m] Dismissed for this session after 2 steers in a row."));
    assert_eq!(log(&host).len(), 1);
    host.take_effects();
    exchange(&mut host, "4", "bad");
    assert!(calls(&host).is_empty() && notes(&host).is_empty());
}

#[test]
fn d19_escalate_dismiss_asks_nobody_and_says_so_once() {
    let mut host = host_with(json!({"ceiling": 2, "escalate": "dismiss"}));
    three_prompts(&mut host, "FLAG:v");
    assert_eq!(host.injections().len(), 2);
    assert!(dialogs(&host).is_empty());
    assert!(note(&host).contains("Not passed on: v"));
    assert_eq!(log(&host).len(), 1);
    assert_eq!(status(&host).unwrap(), "1 dismissed");
}

#[test]
fn d33_at_the_ceiling_the_judge_is_asked_before_the_user_is() {
    let mut host = host_with(json!({"ceiling": 1}));
    exchange(&mut host, "0", "bad");
    judge(&mut host, &["FLAG:v"]);
    exchange(&mut host, "1", "good");
    judge(&mut host, &["CLEAN"]);
    assert!(dialogs(&host).is_empty());
    assert_eq!(count(&host), 0);
}

#[test]
fn d33_a_finding_that_waits_for_the_users_decision_holds_nobody_up() {
    let mut host = host(&[monitor("a", json!({"ceiling": 1})), monitor("b", json!({}))]);
    exchange(&mut host, "0", "bad");
    judge(&mut host, &["FLAG:v", "CLEAN"]);
    host.take_effects();
    exchange(&mut host, "1", "bad");
    judge(&mut host, &["FLAG:v", "FLAG:w"]);
    assert_eq!(steers(&host), ["[b] w. S."]);
    assert_eq!(dialogs(&host).len(), 1);
}

#[test]
fn d34_the_ceiling_is_about_steers_and_never_silences_a_recorder() {
    let write = json!({"path": "g.json", "array_field": "gaps", "template": {"d": "{description}"}});
    let mut host = host_with(
        json!({"ceiling": 1, "escalate": "dismiss", "actions": {"on_flag": {"steer": null, "write": write}}}),
    );
    three_prompts(&mut host, "FLAG:v");
    assert_eq!(json_file(&host, "workspace", "g.json")["gaps"].as_array().unwrap().len(), 3);
}
