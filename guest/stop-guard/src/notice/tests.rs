use serde_json::{Value, json};

use super::*;

fn sure(number: f64) -> Confidence {
    Confidence::new(number).unwrap()
}

fn count(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}

fn premature(limit: u32) -> Outcome {
    Outcome::Premature {
        confidence: sure(0.8),
        reason: "no test".into(),
        nudge: "Go on.\n\nNow.".into(),
        continuation: count(1),
        limit: NonZeroU32::new(limit),
    }
}

/// Every row of the documented table, and those that are added to it.
fn table() -> Vec<(Outcome, &'static str, Tone)> {
    let reason = || "all done".to_owned();
    vec![
        (
            Outcome::StopAccepted { confidence: sure(0.92), reason: reason() },
            "⚖️ stop accepted · confidence 92%",
            Tone::Success,
        ),
        (premature(2), "⚖️ judged premature · continuation 1/2", Tone::Warning),
        (
            Outcome::LimitReached { confidence: sure(0.9), reason: reason(), sent: 2, limit: count(2) },
            "⚖️ continuation limit reached (2/2) · no further intervention",
            Tone::Muted,
        ),
        (Outcome::Interrupted, "⚖️ interrupted · not judged", Tone::Muted),
        (Outcome::Unfinished, "⚖️ turn did not finish normally · not judged", Tone::Muted),
        (Outcome::JudgeFailed { failure: "no key".into() }, "⚖️ judge failed", Tone::Error),
        (premature(0), "⚖️ judged premature · continuation 1, no limit", Tone::Warning),
        (
            Outcome::Unsure { confidence: sure(0.4), threshold: sure(0.6), reason: reason() },
            "⚖️ perhaps premature · confidence 40%, below 60% · no intervention",
            Tone::Muted,
        ),
        (
            Outcome::ConfigurationRejected { faults: vec!["it is not JSON".into()] },
            "⚖️ configuration rejected · not judged",
            Tone::Error,
        ),
    ]
}

#[test]
fn every_outcome_has_its_line_and_its_colour() {
    for (outcome, line, tone) in table() {
        let notice = outcome.notice(Some(StopReason::Stop));
        assert_eq!(notice.title[0], Span { text: "[auto-goal] ".into(), tone: Tone::Normal });
        assert_eq!(notice.title[1..], [Span { text: line.into(), tone }]);
        assert_eq!(notice.custom_type, CUSTOM_TYPE);
    }
}

fn details(notice: &Notice) -> Vec<&str> {
    notice.details.iter().map(|line| line[0].text.as_str()).collect()
}

#[test]
fn the_details_hold_reason_nudge_failure_and_stop_reason_and_no_line_breaks() {
    let expected = ["reason: no test", "nudge: Go on.", "  ", "  Now.", "stop reason: length"];
    assert_eq!(details(&premature(2).notice(Some(StopReason::Length))), expected);
    let failed = Outcome::JudgeFailed { failure: "stopReason=length".into() };
    assert_eq!(details(&failed.notice(Some(StopReason::Stop))), ["failure: stopReason=length", "stop reason: stop"]);
    assert_eq!(details(&Outcome::Interrupted.notice(None)), [""; 0]);
    let silent = Outcome::StopAccepted { confidence: sure(1.0), reason: String::new() };
    assert_eq!(details(&silent.notice(None)), [""; 0], "a judge need not say why");
}

#[test]
fn the_data_hold_all_of_it_for_whoever_shows_the_block_again() {
    let data: Value = serde_json::from_str(&premature(2).notice(Some(StopReason::Stop)).data.unwrap()).unwrap();
    assert_eq!(
        data,
        json!({
            "outcome": "premature", "confidence": 0.8, "reason": "no test", "nudge": "Go on.\n\nNow.", "continuation": 1,
            "limit": 2, "stop_reason": "stop",
        })
    );
    for (outcome, ..) in table() {
        assert!(outcome.notice(None).data.is_some());
    }
}

#[test]
fn in_passing_it_is_one_line() {
    let (text, tone) = Outcome::JudgeFailed { failure: "no key".into() }.summary();
    assert_eq!((text.as_str(), tone), ("[auto-goal] ⚖️ judge failed: no key", Tone::Error));
}
