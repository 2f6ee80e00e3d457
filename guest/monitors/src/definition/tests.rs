mod actions;
mod classify;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::fault::Fault;

const FILE: &str = "monitors/m.monitor.json";

/// The base monitor of these tests, with some members replaced.
fn with(changes: Value) -> Value {
    let mut monitor = json!({
        "name": "m",
        "classify": {"prompt": "{patterns} {tool_results} Reply CLEAN or FLAG:<description>."},
        "patterns": {"path": "m.patterns.json"},
    });
    let Value::Object(changes) = changes else { panic!("changes are an object") };
    monitor.as_object_mut().unwrap().extend(changes);
    monitor
}

fn read(monitor: &Value) -> (Option<Monitor>, Vec<Fault>) {
    parse("project", FILE, &monitor.to_string())
}

/// A monitor without any fault.
fn good(changes: Value) -> Monitor {
    let (monitor, faults) = read(&with(changes));
    assert_eq!(faults, []);
    monitor.unwrap()
}

/// The places and severities of all faults, in their order; a monitor is there only without errors.
fn faults(monitor: &Value) -> Vec<(String, bool)> {
    let (monitor, faults) = read(monitor);
    assert_eq!(monitor.is_some(), !faults.iter().any(Fault::is_error), "{faults:?}");
    faults.iter().map(|fault| (fault.pointer.to_string(), fault.is_error())).collect()
}

fn is_error(changes: Value, pointer: &str) {
    assert_eq!(faults(&with(changes)), [(pointer.to_owned(), true)]);
}

fn is_warning(changes: Value, pointer: &str) -> Monitor {
    let monitor = with(changes);
    assert_eq!(faults(&monitor), [(pointer.to_owned(), false)]);
    read(&monitor).0.unwrap()
}

fn classify(field: &str, value: Value) -> Value {
    json!({"classify": {"prompt": "{patterns} CLEAN FLAG", field: value}})
}

fn on_flag(action: Value) -> Value {
    json!({"actions": {"on_flag": action}})
}

#[test]
fn what_would_silently_not_work_is_a_warning() {
    let propose = json!({"patterns": {"path": "p.json", "learn": "propose"}, "actions": {"on_new": {"steer": "S."}}});
    is_warning(propose, "/patterns/learn");
    is_warning(on_flag(json!({"steer": "Look at {description}; {this} is text."})), "/actions/on_flag/steer");
}

#[test]
fn what_a_file_leaves_out_has_the_documented_default() {
    let monitor = good(json!({}));
    assert_eq!(monitor.description, "");
    assert_eq!(monitor.event, Trigger::MessageEnd);
    assert_eq!(monitor.when, When::ALWAYS);
    assert_eq!(monitor.scope, Subject::default());
    assert_eq!(monitor.scope.target, Target::Main);
    assert_eq!(monitor.classify.model, None);
    assert_eq!(monitor.classify.shows.collectors, [Collector::ToolResults, Collector::AssistantText]);
    assert_eq!(monitor.classify.excludes, [""; 0]);
    assert_eq!(monitor.classify.max_per_prompt.get(), 3);
    assert_eq!((monitor.learn, monitor.max_learned.get()), (Learn::Add, 50));
    assert_eq!(monitor.instructions, Location { mount: "project".into(), path: "monitors/m.instructions.json".into() });
    assert_eq!(monitor.patterns, Location { mount: "project".into(), path: "monitors/m.patterns.json".into() });
    assert_eq!(monitor.actions, Actions::default());
    assert_eq!(monitor.ceiling.get(), 5);
    assert_eq!(monitor.escalate, Escalate::Ask);
    let null =
        json!({"description": null, "event": null, "when": null, "scope": null, "actions": null, "ceiling": null});
    assert_eq!(good(null), monitor, "null is the same as nothing");
    assert_eq!(good(json!({"scope": {}})), monitor);
}

#[test]
fn everything_that_a_file_says_is_read() {
    let write = json!({
        "path": "./.workflow/gaps.json", "merge": "upsert", "array_field": "gaps", "schema": "s.json",
        "template": {"id": "monitor-{finding_id}", "nested": {"by": ["{monitor_name}", 1]}},
    });
    let monitor = good(json!({
        "$schema": "schemas/monitor.schema.json",
        "description": "What it watches",
        "event": "turn_end",
        "when": "tool(mcp-x)",
        "scope": {"target": "main", "filter": {"agent_type": ["a", "b"], "step_name": "s-*", "workflow": "w?"}},
        "classify": {
            "model": "openrouter/meta/llama", "context": ["user_text", "tool_calls"], "excludes": ["other"],
            "max_per_prompt": 7, "prompt": "{patterns}{instructions}{iteration}{user_text}{tool_calls} CLEAN FLAG",
        },
        "patterns": {"path": "../shared/p.json", "learn": false},
        "instructions": {"path": "rules/i.json"},
        "actions": {
            "on_flag": {"steer": " Fix it. ", "write": write},
            "on_new": {"steer": "Fix it.", "learn_pattern": true, "write": null},
            "on_clean": null,
        },
        "ceiling": 2,
        "escalate": "dismiss",
    }));
    assert_eq!(monitor.description, "What it watches");
    assert_eq!((monitor.event, monitor.when), (Trigger::TurnEnd, "tool(mcp-x)".parse().unwrap()));
    assert_eq!(monitor.scope.agent_type, Some(vec!["a".into(), "b".into()]));
    assert_eq!(monitor.scope.step_name.map(String::from).as_deref(), Some("s-*"));
    assert_eq!(monitor.scope.workflow.map(String::from).as_deref(), Some("w?"));
    assert_eq!(monitor.classify.model, Some(ModelId { provider: "openrouter".into(), model: "meta/llama".into() }));
    assert_eq!(monitor.classify.shows.collectors, [Collector::UserText, Collector::ToolCalls]);
    assert_eq!(monitor.classify.excludes, ["other"]);
    assert_eq!(monitor.classify.max_per_prompt.get(), 7);
    assert_eq!(monitor.patterns.path, "shared/p.json");
    assert_eq!(monitor.learn, Learn::Never);
    assert_eq!(monitor.instructions.path, "monitors/rules/i.json");
    let Actions { on_flag: Some(flag), on_new: Some(new), on_clean: None } = monitor.actions else { panic!("actions") };
    assert_eq!(flag.steer.as_deref(), Some("Fix it."));
    let write = flag.write.unwrap();
    assert_eq!(write.file, Location { mount: WORKSPACE.into(), path: ".workflow/gaps.json".into() });
    assert_eq!((write.merge, write.array_field.as_str()), (Merge::Upsert, "gaps"));
    assert_eq!(write.template["nested"], json!({"by": ["{monitor_name}", 1]}));
    assert_eq!((new.learn_pattern, new.write), (true, None));
    assert_eq!((monitor.ceiling.get(), monitor.escalate), (2, Escalate::Dismiss));
}

#[test]
fn the_bundled_files_have_no_fault() {
    let bundled = [
        ("fragility", include_str!("../../../../monitors-examples/fragility.monitor.json")),
        ("hedge", include_str!("../../../../monitors-examples/hedge.monitor.json")),
        ("work-quality", include_str!("../../../../monitors-examples/work-quality.monitor.json")),
    ];
    for (name, text) in bundled {
        let (monitor, faults) = parse("project", &format!("monitors/{name}.monitor.json"), text);
        assert_eq!(faults, [], "{name}");
        assert_eq!(monitor.unwrap().name, name);
    }
    let patterns = [
        (12, include_str!("../../../../monitors-examples/fragility.patterns.json")),
        (8, include_str!("../../../../monitors-examples/hedge.patterns.json")),
        (11, include_str!("../../../../monitors-examples/work-quality.patterns.json")),
    ];
    for (count, text) in patterns {
        let list = crate::patterns::parse("project", "p.json", text).unwrap();
        assert_eq!(list.faults, []);
        assert_eq!(list.entries.len(), count);
    }
    let rules = [
        include_str!("../../../../monitors-examples/fragility.instructions.json"),
        include_str!("../../../../monitors-examples/hedge.instructions.json"),
        include_str!("../../../../monitors-examples/work-quality.instructions.json"),
    ];
    for text in rules {
        assert_eq!(crate::rules::parse("project", "i.json", text).unwrap().faults, []);
    }
}

#[test]
fn the_example_of_the_documentation_works_unchanged() {
    let monitor = json!({
        "name": "naming", "description": "Detects poor naming choices in code changes",
        "event": "turn_end", "when": "has_file_writes", "scope": {"target": "main"},
        "classify": {
            "model": "claude-sonnet-4-20250514", "context": ["tool_calls"], "excludes": [],
            "prompt": "{tool_calls}\n\n{instructions}\n\n{patterns}\n\nReply CLEAN, FLAG:<description> or NEW:<p>|<d>.",
        },
        "patterns": {"path": "naming.patterns.json", "learn": true},
        "instructions": {"path": "naming.instructions.json"},
        "actions": {
            "on_flag": {"steer": "Rename it."}, "on_new": {"steer": "Rename it.", "learn_pattern": true},
            "on_clean": null,
        },
        "ceiling": 3, "escalate": "ask",
    });
    let (monitor, faults) = read(&monitor);
    assert_eq!(faults, []);
    let model = ModelId { provider: "anthropic".into(), model: "claude-sonnet-4-20250514".into() };
    assert_eq!(monitor.unwrap().classify.model, Some(model));
}

#[test]
fn d20_any_json_is_read_without_harm() {
    for text in ["null", "[]", "5", "\"x\"", "{}", "", "{", "{\"name\":\"m\",}"] {
        let (monitor, faults) = parse("project", FILE, text);
        assert_eq!(monitor, None, "{text}");
        assert!(faults[0].is_error() && &*faults[0].file == FILE && &*faults[0].mount == "project");
    }
    let (_, faults) = parse("project", FILE, "{\n  \"name\": \"m\",\n}");
    assert!(faults[0].message.contains("line 3 column 1"), "{}", faults[0]);
    is_error(json!({"patterns": {"path": 5}}), "/patterns/path");
    is_error(json!({"patterns": {}}), "/patterns/path");
    is_error(json!({"patterns": "m.patterns.json"}), "/patterns");
}

#[test]
fn a_key_that_stands_twice_is_a_warning_with_its_place_and_the_last_one_counts() {
    let text = r#"{"name": "m", "ceiling": 1, "patterns": {"path": "m.json", "path": "p.json"}, "ceiling": 2,
        "classify": {"prompt": "{patterns} {tool_results} CLEAN FLAG"}}"#;
    let (monitor, faults) = parse("project", FILE, text);
    let monitor = monitor.unwrap();
    assert_eq!((monitor.ceiling.get(), monitor.patterns.path.as_str()), (2, "monitors/p.json"));
    let places: Vec<_> = faults.iter().map(|fault| (&*fault.pointer, fault.is_error())).collect();
    assert_eq!(places, [("/patterns/path", false), ("/ceiling", false)]);
}

#[test]
fn a_byte_order_mark_is_no_fault() {
    let (monitor, faults) = parse("project", FILE, &format!("\u{feff}{}", with(json!({}))));
    assert!(monitor.is_some() && faults.is_empty());
}

#[test]
fn all_faults_of_a_file_are_found_at_once() {
    let monitor = json!({
        "name": "my monitor", "event": "agent_stop", "when": "sometimes", "scope": {"target": "both", "filter": {"step_name": "["}},
        "classify": {"context": ["tool_results", "git"], "max_per_prompt": 0}, "patterns": {"path": "/etc/p.json"},
        "instructions": {"path": "../../i.json"},
        "actions": {"on_flag": {"steer": 5, "write": {"path": "../g.json", "merge": "replace"}}},
        "ceiling": -1, "escalate": "shout", "colour": "red",
    });
    let mut places: Vec<String> = faults(&monitor).into_iter().map(|(place, _)| place).collect();
    places.sort();
    assert_eq!(
        places,
        [
            "/actions/on_flag/steer",
            "/actions/on_flag/write/array_field",
            "/actions/on_flag/write/merge",
            "/actions/on_flag/write/path",
            "/actions/on_flag/write/template",
            "/ceiling",
            "/classify/context/1",
            "/classify/max_per_prompt",
            "/classify/prompt",
            "/colour",
            "/escalate",
            "/event",
            "/instructions/path",
            "/name",
            "/patterns/path",
            "/scope/filter/step_name",
            "/scope/target",
            "/when",
        ]
    );
}

#[test]
fn d20_names_can_be_typed_as_one_word_and_do_not_collide_with_the_command() {
    for name in ["my mon", "", "-x", ".x", "é", "a/b"] {
        is_error(json!({"name": name}), "/name");
    }
    for name in ["on", "off", "9", "a.b_c-D", "monitors"] {
        assert_eq!(good(json!({"name": name})).name, name);
    }
    is_error(json!({"name": "monitors", "event": "command"}), "/name");
    assert_eq!(is_warning(json!({"name": 7}), "/name").name, "7");
    let mut nameless = with(json!({}));
    nameless.as_object_mut().unwrap().remove("name");
    assert_eq!(faults(&nameless), [("/name".to_owned(), true)]);
}

#[test]
fn d21_an_unknown_word_is_an_error_that_lists_the_known_ones() {
    is_error(json!({"event": "tool_start"}), "/event");
    is_error(json!({"when": "has_tool_result"}), "/when");
    is_error(json!({"when": "every(-1)"}), "/when");
    is_error(json!({"scope": {"target": "both"}}), "/scope/target");
    is_error(json!({"escalate": "shout"}), "/escalate");
    let (_, faults) = read(&with(json!({"event": "stop"})));
    assert_eq!(&*faults[0].mend, "write message_end, turn_end, agent_end, tool_call, command");
}

#[test]
fn d33_a_limit_is_a_whole_number_from_one() {
    for wrong in [json!(0), json!(-1), json!(2.5), json!("x"), json!("0"), json!(true), json!([]), json!(1e12)] {
        is_error(json!({"ceiling": wrong}), "/ceiling");
        is_error(classify("max_per_prompt", wrong), "/classify/max_per_prompt");
    }
    assert_eq!(is_warning(json!({"ceiling": "3"}), "/ceiling").ceiling.get(), 3);
    assert_eq!(good(json!({"ceiling": 3.0})).ceiling.get(), 3);
}

#[test]
fn d37_patterns_and_rules_stay_in_the_folder_of_monitors_and_below() {
    for path in ["/p.json", "../../p.json", "~/p.json"] {
        is_error(json!({"patterns": {"path": path}}), "/patterns/path");
        is_error(json!({"instructions": {"path": path}}), "/instructions/path");
    }
    assert_eq!(good(json!({"patterns": {"path": "../p.json"}})).patterns.path, "p.json");
}

#[test]
fn learning_is_on_unless_it_is_switched_off_and_only_on_new_learns() {
    let learn = |learn: Value| json!({"patterns": {"path": "p.json", "learn": learn}});
    assert_eq!(is_warning(learn(json!("false")), "/patterns/learn").learn, Learn::Never);
    is_error(learn(json!("ask")), "/patterns/learn");
    is_error(learn(json!(1)), "/patterns/learn");
    is_error(json!({"patterns": {"path": "p.json", "max_learned": 0}}), "/patterns/max_learned");
    is_warning(on_flag(json!({"learn_pattern": true})), "/actions/on_flag/learn_pattern");
    is_error(json!({"actions": {"on_new": {"learn_pattern": 1}}}), "/actions/on_new/learn_pattern");
}

#[test]
fn unknown_fields_are_warnings_wherever_they_stand() {
    for (changes, place) in [
        (json!({"colour": 1}), "/colour"),
        (json!({"scope": {"agents": []}}), "/scope/agents"),
        (json!({"scope": {"filter": {"name": "x"}}}), "/scope/filter/name"),
        (classify("temperature", json!(0)), "/classify/temperature"),
        (json!({"patterns": {"path": "p.json", "limit": 5}}), "/patterns/limit"),
        (json!({"instructions": {"file": "i.json"}}), "/instructions/file"),
        (json!({"actions": {"on_error": {}}}), "/actions/on_error"),
        (on_flag(json!({"tell": "x"})), "/actions/on_flag/tell"),
    ] {
        is_warning(changes, place);
    }
}

#[test]
fn a_single_name_may_stand_without_a_list() {
    let monitor = good(json!({"scope": {"target": "all", "filter": {"agent_type": "a"}}}));
    assert_eq!(monitor.scope.agent_type, Some(vec!["a".into()]));
    assert_eq!(good(classify("excludes", json!("other"))).classify.excludes, ["other"]);
}

proptest! {
    #[test]
    fn a_field_of_any_kind_is_read_or_reported(
        field in proptest::sample::select(vec![
            "/name", "/description", "/event", "/when", "/scope", "/scope/target", "/scope/filter", "/scope/filter/agent_type",
            "/classify", "/classify/model", "/classify/context", "/classify/excludes", "/classify/prompt", "/patterns",
            "/patterns/path", "/patterns/learn", "/instructions", "/instructions/path", "/actions", "/actions/on_flag",
            "/actions/on_flag/steer", "/actions/on_flag/write", "/actions/on_flag/write/path",
            "/actions/on_flag/write/template", "/ceiling", "/escalate",
        ]),
        value in prop_oneof![
            Just(json!(null)), Just(json!(true)), Just(json!(-1)), Just(json!(1.5)), Just(json!([])), Just(json!({})),
            Just(json!([null, 1, "x"])), Just(json!({"x": {}})), "\\PC{0,8}".prop_map(Value::from),
        ],
    ) {
        let write = json!({"path": "g.json", "array_field": "gaps", "template": {"d": "x"}});
        let mut monitor = with(json!({
            "description": "d", "event": "turn_end", "when": "always", "ceiling": 1, "escalate": "ask",
            "scope": {"target": "main", "filter": {"agent_type": []}}, "instructions": {"path": "i.json"},
            "classify": {"model": "m", "context": [], "excludes": [], "prompt": "{patterns} CLEAN FLAG"},
            "patterns": {"path": "p.json", "learn": true}, "actions": {"on_flag": {"steer": "s", "write": write}},
        }));
        *monitor.pointer_mut(field).unwrap() = value;
        let (monitor, faults) = read(&monitor);
        prop_assert_eq!(monitor.is_some(), !faults.iter().any(Fault::is_error));
        for fault in &faults {
            let about = fault.pointer.starts_with(field) || field.starts_with(&*fault.pointer) || fault.pointer.is_empty();
            prop_assert!(about, "{fault} is about {field}", fault = fault, field = field);
        }
    }
}
