//! `/monitors …` and `/name`.
#![allow(clippy::unwrap_used, reason = "tests may")]

mod support;

use chaperone_sdk::*;
use serde_json::{Value, json};
use support::*;

fn rules(host: &TestHost) -> Value {
    json_file(host, "project", "monitors/m.instructions.json")
}

#[test]
fn a_monitor_that_cannot_be_used_is_listed_with_the_reason() {
    let mut host = host(&[monitor("m", json!({})), monitor("n", json!({"when": "user_say(commit)"}))]);
    let list = monitors(&mut host, "");
    assert!(list.contains("\n  n — out of service: `user_say` is not a known condition\n(1 fault"), "{list}");
    for line in ["n", "n patterns", "trust n"] {
        let answer = monitors(&mut host, line);
        assert!(
            answer.starts_with("[n] is out of service: project:monitors/n.monitor.json#/when: "),
            "{line}: {answer}"
        );
    }
    assert!(monitors(&mut host, "nn").starts_with("Unknown monitor: nn"));
}

#[test]
fn a_check_counts_those_that_are_not_trusted() {
    let mut host = host(&[monitor("m", json!({})), monitor("n", json!({}))]);
    assert_eq!(monitors(&mut host, "check"), "2 monitors, no faults");
    monitors(&mut host, "untrust n");
    assert_eq!(monitors(&mut host, "check"), "2 monitors, no faults; 1 inactive until trusted: /monitors trust");
}

#[test]
fn the_list_shows_the_global_state_and_each_monitor_in_every_mode() {
    for mode in [Mode::Interactive, Mode::Rpc, Mode::OneShot] {
        let mut host = host(&[
            monitor("a", json!({"event": "message_end", "when": "has_tool_results"})),
            monitor("b", json!({"scope": {"target": "subagent"}, "actions": {"on_flag": null, "on_new": null}})),
            monitor("c", json!({"event": "command"})),
        ]);
        host.session.mode = mode;
        assert_eq!(
            monitors(&mut host, ""),
            "monitors: ON\n  a [message_end, when: has_tool_results] — idle\n  b [agent_end] [scope:subagent] — idle\n  \
             c [command] — idle"
        );
        assert_eq!(monitors(&mut host, "off"), "All monitors paused for this session");
        assert!(monitors(&mut host, "").starts_with("monitors: OFF (all monitoring paused)\n  a "));
        assert_eq!(monitors(&mut host, "on"), "Monitors enabled");
        assert!(monitors(&mut host, "").starts_with("monitors: ON\n"));
    }
}

#[test]
fn the_list_tells_engaged_and_dismissed_monitors() {
    let mut host = host(&[monitor("a", json!({})), monitor("b", json!({}))]);
    exchange(&mut host, "go", "bad");
    judge(&mut host, &["FLAG:x", "CLEAN"]);
    assert_eq!(monitors(&mut host, "b dismiss"), "[b] Dismissed for this session");
    assert_eq!(monitors(&mut host, ""), "monitors: ON\n  a [agent_end] — engaged (1/5)\n  b [agent_end] — dismissed");
    assert_eq!(monitors(&mut host, "a reset"), "[a] Reset");
    assert_eq!(monitors(&mut host, "b reset"), "[b] Reset");
    assert_eq!(monitors(&mut host, ""), "monitors: ON\n  a [agent_end] — idle\n  b [agent_end] — idle");
}

#[test]
fn the_status_follows_on_off_and_dismiss() {
    let mut host = host_with(json!({}));
    for (command, expected) in
        [("off", "monitors:OFF"), ("on", "monitors:1"), ("m dismiss", "1 dismissed"), ("m reset", "monitors:1")]
    {
        monitors(&mut host, command);
        assert_eq!(status(&host).unwrap(), expected);
    }
}

#[test]
fn a_monitor_is_inspected_in_four_lines() {
    let mut host = host_with(json!({"description": "Looks for x", "when": "every(2)", "ceiling": 3}));
    assert_eq!(
        monitors(&mut host, "m"),
        "[m] Looks for x\nevent: agent_end, when: every(2), scope: main\nstate: idle, ceiling: 3, escalate: ask\n\
         rules: 0, patterns: 1"
    );
}

#[test]
fn rules_are_added_listed_replaced_and_removed_in_their_file() {
    let mut host = host_with(json!({}));
    assert_eq!(monitors(&mut host, "m rules"), "[m] (no rules)");
    assert_eq!(
        monitors(&mut host, "m rules add grep exit code 1 is no error"),
        "[m] Rule added: grep exit code 1 is no error"
    );
    assert_eq!(monitors(&mut host, "m rules add two"), "[m] Rule added: two");
    assert_eq!(monitors(&mut host, "m rules"), "[m] rules:\n1. grep exit code 1 is no error\n2. two");
    assert_eq!(monitors(&mut host, "m rules replace 2 zwei"), "[m] Replaced rule 2:\n  was: two\n  now: zwei");
    assert_eq!(monitors(&mut host, "m rules remove 1"), "[m] Removed rule 1: grep exit code 1 is no error");
    let now = "2023-11-14T22:13:20.000Z";
    assert_eq!(rules(&host), json!([{"text": "zwei", "added_at": now}]));
    assert!(monitors(&mut host, "m").ends_with("rules: 1, patterns: 1"));
}

#[test]
fn rules_reach_the_judge() {
    let mut host = host_with(json!({}));
    monitors(&mut host, "m rules add be kind");
    exchange(&mut host, "go", "x");
    assert!(calls(&host)[0].system.as_ref().unwrap().contains("follow these strictly):\n- be kind\n"));
}

#[test]
fn d12_a_rules_text_is_kept_verbatim() {
    let mut host = host_with(json!({}));
    assert_eq!(monitors(&mut host, "m rules add  three   spaced "), "[m] Rule added: three   spaced");
    assert_eq!(rules(&host)[0]["text"], "three   spaced");
}

#[test]
fn d12_a_rules_file_that_cannot_be_read_is_refused_with_file_and_reason_and_never_written() {
    for text in [r#"[{"text":"one"},{"text":"two"},]"#, "{}", ""] {
        let mut host = host_with(json!({}));
        host.put("project", "monitors/m.instructions.json", text);
        for command in ["m rules", "m rules add three", "m rules remove 1", "m rules replace 1 x"] {
            let answer = monitors(&mut host, command);
            assert!(answer.starts_with("[m] project:monitors/m.instructions.json: is not "), "{answer}");
            assert!(matches!(&host.effects()[0], Effect::Notify { tone: Tone::Error, .. }));
        }
        assert_eq!(host.file("project", "monitors/m.instructions.json"), Some(text));
        assert!(monitors(&mut host, "m").contains("rules: unreadable (project:monitors/m.instructions.json: "));
    }
}

#[test]
fn an_edit_is_answered_only_when_it_is_stored() {
    let mut host = host_with(json!({}));
    host.file_errors.push_back(FileError::Denied("no grant".into()));
    assert_eq!(monitors(&mut host, "m rules add x"), "[m] Not saved, since the file may not be written: no grant");
    let event = Event::Command { name: "monitors".into(), arguments: "m rules add x".into() };
    let outcome = host.call(event);
    assert!(!outcome.effects.iter().any(|effect| matches!(effect, Effect::Notify { .. })));
}

#[test]
fn a_number_that_no_rule_has_is_told_with_how_many_there_are() {
    let mut host = host_with(json!({}));
    assert_eq!(monitors(&mut host, "m rules remove 1"), "[m] Invalid index 1: there are no rules");
    monitors(&mut host, "m rules add x");
    assert_eq!(monitors(&mut host, "m rules replace 2 y"), "[m] Invalid index 2: there is 1 rule");
    assert_eq!(rules(&host).as_array().unwrap().len(), 1);
}

#[test]
fn an_added_rule_is_tried_again_after_a_conflict_and_a_numbered_one_is_left_to_the_user() {
    let conflict = || FileError::Conflict("test failed".into());
    let mut host = host_with(json!({}));
    host.file_errors.extend([conflict(), conflict()]);
    assert_eq!(monitors(&mut host, "m rules add x"), "[m] Rule added: x");
    host.file_errors.push_back(conflict());
    assert_eq!(
        monitors(&mut host, "m rules remove 1"),
        "[m] Not saved, since the rules were changed meanwhile; see /monitors m rules"
    );
    assert_eq!(rules(&host).as_array().unwrap().len(), 1);
}

#[test]
fn patterns_are_listed_with_severity_and_source() {
    let mut host = host_with(json!({}));
    let patterns =
        r#"[{"id":"a","description":"first","severity":"error","source":"bundled"},{"id":"b","description":"second"}]"#;
    host.put("project", "monitors/m.patterns.json", patterns);
    assert_eq!(monitors(&mut host, "m patterns"), "[m] patterns:\n1. [error] first (bundled)\n2. [warning] second");
    host.put("project", "monitors/m.patterns.json", "[]");
    assert_eq!(monitors(&mut host, "m patterns"), "[m] (no patterns: the monitor will not classify)");
}

#[test]
fn a_line_that_means_nothing_is_an_error_that_says_what_would() {
    let mut host = host_with(json!({}));
    for (line, answer) in [
        ("nope", "Unknown monitor: nope\nAvailable: m"),
        ("m paint", "Unknown subcommand: paint\nAvailable: rules, patterns, dismiss, reset"),
        ("m rules paint", "Unknown rules action: paint\nAvailable: add, remove, replace"),
        ("m rules remove 2abc", "Usage: /monitors m rules remove <number>"),
    ] {
        assert_eq!(monitors(&mut host, line), answer);
        assert!(matches!(&host.effects()[0], Effect::Notify { tone: Tone::Error, .. }));
    }
}

#[test]
fn help_names_every_word_that_can_be_typed() {
    let help = monitors(&mut host_with(json!({})), "help");
    for word in
        ["on | off", "check", "init", "rules add", "rules remove", "rules replace", "patterns", "dismiss", "reset"]
    {
        assert!(help.contains(word), "{word}");
    }
}

#[test]
fn check_tells_every_fault_to_people_and_programs() {
    let mut host = host_with(json!({}));
    host.put("project", "monitors/bad.monitor.json", r#"{"name":"bad","event":"message_ended"}"#);
    let answer = monitors(&mut host, "check");
    assert!(answer.starts_with("1 monitor, "), "{answer}");
    assert!(answer.contains("project:monitors/bad.monitor.json#/event: "), "{answer}");
    let notice = notices(&host, "monitor-check")[0];
    let data: Value = serde_json::from_str(notice.data.as_ref().unwrap()).unwrap();
    assert_eq!(data["faults"][0]["file"], "monitors/bad.monitor.json");
    assert_eq!(notice.details.len(), data["faults"].as_array().unwrap().len());

    host.files.remove(&("project".into(), "monitors/bad.monitor.json".into()));
    assert_eq!(monitors(&mut host, "check"), "1 monitor, no faults");
}

fn commanded() -> TestHost {
    let mut host = host_with(json!({"event": "command", "ceiling": 2}));
    exchange(&mut host, "go", "done");
    host.take_effects();
    host
}

#[test]
fn a_command_monitor_is_offered_by_name_with_its_description() {
    let mut host = host(&[
        monitor("a", json!({"event": "command"})),
        monitor("b", json!({"event": "command", "description": "Looks"})),
    ]);
    let Reply::Description(description) = host.fire(Event::Describe) else { panic!("a description") };
    let commands: Vec<(&str, &str)> =
        description.commands.iter().map(|command| (command.name.as_str(), command.description.as_str())).collect();
    assert_eq!(commands[1..], [("a", "Run a monitor"), ("b", "Looks")]);
    assert_eq!(commands[0].0, "monitors");
}

#[test]
fn d06_an_explicit_run_always_runs_and_always_answers() {
    let mut host = commanded();
    for before in ["", "off", "on", "m dismiss"] {
        if !before.is_empty() {
            monitors(&mut host, before);
        }
        host.take_effects();
        run(&mut host, "m", "");
        judge(&mut host, &["CLEAN"]);
        assert_eq!(note(&host), "[m] CLEAN", "after {before:?}");
    }
}

#[test]
fn d06_what_an_explicit_run_finds_is_answered_and_steers_at_once() {
    let mut host = commanded();
    run(&mut host, "m", "ignored");
    judge(&mut host, &["FLAG:x"]);
    assert_eq!(note(&host), "[m] FLAG: x");
    assert_eq!(steers(&host), ["[m] x. S."]);
    assert_eq!(notices(&host, "monitor-verdict").len(), 1);
    host.take_effects();
    run(&mut host, "m", "");
    judge(&mut host, &["NEW:p q|y"]);
    assert_eq!(note(&host), "[m] NEW: y");
    assert_eq!(steers(&host), ["[m] y — new pattern learned. S."]);
}

#[test]
fn d06_one_at_a_time_and_the_second_run_is_told() {
    let mut host = commanded();
    run(&mut host, "m", "");
    run(&mut host, "m", "");
    assert_eq!(note(&host), "[m] is being judged already");
    judge(&mut host, &["CLEAN"]);
}

#[test]
fn d06_a_judge_that_fails_is_answered_every_time_and_backs_nothing_off() {
    let mut host = commanded();
    for _ in 0..3 {
        host.take_effects();
        run(&mut host, "m", "");
        host.answer_all(|_| Err(LlmError::TimedOut));
        assert_eq!(note(&host), "[m] No verdict: the judge did not answer in time");
    }
    host.take_effects();
    run(&mut host, "m", "");
    host.answer_all(|_| Err(LlmError::Cancelled));
    assert_eq!(note(&host), "[m] The call was ended early: no verdict");
}

#[test]
fn an_explicit_run_does_not_wait_for_the_monitors_of_a_run() {
    let mut host =
        host(&[monitor("a", json!({})), monitor("m", json!({"event": "command", "classify": {"excludes": ["a"]}}))]);
    exchange(&mut host, "go", "bad");
    run(&mut host, "m", "");
    assert_eq!(asked(&host), ["a", "m"]);
    let id = call_ids(&host)[1];
    host.answer(id, Ok(fake::completion("FLAG:x")));
    assert_eq!(steers(&host), ["[m] x. S."]);
}

#[test]
fn an_explicit_run_answers_after_a_new_message_of_the_user_and_leaves_the_agent_alone() {
    for event in [Event::Input { content: Vec::new() }, Event::AgentSettled { reason: SettledReason::Interrupted }] {
        let mut host = commanded();
        run(&mut host, "m", "");
        host.fire(event);
        judge(&mut host, &["FLAG:x"]);
        assert_eq!(note(&host), "[m] FLAG: x");
        assert!(host.injections().is_empty());
    }
}

#[test]
fn an_explicit_run_is_bound_by_the_ceiling_as_well() {
    let mut host = commanded();
    for _ in 0..3 {
        host.take_effects();
        run(&mut host, "m", "");
        judge(&mut host, &["FLAG:x"]);
    }
    assert!(host.injections().is_empty());
    answer_dialog(&mut host, Answer::Confirmed(true));
    assert_eq!(steers(&host), ["[m] x. S."]);
}

#[test]
fn an_explicit_run_that_cannot_be_made_says_why() {
    let mut host = commanded();
    host.put("project", "monitors/m.patterns.json", "[]");
    run(&mut host, "m", "");
    assert_eq!(note(&host), "[m] cannot be judged: there are no patterns in project:monitors/m.patterns.json");
    host.take_effects();
    run(&mut host, "gone", "");
    assert_eq!(note(&host), "[gone] is no monitor that can be run as a command");
}

#[test]
fn completion_goes_from_words_to_verbs_to_edits() {
    let mut host = host_with(json!({"description": "Looks"}));
    let mut complete =
        |prefix: &str| match host.call(Event::CompleteCommand { name: "monitors".into(), prefix: prefix.into() }) {
            fake::Outcome { reply: Reply::Completions(items), effects } if effects.is_empty() => items,
            other => panic!("{other:?}"),
        };
    let first = complete("m");
    assert_eq!((first[0].value.as_str(), first[0].description.as_str()), ("m", "Looks → rules|patterns|dismiss|reset"));
    let verbs: Vec<String> = complete("m r").into_iter().map(|item| item.value).collect();
    assert_eq!(verbs, ["m rules", "m reset"]);
    let edits: Vec<String> = complete("m rules ").into_iter().map(|item| item.value).collect();
    assert_eq!(edits, ["m rules add", "m rules remove", "m rules replace"]);
}
