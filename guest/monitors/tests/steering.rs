//! What reaches the agent, and what does not.
#![allow(clippy::unwrap_used, reason = "tests may")]

mod support;

use chaperone_sdk::*;
use serde_json::{Value, json};
use support::*;

#[test]
fn a_flag_steers_the_agent_with_name_description_and_order() {
    let mut host = host_with(json!({"actions": {"on_flag": {"steer": "Fix the issue."}}}));
    exchange(&mut host, "go", "bad");
    judge(&mut host, &["FLAG:left a test failing"]);
    assert_eq!(steers(&host), ["[m] left a test failing. Fix the issue."]);
    let injection = host.injections()[0];
    assert_eq!(injection.custom_type, "monitor-steer");
    assert_eq!((injection.delivery, injection.trigger_turn, injection.display), (Delivery::Steer, true, true));
    let details: Value = serde_json::from_str(injection.details.as_ref().unwrap()).unwrap();
    assert_eq!(
        details,
        json!({"monitors": [{
            "monitor": "m", "verdict": "flag", "description": "left a test failing", "steer": "Fix the issue.",
            "count": 1, "ceiling": 5, "learned": false,
        }]})
    );
}

#[test]
fn d07_all_findings_of_a_run_reach_the_agent_in_one_message_and_each_counts() {
    let look = json!({"event": "turn_end", "ceiling": 2});
    let mut host = host(&[monitor("a", look.clone()), monitor("b", look)]);
    exchange(&mut host, "1", "bad");
    judge(&mut host, &["FLAG:v", "FLAG:w"]);
    assert_eq!(steers(&host), ["[a] v. S.", "[b] w. S."]);
    assert_eq!(host.injections().len(), 1);
    assert_eq!(status(&host).unwrap(), "a(1/2) b(1/2)");
}

#[test]
fn d07_what_was_not_delivered_does_not_count() {
    let mut host = host_with(json!({"event": "turn_end"}));
    host.user("1");
    host.turn("bad", &[]);
    judge(&mut host, &["FLAG:v"]);
    host.user("2");
    host.turn("good", &[]);
    judge(&mut host, &["FLAG:w"]);
    host.end();
    assert_eq!(steers(&host), ["[m] w. S."]);
    assert_eq!(count(&host), 1);
}

#[test]
fn d31_monitors_of_different_events_start_one_turn_together() {
    let mut host = host(&[
        monitor("a", json!({"event": "turn_end"})),
        monitor("c", json!({})),
        monitor("d", json!({"event": "message_end"})),
    ]);
    host.user("go");
    host.turn("bad", &[]);
    host.answer_all(|_| Ok("FLAG:v".into()));
    assert!(host.injections().is_empty(), "the run is not over");
    host.end();
    assert!(host.injections().is_empty(), "c is being judged");
    judge(&mut host, &["FLAG:w"]);
    assert_eq!(host.injections().len(), 1);
    assert_eq!(steers(&host), ["[d] v. S.", "[a] v. S.", "[c] w. S."]);
}

#[test]
fn a_verdict_before_the_end_is_delivered_at_the_end_and_a_late_one_when_it_comes() {
    let mut host = host_with(json!({"event": "turn_end"}));
    host.user("go");
    host.turn("bad", &[]);
    judge(&mut host, &["FLAG:v"]);
    assert!(host.injections().is_empty());
    host.end();
    assert_eq!(host.injections().len(), 1);
    host.take_effects();
    exchange(&mut host, "again", "bad");
    judge(&mut host, &["FLAG:v"]);
    assert_eq!(host.injections().len(), 1);
}

#[test]
fn what_every_n_finds_on_the_way_is_told_at_the_end_once_and_counts_once() {
    let mut host = host_with(json!({"event": "turn_end", "when": "every(1)"}));
    host.user("go");
    host.turn("1", &[bash()]);
    host.turn("2", &[bash()]);
    host.answer_all(|_| Ok("FLAG:v".into()));
    host.turn("3", &[]);
    judge(&mut host, &["FLAG:w"]);
    assert!(host.injections().is_empty());
    host.end();
    assert_eq!(steers(&host), ["[m] v. S.", "[m] w. S."]);
    assert_eq!(count(&host), 1);
}

#[test]
fn d32_what_was_found_is_not_told_to_an_agent_that_was_stopped() {
    for reason in [StopReason::Aborted, StopReason::Error] {
        let mut host = host_with(json!({"event": "turn_end", "when": "every(1)"}));
        host.user("u");
        host.turn("x", &[bash()]);
        judge(&mut host, &["FLAG:v"]);
        host.turn_ending("half", &[], reason);
        host.end();
        assert!(host.injections().is_empty());
        assert_eq!(count(&host), 0);
    }
}

#[test]
fn d32_when_the_agent_was_interrupted_or_failed_late_verdicts_are_not_even_awaited() {
    for reason in [SettledReason::Interrupted, SettledReason::Failed] {
        let mut host = host_with(json!({}));
        host.user("u");
        host.turn("bad", &[]);
        host.fire(Event::AgentEnd);
        host.settle(reason);
        assert_eq!(cancelled(&host), 1);
        host.answer_all(|_| Ok("FLAG:v".into()));
        assert!(host.injections().is_empty() && judgements(&host).is_empty());
    }
}

#[test]
fn a_new_message_of_the_user_drops_what_was_to_be_told_and_cancels_what_is_being_judged() {
    let mut host = host(&[monitor("a", json!({"event": "turn_end"})), monitor("b", json!({"event": "turn_end"}))]);
    host.user("u");
    host.turn("bad", &[]);
    let first = call_ids(&host)[0];
    host.answer(first, Ok(fake::completion("FLAG:v")));
    host.fire(Event::Input { content: vec![Content::Text("stop, inspect first".into())] });
    assert_eq!(cancelled(&host), 1);
    host.end();
    assert!(host.injections().is_empty());
}

#[test]
fn while_the_user_has_something_to_say_the_agent_is_not_steered() {
    let mut host = host_with(json!({}));
    host.user("u");
    host.turn("bad", &[]);
    host.session.input_pending = true;
    host.fire(Event::AgentEnd);
    judge(&mut host, &["FLAG:v"]);
    assert!(host.injections().is_empty());
    assert_eq!(count(&host), 0);
    assert_eq!(notices(&host, "monitor-verdict").len(), 1, "the user sees it all the same");
}

#[test]
fn d26_off_and_dismiss_drop_what_was_to_be_told() {
    for command in ["off", "m dismiss"] {
        let mut host = host_with(json!({"event": "turn_end"}));
        host.user("u");
        host.turn("bad", &[]);
        judge(&mut host, &["FLAG:v"]);
        run(&mut host, "monitors", command);
        host.end();
        assert!(host.injections().is_empty(), "{command}");
        assert_eq!(count(&host), 0);
    }
}

#[test]
fn d26_off_and_dismiss_end_what_is_being_judged_and_keep_monitors_from_looking() {
    for command in ["off", "m dismiss"] {
        let mut host = host_with(json!({}));
        exchange(&mut host, "u", "bad");
        run(&mut host, "monitors", command);
        assert_eq!(cancelled(&host), 1, "{command}");
        host.take_effects();
        exchange(&mut host, "v", "bad");
        assert!(calls(&host).is_empty(), "{command}");
    }
}

#[test]
fn d26_dismissing_one_monitor_leaves_the_others_alone() {
    let mut host = host(&[monitor("a", json!({"event": "turn_end"})), monitor("b", json!({"event": "turn_end"}))]);
    host.user("u");
    host.turn("bad", &[]);
    judge(&mut host, &["FLAG:v", "FLAG:w"]);
    run(&mut host, "monitors", "a dismiss");
    host.end();
    assert_eq!(steers(&host), ["[b] w. S."]);
}

#[test]
fn d26_reset_forgets_what_was_judged_so_that_it_is_judged_again() {
    let mut host = host_with(json!({}));
    exchange(&mut host, "u", "bad");
    judge(&mut host, &["FLAG:v"]);
    run(&mut host, "monitors", "m reset");
    assert_eq!(count(&host), 0);
    host.fire(Event::AgentEnd);
    judge(&mut host, &["CLEAN"]);
}

#[test]
fn d34_a_finding_without_action_is_reported_and_shown() {
    for actions in
        [json!({"on_flag": null, "on_new": null}), json!({"on_flag": {"steer": null}, "on_new": {"steer": ""}})]
    {
        for (answer, verdict) in [("FLAG:x", Verdict::Flag), ("NEW:p|x", Verdict::New)] {
            let mut host = host_with(json!({"actions": actions}));
            exchange(&mut host, "u", "bad");
            judge(&mut host, &[answer]);
            assert_eq!(judgements(&host)[0].verdict, verdict);
            assert_eq!(title(notices(&host, "monitor-verdict")[0]), "[m] x");
            assert!(host.injections().is_empty());
            assert_eq!(count(&host), 0);
        }
    }
}

#[test]
fn the_status_names_engaged_monitors_and_is_set_only_when_it_changes() {
    let mut host = host_with(json!({}));
    assert_eq!(status(&host).unwrap(), "monitors:1");
    exchange(&mut host, "u", "bad");
    judge(&mut host, &["FLAG:v"]);
    assert_eq!(status(&host).unwrap(), "m(1/5)");
    host.take_effects();
    exchange(&mut host, "v", "bad");
    assert_eq!(status(&host), None);
    judge(&mut host, &["CLEAN"]);
    assert_eq!(status(&host).unwrap(), "monitors:1");
}

#[test]
fn d26_dismissing_the_last_one_that_is_judged_delivers_what_the_others_found() {
    let mut host = host(&[monitor("a", json!({})), monitor("b", json!({}))]);
    exchange(&mut host, "u", "bad");
    let first = call_ids(&host)[0];
    host.answer(first, Ok(fake::completion("FLAG:v")));
    assert!(host.injections().is_empty());
    monitors(&mut host, "b dismiss");
    assert_eq!(steers(&host), ["[a] v. S."]);
}

#[test]
fn d26_after_off_and_on_the_next_run_is_told_at_its_end_again() {
    let mut host = host_with(json!({"event": "turn_end"}));
    exchange(&mut host, "u", "bad");
    monitors(&mut host, "off");
    monitors(&mut host, "on");
    host.user("v");
    host.turn("bad", &[]);
    judge(&mut host, &["FLAG:v"]);
    assert!(host.injections().is_empty());
    host.end();
    assert_eq!(steers(&host), ["[m] v. S."]);
}
