//! `/config:auto-goal`, the panel, and the file behind both.
#![allow(clippy::unwrap_used, reason = "tests may")]

mod support;

use chaperone_sdk::*;
use chaperone_stop_guard::file;
use serde_json::{Value, json};
use support::*;

/// The only open panel: its lines.
fn panel(host: &TestHost) -> (RequestId, Vec<Setting>) {
    let panels: Vec<_> = host
        .effects()
        .iter()
        .filter_map(|effect| match effect {
            Effect::Ask { id, prompt: Prompt::Settings((title, rows)) } => {
                assert_eq!(title, "auto-goal");
                Some((*id, rows.clone()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(panels.len(), 1, "one panel");
    panels[0].clone()
}

/// Changes a line of an open panel.
fn set(host: &mut TestHost, id: RequestId, key: &str, value: &str) {
    host.take_effects();
    host.fire(Event::Answered { id, answer: Answer::Changed((key.into(), value.into())) });
}

fn panels(host: &TestHost) -> usize {
    host.effects().iter().filter(|effect| matches!(effect, Effect::Ask { .. })).count()
}

fn value(host: &TestHost, key: &str) -> String {
    panel(host).1.into_iter().find(|row| row.key == key).unwrap().value
}

#[test]
fn the_command_has_three_names() {
    let mut host = host();
    let Reply::Description(description) = host.fire(Event::Describe) else { panic!("no description") };
    let names: Vec<_> = description.commands.iter().map(|command| command.name.as_str()).collect();
    assert_eq!(names, ["config:auto-goal", "auto-goal", "pi-auto-goal-config"]);
    assert_eq!(description.name, "stop-guard");
    for name in names {
        host.take_effects();
        host.fire(Event::Command { name: name.into(), arguments: "model".into() });
        assert_eq!(note(&host), "[auto-goal] the session's own model judges: fake/agent");
    }
}

#[test]
fn the_panel_applies_each_change_at_once_and_stays_open_until_it_is_closed() {
    let mut host = host();
    run(&mut host, "");
    let (id, rows) = panel(&host);
    assert_eq!(rows.len(), 6);
    for (key, value) in [
        ("maxAutoContinues", "5"),
        ("enabled", "off"),
        ("model", "p/m/x"),
        ("confidenceThreshold", "0.75"),
        ("judgeMaxTokens", "500"),
        ("showVerdictNotice", "off"),
    ] {
        set(&mut host, id, key, value);
        assert_eq!(panels(&host), 0, "there is no second panel beside it");
    }
    host.take_effects();
    host.fire(Event::Answered { id, answer: Answer::Dismissed });
    assert_eq!(panels(&host), 0);
    run(&mut host, "");
    assert_eq!(value(&host, "maxAutoContinues"), "5");
    let written: Value = serde_json::from_str(config_file(&host)).unwrap();
    assert_eq!(
        written,
        json!({
            "maxAutoContinues": 5, "enabled": false, "model": "p/m/x", "confidenceThreshold": 0.75,
            "judgeMaxTokens": 500, "showVerdictNotice": false,
        })
    );
}

#[test]
fn what_a_field_may_not_be_is_told_and_not_taken() {
    let mut host = host();
    run(&mut host, "");
    let (id, _) = panel(&host);
    set(&mut host, id, "confidenceThreshold", "60");
    assert_eq!(note(&host), "[auto-goal] `confidenceThreshold` is 60; it may be a number from 0 to 1");
    assert_eq!(panels(&host), 0, "there is no second panel beside the open one");
    assert_eq!(host.file(file::MOUNT, file::PATH), None);
    host.take_effects();
    run(&mut host, "");
    assert_eq!(value(&host, "confidenceThreshold"), "0.6");
}

#[test]
fn where_nobody_can_be_asked_the_words_are_named() {
    let mut host = host();
    run(&mut host, "");
    let (id, _) = panel(&host);
    host.take_effects();
    host.fire(Event::Answered { id, answer: Answer::Unavailable });
    assert!(note(&host).contains("enable, disable, status, reset, model"));
}

#[test]
fn judgement_is_switched_off_and_on_at_once_and_in_place() {
    let mut host = host_with(json!({"timeoutSeconds": 10, "enabled": true, "maxAutoContinues": 3}));
    run(&mut host, "disable");
    assert_eq!(note(&host), "[auto-goal] judgement is off");
    let text = config_file(&host);
    let keys: Vec<String> = serde_json::from_str::<serde_json::Map<_, _>>(text).unwrap().keys().cloned().collect();
    assert_eq!(keys, ["timeoutSeconds", "enabled", "maxAutoContinues"], "each stays where it is");
    host.take_effects();
    stops(&mut host, "go", "half");
    assert_eq!(calls(&host).len(), 0);
    run(&mut host, "enable");
    stops(&mut host, "go", "half");
    assert_eq!(calls(&host).len(), 1);
}

#[test]
fn switched_off_while_the_judge_is_thinking_nothing_follows() {
    let mut host = host();
    stops(&mut host, "go", "half");
    let (id, _) = call(&host);
    run(&mut host, "disable");
    host.take_effects();
    host.answer(id, Ok(fake::completion(go_on())));
    assert_nothing_happened(&host);
}

#[test]
fn the_judge_is_shown_chosen_and_given_back() {
    let mut host = host();
    let model = ModelId { provider: "openrouter".into(), model: "qwen/qwen3".into() };
    host.models = vec![ModelInfo { id: model.clone(), context_window: None, max_output_tokens: None, reasons: true }];
    run(&mut host, "model openrouter/qwen/qwen3");
    assert_eq!(note(&host), "[auto-goal] the judge is openrouter/qwen/qwen3");
    run(&mut host, "model");
    assert_eq!(note(&host), "[auto-goal] the judge is openrouter/qwen/qwen3");
    stops(&mut host, "go", "half");
    assert_eq!(calls(&host)[0].model, Some(model));
    run(&mut host, "model default");
    assert_eq!(note(&host), "[auto-goal] the session's own model judges");
    run(&mut host, "model p/stranger");
    assert!(note(&host).ends_with("not among the models that are known here"));
    run(&mut host, "model haiku");
    assert!(note(&host).contains("`model` is \"haiku\"; it may be \"provider/modelId\""));
    let written: Value = serde_json::from_str(config_file(&host)).unwrap();
    assert_eq!(written, json!({"model": "p/stranger"}));
}

#[test]
fn status_has_the_configuration_in_force_and_how_often_the_agent_was_sent_back() {
    let mut host = host_with(json!({"judgeMaxTokens": 700}));
    stops(&mut host, "go", "half");
    judge(&mut host, &go_on());
    goes_on(&mut host, "half");
    judge(&mut host, &go_on());
    run(&mut host, "status");
    let text = note(&host);
    assert!(text.contains("judgeMaxTokens: 700") && text.contains("forcedDecision: \"auto\""), "{text}");
    assert!(text.ends_with("Sent back 2 times (of 2) for the current request, 2 times in this session."), "{text}");
    host.user("something else");
    run(&mut host, "status");
    assert!(note(&host).contains("0 times (of 2) for the current request, 2 times in this session"));
}

#[test]
fn reset_gives_back_what_was_spent() {
    let mut host = host_with(json!({"maxAutoContinues": 1}));
    stops(&mut host, "go", "half");
    judge(&mut host, &go_on());
    run(&mut host, "reset");
    run(&mut host, "status");
    assert!(note(&host).contains("Sent back 0 times (of 1) for the current request, 0 times in this session."));
    host.take_effects();
    host.settle(SettledReason::Finished);
    judge(&mut host, &go_on());
    assert_eq!(line(&host).0, "⚖️ judged premature · continuation 1/1");
}

#[test]
fn a_line_that_means_nothing_is_told() {
    let mut host = host();
    run(&mut host, "stats");
    assert_eq!(note(&host), "[auto-goal] `stats` means nothing here; did you mean `status`?");
}

#[test]
fn a_line_is_completed() {
    let mut host = host();
    let reply = host.fire(Event::CompleteCommand { name: "auto-goal".into(), prefix: "model d".into() });
    let Reply::Completions(items) = reply else { panic!("no completions") };
    assert_eq!(items.iter().map(|item| item.value.as_str()).collect::<Vec<_>>(), ["model default"]);
}

// A configuration that is wrong

#[test]
fn a_configuration_that_is_wrong_is_told_once_in_red_and_nothing_is_judged() {
    let wrong = json!({"enabled": true, "maxAutoContinue": 9, "confidenceThreshold": 7});
    let mut host = host_with(wrong.clone());
    assert_eq!(line(&host), ("⚖️ configuration rejected · not judged".into(), Tone::Error));
    assert_eq!(
        details(&host),
        [
            "fault: extensions/pi-auto-goal/config.json: `maxAutoContinue` is not a field; did you mean `maxAutoContinues`?",
            "fault: extensions/pi-auto-goal/config.json: `confidenceThreshold` is 7; it may be a number from 0 to 1",
        ]
    );
    host.take_effects();
    for _ in 0..2 {
        stops(&mut host, "go", "half");
    }
    assert_eq!((calls(&host).len(), lines(&host), host.injections().len()), (0, vec![], 0));
    assert_eq!(reported(&host), [Verdict::Unknown; 2], "for whoever counts");
    assert_eq!(config_file(&host), wrong.to_string());

    host.put(file::MOUNT, file::PATH, "{}");
    host.take_effects();
    stops(&mut host, "go", "half");
    assert_eq!((calls(&host).len(), lines(&host)), (1, vec![]));
    host.put(file::MOUNT, file::PATH, wrong.to_string());
    host.take_effects();
    stops(&mut host, "go", "half");
    assert_eq!(lines(&host).len(), 1, "it has come back");
    for (reason, told) in [(StartReason::Reload, 0), (StartReason::Resume, 1)] {
        host.take_effects();
        host.fire(Event::SessionStart { reason });
        assert_eq!(lines(&host).len(), told, "{reason:?}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_no_default() {
    let mut host = TestHost::default();
    let key = (file::MOUNT.to_owned(), file::PATH.to_owned());
    host.reads.insert(key, Err(FileError::Denied("`user` is not granted".into())));
    stops(&mut host, "go", "half");
    assert_eq!((calls(&host).len(), line(&host).1), (0, Tone::Error));
    assert!(details(&host)[0].ends_with("it cannot be read: `user` is not granted"));
}

#[test]
fn one_that_breaks_while_the_judge_is_thinking_ends_the_judgement() {
    let mut host = host();
    stops(&mut host, "go", "half");
    host.put(file::MOUNT, file::PATH, "{");
    judge(&mut host, &go_on());
    assert_eq!((host.injections().len(), reported(&host)), (0, vec![Verdict::Unknown]));
    assert_eq!(line(&host).0, "⚖️ configuration rejected · not judged");
}

#[test]
fn a_command_never_loses_text_that_it_cannot_read() {
    for broken in ["{\"enabled\": true,", "[1, 2]", "\"text\""] {
        let mut host = host();
        host.put(file::MOUNT, file::PATH, broken);
        run(&mut host, "disable");
        assert!(note(&host).contains("config.json was left as it is, since"), "{broken}: {}", note(&host));
        assert_eq!(config_file(&host), broken);
        run(&mut host, "");
        assert_eq!(panels(&host), 0);
        assert!(note(&host).contains("no stop is judged until it is mended"), "{}", note(&host));
    }
}

#[test]
fn a_command_can_mend_the_field_that_it_sets_and_tells_what_is_still_wrong() {
    let mut host = host_with(json!({"model": 7, "enabled": "yes"}));
    run(&mut host, "model default");
    assert!(note(&host).contains("`enabled` is \"yes\"") && !note(&host).contains("`model`"), "{}", note(&host));
    run(&mut host, "enable");
    assert_eq!(note(&host), "[auto-goal] judgement is on");
}

#[test]
fn a_change_that_cannot_be_written_is_told() {
    let mut host = host();
    host.file_errors.push_back(FileError::Denied("read-only".into()));
    run(&mut host, "disable");
    assert_eq!(
        notes(&host),
        [(
            "[auto-goal] extensions/pi-auto-goal/config.json was left as it is, since the file may not be written: read-only",
            Tone::Error
        )]
    );
}
