//! Wrong moment, wrong content.

use std::sync::Arc;

use chaperone::llm::script::Script;
use chaperone_contract::*;
use chaperone_tests::stage::{self, Seen, Silence, Stage};
use serde_json::json;

use super::play::*;

#[test]
fn d01_every_n_classifies() {
    let mut play = Play::with(json!({"event": "turn_end", "when": "every(2)"}));
    play.user("go");
    let mut asked = Vec::new();
    for _ in 0..6 {
        play.agent("x", &[OK]);
        asked.push(play.calls().len());
    }
    assert_eq!(asked, [0, 1, 1, 2, 2, 3]);
}

#[test]
fn d02_the_final_state_of_a_run_is_judged() {
    let mut play = Play::with(json!({"event": "turn_end"}));
    play.answers(&["FLAG:it asks for what it was told"]);
    play.user("fix the bug");
    play.agent("I will look", &[("read", "{}", "code", false)]);
    assert_eq!(play.calls().len(), 0);
    play.agent("Should I go on?", &[]);
    play.end();
    assert_eq!(play.calls().len(), 1);
    assert!(play.evidence().contains("Should I go on?"));
    assert_eq!(play.steers(), ["[m] it asks for what it was told. S."]);
}

#[test]
fn d02_a_correction_is_judged_and_counted() {
    let mut play = Play::with(json!({}));
    play.answers(&["FLAG:x", "FLAG:y"]);
    play.exchange("do it", "bad");
    assert_eq!(play.count().unwrap(), "m(1/5)");
    play.answer_steer("still bad");
    assert_eq!(play.calls().len(), 2);
    assert_eq!(play.count().unwrap(), "m(2/5)");
}

#[test]
fn d02_the_same_words_in_a_new_message_are_a_new_request() {
    let mut play = Play::with(json!({}));
    play.exchange("continue", "done");
    play.exchange("continue", "done");
    assert_eq!(play.calls().len(), 2);
}

#[test]
fn d03_the_message_that_ended_is_part_of_the_evidence() {
    let context = ["user_text", "assistant_text", "tool_results", "tool_calls", "custom_messages"];
    let mut play = Play::with(json!({"event": "message_end", "classify": {"context": context}}));
    for (question, answer) in [("q1", "a1"), ("q2", "a2")] {
        play.exchange(question, answer);
        assert!(play.evidence().contains(question) && play.evidence().contains(answer));
    }
    assert_eq!(play.calls().len(), 2);
}

#[test]
fn d03b_a_repair_is_judged_when_it_is_finished() {
    let mut play = Play::with(json!({"event": "message_end", "when": "has_tool_results"}));
    play.user("run tests");
    play.agent("I run them", &[("bash", "{}", "1 failed", true)]);
    play.agent("I repair it", &[("edit", "{}", "ok", false)]);
    play.agent("Again", &[("bash", "{}", "all passed", false)]);
    assert_eq!(play.calls().len(), 0);
    play.agent("all fixed", &[]);
    play.end();
    assert_eq!(play.calls().len(), 1);
    assert!(play.evidence().contains("all passed") && play.evidence().contains("all fixed"));
}

#[test]
fn d08_evidence_ends_at_the_users_message() {
    let mut play = Play::with(json!({"classify": {"context": ["tool_results", "tool_calls"]}}));
    play.user("old");
    play.agent("x", &[("bash", "{}", "OLD", true)]);
    play.exchange("new", "answer");
    assert!(!play.evidence().contains("OLD"), "{}", play.evidence());
}

#[test]
fn d09_tool_calls_keep_their_order_and_their_limit() {
    let mut play = Play::with(json!({"classify": {"context": ["tool_calls"]}}));
    play.user("go");
    play.agent("both", &[("A", "{}", "ra", false), ("B", "{}", "rb", false)]);
    play.agent("done", &[]);
    play.end();
    assert!(play.evidence().contains("[call A] {}\n[call B] {}\n[result A] ra\n[result B] rb"), "{}", play.evidence());
    play.user("many");
    play.agent("x", &[OK; 30]);
    play.agent("done", &[]);
    play.end();
    assert_eq!(play.evidence().matches("[result bash]").count(), 20);
    assert!(play.evidence().contains("[… 40 earlier calls and results left out …]"), "{}", play.evidence());
}

#[test]
fn d10_messages_of_extensions_are_collected() {
    let mut play = Play::with(json!({"classify": {"context": ["custom_messages"]}}));
    play.user("go");
    let note = CustomMessage { custom_type: "note".into(), content: "hello".into(), display: true, details: None };
    play.append(EntryBody::Custom(note));
    play.agent("done", &[]);
    play.end();
    assert!(play.evidence().contains("[note] hello"), "{}", play.evidence());
}

#[test]
fn d17_scope_is_enforced() {
    let mut play = Play::with(json!({"scope": {"target": "subagent"}}));
    play.exchange("go", "bad");
    assert_eq!(play.calls().len(), 0, "the main agent is none of its business");
    let mut play = Play::with(json!({"scope": {}}));
    play.answers(&["FLAG:x"]);
    play.exchange("go", "bad");
    assert_eq!(play.steers(), ["[m] x. S."], "an empty scope is the main agent");
    let mut play = Play::with(json!({"scope": {"target": "all"}, "ceiling": 1}));
    for prompt in ["1", "2", "3"] {
        play.answers(&["FLAG:x"]);
        play.exchange(prompt, "bad");
    }
    assert_eq!(play.calls().len(), 3, "what cannot steer has no ceiling");
    assert!(play.steers().is_empty() && !play.told("Dismissed"));
}

#[test]
fn d21_a_condition_that_is_not_understood_is_refused() {
    for when in ["has_tool_result", "every(-1)", "tool()"] {
        let mut play = Play::with(json!({"when": when}));
        assert!(play.told("m.monitor.json#/when"), "{when}");
        play.exchange("go", "done");
        assert_eq!(play.calls().len(), 0);
    }
    let mut play = Play::with(json!({"when": "tool(mcp-x)"}));
    play.user("go");
    play.agent("x", &[("mcp-x", "{}", "ok", false)]);
    play.agent("done", &[]);
    play.end();
    assert_eq!(play.calls().len(), 1, "any tool can be named");
}

#[test]
fn d21_a_write_that_failed_is_no_write() {
    let mut play = Play::with(json!({"when": "has_file_writes"}));
    play.user("go");
    play.agent("x", &[("write", "{}", "EPERM", true)]);
    play.agent("I could not", &[]);
    play.end();
    assert_eq!(play.calls().len(), 0);
}

#[test]
fn d27_the_beginning_and_the_end_of_long_texts_are_kept() {
    let mut play = Play::with(json!({"classify": {"context": ["tool_results", "assistant_text", "user_text"]}}));
    let long: &'static str = format!("{}😀 the last line", "😀".repeat(3_000)).leak();
    play.user(&"u".repeat(50_000));
    play.agent("x", &[("bash", "{}", long, true)]);
    play.agent(&"a".repeat(50_000), &[]);
    play.end();
    assert!(play.evidence().contains("the last line") && play.evidence().contains("characters left out"));
    assert!(play.evidence().chars().count() < 41_000, "all evidence together keeps to its budget");
}

#[test]
fn d27_results_of_many_megabytes_set_no_monitor_aside() {
    let mut play = Play::with(json!({"classify": {"context": ["tool_results", "tool_calls"]}}));
    let huge: &'static str = "x".repeat(30 << 20).leak();
    let arguments: &'static str = json!({"path": "a", "content": "y".repeat(30 << 20)}).to_string().leak();
    play.user("go");
    play.agent("x", &[("write", arguments, huge, false), ("bash", "{}", huge, true), ("bash", "{}", huge, true)]);
    play.agent("done", &[]);
    play.end();
    assert_eq!(play.calls().len(), 1);
    assert!(play.evidence().contains("[call write] {\"") && play.evidence().contains("yyy"));
    assert!(play.evidence().len() < 50_000);
}

#[test]
fn d28_only_known_words_are_placeholders() {
    let play = Play::with(json!({"classify": {"prompt": "{constructor} {patterns}", "context": ["constructor"]}}));
    assert!(play.told("m.monitor.json#/classify/context/0"));
    let mut play = Play::with(json!({"classify": {"prompt": "{constructor} {patterns}"}}));
    play.exchange("go", "done");
    assert!(play.calls()[0].system.as_ref().unwrap().contains("{constructor} 1. [warning] pd"));
}

#[test]
fn d29_a_judge_that_never_answers_keeps_nobody_waiting() {
    let stage = Stage::bare();
    put(&stage, &[monitor("m", json!({}))]);
    let mut seen = Seen::default();
    let plugin = stage.plugin("monitors", stage::monitors(), stage.dry());
    let mut session = stage.session(vec![plugin], Arc::new(Silence), &mut seen);
    session.command("monitors", "trust all", &mut seen).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _inside = runtime.enter();
    for _ in 0..3 {
        session.event(&Event::AgentStart, &mut seen).unwrap();
        session.event(&Event::AgentEnd, &mut seen).unwrap();
    }
    assert_eq!(seen.hooks_called("agent_end").len(), 3);

    let script = "rules: [{ delay_ms: 3_600_000, answer: CLEAN }]";
    let judge = Arc::new(Script::parse("slow.yaml", script).unwrap());
    let mut seen = Seen::default();
    let plugin = stage.plugin("monitors", stage::monitors(), stage.dry());
    let mut session = stage.session(vec![plugin], judge, &mut seen);
    session.command("monitors", "trust all", &mut seen).unwrap();
    let body = EntryBody::Assistant(AssistantMessage {
        content: vec![Content::Text("done".into())],
        stop_reason: StopReason::Stop,
        usage: None,
        model: None,
        error: None,
    });
    session.append(Arc::new(Entry { id: "e".into(), timestamp: 0, body })).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        session.event(&Event::AgentEnd, &mut seen).unwrap();
        session.quiet(&mut seen).await.unwrap();
    });
    let judgement = seen.judgements()[0];
    assert_eq!(judgement.verdict, Verdict::Unknown);
    assert_eq!(judgement.description.as_deref(), Some("the judge did not answer in time"));
}
