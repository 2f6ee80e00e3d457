use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Config {
    Config::parse(text).unwrap()
}

fn fault(text: &str) -> String {
    Config::parse(text).unwrap_err().to_string()
}

/// A configuration of one field.
fn with(field: Field, value: &Value) -> Result<Config, Rejected> {
    Config::parse(&json!({ (field.name()): value }).to_string())
}

#[test]
fn every_field_has_its_documented_default() {
    let defaults = json!({
        "enabled": true, "model": "", "maxAutoContinues": 2, "confidenceThreshold": 0.6, "timeoutSeconds": 30,
        "includeToolTrace": false, "maxUserRequestChars": 2000, "maxFinalOutputChars": 4000, "maxToolTraceEntries": 20,
        "maxUserAnswerChars": 2000, "notifyOnStopDecision": false, "showVerdictNotice": true, "judgeMaxTokens": 2000,
        "continueMessageTemplate": "", "forcedDecision": "auto",
    });
    let members: serde_json::Map<_, _> =
        Field::ALL.iter().map(|field| (field.name().to_owned(), Config::default().value(*field))).collect();
    assert_eq!(Value::Object(members), defaults);
    assert_eq!(parse(&defaults.to_string()), Config::default(), "the documented file changes nothing");
    assert_eq!(parse("{}"), Config::default());
    assert_eq!(parse("\u{feff}{}"), Config::default());
}

#[test]
fn each_field_is_taken_as_it_stands() {
    let config = parse(
        r#"{"enabled": false, "model": "openrouter/qwen/qwen3", "maxAutoContinues": 5, "confidenceThreshold": 0.85,
            "timeoutSeconds": 2.5, "includeToolTrace": true, "maxUserRequestChars": 1, "maxFinalOutputChars": 2,
            "maxToolTraceEntries": 3, "maxUserAnswerChars": 4, "notifyOnStopDecision": true, "showVerdictNotice": false,
            "judgeMaxTokens": 400, "continueMessageTemplate": "Go on: {reason}", "forcedDecision": "stop"}"#,
    );
    let expected = Config {
        enabled: false,
        model: Some(ModelId { provider: "openrouter".into(), model: "qwen/qwen3".into() }),
        max_auto_continues: NonZeroU32::new(5),
        confidence_threshold: Confidence::new(0.85).unwrap(),
        timeout_ms: 2_500,
        include_tool_trace: true,
        max_user_request_chars: 1,
        max_final_output_chars: 2,
        max_tool_trace_entries: 3,
        max_user_answer_chars: 4,
        show_verdict_notice: false,
        judge_max_tokens: 400,
        continue_message_template: Some("Go on: {reason}".into()),
        forced_decision: Some(Decision::Stop),
    };
    assert_eq!(config, expected);
    assert_eq!(parse(r#"{"maxAutoContinues": 0}"#).max_auto_continues, None, "0 is no limit");
    assert_eq!(parse(r#"{"maxAutoContinues": 3.0}"#).max_auto_continues, NonZeroU32::new(3));
    assert_eq!(parse(r#"{"continueMessageTemplate": " \n"}"#).continue_message_template, None);
    assert_eq!(parse(r#"{"timeoutSeconds": 0.0001}"#).timeout_ms, 1);
}

#[test]
fn what_a_field_may_not_be_is_rejected_with_field_value_and_what_is_allowed() {
    let bad = |field: Field| -> Vec<Value> {
        let numbers = [json!(-1), json!(1.5), json!("2"), json!(null), json!(5_000_000_000_u64)];
        match field {
            Field::Enabled | Field::IncludeToolTrace | Field::NotifyOnStopDecision | Field::ShowVerdictNotice => {
                vec![json!("true"), json!(1), json!(null)]
            }
            Field::Model => [json!("gpt"), json!("/m"), json!("p/"), json!("p /m"), json!(null), json!({})].into(),
            Field::MaxAutoContinues => numbers.into(),
            Field::ConfidenceThreshold => [json!(-0.1), json!(1.1), json!(60), json!("0.6"), json!(null)].into(),
            Field::TimeoutSeconds => [json!(0), json!(-1), json!(3601), json!("30")].into(),
            Field::ContinueMessageTemplate => [json!(null), json!(["x"])].into(),
            Field::ForcedDecision => [json!("never"), json!(true), json!("")].into(),
            Field::MaxUserRequestChars
            | Field::MaxFinalOutputChars
            | Field::MaxToolTraceEntries
            | Field::MaxUserAnswerChars
            | Field::JudgeMaxTokens => numbers.into_iter().chain([json!(0)]).collect(),
        }
    };
    for &field in Field::ALL {
        for value in bad(field) {
            let expected = format!("`{}` is {value}; it may be {}", field.name(), field.allowed());
            assert_eq!(with(field, &value).unwrap_err().to_string(), expected);
        }
    }
}

#[test]
fn an_unknown_field_is_rejected_with_the_one_that_was_meant() {
    assert_eq!(
        fault(r#"{"maxAutoContinue": 3}"#),
        "`maxAutoContinue` is not a field; did you mean `maxAutoContinues`?"
    );
    assert_eq!(fault(r#"{"Enabled": true}"#), "`Enabled` is not a field; did you mean `enabled`?");
    assert!(fault(r#"{"colour": 1}"#).starts_with("`colour` is not a field; there are enabled, model, "));
    assert_eq!(
        fault(r#"{"forcedDecision": "contniue"}"#),
        "`forcedDecision` is \"contniue\"; it may be \"auto\", \"continue\" or \"stop\"; did you mean \"continue\"?"
    );
}

#[test]
fn all_faults_are_told_at_once() {
    let told = fault(r#"{"enabled": 1, "mdoel": "", "timeoutSeconds": 5, "judgeMaxTokens": 0}"#);
    assert_eq!(told.matches("; did you mean").count() + told.matches("; it may be").count(), 3, "{told}");
}

#[test]
fn a_field_that_stands_there_twice_is_rejected_since_either_may_be_meant() {
    let told = fault(r#"{"enabled": true, "maxAutoContinues": 5, "enabled": false, "model": "", "enabled": true}"#);
    assert_eq!(told, "`enabled` stands there more than once; keep the one that is meant");
    assert_eq!(fault(r#"{"mdoel": {"a": 1, "a": 2}}"#), "`mdoel` is not a field; did you mean `model`?");
}

#[test]
fn what_is_no_object_is_rejected() {
    assert!(fault("{\"enabled\": true,}").starts_with("it is not JSON: "));
    assert!(fault("").starts_with("it is not JSON: "));
    assert_eq!(fault("[1]"), "it is [1], not an object in braces");
}

proptest! {
    #[test]
    fn any_text_is_read_or_rejected(text in r#"([ \n{}\[\]",:0-9.-]|enabled|model|maxAutoContinues|forcedDecision|true|null|é){0,30}"#) {
        if let Err(rejected) = Config::parse(&text) {
            prop_assert!(!rejected.faults.is_empty());
        }
    }

    #[test]
    fn what_a_configuration_says_of_itself_makes_the_same_one(
        enabled: bool, continues in 0_u32..9, thousandths in 0_u32..=1_000, ms in 1_u32..100_000, forced in 0_usize..3,
        template in "[a-z{}]{0,9}",
    ) {
        let mut config = Config { enabled, timeout_ms: ms, ..Config::default() };
        config.max_auto_continues = NonZeroU32::new(continues);
        config.confidence_threshold = Confidence::new(f64::from(thousandths) / 1_000.0).unwrap();
        config.forced_decision = [None, Some(Decision::Stop), Some(Decision::Continue)][forced];
        config.continue_message_template = Some(template).filter(|text| !text.is_empty());
        let members: serde_json::Map<_, _> =
            Field::ALL.iter().map(|field| (field.name().to_owned(), config.value(*field))).collect();
        prop_assert_eq!(parse(&Value::Object(members).to_string()), config);
    }
}
