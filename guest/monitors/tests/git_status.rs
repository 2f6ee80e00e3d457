//! Monitors whose judges are shown the state of the repository.
#![allow(clippy::unwrap_used, reason = "tests may")]

mod support;

use chaperone_sdk::*;
use serde_json::{Value, json};
use support::*;

const DIRTY: &str = "## main\n?? .env\n";

/// A host that knows the state of the repository, over these monitors.
fn host_in(status: Result<&str, FileError>, monitors: &[Value]) -> TestHost {
    let mut host = host(monitors);
    host.made.insert(("git".into(), "status".into()), status.map(Into::into));
    host
}

fn commits(name: &str, changes: Value) -> Value {
    let mut changed = json!({"classify": {"context": ["assistant_text", "git_status"]}});
    merge(&mut changed, changes);
    monitor(name, changed)
}

/// The files that the host was asked to make.
fn looked_up(host: &TestHost) -> Vec<RequestId> {
    let made = host.effects().iter().filter_map(|effect| match effect {
        Effect::Refresh { id, file } => {
            assert_eq!((file.mount.as_str(), file.path.as_str()), ("git", "status"));
            Some(*id)
        }
        _ => None,
    });
    made.collect()
}

/// What the judge of the only call was shown.
fn shown(host: &TestHost) -> &str {
    let calls = calls(host);
    assert_eq!(calls.len(), 1, "{:?}", asked(host));
    &calls[0].messages[0].text
}

/// Runs a hook without carrying out what it asks for, as a host does that has not come to it yet.
fn hold_back(host: &mut TestHost, event: Event) -> Vec<Effect> {
    let outcome = host.call(event);
    for effect in &outcome.effects {
        if let Effect::Set { scope, value } = effect {
            host.set_state(*scope, value.clone());
        }
    }
    outcome.effects
}

fn refreshed(effects: &[Effect]) -> Option<RequestId> {
    effects.iter().find_map(|effect| match effect {
        Effect::Refresh { id, .. } => Some(*id),
        _ => None,
    })
}

#[test]
fn the_judge_is_shown_what_git_says_when_it_is_asked() {
    let mut host = host_in(Ok(DIRTY), &[commits("m", json!({}))]);
    exchange(&mut host, "commit it", "Committed.");
    assert_eq!(looked_up(&host).len(), 1);
    assert!(shown(&host).contains("<evidence name=\"git_status\">\n## main\n?? .env\n"), "{}", shown(&host));
    judge(&mut host, &["FLAG:.env is left"]);
    assert_eq!(steers(&host), ["[m] .env is left. S."]);
}

#[test]
fn nobody_looks_who_does_not_show_it_or_need_not_ask() {
    let settled = json!({"classify": {"precheck": [{"clean_if": "always"}]}});
    let mut host = host_in(Ok(DIRTY), &[commits("m", settled), monitor("n", json!({}))]);
    exchange(&mut host, "go", "Done.");
    assert!(looked_up(&host).is_empty());
    assert_eq!(asked(&host), ["n"]);
}

#[test]
fn those_who_look_at_the_same_time_share_the_answer() {
    let mut host = host_in(Ok(DIRTY), &[commits("m", json!({})), commits("n", json!({}))]);
    exchange(&mut host, "go", "Done.");
    assert_eq!(looked_up(&host).len(), 1);
    assert_eq!(asked(&host), ["m", "n"]);
    judge(&mut host, &["FLAG:a", "FLAG:b"]);
    assert_eq!(steers(&host), ["[m] a. S.", "[n] b. S."], "both are told in one message");
}

#[test]
fn a_change_of_the_repository_alone_is_nothing_new() {
    let mut host = host_in(Ok(DIRTY), &[commits("m", json!({"event": "message_end"}))]);
    exchange(&mut host, "go", "Done.");
    judge(&mut host, &["CLEAN"]);
    host.made.insert(("git".into(), "status".into()), Ok("## main\n".into()));
    host.take_effects();
    let message = host.branch.leaf().unwrap().as_ref().clone();
    host.fire(Event::MessageEnd { message });
    assert_eq!((looked_up(&host).len(), calls(&host).len()), (0, 0));
}

#[test]
fn what_cannot_be_found_out_is_told_to_the_judge_with_the_reason() {
    let reasons = [
        (FileError::NotFound, "(not available: the project is in no git repository)"),
        (FileError::Io("git did not answer in 5 s".into()), "(not available: git did not answer in 5 s)"),
        (FileError::Denied("no mount `git` is granted".into()), "(not available: no mount `git` is granted)"),
    ];
    for (error, words) in reasons {
        let mut host = host_in(Err(error), &[commits("m", json!({}))]);
        exchange(&mut host, "go", "Done.");
        assert!(shown(&host).contains(words), "{}", shown(&host));
        judge(&mut host, &["CLEAN"]);
    }
}

#[test]
fn a_limit_of_the_file_bounds_it() {
    let limits = json!({"classify": {"limits": {"git_status": {"characters": 20}}}});
    let long = format!("## main\n{}", "?? a\n".repeat(100));
    let mut host = host_in(Ok(&long), &[commits("m", limits)]);
    exchange(&mut host, "go", "Done.");
    assert!(shown(&host).contains("characters left out"), "{}", shown(&host));
}

#[test]
fn who_speaks_while_it_is_looked_up_is_not_judged_for_what_was_before() {
    let mut host = host_in(Ok(DIRTY), &[commits("m", json!({}))]);
    host.user("go");
    host.turn("Done.", &[]);
    let id = refreshed(&hold_back(&mut host, Event::AgentEnd)).unwrap();
    host.fire(Event::Input { content: vec![Content::Text("wait".into())] });
    host.fire(Event::Stored { id, outcome: Ok(()) });
    assert!(calls(&host).is_empty());
    assert_eq!(remembered(&host)["run"], Value::Null, "nothing is under way");
}

#[test]
fn two_events_while_it_is_looked_up_are_one_question() {
    let both = json!({"event": "message_end"});
    let mut host = host_in(Ok(DIRTY), &[commits("m", both)]);
    host.user("go");
    let message = host.append(EntryBody::Assistant(AssistantMessage {
        content: vec![Content::Text("Done.".into())],
        stop_reason: StopReason::Stop,
        usage: None,
        model: None,
        error: None,
    }));
    let id = refreshed(&hold_back(&mut host, Event::MessageEnd { message: message.clone() })).unwrap();
    assert_eq!(refreshed(&hold_back(&mut host, Event::MessageEnd { message })), None);
    host.put("git", "status", DIRTY);
    host.fire(Event::Stored { id, outcome: Ok(()) });
    assert!(shown(&host).contains("?? .env"));
}

#[test]
fn who_excludes_a_monitor_that_looks_waits_for_it() {
    let polite = monitor("n", json!({"classify": {"excludes": ["m"]}}));
    let mut host = host_in(Ok(DIRTY), &[commits("m", json!({})), polite]);
    exchange(&mut host, "go", "Done.");
    assert_eq!(asked(&host), ["m"]);
    judge(&mut host, &["FLAG:a"]);
    assert_eq!(steers(&host), ["[m] a. S."]);
}

#[test]
fn a_command_looks_as_well_and_only_once_at_a_time() {
    let mut host = host_in(Ok(DIRTY), &[commits("m", json!({"event": "command"}))]);
    host.user("go");
    host.turn("Done.", &[]);
    host.end();
    let command = || Event::Command { name: "m".into(), arguments: String::new() };
    let id = refreshed(&hold_back(&mut host, command())).unwrap();
    host.fire(command());
    assert!(note(&host).contains("is being judged already"));
    host.put("git", "status", DIRTY);
    host.fire(Event::Stored { id, outcome: Ok(()) });
    assert!(shown(&host).contains("?? .env"));
    judge(&mut host, &["FLAG:.env is left"]);
    assert_eq!(steers(&host), ["[m] .env is left. S."]);
}

fn guard(changes: Value) -> Value {
    let mut guard = json!({
        "event": "tool_call", "when": "command(git commit*)",
        "classify": {"context": ["tool_call", "git_status"]},
        "actions": {"on_flag": {"steer": "Add files by name.", "block": true}, "on_new": null},
    });
    merge(&mut guard, changes);
    monitor("g", guard)
}

fn commit() -> ToolCall {
    ToolCall { id: "1".into(), name: "bash".into(), arguments: r#"{"command": "git commit -am x"}"#.into() }
}

#[test]
fn a_call_waits_while_it_is_looked_up_and_for_the_judge_behind_it() {
    let mut host = host_in(Ok(DIRTY), &[guard(json!({}))]);
    host.user("commit");
    assert_eq!(host.tool_start(commit()), Gate::Hold);
    assert!(shown(&host).contains("git commit -am x") && shown(&host).contains("?? .env"), "{}", shown(&host));
    assert_eq!(host.decision("1"), None);
    judge(&mut host, &["FLAG:.env would be in it"]);
    assert!(matches!(host.decision("1"), Some(Gate::Refuse(reason)) if reason.contains("Add files by name.")));
}

#[test]
fn a_call_runs_where_looking_takes_too_long_or_the_guard_is_dismissed_meanwhile() {
    for end in ["limit", "dismiss", "input"] {
        let mut host = host_in(Ok(DIRTY), &[guard(json!({}))]);
        host.user("commit");
        let call = commit();
        let effects = hold_back(&mut host, Event::ToolStart { call });
        let id = refreshed(&effects).unwrap();
        let timer = effects.iter().find_map(|effect| match effect {
            Effect::Arm { id, .. } => Some(*id),
            _ => None,
        });
        match end {
            "limit" => _ = host.fire(Event::TimerFired { id: timer.unwrap() }),
            "dismiss" => run(&mut host, "monitors", "g dismiss"),
            _ => _ = host.fire(Event::Input { content: vec![Content::Text("stop".into())] }),
        }
        assert_eq!(host.decision("1"), Some(Gate::Allow), "{end}");
        host.fire(Event::Stored { id, outcome: Ok(()) });
        assert!(calls(&host).is_empty(), "it is too late: {end}");
    }
}

#[test]
fn a_guard_that_does_not_refuse_lets_the_call_run_meanwhile() {
    let watching = json!({"actions": {"on_flag": {"block": false}}});
    let mut host = host_in(Ok(DIRTY), &[guard(watching)]);
    host.user("commit");
    assert_eq!(host.tool_start(commit()), Gate::Allow);
    assert!(shown(&host).contains("?? .env"));
}
