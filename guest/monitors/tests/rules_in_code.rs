//! What is settled by rules, before or instead of a judge.
#![allow(clippy::unwrap_used, reason = "tests may")]

mod support;

use chaperone_sdk::fake::Tooling;
use chaperone_sdk::*;
use serde_json::json;
use support::*;

fn spared(host: &TestHost) -> Vec<&str> {
    let reasons = host.effects().iter().filter_map(|effect| match effect {
        Effect::Spared(sparing) => Some(sparing.reason.as_str()),
        _ => None,
    });
    reasons.collect()
}

#[test]
fn a_question_that_needs_the_user_is_left_alone_and_a_request_for_permission_judged() {
    let mut host = host_with(json!({}));
    exchange(&mut host, "go", "Which of the two databases should I use?");
    assert!(calls(&host).is_empty());
    assert_eq!(spared(&host), ["exempt: waiting_on_user"]);
    exchange(&mut host, "go", "Shall I go on?");
    assert_eq!(calls(&host).len(), 1);
}

#[test]
fn who_judges_needless_questions_opts_out() {
    let mut host = host_with(json!({"classify": {"exempt": []}}));
    exchange(&mut host, "use the first one", "Which of the two databases should I use?");
    assert_eq!(calls(&host).len(), 1);
}

#[test]
fn work_in_the_background_is_waited_for_and_then_judged() {
    let mut host = host_with(json!({}));
    exchange(&mut host, "go", "The build is still running; I'm waiting for it.");
    assert!(calls(&host).is_empty() && judgements(&host).is_empty(), "there is no verdict");
    host.session.idle = false;
    host.turn("The build has failed.", &[]);
    host.end();
    assert_eq!(calls(&host).len(), 1);
}

#[test]
fn a_look_that_was_asked_for_is_no_unfinished_repair() {
    let exempt = json!({"classify": {"exempt": ["review_only"]}});
    let mut host = host_with(exempt.clone());
    host.user("Run the tests and report what fails. Don't fix anything.");
    host.turn("I run them", &[Tooling::failing("bash", r#"{"command": "make test"}"#, "1 failed")]);
    host.turn("test_a fails.", &[]);
    host.end();
    assert!(calls(&host).is_empty());
    let mut host = host_with(exempt);
    host.user("Run the tests and make them pass.");
    host.turn("I run them", &[Tooling::failing("bash", r#"{"command": "make test"}"#, "1 failed")]);
    host.turn("test_a fails.", &[]);
    host.end();
    assert_eq!(calls(&host).len(), 1);
}

#[test]
fn what_a_rule_finds_in_order_is_a_clean_verdict_without_a_call() {
    let write = json!({"path": "log.json", "array_field": "clean", "template": {"id": "{finding_id}"}});
    let rules =
        json!({"classify": {"precheck": [{"clean_if": "not tool(*)"}]}, "actions": {"on_clean": {"write": write}}});
    let mut host = host_with(rules);
    host.user("u");
    host.turn("x", &[bash()]);
    host.turn("bad", &[]);
    host.end();
    judge(&mut host, &["FLAG:x"]);
    assert_eq!(count(&host), 1);
    host.take_effects();
    exchange(&mut host, "thanks", "You are welcome.");
    assert!(calls(&host).is_empty());
    let judgement = judgements(&host)[0];
    assert_eq!((judgement.verdict, judgement.request), (Verdict::Clean, None));
    assert_eq!(judgement.description.as_deref(), Some("precheck: not tool(*)"));
    assert_eq!(count(&host), 0, "as with any clean verdict");
    assert_eq!(json_file(&host, "workspace", "log.json")["clean"].as_array().unwrap().len(), 1);
}

#[test]
fn a_rule_that_asks_goes_before_one_that_finds_all_in_order() {
    let rules = json!([{"ask_if": "claims_success"}, {"clean_if": "not tool(*)"}]);
    let mut host = host_with(json!({"classify": {"precheck": rules}}));
    exchange(&mut host, "go", "All tests pass.");
    assert_eq!(calls(&host).len(), 1);
}

#[test]
fn rules_cost_no_files_and_work_while_the_judge_is_left_alone() {
    let mut host = host_with(json!({"classify": {"precheck": [{"clean_if": "not tool(*)"}]}}));
    host.user("u");
    host.turn("x", &[bash()]);
    host.turn("done", &[]);
    host.end();
    let id = call_ids(&host)[0];
    host.answer(id, Err(LlmError::TimedOut));
    host.files.clear();
    host.take_effects();
    exchange(&mut host, "hello", "hello");
    assert_eq!(judgements(&host)[0].verdict, Verdict::Clean);
    assert!(log(&host).is_empty(), "{:?}", log(&host));
}

#[test]
fn evidence_that_is_known_costs_no_files_either() {
    let mut host = host_with(json!({}));
    exchange(&mut host, "go", "done");
    judge(&mut host, &["CLEAN"]);
    host.files.clear();
    host.take_effects();
    host.fire(Event::AgentEnd);
    assert!(log(&host).is_empty(), "nothing was read, so nothing was missed");
}

#[test]
fn answers_are_held_to_a_form_and_the_judge_names_the_pattern() {
    let write = json!({"path": "g.json", "array_field": "gaps", "template": {"s": "{severity}"}});
    let mut host = host_with(json!({"actions": {"on_flag": {"write": write}}}));
    host.put(
        "project",
        "monitors/m.patterns.json",
        r#"[{"id": "bad", "description": "Bad things", "severity": "error"}]"#,
    );
    host.fire(Event::Describe);
    trust_all(&mut host);
    exchange(&mut host, "go", "done");
    let call = calls(&host)[0];
    let schema: serde_json::Value = serde_json::from_str(call.response_schema.as_ref().unwrap()).unwrap();
    assert_eq!(schema["properties"]["verdict"]["enum"], json!(["CLEAN", "FLAG", "NEW"]));
    assert!(call.system.as_ref().unwrap().contains("1. [error] Bad things (bad)"));
    judge(&mut host, &[r#"{"verdict": "FLAG", "description": "x", "pattern": "bad", "new_pattern": ""}"#]);
    assert_eq!(json_file(&host, "workspace", "g.json")["gaps"][0]["s"], "error");
    let data: serde_json::Value =
        serde_json::from_str(notices(&host, "monitor-verdict")[0].data.as_ref().unwrap()).unwrap();
    assert_eq!(data["pattern_id"], "bad");
}

#[test]
fn a_provider_that_knows_no_form_is_asked_again_without_one() {
    let mut host = host_with(json!({}));
    exchange(&mut host, "go", "bad");
    let id = call_ids(&host)[0];
    host.take_effects();
    host.answer(id, Err(LlmError::Provider("400: response_format is not supported".into())));
    let call = calls(&host)[0];
    assert_eq!(call.response_schema, None);
    assert!(judgements(&host).is_empty() && notes(&host).is_empty());
    judge(&mut host, &["FLAG:x"]);
    assert_eq!(steers(&host), ["[m] x. S."]);
    exchange(&mut host, "next", "bad");
    assert_eq!(calls(&host)[0].response_schema, None, "that is remembered");
}

#[test]
fn limits_of_the_file_bound_the_evidence() {
    let classify = json!({"context": ["tool_results"], "limits": {"tool_results": {"items": 1, "characters": 10}}});
    let mut host = host_with(json!({"classify": classify}));
    host.user("go");
    host.turn(
        "x",
        &[Tooling::ok("a", "{}", "first result"), Tooling::ok("b", "{}", "the second result, which is long")],
    );
    host.turn("done", &[]);
    host.end();
    let evidence = &calls(&host)[0].messages[0].text;
    assert!(!evidence.contains("first") && evidence.contains("characters left out"), "{evidence}");
}

#[test]
fn history_is_shown_where_the_file_lists_it() {
    let mut host = host_with(json!({"classify": {"context": ["conversation_history", "user_text"]}}));
    host.user("rename the parser");
    host.turn("x", &[Tooling::failing("bash", "{}", "no")]);
    host.turn("I could not", &[]);
    host.end();
    judge(&mut host, &["CLEAN"]);
    exchange(&mut host, "try again", "done");
    let evidence = &calls(&host)[0].messages[0].text;
    assert!(
        evidence.contains("[user] rename the parser\n[tools] bash ×1 (1 failed)\n[agent] I could not"),
        "{evidence}"
    );
}
