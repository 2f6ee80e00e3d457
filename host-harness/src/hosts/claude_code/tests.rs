use chaperone_contract::{AgentKind, Content, Entry, EntryBody, StartReason, StopReason};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::answer::Decision;
use super::super::event::LastWords;
use super::super::transcript::{Transcript, Whose};
use super::*;

fn read(name: &str, more: Value) -> HookEvent {
    let mut event = json!({"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/p", "hook_event_name": name});
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Host::ClaudeCode.event(&event.to_string()).unwrap()
}

fn written(name: &str, answer: Answer) -> Option<Value> {
    decision(&read(name, json!({})), &answer)
}

fn lines(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn line(kind: &str, uuid: &str, parent: Option<&str>, message: Value) -> Value {
    json!({"type": kind, "uuid": uuid, "parentUuid": parent, "timestamp": "2026-11-30T08:00:00.000Z", "message": message})
}

fn user(uuid: &str, parent: Option<&str>, content: Value) -> Value {
    line("user", uuid, parent, json!({"role": "user", "content": content}))
}

fn part(uuid: &str, parent: &str, answer: &str, block: Value) -> Value {
    line("assistant", uuid, Some(parent), json!({"id": answer, "role": "assistant", "model": "m", "content": [block]}))
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn tool_use(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}})
}

fn tool_result(id: &str) -> Value {
    json!([{"type": "tool_result", "tool_use_id": id, "content": [text("out")], "is_error": true}])
}

fn main_of(all: &[Value]) -> Transcript {
    transcript(&lines(all), Whose::Main)
}

fn text_of_content(content: &[Content]) -> String {
    super::content::text_of(content)
}

fn ids(transcript: &Transcript) -> Vec<&str> {
    transcript.entries.iter().map(|entry| entry.entry.id.as_str()).collect()
}

fn entry<'t>(transcript: &'t Transcript, id: &str) -> &'t Entry {
    &transcript.entries.iter().find(|entry| entry.entry.id == id).unwrap().entry
}

#[test]
fn each_event_is_a_moment() {
    let moment = |name: &str, more: Value| read(name, more).moment;
    assert_eq!(moment("SessionStart", json!({"source": "resume"})), Moment::SessionStart(StartReason::Resume));
    assert_eq!(moment("SessionStart", json!({"source": "compact"})), Moment::Other, "it goes on");
    assert_eq!(moment("UserPromptSubmit", json!({"prompt": "hi"})), Moment::Prompt("hi".into()));
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"});
    let Moment::BeforeTool(made) = moment("PreToolUse", call) else { panic!("a call") };
    assert_eq!((made.id.as_str(), made.name.as_str(), made.arguments.as_str()), ("t1", "bash", r#"{"command":"ls"}"#));
    let failed = json!({"tool_name": "Bash", "tool_use_id": "t1", "error": "no such file"});
    assert!(matches!(moment("PostToolUseFailure", failed), Moment::AfterTool(result) if result.is_error));
    let stop = json!({"stop_hook_active": true, "last_assistant_message": "Done."});
    assert_eq!(moment("Stop", stop), Moment::Stop { words: LastWords::Last("Done.".into()), sent_back: true });
    assert_eq!(moment("Stop", json!({})), Moment::Stop { words: LastWords::Unknown, sent_back: false });
    assert_eq!(moment("SomethingNew", json!({"x": [1]})), Moment::Other);
    let failure = json!({"error": "unknown", "last_assistant_message": "API Error: 400 made to fail"});
    assert_eq!(moment("StopFailure", failure), Moment::Failed("API Error: 400 made to fail".into()));
}

#[test]
fn news_of_background_work_is_no_prompt() {
    let news = "<task-notification>\n<task-id>a7</task-id>\n<status>completed</status>\n</task-notification>";
    assert_eq!(read("UserPromptSubmit", json!({"prompt": news})).moment, Moment::Other);
}

#[test]
fn of_a_command_its_output_is_told() {
    let output = |stdout: &str, stderr: &str| {
        let response = json!({"stdout": stdout, "stderr": stderr, "interrupted": false, "bashEditDiff": {"files": []}});
        let event = read("PostToolUse", json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_response": response}));
        let Moment::AfterTool(result) = event.moment else { panic!("a result") };
        result.content
    };
    assert_eq!(output("hi", ""), [Content::Text("hi".into())]);
    assert_eq!(output("hi", "but"), [Content::Text("hi\nbut".into())]);
    assert_eq!(output("", ""), [Content::Text(String::new())]);
    let read = read("PostToolUse", json!({"tool_name": "Read", "tool_response": {"type": "text"}}));
    assert!(
        matches!(read.moment, Moment::AfterTool(result) if result.content == [Content::Text(r#"{"type":"text"}"#.into())])
    );
}

#[test]
fn an_agent_that_another_one_started_is_a_session_of_its_own() {
    let more = json!({"agent_id": "a7", "agent_type": "reviewer", "agent_transcript_path": "/a.jsonl"});
    let event = read("SubagentStop", more);
    assert_eq!(
        (event.session.as_str(), event.agent.kind, event.whose()),
        ("s/a7", AgentKind::Subagent, Whose::Subagent)
    );
    assert_eq!((event.agent.name.as_deref(), event.transcript.unwrap().to_str()), (Some("reviewer"), Some("/a.jsonl")));
    let inside = read("PreToolUse", json!({"agent_id": "a7", "agent_type": "reviewer"}));
    assert_eq!(inside.transcript.unwrap().to_str(), Some("/t/subagents/agent-a7.jsonl"), "the main one is not its own");
    let summary = json!({"agent_id": "a8", "agent_type": "", "last_assistant_message": "<summary>…</summary>"});
    assert_eq!(read("SubagentStop", summary).moment, Moment::Other, "it writes the summary at a compaction");
}

#[test]
fn what_is_no_event_is_named() {
    let error = |text: &str| Host::ClaudeCode.event(text).unwrap_err().to_string();
    assert!(error("").contains("no event"));
    assert!(error("[]").contains("no object"));
    assert!(error("{}").contains("`hook_event_name`"));
    assert!(error(r#"{"hook_event_name": "Stop", "session_id": 7}"#).contains("`session_id`"));
}

#[test]
fn answers_have_the_words_of_the_event() {
    let decided = |decision| Answer { decision, ..Answer::default() };
    assert_eq!(written("Stop", Answer::default()), None);
    assert_eq!(
        written("Stop", decided(Decision::SendBack("go".into()))),
        Some(json!({"decision": "block", "reason": "go"}))
    );
    assert_eq!(
        written("PreToolUse", decided(Decision::Refuse("no".into()))),
        Some(json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no",
        }}))
    );
    assert_eq!(
        written("PostToolUse", decided(Decision::End("over".into()))),
        Some(json!({"continue": false, "stopReason": "over"}))
    );
    assert_eq!(
        written("UserPromptSubmit", decided(Decision::Answered("ON".into()))),
        Some(json!({
            "decision": "block", "reason": "ON",
            "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": true},
        }))
    );
    let heard = Answer { context: Some("mind".into()), shown: Some("seen".into()), ..Answer::default() };
    assert_eq!(
        written("UserPromptSubmit", heard),
        Some(json!({
            "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "mind"},
            "systemMessage": "seen",
        }))
    );
}

#[test]
fn the_parts_of_an_answer_are_one_entry() {
    let transcript = main_of(&[
        user("u", None, json!("do it")),
        part("a1", "u", "m1", json!({"type": "thinking", "thinking": "hm"})),
        part("a2", "a1", "m1", text("I look.")),
        part("a3", "a2", "m1", tool_use("t1")),
        user("r1", Some("a3"), tool_result("t1")),
        part("a4", "r1", "m2", text("Done.")),
    ]);
    assert_eq!(ids(&transcript), ["u", "a1", "r1", "a4"]);
    let EntryBody::Assistant(answer) = &entry(&transcript, "a1").body else { panic!("an answer") };
    assert_eq!((answer.content.len(), answer.stop_reason), (3, StopReason::ToolUse));
    assert_eq!(answer.model.as_ref().unwrap().provider, "anthropic");
    let EntryBody::ToolResult(result) = &entry(&transcript, "r1").body else { panic!("a result") };
    assert_eq!((result.tool_name.as_str(), result.is_error), ("bash", true));
    assert_eq!(result.content, [Content::Text("out".into())]);
}

#[test]
fn results_of_tools_that_ran_side_by_side_are_all_there() {
    let asked = [
        user("u", None, json!("do it")),
        part("a1", "u", "m1", tool_use("t1")),
        part("a2", "a1", "m1", tool_use("t2")),
    ];
    let [first, second] = [user("r1", Some("a1"), tool_result("t1")), user("r2", Some("a2"), tool_result("t2"))];
    let there = |results: [&Value; 2]| {
        let all: Vec<_> = asked.iter().chain(results).cloned().collect();
        ids(&main_of(&all)).join(" ")
    };
    assert_eq!(there([&first, &second]), "u a1 r1 r2");
    assert_eq!(there([&second, &first]), "u a1 r2 r1");
}

#[test]
fn what_the_user_left_behind_is_not_on_the_branch() {
    let transcript = main_of(&[
        user("u1", None, json!("one")),
        part("a1", "u1", "m1", text("One.")),
        user("u2", Some("a1"), json!("two")),
        part("a2", "u2", "m2", tool_use("t")),
        user("r2", Some("a2"), tool_result("t")),
        user("u3", Some("a1"), json!("three")),
    ]);
    assert_eq!(ids(&transcript), ["u1", "a1", "u3"]);
}

#[test]
fn a_compaction_does_not_end_the_branch() {
    let mut boundary = json!({"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": null, "logicalParentUuid": "a1"});
    let mut summary = user("s", Some("b"), json!("It was about x."));
    summary["isCompactSummary"] = true.into();
    let before = [user("u1", None, json!("one")), part("a1", "u1", "m1", text("One."))];
    let transcript = main_of(&[&before[..], &[boundary.take(), summary]].concat());
    assert_eq!(ids(&transcript), ["u1", "a1", "s"]);
    assert_eq!(entry(&transcript, "s").body, EntryBody::Compaction("It was about x.".into()));
}

#[test]
fn not_every_line_of_the_user_is_the_users_word() {
    let mut meta = user("m", Some("i"), json!("Caveat: …"));
    meta["isMeta"] = true.into();
    let transcript = main_of(&[
        user("u", None, json!("do it")),
        user("f", Some("u"), json!("Stop hook feedback:\n[x]: go on")),
        user("l", Some("f"), json!("<local-command-stdout>ok</local-command-stdout>")),
        user("i", Some("l"), json!([text("[Request interrupted by user]")])),
        meta,
    ]);
    let kinds: Vec<_> = transcript
        .entries
        .iter()
        .map(|entry| match &entry.entry.body {
            EntryBody::User(_) => "user".into(),
            EntryBody::Custom(message) => message.custom_type.clone(),
            EntryBody::Assistant(message) => format!("{:?}", message.stop_reason),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(kinds, ["user", "hook-feedback", "Other(\"local-command\")", "Aborted", "meta"]);
}

#[test]
fn what_speaks_in_the_place_of_the_user_is_told_from_the_user() {
    let said = |uuid: &str, parent: &str, content: &str, origin: Option<&str>| {
        let mut line = user(uuid, Some(parent), json!(content));
        if let Some(kind) = origin {
            line["origin"] = json!({"kind": kind});
        }
        line
    };
    let transcript = main_of(&[
        user("u", None, json!("<command-name>/clear</command-name>\n  <command-message>clear</command-message>")),
        said("h", "u", "hello", Some("human")),
        said("n", "h", "<task-notification>\n<status>completed</status>", Some("task-notification")),
        said("o", "n", "<task-notification>\n<status>completed</status>", None),
        said("p", "o", "How far are you?", Some("peer")),
        said("q", "p", "hello again", Some("something-new")),
        {
            let mut odd = said("x", "q", "and again", None);
            odd["origin"] = json!("odd");
            odd
        },
    ]);
    let kinds = transcript.entries.iter().map(|entry| match &entry.entry.body {
        EntryBody::User(_) => "user",
        EntryBody::Custom(message) => &message.custom_type,
        EntryBody::Other(kind) => kind,
        _ => "?",
    });
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        ["local-command", "user", "task-notification", "task-notification", "peer", "user", "user"]
    );
}

#[test]
fn a_prompt_that_has_a_name_is_what_the_user_typed() {
    let command = |text: &str| {
        let transcript = main_of(&[user("u", None, json!(text))]);
        let EntryBody::User(content) = &entry(&transcript, "u").body else { panic!("{text}") };
        text_of_content(content)
    };
    let line = "<command-message>review-it</command-message>\n<command-name>/review-it</command-name>\n<command-args>the readme</command-args>";
    assert_eq!(command(line), "/review-it the readme");
    assert_eq!(command("<command-message>x</command-message>\n<command-name>/x</command-name>"), "/x");
    assert_eq!(command("<command-message>what is this?"), "<command-message>what is this?");
}

#[test]
fn a_branch_names_the_session_that_it_was_copied_from() {
    let mut copied = user("u", None, json!("one"));
    copied["forkedFrom"] = json!({"sessionId": "parent", "messageUuid": "u"});
    assert_eq!(main_of(&[copied.clone(), user("v", Some("u"), json!("two"))]).forked_from.as_deref(), Some("parent"));
    copied["forkedFrom"] = json!(["something", "else"]);
    let transcript = main_of(&[copied]);
    assert_eq!((transcript.forked_from.as_deref(), ids(&transcript)), (None, vec!["u"]));
}

#[test]
fn a_side_conversation_is_not_the_main_one() {
    let mut side = user("x", None, json!("look there"));
    side["isSidechain"] = true.into();
    let all = [user("u", None, json!("do it")), side];
    assert_eq!(ids(&main_of(&all)), ["u"]);
    assert_eq!(ids(&transcript(&lines(&all[1..]), Whose::Subagent)), ["x"]);
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_there() {
    let mut text = lines(&[user("u", None, json!("do it"))]);
    text += "{broken\n[1]\n{\"type\":\"queue-operation\"}\n{\"type\":\"user\",\"uuid\":\"n\",\"parentUuid\":7}\n";
    text += &lines(&[part("a", "lost", "m", json!({"type": "hologram"}))]);
    text += "{\"type\":\"assistant\",\"uuid\":\"half";
    let transcript = transcript(&text, Whose::Main);
    assert_eq!(ids(&transcript), ["u", "a"], "where a parent is missing, what came before it is taken");
    let bad: Vec<_> = transcript.report.bad_lines.iter().map(|bad| bad.line).collect();
    assert_eq!((bad, transcript.report.torn_last_line), (vec![2, 3, 5], Some(7)));
    assert!(transcript.report.unknown_types.contains_key("content/hologram"));
}

#[test]
fn results_in_results_do_not_lead_deeper_and_deeper() {
    let depth = 20_000;
    let open = r#"[{"type":"tool_result","tool_use_id":"t","content":"#;
    let content = format!("{}\"x\"{}", open.repeat(depth), "}]".repeat(depth));
    let text = format!("{{\"type\":\"user\",\"uuid\":\"u\",\"message\":{{\"content\":{content}}}}}\n");
    assert_eq!(ids(&transcript(&text, Whose::Main)), ["u"]);
    let flat = "[".repeat(1_000_000);
    let text = format!("{{\"type\":\"user\",\"uuid\":\"u\",\"message\":{{\"content\":{flat}}}}}\n");
    assert_eq!(transcript(&text, Whose::Main).report.bad_lines.len(), 1);
}

#[test]
fn halves_of_characters_do_not_hide_a_message() {
    let text = r#"{"type":"user","uuid":"u","message":{"role":"user","content":"x\ud83d"}}"#;
    let transcript = transcript(&format!("{text}\n"), Whose::Main);
    assert_eq!(entry(&transcript, "u").body, EntryBody::User(vec![Content::Text("x\u{fffd}".into())]));
}

proptest! {
    #[test]
    fn any_event_is_read_or_refused(text in ".{0,80}") {
        let _ = Host::ClaudeCode.event(&text);
    }

    #[test]
    fn any_tree_is_read_to_its_end(parents in proptest::collection::vec(proptest::option::of(0..12_u8), 1..12), kinds in proptest::collection::vec(0..4_u8, 12)) {
        let all: Vec<_> = parents.iter().zip(&kinds).enumerate().map(|(at, (parent, kind))| {
            let parent = parent.map(|parent| format!("n{parent}"));
            let (uuid, parent) = (format!("n{at}"), parent.as_deref());
            match kind {
                0 => user(&uuid, parent, json!("x")),
                1 => user(&uuid, parent, tool_result("t")),
                2 => part(&uuid, parent.unwrap_or("n0"), "m", tool_use("t")),
                _ => json!({"type": "system", "uuid": uuid, "parentUuid": parent, "logicalParentUuid": "n3"}),
            }
        }).collect();
        let transcript = main_of(&all);
        prop_assert!(transcript.entries.len() <= all.len());
        prop_assert!(transcript.report.bad_lines.is_empty());
    }
}
