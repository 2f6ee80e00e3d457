use chaperone_contract::{Content, EntryBody};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::answer::Decision;
use super::super::transcript::Transcript;
use super::*;

fn read(name: &str, more: Value) -> HookEvent {
    let mut event = json!({"session_id": "s", "transcript_path": "/c.jsonl", "cwd": "/p", "hook_event_name": name});
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Host::GeminiCli.event(&event.to_string()).unwrap()
}

fn message(id: &str, kind: &str, content: Value) -> Value {
    json!({"id": id, "timestamp": "2026-11-30T07:18:20.400Z", "type": kind, "content": content})
}

fn chat(lines: &[Value]) -> Transcript {
    let head = json!({"sessionId": "s", "projectHash": "h", "startTime": "2026-11-30T07:18:20.000Z", "kind": "main"});
    transcript(&std::iter::once(&head).chain(lines).map(|line| format!("{line}\n")).collect::<String>())
}

fn ids(transcript: &Transcript) -> Vec<&str> {
    transcript.entries.iter().map(|entry| entry.entry.id.as_str()).collect()
}

#[test]
fn each_event_is_a_moment() {
    assert_eq!(read("BeforeAgent", json!({"prompt": "hi"})).moment, Moment::Prompt("hi".into()));
    let stop = json!({"prompt": "hi", "prompt_response": "One.\nTwo.", "stop_hook_active": true});
    let expected = Moment::Stop { words: LastWords::Joined("One.\nTwo.".into()), sent_back: true };
    assert_eq!(read("AfterAgent", stop).moment, expected);
    let response = json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls"}, "tool_response": {"llmContent": "out", "returnDisplay": "o"}});
    let Moment::AfterTool(result) = read("AfterTool", response).moment else { panic!("a result") };
    assert_eq!((result.tool_name.as_str(), result.is_error), ("bash", false));
    assert_eq!(result.content, [Content::Text("out".into())]);
    let failed = json!({"tool_name": "x", "tool_response": {"llmContent": "out", "error": {"message": "no"}}});
    assert!(matches!(read("AfterTool", failed).moment, Moment::AfterTool(result) if result.is_error));
    let model = read("BeforeModel", json!({"llm_request": {"model": "gemini-2.5-pro", "messages": []}})).model;
    assert_eq!(model.unwrap().provider, "google");
}

#[test]
fn answers_have_its_words() {
    let send_back = Answer { decision: Decision::SendBack("go".into()), ..Answer::default() };
    let event = read("AfterAgent", json!({}));
    assert_eq!(decision(&event, &send_back), Some(json!({"decision": "deny", "reason": "go"})));
    assert_eq!(decision(&event, &Answer::default()), None);
    let heard = Answer { context: Some("mind".into()), ..Answer::default() };
    let expected = json!({"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "mind"}});
    assert_eq!(decision(&read("BeforeAgent", json!({})), &heard), Some(expected));
}

#[test]
fn a_message_stands_as_it_was_written_last_and_its_tools_answer_behind_it() {
    let called = |extra: Value| {
        let mut answer = message("g", "gemini", json!("I will."));
        let mut call = json!({"id": "run_shell_command-1", "name": "run_shell_command", "args": {"command": "ls"}});
        call.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        answer["toolCalls"] = json!([call]);
        answer["thoughts"] = json!([{"subject": "Plan", "description": "look", "timestamp": "t"}]);
        answer["tokens"] = json!({"input": 100, "output": 5, "cached": 60, "thoughts": 3, "total": 108});
        answer["model"] = json!("gemini-2.5-pro");
        answer
    };
    let output = json!([{"functionResponse": {"id": "1", "name": "run_shell_command", "response": {"output": "hi"}}}]);
    let transcript = chat(&[
        message("u", "user", json!([{"text": "please"}])),
        message("g", "gemini", json!("I will.")),
        json!({"$set": {"lastUpdated": "2026-11-30T07:18:21.000Z"}}),
        called(json!({"status": "executing"})),
        called(json!({"status": "success", "result": output})),
        message("g2", "gemini", json!("Done.")),
    ]);
    assert_eq!(ids(&transcript), ["u", "g", "g#0", "g2"]);
    let EntryBody::Assistant(answer) = &transcript.entries[1].entry.body else { panic!("an answer") };
    let usage = answer.usage.as_ref().unwrap();
    assert_eq!((usage.input, usage.output, usage.cache_read, usage.total), (40, 8, 60, 108));
    let EntryBody::ToolResult(result) = &transcript.entries[2].entry.body else { panic!("a result") };
    assert_eq!((result.tool_name.as_str(), &result.content), ("bash", &vec![Content::Text("hi".into())]));
    let before = json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls"}});
    let Moment::BeforeTool(call) = read("BeforeTool", before).moment else { panic!("a call") };
    assert_eq!(call.id, result.call_id, "an event and the file name a call alike");
}

#[test]
fn going_back_and_rewriting_are_seen() {
    let all = [
        message("u", "user", json!("one")),
        message("g", "gemini", json!("One.")),
        message("u2", "user", json!("two")),
    ];
    let with = |more: Value| ids(&chat(&[&all[..], &[more]].concat())).join(" ");
    assert_eq!(with(json!({"$rewindTo": "u2"})), "u g");
    assert_eq!(with(json!({"$rewindTo": "nowhere"})), "", "as Gemini CLI reads it");
    assert_eq!(with(json!({"$set": {"messages": [message("s", "user", json!("summary")), all[2]]}})), "s u2");
}

#[test]
fn what_the_user_did_not_say_is_not_the_users_word() {
    let response = json!([{"functionResponse": {"id": "1", "name": "x", "response": {"output": "y"}}}]);
    let transcript = chat(&[
        message("c", "user", json!("<session_context>\n…</session_context>")),
        message("i", "info", json!("Request cancelled.")),
        message("e", "error", json!("quota")),
        message("h", "hologram", json!("?")),
        message("r", "user", json!([])),
        message("f", "user", response),
    ]);
    let kinds: Vec<_> = transcript.entries.iter().map(|entry| std::mem::discriminant(&entry.entry.body)).collect();
    let other = std::mem::discriminant(&EntryBody::Other(String::new()));
    assert!(kinds.iter().enumerate().all(|(at, kind)| (at == 1) != (*kind == other)), "{:?}", transcript.entries);
    assert!(transcript.report.unknown_types.contains_key("message/hologram"));
}

#[test]
fn files_of_older_versions_are_one_document() {
    let document = json!({"sessionId": "s", "messages": [message("u", "user", json!("one")), 7]});
    assert_eq!(ids(&transcript(&serde_json::to_string_pretty(&document).unwrap())), ["u"]);
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_there() {
    let text = format!("{{broken\n{}\n{{\"id\":\"half", message("u", "user", json!("one")));
    let transcript = transcript(&text);
    assert_eq!(ids(&transcript), ["u"]);
    assert_eq!((transcript.report.bad_lines[0].line, transcript.report.torn_last_line), (1, Some(3)));
}

proptest! {
    #[test]
    fn any_lines_are_read(texts in proptest::collection::vec("[{}\\[\\]\":,a-z0-9\\\\ ]{0,40}", 0..6)) {
        let lines: String = texts.iter().map(|text| format!("{{\"id\":\"x\",\"type\":\"gemini\",\"toolCalls\":{text}}}\n{text}\n")).collect();
        let _ = transcript(&lines);
        let _ = Host::GeminiCli.event(&texts.concat());
    }
}
