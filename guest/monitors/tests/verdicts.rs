//! What a judge's answer leads to, and what its silence does not.
#![allow(clippy::unwrap_used, reason = "tests may")]

mod support;

use chaperone_sdk::fake::completion;
use chaperone_sdk::*;
use serde_json::{Value, json};
use support::*;

fn fail(host: &mut TestHost, error: LlmError) -> usize {
    host.answer_all(|_| Err(error.clone()))
}

fn no_key() -> LlmError {
    LlmError::Authentication("no key".into())
}

#[test]
fn every_verdict_is_reported_with_its_request_and_the_newest_entry_of_the_evidence() {
    for (answer, verdict, description) in [
        ("CLEAN", Verdict::Clean, None),
        ("FLAG:x", Verdict::Flag, Some("x")),
        ("NEW:p|x", Verdict::New, Some("x")),
        ("", Verdict::Unknown, Some("the answer is empty: text 0 characters")),
    ] {
        let mut host = host_with(json!({}));
        exchange(&mut host, "go", "done");
        let leaf = host.branch.leaf().unwrap().id.clone();
        judge(&mut host, &[answer]);
        let judgement = judgements(&host)[0];
        assert_eq!((judgement.watcher.as_str(), judgement.verdict), ("m", verdict));
        assert_eq!(judgement.description.as_deref(), description);
        assert_eq!(judgement.entry.as_ref(), Some(&leaf));
        assert!(judgement.request.is_some());
    }
}

#[test]
fn a_clean_verdict_shows_nothing_and_all_others_are_shown() {
    for (answer, expected) in [
        ("CLEAN", None),
        ("FLAG:x", Some(("[m] x", Tone::Error))),
        ("NEW:p|x", Some(("[m] x", Tone::Warning))),
        ("perhaps", Some(("[m] No verdict: the answer holds no verdict: perhaps", Tone::Warning))),
    ] {
        let mut host = host_with(json!({}));
        exchange(&mut host, "go", "done");
        judge(&mut host, &[answer]);
        let notices = notices(&host, "monitor-verdict");
        let shown = notices.first().map(|notice| (title(notice), notice.title[1].tone));
        assert_eq!(shown, expected.map(|(title, tone)| (title.to_owned(), tone)));
    }
}

#[test]
fn what_is_shown_tells_people_and_programs_what_follows() {
    let write = json!({"path": ".workflow/gaps.json", "array_field": "gaps", "template": {}});
    let mut host = host_with(json!({"actions": {"on_new": {"write": write}}}));
    exchange(&mut host, "go", "done");
    judge(&mut host, &["NEW:p q|x"]);
    let notice = notices(&host, "monitor-verdict")[0];
    let lines: Vec<&str> = notice.details.iter().map(|line| line[0].text.as_str()).collect();
    let finding = host.traces[0].consequences[0].finding.clone().unwrap();
    let last = format!("finding: {finding}");
    assert_eq!(lines, ["verdict: new", "pattern: p q", "steer: S.", "record: workspace:.workflow/gaps.json", &last]);
    let data: Value = serde_json::from_str(notice.data.as_ref().unwrap()).unwrap();
    assert_eq!(
        data,
        json!({
            "monitor": "m", "verdict": "new", "description": "x", "pattern": "p q", "pattern_id": null, "steer": "S.",
            "file": "workspace:.workflow/gaps.json", "finding": finding,
        })
    );
}

#[test]
fn d04_what_is_no_verdict_leaves_the_count_and_writes_nothing() {
    let write = json!({"path": "g.json", "array_field": "log", "template": {"d": "{description}"}});
    for answer in ["", "  \n ", "perhaps", "CLEANUP REQUIRED: secrets left", "CLEAN\nFLAG:x", "FLAG:"] {
        let mut host = host_with(json!({"actions": {"on_clean": {"write": write}}}));
        exchange(&mut host, "1", "bad");
        judge(&mut host, &["FLAG:x"]);
        exchange(&mut host, "2", "bad");
        judge(&mut host, &[answer]);
        assert_eq!(judgements(&host)[1].verdict, Verdict::Unknown, "{answer:?}");
        assert_eq!(count(&host), 1);
        assert_eq!(host.file("workspace", "g.json"), None);
    }
}

#[test]
fn d05_a_judge_that_fails_is_no_clean_verdict() {
    let write = json!({"path": "g.json", "array_field": "log", "template": {"d": "{description}"}});
    let mut host = host_with(json!({"actions": {"on_clean": {"write": write}}}));
    exchange(&mut host, "1", "bad");
    judge(&mut host, &["FLAG:x"]);
    exchange(&mut host, "2", "bad");
    let id = *call_ids(&host).last().unwrap();
    host.take_effects();
    host.answer(id, Ok(Completion { stop_reason: StopReason::Error, ..completion("") }));
    assert_eq!(judgements(&host)[0].verdict, Verdict::Unknown);
    assert!(note(&host).contains("the judge failed"));
    assert_eq!(count(&host), 1);
    assert_eq!(host.file("workspace", "g.json"), None);
    exchange(&mut host, "3", "bad");
    assert!(calls(&host).is_empty(), "one activation is skipped");
    exchange(&mut host, "4", "bad");
    judge(&mut host, &["FLAG:x"]);
    assert_eq!(count(&host), 2);
}

#[test]
fn d05_a_failure_does_not_make_the_evidence_count_as_judged() {
    let mut host = host_with(json!({}));
    exchange(&mut host, "1", "bad");
    fail(&mut host, LlmError::TimedOut);
    host.fire(Event::AgentEnd);
    assert!(calls(&host).is_empty(), "the skipped activation");
    host.fire(Event::AgentEnd);
    judge(&mut host, &["FLAG:x"]);
}

#[test]
fn d05_a_call_that_was_ended_early_has_no_verdict_at_all() {
    let mut host = host_with(json!({}));
    exchange(&mut host, "1", "bad");
    fail(&mut host, LlmError::Cancelled);
    exchange(&mut host, "2", "bad");
    let id = *call_ids(&host).last().unwrap();
    host.answer(id, Ok(Completion { stop_reason: StopReason::Aborted, ..completion("") }));
    assert!(judgements(&host).is_empty() && notes(&host).is_empty());
}

#[test]
fn d23_one_cause_is_told_once_for_all_monitors_and_the_judge_is_left_alone_longer_each_time() {
    let look = json!({"event": "turn_end", "when": "every(1)", "classify": {"max_per_prompt": 100}});
    let mut host = host(&[monitor("a", look.clone()), monitor("b", look)]);
    host.user("go");
    let asked: Vec<usize> = (0..24)
        .map(|_| {
            host.turn("x", &[bash()]);
            fail(&mut host, no_key())
        })
        .collect();
    let at: Vec<usize> = (0..24).filter(|&cycle| asked[cycle] > 0).collect();
    assert_eq!(at, [0, 2, 6, 14], "1, 3, 7 and 15 cycles are skipped");
    assert_eq!(note(&host), "[a] No verdict: the key is missing or was refused: no key");
    assert_eq!(notices(&host, "monitor-verdict").len(), 1);
    assert_eq!(status(&host).unwrap(), "monitors:2 judge unavailable");
}

#[test]
fn d23_another_cause_is_told_and_a_judge_that_speaks_again_is_available() {
    let mut host = host_with(json!({}));
    exchange(&mut host, "1", "x");
    fail(&mut host, no_key());
    exchange(&mut host, "2", "x");
    exchange(&mut host, "3", "x");
    fail(&mut host, LlmError::TimedOut);
    assert_eq!(notes(&host).len(), 2);
    (0..4).for_each(|step| exchange(&mut host, &step.to_string(), "x"));
    judge(&mut host, &["CLEAN"]);
    assert_eq!(status(&host).unwrap(), "monitors:1");
}

#[test]
fn d29_a_judge_that_takes_too_long_is_unknown() {
    let mut host = host_with(json!({}));
    exchange(&mut host, "go", "x");
    fail(&mut host, LlmError::TimedOut);
    assert_eq!(judgements(&host)[0].verdict, Verdict::Unknown);
    assert!(note(&host).contains("in time"));
}

#[test]
fn a_monitor_whose_file_went_away_while_it_was_judged_is_only_reported() {
    let mut host = host_with(json!({}));
    exchange(&mut host, "go", "x");
    host.files.remove(&("project".into(), "monitors/m.monitor.json".into()));
    judge(&mut host, &["FLAG:x"]);
    assert_eq!(judgements(&host).len(), 1);
    assert!(host.injections().is_empty());
    assert!(log(&host).iter().any(|line| line.contains("m.monitor.json")));
}
