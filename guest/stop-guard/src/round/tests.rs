use chaperone_sdk::{AssistantMessage, CustomMessage, ToolResult};

use super::*;

fn text(text: &str) -> Vec<Content> {
    vec![Content::Text(text.into())]
}

fn says(content: Vec<Content>, stop_reason: StopReason) -> EntryBody {
    EntryBody::Assistant(AssistantMessage { content, stop_reason, usage: None, model: None, error: None })
}

fn call(id: &str, name: &str, arguments: &str) -> Content {
    Content::ToolCall(ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() })
}

fn result(id: &str, tool: &str, content: Vec<Content>, is_error: bool) -> EntryBody {
    let call_id = id.into();
    EntryBody::ToolResult(ToolResult { call_id, tool_name: tool.into(), content, is_error, details: None })
}

fn custom(content: &str) -> EntryBody {
    EntryBody::Custom(CustomMessage {
        custom_type: "auto-goal".into(),
        content: content.into(),
        display: true,
        details: None,
    })
}

/// What is read of these entries, whose ids are their places from 0.
fn round(bodies: impl IntoIterator<Item = EntryBody>, traced: usize) -> Round {
    let entries = bodies.into_iter().enumerate().map(|(at, body)| Entry { id: at.to_string(), timestamp: 0, body });
    let mut reader = Reader { traced, ..Reader::default() };
    let _ = entries.collect::<Vec<_>>().iter().rev().any(|entry| reader.take(entry));
    reader.round
}

#[test]
fn a_round_begins_with_the_latest_real_message_of_the_user() {
    let round = round(
        [
            EntryBody::User(text("old")),
            says(text("old answer"), StopReason::Stop),
            EntryBody::User(vec![Content::Text(" new ".into()), Content::Image("image/png".into())]),
            says(text("half"), StopReason::Stop),
            custom("Go on."),
            says(text(" the rest "), StopReason::Length),
            EntryBody::Other("label".into()),
        ],
        0,
    );
    assert_eq!(round.user, Some(Message { id: "2".into(), text: "new\n[image: image/png]".into() }));
    assert_eq!(round.ending, Some(StopReason::Length));
    assert_eq!(round.output, "the rest");
    assert_eq!(round.newest.as_deref(), Some("5"), "a label is no part of the conversation");
}

#[test]
fn the_output_is_the_latest_text_even_where_a_later_message_has_none() {
    let bodies =
        || [EntryBody::User(text("x")), says(text("text"), StopReason::ToolUse), says(vec![], StopReason::Stop)];
    let read = round(bodies(), 0);
    assert_eq!((read.output.as_str(), read.ending), ("text", Some(StopReason::Stop)));
    assert_eq!(round(bodies().into_iter().take(1), 0).ending, None);
}

#[test]
fn answers_of_the_user_are_the_results_of_one_tool_since_the_message() {
    let answers = |id, text_: &str| result(id, QUESTION_TOOL, text(text_), false);
    let read = round(
        [
            answers("0", "before"),
            EntryBody::User(text("x")),
            answers("1", "first"),
            result("2", "bash", text("output"), false),
            result("3", QUESTION_TOOL, text("the dialog broke"), true),
            answers("4", " "),
            answers("5", "second"),
            says(text("done"), StopReason::Stop),
        ],
        0,
    );
    assert_eq!(read.answers, ["first", "second"]);
}

#[test]
fn the_trace_has_a_line_for_each_of_the_latest_calls_and_what_came_of_it() {
    let calls = vec![
        call("1", "read", r#"{ "path": "a" }"#),
        call("2", "bash", "{\"command\":\"make\\ntest\"}"),
        call("3", "edit", &"x".repeat(500)),
    ];
    let bodies = [
        EntryBody::User(text("x")),
        says(vec![call("0", "ls", "{}")], StopReason::ToolUse),
        result("0", "ls", text(""), false),
        says(calls, StopReason::ToolUse),
        result("1", "read", text("…"), false),
        result("2", "bash", text("…"), true),
    ];
    let read = round(bodies.clone(), 3);
    assert_eq!(read.untraced, 1);
    assert_eq!(read.trace[0], r#"read {"path":"a"}"#);
    assert_eq!(read.trace[1], r#"bash {"command":"make\ntest"} -> failed"#);
    assert!(read.trace[2].ends_with("x -> no result") && read.trace[2].len() < 220);
    assert_eq!(round(bodies, 0).trace.len(), 0);
}
