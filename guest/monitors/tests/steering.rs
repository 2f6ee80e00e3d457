//! What reaches the agent, and what does not.
#![allow(clippy::unwrap_used, reason = "tests may")]

mod support;

use chaperone_sdk::*;
use serde_json::{Value, json};
use support::*;

fn three_prompts(host: &mut TestHost, answer: &str) {
    for prompt in ["1", "2", "3"] {
        exchange(host, prompt, "bad");
        host.answer_all(|_| Ok(answer.into()));
    }
}

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
fn d34_the_ceiling_is_about_steers_and_never_silences_a_recorder() {
    let write = json!({"path": "g.json", "array_field": "gaps", "template": {"d": "{description}"}});
    let mut host = host_with(
        json!({"ceiling": 1, "escalate": "dismiss", "actions": {"on_flag": {"steer": null, "write": write}}}),
    );
    three_prompts(&mut host, "FLAG:v");
    assert_eq!(json_file(&host, "workspace", "g.json")["gaps"].as_array().unwrap().len(), 3);
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
