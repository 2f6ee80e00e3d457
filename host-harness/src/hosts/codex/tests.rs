use chaperone_contract::{Content, EntryBody, StopReason, Usage};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::event::{LastWords, Moment};
use super::super::transcript::Transcript;
use super::*;

fn read(name: &str) -> HookEvent {
    let event = json!({
        "session_id": "s", "turn_id": "t", "transcript_path": null, "cwd": "/p", "hook_event_name": name,
        "model": "gpt", "permission_mode": "default", "stop_hook_active": false, "last_assistant_message": null,
    });
    Host::Codex.event(&event.to_string()).unwrap()
}

fn item(payload: Value) -> Value {
    json!({"timestamp": "2026-11-30T07:17:14.000Z", "type": "response_item", "payload": payload})
}

fn said(role: &str, text: &str) -> Value {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    item(json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
}

fn call(id: &str) -> Value {
    item(json!({"type": "function_call", "name": "exec_command", "arguments": "{\"cmd\":\"ls\"}", "call_id": id}))
}

fn output(id: &str, output: Value) -> Value {
    item(json!({"type": "function_call_output", "call_id": id, "output": output}))
}

fn rollout(lines: &[Value]) -> Transcript {
    transcript(&lines.iter().map(|line| format!("{line}\n")).collect::<String>(), 0)
}

fn kinds(transcript: &Transcript) -> Vec<String> {
    let kinds = transcript.entries.iter().map(|entry| match &entry.entry.body {
        EntryBody::User(_) => "user".into(),
        EntryBody::Assistant(message) => format!("{:?}/{}", message.stop_reason, message.content.len()),
        EntryBody::ToolResult(result) => format!("{}{}", result.tool_name, if result.is_error { "!" } else { "" }),
        EntryBody::Custom(message) => message.custom_type.clone(),
        EntryBody::Compaction(summary) => format!("compaction {summary}"),
        EntryBody::Other(kind) => kind.clone(),
    });
    kinds.collect()
}

#[test]
fn only_fields_that_the_event_knows_are_printed() {
    let everything = Answer { decision: Decision::GoOn, context: None, shown: Some("seen".into()) };
    for name in ["SessionEnd", "Interrupt", "StopFailure", "PreCompact", "PostCompact", "SubagentStart"] {
        assert_eq!(decision(&read(name), &everything), None, "{name}");
    }
    let end = Answer { decision: Decision::End("over".into()), ..Answer::default() };
    assert_eq!(decision(&read("PostToolUse"), &end), Some(json!({"continue": false, "stopReason": "over"})));
    let specific = decision(&read("PreToolUse"), &end).unwrap();
    assert_eq!(specific["hookSpecificOutput"]["permissionDecision"], "deny", "it may not end the run there");
    assert_eq!(specific.as_object().unwrap().len(), 1);
}

#[test]
fn the_model_is_told_with_each_event() {
    let model = read("Stop").model.unwrap();
    assert_eq!((model.provider.as_str(), model.model.as_str()), ("openai", "gpt"));
    assert_eq!(read("Stop").moment, Moment::Stop { words: LastWords::Unknown, sent_back: false });
}

#[test]
fn the_items_of_an_answer_are_one_entry_and_circumstances_are_not_the_users_word() {
    let transcript = rollout(&[
        json!({"timestamp": "2026-11-30T07:17:13.000Z", "type": "session_meta", "payload": {"id": "s"}}),
        json!({"timestamp": "2026-11-30T07:17:13.000Z", "type": "turn_context", "payload": {"model": "gpt"}}),
        said("developer", "<permissions instructions>…"),
        said("user", "<environment_context>…"),
        said("user", "please make a file"),
        json!({"type": "event_msg", "payload": {"type": "user_message", "message": "please make a file"}}),
        item(
            json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "…"}),
        ),
        said("assistant", "I will."),
        call("c1"),
        call("c2"),
        output("c1", json!("Chunk ID: 1\nProcess exited with code 0\nOutput:\nhi\n")),
        output("c2", json!("Process exited with code 2\nOutput:\nno\n")),
        said("assistant", "Done."),
        said("user", "<hook_prompt hook_run_id=\"1\">Prove it.</hook_prompt>"),
        said("assistant", "Proven."),
    ]);
    assert_eq!(
        kinds(&transcript),
        [
            "message/developer",
            "message/user",
            "user",
            "ToolUse/4",
            "bash",
            "bash!",
            "Stop/1",
            "hook-feedback",
            "Stop/1"
        ]
    );
    let EntryBody::Assistant(answer) = &transcript.entries[3].entry.body else { panic!("an answer") };
    assert_eq!((answer.model.as_ref().unwrap().model.as_str(), answer.stop_reason), ("gpt", StopReason::ToolUse));
}

#[test]
fn an_entry_keeps_its_name_while_the_file_grows_and_where_only_its_end_is_read() {
    let all = [said("user", "one"), said("assistant", "One."), said("user", "two")];
    let whole = rollout(&all);
    let first = format!("{}\n", all[0]);
    let rest: String = all[1..].iter().map(|line| format!("{line}\n")).collect();
    let end = transcript(&rest, first.len() as u64);
    let ids =
        |transcript: &Transcript| transcript.entries.iter().map(|entry| entry.entry.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&whole)[1..], ids(&end));
    assert_eq!(ids(&rollout(&all[..2])), ids(&whole)[..2]);
    assert_eq!(ids(&transcript(&rest, u64::MAX)).len(), 2, "a place that cannot be does no harm");
}

#[test]
fn outputs_have_several_forms() {
    let transcript = rollout(&[
        call("c"),
        output("c", json!({"content": "denied", "success": false})),
        output("c", json!([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}])),
        output("c", json!("{\"output\":\"x\",\"metadata\":{\"exit_code\":1}}")),
        item(json!({"type": "custom_tool_call", "call_id": "p", "name": "apply_patch", "input": "*** Begin Patch"})),
        item(json!({"type": "custom_tool_call_output", "call_id": "p", "output": "ok"})),
    ]);
    assert_eq!(kinds(&transcript), ["ToolUse/1", "bash!", "bash", "bash!", "ToolUse/1", "edit"]);
    let EntryBody::Assistant(patch) = &transcript.entries[4].entry.body else { panic!("an answer") };
    assert!(
        matches!(&patch.content[0], Content::ToolCall(call) if call.arguments == "{\"input\":\"*** Begin Patch\"}")
    );
}

#[test]
fn interrupts_compactions_and_going_back_are_seen() {
    let transcript = rollout(&[
        said("user", "one"),
        event(json!({"type": "turn_aborted", "reason": "interrupted"})),
        json!({"type": "compacted", "payload": {"message": "so far"}}),
        said("user", "two"),
        said("assistant", "Two."),
        event(json!({"type": "thread_rolled_back", "num_turns": 1})),
        said("user", "three"),
    ]);
    assert_eq!(kinds(&transcript), ["user", "Aborted/0", "compaction so far", "user"]);
    assert_eq!(kinds(&rollout(&[event(json!({"type": "thread_rolled_back", "num_turns": u64::MAX}))])), [""; 0]);
}

fn event(payload: Value) -> Value {
    json!({"timestamp": "2026-11-30T14:34:12.000Z", "type": "event_msg", "payload": payload})
}

#[test]
fn what_an_answer_cost_is_read_wherever_it_stands() {
    let tokens = |input: u64, output: u64| {
        json!({
            "input_tokens": input, "cached_input_tokens": 60, "cache_write_input_tokens": 10, "output_tokens": output,
            "reasoning_output_tokens": 5, "total_tokens": input + output,
        })
    };
    let record = |usage: Value| json!({"type": "token_usage_record", "payload": {"response_id": "r", "usage": usage}});
    let count = |last: Value, of_all: u64| {
        let all = json!({"total_tokens": of_all});
        event(json!({"type": "token_count", "info": {"total_token_usage": all, "last_token_usage": last}}))
    };
    let totals = |lines: &[Value]| -> Vec<Option<u64>> {
        let answers = rollout(lines).entries.into_iter().filter_map(|entry| match &entry.entry.body {
            EntryBody::Assistant(message) => Some(message.usage.as_ref().map(|usage| usage.total)),
            _ => None,
        });
        answers.collect()
    };
    let newer = [
        said("user", "one"),
        call("c"),
        record(tokens(100, 20)),
        output("c", json!("x")),
        count(tokens(100, 20), 120),
        said("assistant", "Done."),
        record(tokens(200, 30)),
        count(tokens(200, 30), 350),
    ];
    assert_eq!(totals(&newer), [Some(120), Some(230)]);
    let older: Vec<_> = newer.iter().filter(|line| line["type"] != "token_usage_record").cloned().collect();
    assert_eq!(totals(&older), [Some(120), Some(230)]);
    let limits = [
        call("c"),
        count(tokens(100, 20), 120),
        said("user", "two"),
        said("assistant", "Two."),
        count(tokens(100, 20), 120),
    ];
    assert_eq!(totals(&limits), [Some(120), None], "said again, when limits changed");
    assert_eq!(totals(&[event(json!({"type": "token_count", "info": null})), said("assistant", "One.")]), [None]);

    let EntryBody::Assistant(answer) = &rollout(&newer).entries[1].entry.body.clone() else { panic!("an answer") };
    let expected = Usage { input: 30, output: 20, cache_read: 60, cache_write: 10, total: 120 };
    assert_eq!(answer.usage.as_ref(), Some(&expected), "of all input, what came from the cache is told apart");
}

#[test]
fn a_provider_that_failed_ends_the_turn() {
    let failed = rollout(&[
        said("user", "one"),
        event(json!({"type": "task_complete", "last_agent_message": null, "error": {"message": "made to fail"}})),
        said("user", "two"),
        said("assistant", "Two."),
        event(json!({"type": "task_complete", "last_agent_message": "Two."})),
    ]);
    assert_eq!(kinds(&failed), ["user", "Error/0", "user", "Stop/1"]);
    let EntryBody::Assistant(message) = &failed.entries[1].entry.body else { panic!("a failure") };
    assert_eq!(message.error.as_deref(), Some("made to fail"));
}

#[test]
fn a_fork_names_its_parent_where_it_goes_on_from_that_ones_rollout() {
    let meta = |more: Value| {
        let mut meta = json!({"id": "f", "forked_from_id": "p"});
        meta.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"type": "session_meta", "payload": meta})
    };
    let base = json!({"history_base": {"thread_id": "p", "end_ordinal_exclusive": 2, "end_byte_offset": 9}});
    let older = json!({"history_base": {"thread_id": "pp", "end_byte_offset": 4}});
    assert_eq!(rollout(&[meta(older), said("user", "x"), meta(base)]).forked_from.as_deref(), Some("p"));
    assert_eq!(rollout(&[meta(json!({}))]).forked_from, None, "its entries would be called otherwise");
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_there() {
    let text = format!("{}\n{{broken\n{}\n{{\"type\":\"respo", said("user", "one"), item(json!({"type": "hologram"})));
    let transcript = transcript(&text, 0);
    assert_eq!(kinds(&transcript), ["user"]);
    assert_eq!((transcript.report.bad_lines[0].line, transcript.report.torn_last_line), (2, Some(4)));
    assert!(transcript.report.unknown_types.contains_key("response_item/hologram"));
}

proptest! {
    #[test]
    fn any_items_are_read(texts in proptest::collection::vec("[{}\\[\\]\":,a-z0-9\\\\ ]{0,40}", 0..6)) {
        let lines: String = texts.iter().map(|text| format!("{{\"type\":\"response_item\",\"payload\":{text}}}\n{text}\n")).collect();
        let _ = transcript(&lines, 0);
        let _ = Host::Codex.event(&texts.concat());
    }
}
