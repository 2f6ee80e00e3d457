//! What is kept of judgements, and told of them afterwards: `/auto-goal log`, `why` and `cost`.
#![allow(clippy::unwrap_used, reason = "tests may")]

mod support;

use chaperone_sdk::fake::completion;
use chaperone_sdk::*;
use chaperone_stop_guard::file;
use serde_json::json;
use support::*;

/// What became of the latest judgement.
fn became(host: &TestHost) -> Vec<(&str, Option<&str>)> {
    let consequences = &host.traces.last().unwrap().consequences;
    consequences.iter().map(|became| (became.outcome.as_str(), became.detail.as_deref())).collect()
}

fn judged(answer: &str) -> TestHost {
    let mut host = host_with(json!({"maxAutoContinues": 1}));
    stops(&mut host, "go", "half");
    judge(&mut host, answer);
    host
}

#[test]
fn the_host_is_told_what_became_of_each_verdict() {
    let unsure = verdict("continue", 0.4, "x");
    for (answer, expected) in [
        (stop(), ("passed", Some("confidence 92%"))),
        (go_on(), ("steered", Some("confidence 90%, continuation 1 (of 1)"))),
        (unsure, ("unsure", Some("confidence 40%, below 60%"))),
        ("perhaps".into(), ("no_verdict", None)),
    ] {
        assert_eq!(became(&judged(&answer)), [expected], "{answer}");
    }
    let mut host = judged(&go_on());
    goes_on(&mut host, "half");
    judge(&mut host, &go_on());
    assert_eq!(became(&host), [("limit_reached", Some("confidence 90%, sent back 1 times (of 1)"))]);
}

#[test]
fn a_first_attempt_that_said_nothing_is_kept_beside_the_second_one() {
    let mut host = host();
    stops(&mut host, "go", "half");
    let (id, _) = call(&host);
    host.take_effects();
    host.answer(id, Ok(Completion { stop_reason: StopReason::Length, ..completion("") }));
    assert_eq!((became(&host), host.traces[0].verdict), (vec![("asked_again", None)], None));
    judge(&mut host, &stop());
    assert_eq!((became(&host)[0].0, host.traces.len()), ("passed", 2));
}

#[test]
fn a_verdict_that_is_not_wanted_any_more_is_kept_as_discarded_with_the_reason() {
    let discarded = |meanwhile: fn(&mut TestHost)| {
        let mut host = host();
        stops(&mut host, "go", "half");
        let (id, _) = call(&host);
        meanwhile(&mut host);
        host.answer(id, Ok(completion(go_on())));
        let trace = host.traces.last().unwrap();
        assert_eq!(trace.answer, Some(go_on()), "it was paid for");
        assert_eq!(became(&host)[0].0, "discarded");
        became(&host)[0].1.unwrap().to_owned()
    };
    assert_eq!(discarded(|host| host.session.input_pending = true), "the user has typed something");
    assert_eq!(discarded(|host| run(host, "disable")), "the stop guard was switched off while the judge was thinking");

    let mut host = host();
    stops(&mut host, "go", "half");
    let (id, _) = call(&host);
    host.fire(Event::AgentStart);
    host.answer(id, Err(LlmError::Cancelled));
    let went_on = "the agent or the user went on before the judge had spoken";
    assert_eq!(became(&host), [("discarded", Some(went_on))], "the call was ended");
}

#[test]
fn a_configuration_that_breaks_while_the_judge_is_thinking_leaves_one_trace_without_a_verdict() {
    let mut host = host();
    stops(&mut host, "go", "half");
    host.put(file::MOUNT, file::PATH, "{");
    judge(&mut host, &go_on());
    assert_eq!((became(&host), host.traces.len()), (vec![("no_verdict", None)], 1));
    let trace = &host.traces[0];
    assert_eq!((trace.verdict, trace.answer.as_ref()), (Some(Verdict::Unknown), Some(&go_on())));
    assert!(trace.description.as_ref().unwrap().contains("config.json is rejected: it is not JSON"));
}

#[test]
fn a_verdict_that_is_forced_rests_on_no_call_and_nothing_is_decided_about_it() {
    let mut host = host_with(json!({"forcedDecision": "continue"}));
    stops(&mut host, "go", "half");
    assert!(host.effects().iter().all(|effect| !matches!(effect, Effect::Decided(_))));
}

#[test]
fn the_log_has_a_line_for_each_judgement_the_newest_last() {
    let mut host = judged(&go_on());
    goes_on(&mut host, "all of it");
    judge(&mut host, &stop());
    run(&mut host, "log");
    assert_eq!(
        note(&host),
        "#1 2023-11-14 22:13 [stop-guard] FLAG — the tests were not run → steered\n\
         #2 2023-11-14 22:13 [stop-guard] CLEAN → passed"
    );
    run(&mut host, "log 1");
    assert_eq!(note(&host), "#2 2023-11-14 22:13 [stop-guard] CLEAN → passed");
}

#[test]
fn why_tells_of_the_latest_judgement_or_of_the_one_that_is_named() {
    let mut host = judged(&go_on());
    goes_on(&mut host, "all of it");
    judge(&mut host, &stop());
    for (line, first, answer) in [
        ("why", "[stop-guard] CLEAN", stop()),
        ("why 2", "[stop-guard] CLEAN", stop()),
        ("why #1", "[stop-guard] FLAG — the tests were not run", go_on()),
    ] {
        run(&mut host, line);
        assert_eq!(note(&host).lines().next(), Some(first), "{line}");
        let shown = host.effects().iter().find_map(|effect| match effect {
            Effect::Show(notice) => Some(notice),
            _ => None,
        });
        let shown = shown.unwrap();
        assert_eq!(shown.custom_type, "auto-goal-trace");
        let texts: Vec<&str> = shown.details.iter().map(|line| line[0].text.as_str()).collect();
        assert_eq!(texts[..2], ["answer", &format!("  {answer}")]);
        assert!(texts.contains(&"evidence") && texts.contains(&"instructions"));
    }
    assert!(note(&host).ends_with("steered: confidence 90%, continuation 1 (of 1)"), "{}", note(&host));
    run(&mut host, "why 9");
    let none = "[auto-goal] No judgement `9` is kept; /auto-goal log lists those of this session and of earlier ones";
    assert_eq!(notes(&host), [(none, Tone::Error)]);
}

#[test]
fn cost_tells_of_this_session_and_of_the_project() {
    let mut host = judged(&go_on());
    host.session.session_id = "other".into();
    host.settle(SettledReason::Finished);
    judge(&mut host, &stop());
    run(&mut host, "cost");
    assert_eq!(
        note(&host),
        "This session\n  stop-guard: 1 calls, 0 tokens in, 0 out; 1 clean, 0 flagged, 0 new\n\
         This project, since 2023-11-14\n  stop-guard: 2 calls, 0 tokens in, 0 out; 1 clean, 1 flagged, 0 new"
    );
}

#[test]
fn where_nothing_is_kept_the_commands_say_so() {
    let mut host = host();
    for line in ["log", "cost"] {
        run(&mut host, line);
        assert_eq!(note(&host), "No judgements are kept of this project.");
    }
    run(&mut host, "why");
    let none = "[auto-goal] No judgement of this session is kept; /auto-goal log lists those of earlier ones";
    assert_eq!(notes(&host), [(none, Tone::Error)]);
}
