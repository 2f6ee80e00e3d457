use proptest::prelude::*;
use serde_json::json;

use super::*;

fn verdict(decision: Decision, confidence: f64, reason: &str) -> Verdict {
    Verdict { decision, confidence: Confidence::new(confidence).unwrap(), reason: reason.into() }
}

fn misread(answer: &str) -> Misread {
    Verdict::parse(answer).unwrap_err()
}

const STOP: &str = r#"{"verdict":"stop","confidence":0.9,"reason":"all done"}"#;
const CONTINUE: &str = r#"{"verdict":"continue","confidence":0.9,"reason":"no test was run"}"#;

#[test]
fn an_object_is_read_with_whatever_stands_around_it() {
    for answer in [
        STOP.to_owned(),
        format!("\u{feff} {STOP}\n"),
        format!("```json\n{STOP}\n```"),
        format!("The agent did all of it.\n\n{STOP}\n\nThat is my verdict."),
        format!("<think>{CONTINUE} or not?</think>{STOP}"),
        format!("It printed {{\"a\": [1, {{}}]}} and {{x}}. {STOP}"),
        r#"{"verdict": " Stop ", "confidence": 9e-1, "reason": " all\n done ", "extra": {"verdict": "continue"}}"#
            .into(),
    ] {
        assert_eq!(Verdict::parse(&answer), Ok(verdict(Decision::Stop, 0.9, "all done")), "{answer}");
    }
    assert_eq!(Verdict::parse(CONTINUE), Ok(verdict(Decision::Continue, 0.9, "no test was run")));
}

#[test]
fn an_answer_without_a_verdict_is_none() {
    for answer in ["", "   ", "stop", "CLEAN", "I cannot help with that.", "{}", "[]", r#"{"decision":"stop"}"#] {
        assert_eq!(misread(answer), Misread::Nothing, "{answer}");
    }
    for nested in [r#"{"result":{"verdict":"stop","confidence":1}}"#, r#"["verdict", "stop"]"#] {
        assert_eq!(misread(nested), Misread::Nothing, "{nested}");
    }
}

#[test]
fn two_verdicts_count_only_if_they_are_the_same() {
    assert_eq!(Verdict::parse(&format!("{STOP} {STOP}")), Ok(verdict(Decision::Stop, 0.9, "all done")));
    let less_sure = STOP.replace("0.9", "0.4");
    for answer in [format!("{STOP} {CONTINUE}"), format!("{CONTINUE}{STOP}"), format!("{STOP} no: {less_sure}")] {
        assert_eq!(misread(&answer), Misread::Ambiguous, "{answer}");
    }
}

#[test]
fn a_piece_of_another_verdict_makes_it_ambiguous() {
    for piece in [r#"{"verdict": "continue""#, r#""verdict" : "continue""#, r#"{"verdict":continue}"#] {
        assert_eq!(misread(&format!("{piece} {STOP}")), Misread::Ambiguous, "{piece}");
        assert_eq!(misread(piece), Misread::Nothing, "{piece}");
    }
    assert!(Verdict::parse(&format!("The \"verdict\" is this: {STOP}")).is_ok());
}

#[test]
fn prose_that_names_the_other_verdict_makes_it_ambiguous() {
    for prose in [
        "Verdict: continue\n",
        "**Verdict:** continue.\n",
        "## VERDICT\n: `Continue`",
        "verdict = continue, ",
        "{'verdict': 'continue', 'confidence': 0.9} ",
        r#"{"Verdict": "continue"} "#,
        r#"{\"verdict\": \"continue\"} "#,
        r#"{"answer": {"verdict": "continue"}} "#,
    ] {
        assert_eq!(misread(&format!("{prose}{STOP}")), Misread::Ambiguous, "{prose}");
        assert_eq!(misread(&format!("{STOP}\n{prose}")), Misread::Ambiguous, "{prose}");
    }
    for prose in ["Verdict: stop\n", "My verdict: it may well stop. ", "the verdict continue ", "verdict: continued "] {
        assert!(Verdict::parse(&format!("{prose}{STOP}")).is_ok(), "{prose}");
    }
}

#[test]
fn a_member_that_is_there_twice_is_no_verdict() {
    for answer in [
        r#"{"verdict":"stop","confidence":0.9,"reason":"x","verdict":"continue"}"#,
        r#"{"verdict":"continue","confidence":0.1,"confidence":0.9,"reason":"x"}"#,
    ] {
        assert_eq!(misread(answer), Misread::Nothing, "{answer}");
    }
}

#[test]
fn a_verdict_is_one_of_two_words() {
    for value in [json!("maybe"), json!(""), json!(null), json!(true), json!(["stop"]), json!("stop|continue")] {
        let answer = json!({"verdict": value, "confidence": 0.9, "reason": "x"}).to_string();
        assert_eq!(misread(&answer), Misread::Decision(value.to_string()));
    }
}

#[test]
fn a_confidence_is_a_number_from_0_to_1() {
    assert_eq!(misread(r#"{"verdict":"stop","reason":"x"}"#), Misread::NoConfidence);
    for value in [json!(null), json!("0.9"), json!("high"), json!(-0.1), json!(1.1), json!(90), json!([0.9])] {
        let answer = json!({"verdict": "continue", "confidence": value, "reason": "x"}).to_string();
        assert_eq!(misread(&answer), Misread::Confidence(value.to_string()));
    }
    for no_json in ["NaN", "Infinity", "1e999", ".9", "0,9"] {
        let answer = format!(r#"{{"verdict":"continue","confidence":{no_json},"reason":"x"}}"#);
        assert_eq!(misread(&answer), Misread::Nothing, "{no_json}");
    }
}

#[test]
fn a_reason_is_a_text_and_a_continuation_needs_one() {
    assert_eq!(Verdict::parse(r#"{"verdict":"stop","confidence":1}"#), Ok(verdict(Decision::Stop, 1.0, "")));
    for reason in ["", r#","reason":"""#, r#","reason":" \n""#] {
        assert_eq!(misread(&format!(r#"{{"verdict":"continue","confidence":1{reason}}}"#)), Misread::NoReason);
    }
    for reason in ["null", "7", "[\"x\"]"] {
        let answer = format!(r#"{{"verdict":"continue","confidence":1,"reason":{reason}}}"#);
        assert!(matches!(misread(&answer), Misread::Reason(_)), "{reason}");
    }
}

#[test]
fn a_reason_stays_on_one_line_and_within_bounds() {
    let long = format!("a\n\n{}", "x".repeat(5_000));
    let answer = json!({"verdict": "continue", "confidence": 1, "reason": long}).to_string();
    let reason = Verdict::parse(&answer).unwrap().reason;
    assert!(reason.starts_with("a x") && reason.chars().count() == LONGEST_REASON);
}

#[test]
fn an_answer_that_would_take_long_to_read_is_not_read() {
    assert_eq!(misread(&format!("{STOP}{}", " ".repeat(LONGEST_ANSWER))), Misread::Rambling);
    assert_eq!(misread(&format!("{}{STOP}", "{\"a\":".repeat(5_000))), Misread::Rambling);
}

fn decisions() -> impl Strategy<Value = Decision> {
    prop_oneof![Just(Decision::Continue), Just(Decision::Stop)]
}

/// Prose without braces and without the name of the member that decides.
fn prose() -> impl Strategy<Value = String> {
    "[ a-z\\n`\",:.\\[\\]é]{0,20}"
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic_and_a_continuation_says_why(
        answer in r#"([ \n{}\[\]",:]|verdict|"verdict"|stop|continue|confidence|reason|0\.9|1|```json|<think>|</think>|é|\\u00){0,40}"#,
    ) {
        if let Ok(verdict) = Verdict::parse(&answer) {
            prop_assert!(verdict.decision == Decision::Stop || !verdict.reason.is_empty());
        }
    }

    #[test]
    fn every_verdict_is_read_back_from_within_any_prose(
        decision in decisions(), thousandths in 0_u32..=1_000, reason in "[a-z\"{}\\\\é]{1,20}", before in prose(), after in prose(),
    ) {
        let confidence = f64::from(thousandths) / 1_000.0;
        let object = json!({"reason": reason, "verdict": decision.word(), "confidence": confidence});
        let read = Verdict::parse(&format!("{before}{object}{after}"));
        prop_assert_eq!(read, Ok(verdict(decision, confidence, &reason)));
    }

    #[test]
    fn a_verdict_that_is_cut_off_anywhere_is_none(decision in decisions(), cut in 0_usize..50) {
        let object = json!({"verdict": decision.word(), "confidence": 0.95, "reason": "é is missing"}).to_string();
        let end = object.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(object.len() - 1);
        prop_assert!(Verdict::parse(&object[..end]).is_err());
    }

    #[test]
    fn verdicts_that_differ_are_never_taken_for_one(
        a in decisions(), b in decisions(), p in 0_u8..=10, q in 0_u8..=10, between in prose(),
    ) {
        prop_assume!((a, p) != (b, q));
        let object = |decision: Decision, tenths: u8| {
            json!({"verdict": decision.word(), "confidence": f64::from(tenths) / 10.0, "reason": "x"})
        };
        let read = Verdict::parse(&format!("{}{between}{}", object(a, p), object(b, q)));
        prop_assert_eq!(read, Err(Misread::Ambiguous));
    }

    #[test]
    fn no_number_out_of_range_is_a_confidence(number in prop_oneof![1.0001..1e9, -1e9..-0.0001]) {
        let answer = json!({"verdict": "continue", "confidence": number, "reason": "x"}).to_string();
        prop_assert!(matches!(Verdict::parse(&answer), Err(Misread::Confidence(_))));
    }
}
