//! Monitors that look at tool calls before they run.
#![allow(clippy::unwrap_used, reason = "tests may")]

mod support;

use chaperone_sdk::fake::Tooling;
use chaperone_sdk::*;
use serde_json::{Value, json};
use support::*;

/// A guard `g` over `git push`, which refuses what it flags.
fn guard(changes: Value) -> Value {
    let mut guard = json!({
        "event": "tool_call", "when": "command(git push*)",
        "classify": {"context": ["user_text", "tool_call"]},
        "actions": {"on_flag": {"steer": "Ask first.", "block": true}, "on_new": null},
    });
    merge(&mut guard, changes);
    monitor("g", guard)
}

fn push(id: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "bash".into(), arguments: r#"{"command": "git push"}"#.into() }
}

const PUSH: Tooling =
    Tooling { name: "bash", arguments: r#"{"command": "git push"}"#, result: "pushed", is_error: false };

fn flag(_: &CompletionRequest) -> Result<String, LlmError> {
    Ok("FLAG:nobody asked for a push".into())
}

/// What a call came to, in a word.
fn decision(host: &TestHost, id: &str) -> &'static str {
    match host.decision(id) {
        None => "waits",
        Some(Gate::Allow) => "runs",
        Some(Gate::Refuse(_)) => "refused",
        Some(Gate::Hold) => unreachable!("a decision is none to wait"),
    }
}

#[test]
fn only_calls_that_the_condition_is_about_are_held() {
    let mut host = host(&[guard(json!({}))]);
    host.user("tidy up");
    let other =
        |name: &str, arguments: &str| ToolCall { id: "x".into(), name: name.into(), arguments: arguments.into() };
    assert_eq!(host.tool_start(other("bash", r#"{"command": "git status"}"#)), Gate::Allow);
    assert_eq!(host.tool_start(other("read", r#"{"path": "git push"}"#)), Gate::Allow);
    assert!(calls(&host).is_empty());
    assert_eq!(host.tool_start(other("bash", r#"{"command": "cd a && git push -f"}"#)), Gate::Hold);
    let call = calls(&host)[0];
    assert_eq!(call.timeout_ms, Some(10_000));
    assert!(call.messages[0].text.contains("git push -f") && call.messages[0].text.contains("tidy up"));
}

#[test]
fn a_flag_refuses_the_call_with_a_reason_and_a_clean_verdict_lets_it_run() {
    let mut host = host(&[guard(json!({}))]);
    host.user("tidy up");
    assert_eq!(host.tool_start(push("1")), Gate::Hold);
    assert_eq!(decision(&host, "1"), "waits");
    judge(&mut host, &["FLAG:nobody asked for a push"]);
    let Some(Gate::Refuse(reason)) = host.decision("1") else { panic!("{:?}", host.decision("1")) };
    assert!(reason.starts_with("[g] nobody asked for a push. Ask first.\n(This call was refused"), "{reason}");
    assert!(host.injections().is_empty(), "the refusal is what the agent reads");
    assert_eq!(host.tool_start(push("2")), Gate::Hold, "tried again, it is judged again");
    judge(&mut host, &["CLEAN"]);
    assert_eq!(decision(&host, "2"), "runs");
    assert_eq!(host.tool_start(push("3")), Gate::Allow, "what was found in order is not judged again");
}

#[test]
fn a_reason_of_its_own_stands_in_the_place_of_the_steer() {
    let mut host = host(&[guard(json!({"actions": {"on_flag": {"block": "Never push."}}}))]);
    host.user("go");
    host.tool_start(push("1"));
    judge(&mut host, &["FLAG:x"]);
    assert!(matches!(host.decision("1"), Some(Gate::Refuse(reason)) if reason.starts_with("[g] x. Never push.")));
}

#[test]
fn whatever_is_no_verdict_lets_the_call_run() {
    for outcome in [
        Ok(fake::completion("well, perhaps")),
        Ok(Completion { stop_reason: StopReason::Error, ..fake::completion("FLAG:x") }),
        Err(LlmError::TimedOut),
        Err(LlmError::Provider("down".into())),
        Err(LlmError::Cancelled),
    ] {
        let mut host = host(&[guard(json!({}))]);
        host.user("go");
        assert_eq!(host.tool_start(push("1")), Gate::Hold);
        let id = call_ids(&host)[0];
        host.answer(id, outcome.clone());
        assert_eq!(decision(&host, "1"), "runs", "{outcome:?}");
    }
}

#[test]
fn a_judge_that_takes_too_long_is_not_waited_for() {
    let mut host = host(&[guard(json!({}))]);
    host.user("go");
    host.tool_start(push("1"));
    host.advance(9_999);
    assert_eq!(decision(&host, "1"), "waits");
    host.advance(1);
    assert_eq!(decision(&host, "1"), "runs");
    assert_eq!(cancelled(&host), 1);
    assert_eq!(judgements(&host)[0].verdict, Verdict::Unknown);
    assert!(status(&host).unwrap().contains("judge unavailable"));
    let id = call_ids(&host)[0];
    host.answer(id, Ok(fake::completion("FLAG:x")));
    assert_eq!(decision(&host, "1"), "runs", "it is too late");
}

#[test]
fn refusals_count_as_steers_and_end_at_the_ceiling() {
    let mut host = host(&[guard(json!({"ceiling": 2}))]);
    host.user("go");
    for id in ["1", "2"] {
        host.tool_start(push(id));
        judge(&mut host, &["FLAG:x"]);
        assert_eq!(decision(&host, id), "refused");
    }
    assert_eq!(status(&host).unwrap(), "g(2/2)");
    host.tool_start(push("3"));
    judge(&mut host, &["FLAG:x"]);
    assert_eq!(decision(&host, "3"), "runs", "the user is asked, and the call does not wait for that");
    assert_eq!(dialogs(&host)[0].1, "[g] Steered 2 times");
    answer_dialog(&mut host, Answer::Confirmed(false));
    assert_eq!(host.tool_start(push("4")), Gate::Allow);
}

#[test]
fn where_nobody_can_be_asked_a_guard_at_its_ceiling_falls_silent() {
    let mut host = host(&[guard(json!({"ceiling": 1, "escalate": "dismiss"}))]);
    host.user("go");
    for (id, came_to) in [("1", "refused"), ("2", "runs")] {
        host.tool_start(push(id));
        judge(&mut host, &["FLAG:x"]);
        assert_eq!(decision(&host, id), came_to);
    }
    assert_eq!(host.tool_start(push("3")), Gate::Allow);
    assert!(notes(&host).iter().any(|note| note.contains("Dismissed for this session")));
}

#[test]
fn a_new_message_of_the_user_begins_a_new_count() {
    let mut host = host(&[guard(json!({"ceiling": 1}))]);
    for id in ["1", "2"] {
        host.user("go");
        host.tool_start(push(id));
        judge(&mut host, &["FLAG:x"]);
        assert_eq!(decision(&host, id), "refused");
    }
}

#[test]
fn who_speaks_or_silences_the_guard_lets_the_call_run() {
    let ends: [fn(&mut TestHost); 4] = [
        |host| drop(host.fire(Event::Input { content: Vec::new() })),
        |host| run(host, "monitors", "off"),
        |host| run(host, "monitors", "g dismiss"),
        |host| host.settle(SettledReason::Interrupted),
    ];
    for end in ends {
        let mut host = host(&[guard(json!({}))]);
        host.user("go");
        host.tool_start(push("1"));
        end(&mut host);
        assert_eq!(decision(&host, "1"), "runs");
        assert_eq!(cancelled(&host), 1);
    }
}

#[test]
fn two_guards_both_have_to_let_a_call_go_and_one_can_refuse_it() {
    let second = |host: &mut TestHost, answers: [&str; 2]| {
        host.user("go");
        assert_eq!(host.tool_start(push("1")), Gate::Hold);
        let ids = call_ids(host);
        assert_eq!(ids.len(), 2);
        for (id, answer) in ids.into_iter().zip(answers) {
            host.answer(id, Ok(fake::completion(answer)));
        }
    };
    let mut other = guard(json!({}));
    other["name"] = json!("h");
    other["patterns"]["path"] = json!("h.patterns.json");
    for (answers, came_to) in
        [(["CLEAN", "CLEAN"], "runs"), (["CLEAN", "FLAG:x"], "refused"), (["FLAG:x", "CLEAN"], "refused")]
    {
        let mut host = host(&[guard(json!({})), other.clone()]);
        second(&mut host, answers);
        assert_eq!(decision(&host, "1"), came_to, "{answers:?}");
    }
}

#[test]
fn in_a_host_that_holds_calls_the_agent_reads_the_refusal_in_the_place_of_the_result() {
    let mut host = host(&[guard(json!({}))]);
    host.while_held = Some(flag);
    host.user("tidy up");
    host.turn("I push", &[PUSH]);
    host.turn("I was refused", &[]);
    host.end();
    let result = host.branch.entries().iter().find_map(|entry| match &entry.body {
        EntryBody::ToolResult(result) => Some(result.clone()),
        _ => None,
    });
    let result = result.unwrap();
    assert!(result.is_error && format!("{:?}", result.content).contains("[g] nobody asked for a push"));
    assert!(host.injections().is_empty());
}

#[test]
fn in_a_host_that_cannot_hold_calls_the_steer_goes_out_as_any_other() {
    let mut host = host(&[guard(json!({"ceiling": 1}))]);
    host.user("tidy up");
    assert_eq!(host.tool_start(push("1")), Gate::Hold);
    judge(&mut host, &["FLAG:nobody asked for a push"]);
    let result = ToolResult {
        call_id: "1".into(),
        tool_name: "bash".into(),
        content: vec![Content::Text("pushed".into())],
        is_error: false,
        details: None,
    };
    host.fire(Event::ToolEnd { outcome: result });
    host.turn("pushed", &[]);
    host.end();
    assert_eq!(steers(&host), ["[g] nobody asked for a push. Ask first."]);
    assert_eq!(status(&host).unwrap(), "g(1/1)", "counted once, as a steer");
}

#[test]
fn a_monitor_that_refuses_nothing_lets_calls_run_and_speaks_at_the_end() {
    let mut host = host(&[guard(json!({"actions": {"on_flag": {"block": false}}}))]);
    host.user("tidy up");
    assert_eq!(host.tool_start(push("1")), Gate::Allow);
    judge(&mut host, &["FLAG:x"]);
    assert!(host.injections().is_empty());
    host.turn("done", &[]);
    host.end();
    assert_eq!(steers(&host), ["[g] x. Ask first."]);
}

#[test]
fn a_guard_that_has_looked_often_enough_says_so_once() {
    let mut host = host(&[guard(json!({"classify": {"max_per_prompt": 1}}))]);
    host.user("go");
    host.tool_start(push("1"));
    judge(&mut host, &["FLAG:x"]);
    assert_eq!(host.tool_start(push("2")), Gate::Allow);
    assert_eq!(host.tool_start(push("3")), Gate::Allow);
    let told: Vec<&str> = notes(&host).into_iter().filter(|note| note.contains("run unjudged")).collect();
    assert_eq!(told, ["[g] has looked once since your message; further tool calls run unjudged"]);
    let spared = host.effects().iter().filter_map(|effect| match effect {
        Effect::Spared(sparing) => Some(sparing.reason.as_str()),
        _ => None,
    });
    let limit = "limit: the judge was asked often enough for this message of the user";
    assert_eq!(spared.collect::<Vec<_>>(), [limit; 2], "the host counts each call that was not judged");
}

#[test]
fn a_precheck_lets_a_call_run_without_a_judge() {
    let precheck = json!([{"clean_if": "user_says(push)"}]);
    let mut host = host(&[guard(json!({"classify": {"precheck": precheck}}))]);
    host.user("Please push it.");
    assert_eq!(host.tool_start(push("1")), Gate::Allow);
    assert!(calls(&host).is_empty());
    assert_eq!(judgements(&host)[0].description.as_deref(), Some("precheck: user_says(push)"));
}

#[test]
fn only_a_session_with_guards_is_asked_about_tools() {
    let hooks = |monitor: Value| match host(&[monitor]).fire(Event::Describe) {
        Reply::Description(description) => description.hooks,
        other => panic!("{other:?}"),
    };
    let asked = hooks(guard(json!({})));
    assert!(asked.contains(&Hook::ToolStart) && asked.contains(&Hook::ToolEnd));
    assert!(!hooks(monitor("m", json!({}))).contains(&Hook::ToolStart));
}
