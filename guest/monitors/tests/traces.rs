//! What is told of judgements afterwards: `/monitors why`, `wrong`, `log` and `cost`.
#![allow(clippy::unwrap_used, reason = "tests may")]

mod support;

use chaperone_sdk::*;
use serde_json::json;
use support::*;

/// What became of the latest judgement.
fn became(host: &TestHost) -> Vec<&str> {
    let consequences = &host.traces.last().unwrap().consequences;
    consequences.iter().map(|consequence| consequence.outcome.as_str()).collect()
}

fn flagged() -> TestHost {
    let write = json!({"path": "gaps.json", "array_field": "gaps", "template": {"d": "{description}"}});
    let mut host = host_with(json!({"actions": {"on_flag": {"write": write}}}));
    exchange(&mut host, "go", "bad");
    judge(&mut host, &["FLAG:left a test failing"]);
    host.take_effects();
    host
}

fn finding(host: &TestHost) -> String {
    host.traces.iter().flat_map(|trace| &trace.consequences).find_map(|it| it.finding.clone()).unwrap()
}

#[test]
fn the_host_is_told_what_became_of_each_verdict() {
    assert_eq!(became(&flagged()), ["noted", "steered", "recorded"]);
    for (answer, expected) in [("CLEAN", "passed"), ("perhaps", "no_verdict"), ("NEW:p q|x", "noted")] {
        let mut host = host_with(json!({"actions": {"on_new": {"steer": null, "learn_pattern": false}}}));
        exchange(&mut host, "go", "bad");
        judge(&mut host, &[answer]);
        assert_eq!(became(&host), [expected], "{answer}");
        assert!(host.traces[0].evidence.is_some());
    }
}

#[test]
fn what_the_agent_was_not_told_is_dropped() {
    let mut host = host(&[monitor("m", json!({"event": "turn_end"}))]);
    host.user("go");
    host.turn("bad", &[]);
    judge(&mut host, &["FLAG:x"]);
    monitors(&mut host, "off");
    assert_eq!(became(&host), ["noted", "dropped"]);
}

#[test]
fn the_ceiling_and_what_the_user_decides_there_are_told() {
    let mut host = host_with(json!({"ceiling": 1}));
    for prompt in ["1", "2"] {
        exchange(&mut host, prompt, "bad");
        host.answer_all(|_| Ok("FLAG:x".into()));
    }
    assert_eq!(became(&host), ["noted", "ceiling"]);
    answer_dialog(&mut host, Answer::Confirmed(false));
    assert_eq!(became(&host), ["noted", "ceiling", "dismissed"]);
}

#[test]
fn a_judge_that_need_not_be_asked_is_told_as_spared_with_the_reason() {
    let mut host = host_with(json!({}));
    exchange(&mut host, "go", "done");
    judge(&mut host, &["CLEAN"]);
    host.end();
    assert_eq!(became(&host), ["spared"]);
    let detail = host.traces.last().unwrap().consequences[0].detail.as_deref();
    assert_eq!(detail, Some("known: this evidence was judged before"));
}

#[test]
fn why_tells_verdict_call_consequences_and_shows_question_and_answer() {
    let mut host = flagged();
    let finding = finding(&host);
    for asked_for in [&finding[..], &finding[..6], "1", "#1"] {
        host.take_effects();
        let text = monitors(&mut host, &format!("why {asked_for}"));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "[m] FLAG — left a test failing");
        assert!(lines[1].starts_with("judgement: #1, 2023-11-14T22:13:20.000Z, session fake"), "{text}");
        assert_eq!(lines[2], format!("finding: {finding}"));
        assert!(lines[3].starts_with("evidence: up to entry e2, digest "), "{text}");
        assert_eq!(lines[4], "judge: fake/judge, 0 ms, ended by stop");
        assert!(text.ends_with("recorded: workspace:gaps.json") && text.contains(" steered\n"), "{text}");
        let notice = notices(&host, "monitor-trace")[0];
        let lines: Vec<&str> = notice.details.iter().map(|line| line[0].text.as_str()).collect();
        assert_eq!(lines[..3], ["answer", "  FLAG:left a test failing", "evidence"]);
        assert!(lines.contains(&"instructions") && lines.iter().any(|line| line.contains("[warning] pd")));
    }
}

#[test]
fn why_says_what_is_unknown_or_means_several() {
    let mut host = flagged();
    assert!(monitors(&mut host, "why x").starts_with("No judgement `x` is kept"));
    assert!(monitors(&mut host, "why 99").starts_with("No judgement `99` is kept"));
    assert_eq!(monitors(&mut host, "why"), "Usage: /monitors why <finding>");
    exchange(&mut host, "again", "bad");
    judge(&mut host, &["FLAG:y"]);
    host.take_effects();
    let several = monitors(&mut host, "why m-");
    assert!(several.starts_with("`m-` is the beginning of several findings:\n  #1 ") && several.contains("\n  #2 "));
}

#[test]
fn the_log_has_a_line_for_each_judgement_the_newest_last() {
    let mut host = flagged();
    exchange(&mut host, "again", "good");
    judge(&mut host, &["CLEAN"]);
    host.take_effects();
    let finding = finding(&host);
    assert_eq!(
        monitors(&mut host, "log"),
        format!(
            "#1 2023-11-14 22:13 [m] FLAG — left a test failing ({finding}) → noted, steered, recorded\n\
             #2 2023-11-14 22:13 [m] CLEAN → passed"
        )
    );
    assert_eq!(monitors(&mut host, "log 1"), "#2 2023-11-14 22:13 [m] CLEAN → passed");
    assert!(monitors(&mut host, "log m 1").starts_with("#2 "));
    assert_eq!(monitors(&mut host, "log other"), "No judgements of `other` are kept.");
    assert_eq!(monitors(&mut host, "log 0"), "Usage: /monitors log [<name>] [<number>]");
}

#[test]
fn wrong_counts_a_finding_once_and_offers_a_rule_that_the_user_may_word() {
    let mut host = flagged();
    let finding = finding(&host);
    assert_eq!(monitors(&mut host, &format!("wrong {finding}")), "[m] Counted as wrong: FLAG — left a test failing");
    let (_, title, text) = dialogs(&host)[0];
    assert_eq!(title, "[m] Add a rule, so that this is not found again?");
    assert_eq!(text, "This is no fault: left a test failing");
    answer_dialog(&mut host, Answer::Entered("Tests named wip may fail.".into()));
    assert_eq!(note(&host), "[m] Rule added: Tests named wip may fail.");
    let rules = json_file(&host, "project", "monitors/m.instructions.json");
    assert_eq!(rules[0]["text"], "Tests named wip may fail.");
    assert_eq!(became(&host), ["noted", "steered", "recorded", "wrong"]);
    host.take_effects();
    assert_eq!(monitors(&mut host, "wrong 1"), "[m] #1 counts as wrong already");
    assert!(monitors(&mut host, "cost").contains("; 1 of 1 findings wrong (100 %)"));
}

#[test]
fn wrong_says_how_to_add_the_rule_where_nobody_can_be_asked() {
    let mut host = flagged();
    host.session.mode = Mode::OneShot;
    assert_eq!(
        monitors(&mut host, "wrong 1"),
        "[m] Counted as wrong: FLAG — left a test failing\n\
         /monitors m rules add This is no fault: left a test failing"
    );
    assert!(dialogs(&host).is_empty());
    for answer in [Answer::Dismissed, Answer::Entered(" ".into())] {
        let mut host = flagged();
        monitors(&mut host, "wrong 1");
        answer_dialog(&mut host, answer);
        assert_eq!(host.file("project", "monitors/m.instructions.json"), None);
    }
}

#[test]
fn only_a_finding_can_be_wrong() {
    let mut host = host_with(json!({}));
    exchange(&mut host, "go", "good");
    judge(&mut host, &["CLEAN"]);
    host.take_effects();
    assert_eq!(monitors(&mut host, "wrong 1"), "[m] #1 is no finding: CLEAN");
    assert_eq!(became(&host), ["passed"]);
}

#[test]
fn cost_tells_of_this_session_and_of_the_project() {
    let mut host = flagged();
    host.session.session_id = "other".into();
    exchange(&mut host, "again", "good");
    judge(&mut host, &["CLEAN"]);
    host.take_effects();
    assert_eq!(
        monitors(&mut host, "cost"),
        "This session\n  m: 1 calls, 0 tokens in, 0 out; 1 clean, 0 flagged, 0 new\n\
         This project, since 2023-11-14\n  m: 2 calls, 0 tokens in, 0 out; 1 clean, 1 flagged, 0 new"
    );
}

#[test]
fn without_traces_the_commands_say_so() {
    let mut host = host_with(json!({}));
    assert_eq!(monitors(&mut host, "log"), "No judgements are kept of this project.");
    assert_eq!(monitors(&mut host, "cost"), "No judgements are kept of this project.");
}
