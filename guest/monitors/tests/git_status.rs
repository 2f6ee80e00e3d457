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

#[test]
fn a_finding_about_a_call_that_runs_meanwhile_is_told_even_when_the_agent_is_faster_than_git() {
    let watching = json!({"actions": {"on_flag": {"block": false}}});
    let polite = monitor("n", json!({"classify": {"excludes": ["g"]}}));
    let mut host = host_in(Ok(DIRTY), &[guard(watching), polite]);
    host.user("commit");
    let id = refreshed(&hold_back(&mut host, Event::ToolStart { call: commit() })).unwrap();
    host.turn("Committed.", &[]);
    host.end();
    assert!(asked(&host).is_empty(), "who excludes the guard waits for it");
    host.put("git", "status", DIRTY);
    host.fire(Event::Stored { id, outcome: Ok(()) });
    assert!(shown(&host).contains("git commit -am x") && shown(&host).contains("?? .env"), "{}", shown(&host));
    judge(&mut host, &["FLAG:.env is in it"]);
    assert_eq!(steers(&host), ["[g] .env is in it. Add files by name."]);
}

#[test]
fn guards_that_do_not_refuse_share_the_answer_for_one_call_and_not_for_two() {
    let watching = || json!({"actions": {"on_flag": {"block": false}}});
    let other = Value::Object(
        guard(watching()).as_object().unwrap().clone().into_iter().chain([("name".into(), json!("h"))]).collect(),
    );
    let mut host = host_in(Ok(DIRTY), &[guard(watching()), other]);
    host.user("commit");
    let refreshes =
        |effects: &[Effect]| effects.iter().filter(|effect| matches!(effect, Effect::Refresh { .. })).count();
    let first = hold_back(&mut host, Event::ToolStart { call: commit() });
    assert_eq!(refreshes(&first), 1);
    let second = hold_back(
        &mut host,
        Event::ToolStart {
            call: ToolCall { id: "2".into(), arguments: r#"{"command": "git commit -m y"}"#.into(), ..commit() },
        },
    );
    assert_eq!(refreshes(&second), 1);
    host.put("git", "status", DIRTY);
    for effects in [first, second] {
        host.fire(Event::Stored { id: refreshed(&effects).unwrap(), outcome: Ok(()) });
    }
    assert_eq!(asked(&host), ["g", "h", "g", "h"]);
}

#[test]
fn who_hears_of_more_while_it_looks_looks_again() {
    let mut host = host_in(Ok(DIRTY), &[commits("m", json!({"event": "message_end"})), commits("n", json!({}))]);
    host.user("go");
    let say = |host: &mut TestHost, text: &str| {
        host.append(EntryBody::Assistant(AssistantMessage {
            content: vec![Content::Text(text.into())],
            stop_reason: StopReason::Stop,
            usage: None,
            model: None,
            error: None,
        }))
    };
    let message = say(&mut host, "Soon.");
    let slow = refreshed(&hold_back(&mut host, Event::MessageEnd { message })).unwrap();
    let message = say(&mut host, "Committed.");
    let quick = refreshed(&hold_back(&mut host, Event::MessageEnd { message })).unwrap();
    assert_eq!(refreshed(&hold_back(&mut host, Event::AgentEnd)), None, "there is nothing new");
    host.put("git", "status", DIRTY);
    host.fire(Event::Stored { id: slow, outcome: Ok(()) });
    assert!(asked(&host).is_empty(), "that was before the commit");
    host.put("git", "status", "## main\n");
    host.fire(Event::Stored { id: quick, outcome: Ok(()) });
    assert_eq!(asked(&host), ["m", "n"]);
    assert!(calls(&host)[0].messages[0].text.contains("(nothing changed, staged or untracked)"));
}

#[test]
fn what_was_being_looked_up_is_forgotten_on_another_branch_and_by_who_is_silenced() {
    for end in ["branch", "dismiss", "off", "interrupt"] {
        let mut host = host_in(Ok(DIRTY), &[commits("m", json!({}))]);
        host.user("go");
        host.turn("Done.", &[]);
        let id = refreshed(&hold_back(&mut host, Event::AgentEnd)).unwrap();
        match end {
            "branch" => _ = host.fire(Event::BranchChanged),
            "dismiss" => run(&mut host, "monitors", "m dismiss"),
            "off" => run(&mut host, "monitors", "off"),
            _ => _ = host.fire(Event::AgentSettled { reason: SettledReason::Interrupted }),
        }
        host.put("git", "status", DIRTY);
        host.fire(Event::Stored { id, outcome: Ok(()) });
        assert!(calls(&host).is_empty(), "{end}");
        assert_eq!(remembered(&host)["run"], Value::Null, "{end}");
    }
}

#[test]
fn a_monitor_whose_file_is_gone_or_changed_meanwhile_does_not_keep_the_others_waiting() {
    for (change, told) in [("gone", vec!["n"]), ("changed", vec!["n"])] {
        let mut host = host_in(Ok(DIRTY), &[commits("m", json!({})), commits("n", json!({}))]);
        host.user("go");
        host.turn("Done.", &[]);
        let id = refreshed(&hold_back(&mut host, Event::AgentEnd)).unwrap();
        let file = ("project".to_owned(), "monitors/m.monitor.json".to_owned());
        match change {
            "gone" => _ = host.files.remove(&file).unwrap(),
            _ => _ = host.files.insert(file, commits("m", json!({"ceiling": 1})).to_string()),
        }
        host.put("git", "status", DIRTY);
        host.fire(Event::Stored { id, outcome: Ok(()) });
        assert_eq!(asked(&host), told, "{change}");
        judge(&mut host, &["FLAG:a"]);
        assert_eq!(steers(&host), ["[n] a. S."], "{change}");
    }
}

#[test]
fn a_question_that_is_refused_for_its_form_is_asked_again_with_a_look_of_its_own() {
    let mut host = host_in(Ok(DIRTY), &[commits("m", json!({}))]);
    exchange(&mut host, "go", "Done.");
    let id = call_ids(&host)[0];
    host.made.insert(("git".into(), "status".into()), Ok("## main\n M later\n".into()));
    host.take_effects();
    host.answer(id, Err(LlmError::Provider("400: response_format json_schema is not supported".into())));
    assert_eq!(looked_up(&host).len(), 1);
    assert!(shown(&host).contains(" M later"));
    judge(&mut host, &["FLAG:a"]);
    assert_eq!(steers(&host), ["[m] a. S."]);
}
