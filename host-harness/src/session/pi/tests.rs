use chaperone_contract::{Content, EntryBody, StopReason, Usage};
use proptest::prelude::*;
use serde_json::json;

use super::*;

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-11-30T08:10:07.580Z","cwd":"/home/dev/shop"}"#;

/// A session of version 3 with the given lines after its header.
fn session(lines: &[&str]) -> Recorded {
    let text: String = [HEADER].iter().chain(lines).map(|line| format!("{line}\n")).collect();
    parse(&text).unwrap()
}

fn label(id: &str, parent: &str) -> String {
    json!({"type": "label", "id": id, "parentId": parent, "timestamp": 1}).to_string()
}

/// A session of labels, given by id and parent.
fn tree(entries: &[(&str, &str)]) -> Recorded {
    let lines: Vec<String> = entries.iter().map(|(id, parent)| label(id, parent)).collect();
    session(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

fn ids(recorded: &Recorded, leaf: Leaf) -> Vec<String> {
    recorded.branch(&leaf).unwrap().iter().map(|entry| entry.entry.id.clone()).collect()
}

/// The body of a message, and what its reading reports.
fn message(message: Value) -> (EntryBody, Report) {
    body(json!({"type": "message", "message": message}))
}

fn body(mut entry: Value) -> (EntryBody, Report) {
    entry["id"] = "a".into();
    entry["timestamp"] = 1.into();
    let recorded = session(&[&entry.to_string()]);
    (recorded.tree.nodes()[0].content.entry.body.clone(), recorded.report)
}

#[test]
fn the_header_says_what_session_it_is() {
    let recorded = session(&[]);
    assert_eq!((recorded.id.as_str(), recorded.cwd.as_str(), recorded.version), ("s", "/home/dev/shop", 3));
    assert_eq!(recorded.created, Some(1_796_026_207_580));
    assert!(recorded.report.is_clean());
    assert_eq!(recorded.branch(&Leaf::Newest).unwrap(), []);
}

#[test]
fn version_1_is_one_line_of_descent_with_ids_by_line() {
    let text = concat!(
        r#"{"type":"session","id":"old","timestamp":"2025-11-20T10:00:00.000Z","cwd":"/x","provider":"p","modelId":"m"}"#,
        "\n",
        r#"{"type":"message","timestamp":"2025-11-20T10:00:01.000Z","message":{"role":"user","content":"hi","timestamp":1}}"#,
        "\n\n",
        r#"{"type":"model_change","timestamp":"2025-11-20T10:00:02.000Z","provider":"p","modelId":"m"}"#,
        "\n",
        r#"{"type":"compaction","timestamp":"2025-11-20T10:00:03.000Z","summary":"sum","firstKeptEntryIndex":1}"#,
        "\n",
        r#"{"type":"message","timestamp":"2025-11-20T10:00:04.000Z","message":{"role":"hookMessage","customType":"h","content":"note","display":true}}"#,
        "\n",
    );
    let recorded = parse(text).unwrap();
    assert_eq!(recorded.version, 1);
    assert!(recorded.report.is_clean(), "{}", recorded.report);
    assert_eq!(ids(&recorded, Leaf::Newest), ["00000002", "00000004", "00000005", "00000006"]);
    let branch = recorded.branch(&Leaf::Newest).unwrap();
    assert_eq!(branch[1].model, Some(ModelId { provider: "p".into(), model: "m".into() }));
    assert_eq!(branch[2].entry.body, EntryBody::Compaction("sum".into()));
    assert!(matches!(&branch[3].entry.body, EntryBody::Custom(custom) if custom.content == "note" && custom.display));
}

#[test]
fn version_2_is_a_tree_and_calls_custom_messages_hook_messages() {
    let text = HEADER.replace(":3", ":2")
        + "\n"
        + r#"{"type":"message","id":"a","parentId":null,"timestamp":1,"message":{"role":"hookMessage","customType":"h","content":[{"type":"text","text":"one"},{"type":"image","data":"","mimeType":"image/png"},{"type":"text","text":"two"}],"display":false,"details":{"b":1,"a":2}}}"#;
    let recorded = parse(&text).unwrap();
    let EntryBody::Custom(custom) = &recorded.tree.nodes()[0].content.entry.body else { panic!() };
    assert_eq!((custom.custom_type.as_str(), custom.content.as_str()), ("h", "one\ntwo"));
    assert_eq!((custom.display, custom.details.as_deref()), (false, Some(r#"{"b":1,"a":2}"#)));
}

#[test]
fn version_3_has_no_hook_messages() {
    let (body, report) = message(json!({"role": "hookMessage", "content": "x"}));
    assert_eq!(body, EntryBody::Other("hookMessage".into()));
    assert_eq!(report.unknown_types["message/hookMessage"], 1);
}

#[test]
fn a_newer_version_is_read_like_the_newest_known_and_reported() {
    let recorded = parse(&HEADER.replace(":3", ":12")).unwrap();
    assert_eq!((recorded.version, recorded.report.newer_version), (12, Some(12)));
    assert!(recorded.report.to_string().contains("version 12"));
}

#[test]
fn messages_keep_what_plugins_read() {
    let (body, report) = message(json!({
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "thinkingSignature": "s"},
            {"type": "text", "text": "I look"},
            {"type": "toolCall", "id": "c", "name": "edit", "arguments": {"path": "p", "oldText": "o", "edits": [1.5]}},
        ],
        "api": "x", "provider": "anthropic", "model": "claude",
        "usage": {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "totalTokens": 10, "cost": {"total": 0.1}},
        "stopReason": "toolUse", "timestamp": 5,
    }));
    assert!(report.is_clean(), "{report}");
    let EntryBody::Assistant(message) = body else { panic!() };
    let Content::ToolCall(call) = &message.content[2] else { panic!() };
    assert_eq!(message.content[..2], [Content::Thinking("hm".into()), Content::Text("I look".into())]);
    assert_eq!(call.arguments, r#"{"path":"p","oldText":"o","edits":[1.5]}"#, "as they were written, in their order");
    assert_eq!(message.usage, Some(Usage { input: 1, output: 2, cache_read: 3, cache_write: 4, total: 10 }));
    assert_eq!(message.model, Some(ModelId { provider: "anthropic".into(), model: "claude".into() }));
    assert_eq!((message.stop_reason, message.error), (StopReason::ToolUse, None));
}

#[test]
fn results_keep_their_details_and_their_failure() {
    let (body, _) = message(json!({
        "role": "toolResult", "toolCallId": "c", "toolName": "bash", "isError": true, "details": {"exit": 1},
        "content": [{"type": "text", "text": "no"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}],
    }));
    let EntryBody::ToolResult(result) = body else { panic!() };
    assert_eq!((result.call_id.as_str(), result.tool_name.as_str(), result.is_error), ("c", "bash", true));
    assert_eq!(result.content, [Content::Text("no".into()), Content::Image("image/png".into())]);
    assert_eq!(result.details.as_deref(), Some(r#"{"exit":1}"#));
}

#[test]
fn every_stop_reason_has_its_place() {
    let cases = [
        (json!("stop"), StopReason::Stop, 0),
        (json!("length"), StopReason::Length, 0),
        (json!("toolUse"), StopReason::ToolUse, 0),
        (json!("aborted"), StopReason::Aborted, 0),
        (json!("error"), StopReason::Error, 0),
        (json!("pending"), StopReason::Aborted, 0),
        (json!("deferred"), StopReason::Aborted, 0),
        (json!("bored"), StopReason::Stop, 1),
        (json!(null), StopReason::Stop, 1),
    ];
    for (written, expected, unknown) in cases {
        let (body, report) = message(json!({
            "role": "assistant", "content": [], "stopReason": written, "errorMessage": "overloaded",
        }));
        let EntryBody::Assistant(message) = body else { panic!() };
        assert_eq!(message.stop_reason, expected, "{written}");
        assert_eq!(message.error.is_some(), expected == StopReason::Error, "{written}");
        assert_eq!(report.unknown_types.len(), unknown, "{written}");
    }
    let (body, _) = message(json!({"role": "assistant", "content": [{"type": "toolCall"}]}));
    assert!(matches!(body, EntryBody::Assistant(message) if message.stop_reason == StopReason::ToolUse));
}

#[test]
fn content_may_be_a_text_or_missing() {
    assert_eq!(message(json!({"role": "user", "content": "hi"})).0, EntryBody::User(vec![Content::Text("hi".into())]));
    assert_eq!(message(json!({"role": "user", "content": null})).0, EntryBody::User(vec![]));
    assert_eq!(message(json!({"role": "user"})).0, EntryBody::User(vec![]));
}

#[test]
fn entries_that_are_no_messages_are_named() {
    let other = |entry: Value| match body(entry) {
        (EntryBody::Other(kind), report) => (kind, report.is_clean()),
        other => panic!("{other:?}"),
    };
    for kind in ["usage", "context_edit", "branch_summary", "custom", "label", "session_info", "thinking_level_change"]
    {
        assert_eq!(other(json!({"type": kind, "summary": "s"})), (kind.into(), true));
    }
    for role in ["system", "bashExecution"] {
        assert_eq!(other(json!({"type": "message", "message": {"role": role}})), (role.into(), true));
    }
    assert_eq!(other(json!({"type": "hologram"})), ("hologram".into(), false));
    assert_eq!(other(json!({"type": "message", "message": 7})), (String::new(), false));
}

#[test]
fn unknown_types_are_counted_and_stay_in_the_chain() {
    let recorded = session(&[
        &label("a", ""),
        &label("b", "a").replace("label", "hologram"),
        &label("c", "b").replace("label", "hologram"),
        r#"{"type":"message","id":"d","parentId":"c","timestamp":1,"message":{"role":"user","content":[{"type":"smell"},{"type":"text","text":"x"}]}}"#,
    ]);
    assert_eq!(ids(&recorded, Leaf::Newest), ["a", "b", "c", "d"]);
    assert_eq!(recorded.report.unknown_types, [("content/smell".into(), 1), ("hologram".into(), 2)].into());
    assert_eq!(recorded.report.to_string(), "unknown: content/smell (1)\nunknown: hologram (2)\n");
}

#[test]
fn a_torn_last_line_is_reported_and_only_there() {
    let torn = format!("{HEADER}\n{}\n{{\"type\":\"mess", label("a", ""));
    let recorded = parse(&torn).unwrap();
    assert_eq!((recorded.report.torn_last_line, recorded.report.bad_lines.len()), (Some(3), 0));
    assert_eq!(ids(&recorded, Leaf::Newest), ["a"]);
    assert!(recorded.report.to_string().contains("line 3"));

    let closed = parse(&(torn + "\n")).unwrap();
    assert_eq!((closed.report.torn_last_line, closed.report.bad_lines[0].line), (None, 3));
}

#[test]
fn bad_lines_are_passed_over_with_a_reason() {
    let recorded = session(&[
        "not json",
        "[1]",
        &label("a", ""),
        r#"{"type":"label","parentId":"a"}"#,
        r#"{"id":"x"}"#,
        HEADER,
        &label("b", "a"),
    ]);
    let reasons: Vec<(usize, &str)> =
        recorded.report.bad_lines.iter().map(|bad| (bad.line, bad.reason.as_str())).collect();
    assert!(reasons[0].0 == 2 && reasons[0].1.starts_with("no JSON (column 2"), "{reasons:?}");
    assert_eq!(reasons[1..], [(3, "JSON, but no object"), (5, "no `id`"), (6, "no `type`"), (7, "a second header")]);
    assert_eq!(ids(&recorded, Leaf::Newest), ["a", "b"]);
}

#[test]
fn byte_order_mark_windows_line_ends_and_blank_lines_do_no_harm() {
    let text = format!("\u{feff}\r\n{HEADER}\r\n\r\n{}\r\n   \r\n{}\r\n\r\n", label("a", ""), label("b", "a"));
    let recorded = parse(&text).unwrap();
    assert_eq!(ids(&recorded, Leaf::Newest), ["a", "b"]);
    assert!(recorded.report.is_clean(), "{}", recorded.report);
}

#[test]
fn halves_of_surrogate_pairs_are_mended_and_reported() {
    let recorded = session(&[
        r#"{"type":"message","id":"a","parentId":null,"timestamp":1,"message":{"role":"user","content":"cut \ud83d"}}"#,
    ]);
    assert_eq!(
        recorded.tree.nodes()[0].content.entry.body,
        EntryBody::User(vec![Content::Text("cut \u{fffd}".into())])
    );
    assert_eq!(recorded.report.mended, [Mended { line: 2, mend: Mend::LoneSurrogates }]);
}

#[test]
fn an_entry_without_a_time_takes_that_of_its_message_or_of_the_entry_before() {
    let recorded = session(&[
        r#"{"type":"label","id":"a","parentId":null}"#,
        r#"{"type":"message","id":"b","parentId":"a","timestamp":"soon","message":{"role":"user","content":"x","timestamp":9}}"#,
        r#"{"type":"label","id":"c","parentId":"b","timestamp":"soon"}"#,
    ]);
    let times: Vec<Timestamp> = recorded.tree.nodes().iter().map(|node| node.content.entry.timestamp).collect();
    assert_eq!(times, [1_796_026_207_580, 9, 9]);
    assert_eq!(recorded.report.mended.iter().map(|mended| mended.line).collect::<Vec<_>>(), [2, 4]);
}

#[test]
fn the_newest_leaf_is_the_last_line_and_others_are_found_by_id() {
    let recorded = tree(&[("a", ""), ("b", "a"), ("c", "b"), ("d", "a")]);
    assert_eq!(ids(&recorded, Leaf::default()), ["a", "d"]);
    assert_eq!(ids(&recorded, Leaf::Id("c".into())), ["a", "b", "c"]);
    assert_eq!(ids(&recorded, Leaf::Id("a".into())), ["a"]);
    assert_eq!(recorded.tree.nodes()[3].parent, Some(0));
    assert_eq!(recorded.tree.nodes()[3].line, 5);
}

#[test]
fn an_unknown_leaf_names_ids_that_look_like_it() {
    let recorded = tree(&[("5579f0bc", ""), ("5b6f49b3", "5579f0bc"), ("e46ac6f1", "5b6f49b3")]);
    let near = |id: &str| match recorded.branch(&Leaf::Id(id.into())) {
        Err(SessionError::NoSuchEntry { near, .. }) => near,
        other => panic!("{other:?}"),
    };
    assert_eq!(near("5"), ["5579f0bc", "5b6f49b3"]);
    assert_eq!(near("5b6f49b8"), ["5b6f49b3"]);
    assert!(near("zzzz").is_empty() && near("").is_empty());
    assert_eq!(
        recorded.branch(&Leaf::Id("e46".into())).unwrap_err().to_string(),
        "no entry `e46` in this session; near it: e46ac6f1"
    );
}

#[test]
fn a_missing_parent_makes_a_root() {
    let recorded = tree(&[("a", ""), ("b", "gone"), ("c", "b")]);
    assert_eq!(ids(&recorded, Leaf::Newest), ["b", "c"]);
    assert_eq!(recorded.report.mended, [Mended { line: 3, mend: Mend::MissingParent("gone".into()) }]);
}

#[test]
fn cycles_end_at_their_earliest_entry() {
    let recorded = tree(&[("a", "c"), ("b", "a"), ("c", "b"), ("d", "d"), ("e", "c")]);
    assert_eq!(ids(&recorded, Leaf::Newest), ["a", "b", "c", "e"]);
    assert_eq!(ids(&recorded, Leaf::Id("d".into())), ["d"]);
    assert_eq!(
        recorded.report.mended,
        [Mended { line: 2, mend: Mend::Cycle("c".into()) }, Mended { line: 5, mend: Mend::Cycle("d".into()) }]
    );
}

#[test]
fn of_entries_with_one_id_the_last_counts() {
    let recorded = tree(&[("a", ""), ("b", "a"), ("b", ""), ("c", "b")]);
    assert_eq!(ids(&recorded, Leaf::Newest), ["b", "c"]);
    assert_eq!(recorded.report.bad_lines[0].line, 3);
    assert!(recorded.report.bad_lines[0].reason.contains("line 4"));
}

#[test]
fn what_is_no_session_is_refused_by_what_it_seems_to_be() {
    assert_eq!(parse(" \n\n"), Err(SessionError::Empty));
    let error = parse("\n# Notes\n").unwrap_err();
    assert_eq!(error, SessionError::NotASession { line: 2, seems: "plain text".into() });
    assert!(
        error.to_string().starts_with("not a session of pi: line 2 is plain text; a session begins with"),
        "{error}"
    );
}

#[test]
fn the_events_of_json_mode_are_no_session_though_they_begin_like_one() {
    let error = parse(&format!("{HEADER}\n{{\"type\":\"agent_start\"}}\n{{\"type\":\"turn_start\"}}\n")).unwrap_err();
    assert!(error.to_string().contains("events"), "{error}");
}

#[test]
fn a_long_session_is_no_deep_recursion() {
    let lines: Vec<String> = (0..50_000).map(|n: i32| label(&n.to_string(), &(n - 1).to_string())).collect();
    let recorded = session(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(recorded.branch(&Leaf::Newest).unwrap().len(), 50_000);
}

/// Lines near to what a session holds, whole or cut.
fn line() -> impl Strategy<Value = String> {
    let id = || prop::sample::select(vec!["a", "b", "c", "d", "e", ""]);
    let kind = prop::sample::select(vec!["message", "label", "custom_message", "compaction", "session", "new", ""]);
    let role = prop::sample::select(vec!["user", "assistant", "toolResult", "custom", "bashExecution", ""]);
    let content = prop_oneof![
        Just(json!(null)),
        Just(json!("text \u{1f600}")),
        Just(json!([{"type": "text", "text": "x"}, {"type": "toolCall", "id": 3, "arguments": "x"}, 5, "y"])),
    ];
    let whole = (kind, id(), id(), role, content, any::<i64>()).prop_map(|(kind, id, parent, role, content, time)| {
        json!({
            "type": kind, "id": id, "parentId": parent, "timestamp": time,
            "message": {"role": role, "content": content, "usage": {"input": time}}, "content": content, "summary": time,
        })
        .to_string()
    });
    let cut = (whole.clone(), any::<prop::sample::Index>()).prop_map(|(line, end)| {
        let end = end.index(line.len() + 1);
        String::from_utf8_lossy(&line.as_bytes()[..end]).into_owned()
    });
    prop_oneof![4 => whole, 1 => cut, 1 => any::<String>(), 1 => "[\\\\ud83{}\"é]{0,40}"]
}

proptest! {
    #[test]
    fn no_line_makes_reading_panic_and_every_branch_ends(lines in prop::collection::vec(line(), 0..20), version in 0..5) {
        let text = HEADER.replace(":3", &format!(":{version}")) + "\n" + &lines.join("\n");
        if let Ok(recorded) = parse(&text) {
            let nodes = recorded.tree.nodes();
            for node in nodes {
                let id = node.content.entry.id.clone();
                let branch = recorded.branch(&Leaf::Id(id.clone())).unwrap();
                prop_assert!(branch.len() <= nodes.len());
                prop_assert_eq!(&branch.last().unwrap().entry.id, &id);
            }
            crate::session::steps(&recorded.branch(&Leaf::Newest).unwrap());
        }
    }

    #[test]
    fn no_text_makes_reading_panic(text in any::<String>()) {
        let _ = parse(&text);
    }
}
