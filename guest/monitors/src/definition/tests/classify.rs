//! What decides whether, and about what, a judge is asked; and guards.

use super::*;
use crate::evidence::selection::Limit;

#[test]
fn a_guard_looks_at_calls_and_may_refuse_them() {
    let guard = |changes: Value| {
        let mut monitor = json!({
            "event": "tool_call", "when": "command(git push*)",
            "classify": {"prompt": "{patterns} {tool_call} CLEAN FLAG"},
        });
        monitor.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        monitor
    };
    let plain = good(guard(json!({})));
    assert_eq!(plain.classify.shows.collectors, [Collector::UserText, Collector::ToolCall]);
    assert_eq!(plain.classify.max_per_prompt, DEFAULT_MAX_CALLS_PER_PROMPT);
    assert!(!plain.blocks());
    let action = |block: Value| guard(json!({"actions": {"on_flag": {"steer": "S.", "block": block}}}));
    let block = |value: Value| good(action(value)).actions.on_flag.unwrap().block;
    assert_eq!(block(json!(true)), Some(Block::WithSteer));
    assert_eq!(block(json!(" Ask. ")), Some(Block::WithReason("Ask.".into())));
    assert_eq!(block(json!(false)), None);
    assert!(good(action(json!(true))).blocks());
    for wrong in [json!(1), json!(""), json!([])] {
        is_error(action(wrong), "/actions/on_flag/block");
    }
    is_warning(on_flag(json!({"block": true})), "/actions/on_flag/block");
    is_warning(guard(json!({"actions": {"on_clean": {"block": true}}})), "/actions/on_clean/block");
    let context = |event: &str, context: Value| json!({"event": event, "classify": {"prompt": "{patterns} CLEAN FLAG", "context": context}});
    is_warning(context("turn_end", json!(["tool_call"])), "/classify/context/0");
    good(context("tool_call", json!(["tool_call", "conversation_history"])));
    let excludes = json!({"prompt": "{patterns} CLEAN FLAG", "excludes": ["x"]});
    is_warning(json!({"event": "tool_call", "classify": excludes}), "/classify/excludes");
}

#[test]
fn limits_and_budget_are_read_by_collector() {
    let shows = |changes: Value| {
        let mut classify = json!({"prompt": "{patterns} CLEAN FLAG", "context": ["tool_results", "user_text"]});
        classify.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        json!({"classify": classify})
    };
    let selection = good(shows(json!({"limits": {"tool_results": {"items": 9}, "user_text": {"characters": 50}}})));
    let selection = selection.classify.shows;
    assert_eq!(selection.limit(Collector::ToolResults), Limit { items: 9, characters: 2000 });
    assert_eq!(selection.limit(Collector::UserText), Limit { items: 1, characters: 50 });
    assert_eq!(selection.budget, 40_000);
    assert_eq!(good(shows(json!({"budget": 900}))).classify.shows.budget, 900);
    is_error(shows(json!({"budget": 0})), "/classify/budget");
    is_error(shows(json!({"budget": 900_000})), "/classify/budget");
    is_error(shows(json!({"limits": {"tool_results": {"items": "many"}}})), "/classify/limits/tool_results/items");
    is_error(shows(json!({"limits": {"results": {}}})), "/classify/limits/results");
    is_error(shows(json!({"limits": 5})), "/classify/limits");
    is_warning(shows(json!({"limits": {"tool_calls": {"items": 2}}})), "/classify/limits/tool_calls");
    is_warning(shows(json!({"limits": {"user_text": {"items": 2}}})), "/classify/limits/user_text/items");
    is_warning(shows(json!({"limits": {"user_text": {"chars": 2}}})), "/classify/limits/user_text/chars");
}

#[test]
fn prechecks_are_rules_of_one_condition_each() {
    let rules = json!([{"ask_if": "claims_success"}, {"clean_if": "not tool(*)"}]);
    assert_eq!(good(classify("precheck", rules)).classify.precheck.len(), 2);
    assert_eq!(good(classify("precheck", json!([]))).classify.precheck, []);
    is_error(classify("precheck", json!([{"clean_if": "not tols(*)"}])), "/classify/precheck/0/clean_if");
    is_error(classify("precheck", json!([{"clean_if": "always", "ask_if": "always"}])), "/classify/precheck/0");
    is_error(classify("precheck", json!(["not tool(*)"])), "/classify/precheck/0");
    is_error(classify("precheck", json!({"clean_if": "always"})), "/classify/precheck");
    is_error(classify("precheck", json!([{"clean_if": 5}])), "/classify/precheck/0/clean_if");
    let unknown = classify("precheck", json!([{"clean_fi": "always"}]));
    assert_eq!(
        faults(&with(unknown)),
        [("/classify/precheck/0/clean_fi".to_owned(), false), ("/classify/precheck/0".to_owned(), true)]
    );
    let commanded = json!({"event": "command", "classify": {
        "prompt": "{patterns} CLEAN FLAG", "precheck": [{"clean_if": "always"}],
    }});
    is_warning(commanded, "/classify/precheck");
}

#[test]
fn who_steers_at_rest_is_exempt_while_the_agent_waits_unless_the_file_says_otherwise() {
    let steering = |exempt: Value, event: &str| {
        json!({
            "event": event, "actions": {"on_flag": {"steer": "S."}},
            "classify": {"prompt": "{patterns} CLEAN FLAG", "exempt": exempt},
        })
    };
    let states = |exempt: Value| good(steering(exempt, "turn_end")).classify.exempt;
    assert_eq!(states(Value::Null), [Waiting::WaitingOnUser, Waiting::BackgroundWork]);
    assert_eq!(states(json!([])), []);
    assert_eq!(states(json!(["review_only"])), [Waiting::ReviewOnly]);
    assert_eq!(good(json!({})).classify.exempt, [], "it does not steer");
    assert_eq!(good(steering(Value::Null, "command")).classify.exempt, []);
    is_error(steering(json!(["waiting-on-user"]), "turn_end"), "/classify/exempt/0");
    is_warning(steering(json!(["plan_only"]), "command"), "/classify/exempt");
    is_warning(steering(json!(["plan_only", "plan_only"]), "turn_end"), "/classify/exempt/1");
}

#[test]
fn d28_what_cannot_be_collected_is_an_error_and_an_unfilled_placeholder_a_warning() {
    is_error(classify("context", json!(["constructor"])), "/classify/context/0");
    is_error(classify("context", json!([1])), "/classify/context/0");
    is_error(classify("context", json!({})), "/classify/context");
    let prompt = |text: &str| json!({"classify": {"context": ["tool_calls"], "prompt": text}});
    is_warning(prompt("{constructor} {constructor} {patterns} CLEAN FLAG"), "/classify/prompt");
    is_warning(prompt("{user_text} {tool_calls} {patterns} CLEAN FLAG"), "/classify/prompt");
    is_warning(prompt("{tool_calls} CLEAN FLAG"), "/classify/prompt");
    is_warning(prompt("{patterns} judge!"), "/classify/prompt");
    assert_eq!(
        is_warning(classify("context", json!(["user_text", "user_text"])), "/classify/context/1")
            .classify
            .shows
            .collectors
            .len(),
        1
    );
    assert_eq!(good(classify("context", json!("user_text"))).classify.shows.collectors, [Collector::UserText]);
    assert_eq!(good(classify("context", json!([]))).classify.shows.collectors, []);
}

#[test]
fn models_are_split_at_the_first_slash_and_belong_to_anthropic_without_one() {
    let id = |text: &str| model_id(text).map(|id| (id.provider, id.model));
    assert_eq!(id("claude-x"), Some(("anthropic".into(), "claude-x".into())));
    assert_eq!(id("openai/gpt-4o"), Some(("openai".into(), "gpt-4o".into())));
    assert_eq!(id("p/m/x"), Some(("p".into(), "m/x".into())));
    assert_eq!((id(""), id("/x"), id("x/")), (None, None, None));
    is_error(classify("model", json!("/x")), "/classify/model");
    assert_eq!(good(classify("model", json!(""))).classify.model, None, "the session's own");
}
