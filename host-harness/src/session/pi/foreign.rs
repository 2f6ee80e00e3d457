//! What a file seems to be that does not begin like a session.

use serde_json::Value;

/// `pi --mode json` prints a session's header, and then events instead of entries.
pub(super) const EVENT_STREAM: &str = "the beginning of the events that pi prints in its JSON or RPC mode";

/// Names the file by its first line that is not blank.
pub(super) fn seems(first: &str, text: &str) -> String {
    if first.contains('\0') || first.starts_with("SQLite format 3") {
        return "binary data".into();
    }
    match serde_json::from_str::<Value>(first) {
        Ok(value) => json(&value),
        Err(_) if first.starts_with('<') => "HTML or XML; the session itself ends in .jsonl".into(),
        Err(_) if serde_json::from_str::<Value>(text).is_ok() => {
            "the beginning of a JSON document of many lines".into()
        }
        Err(_) if first.starts_with('{') => "JSON that is cut short or damaged".into(),
        Err(_) => "plain text".into(),
    }
}

fn json(value: &Value) -> String {
    let has = |keys: &[&str]| keys.iter().all(|key| value.get(key).is_some());
    let kind = value.get("type").and_then(Value::as_str);
    match kind {
        _ if !value.is_object() => "JSON, but no object".into(),
        Some("session") => "a header without an `id`".into(),
        Some("session_meta" | "response_item" | "event_msg" | "turn_context") if has(&["payload"]) => {
            "part of a rollout of Codex".into()
        }
        Some("agent_start" | "turn_start" | "message_start" | "response") => EVENT_STREAM.into(),
        Some(_) if has(&["sessionId"]) || has(&["leafUuid"]) => "part of a transcript of Claude Code".into(),
        Some(_) if has(&["id", "parentId"]) => "an entry of a session whose header is missing".into(),
        Some(kind) => format!("JSON of the type `{kind}`"),
        None if has(&["jsonrpc"]) => "a JSON-RPC message".into(),
        None => "JSON without a `type`".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::seems;

    #[test]
    fn other_files_are_named_by_how_they_begin() {
        let cases = [
            ("Dear diary", "plain text"),
            ("<!doctype html>", "HTML"),
            ("SQLite format 3\0", "binary"),
            ("[1, 2]", "no object"),
            ("{", "cut short"),
            (r#"{"type":"session","version":3}"#, "without an `id`"),
            (r#"{"timestamp":"t","type":"session_meta","payload":{}}"#, "Codex"),
            (r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s"}"#, "Claude Code"),
            (r#"{"type":"summary","summary":"x","leafUuid":"u"}"#, "Claude Code"),
            (r#"{"type":"message","id":"a","parentId":null}"#, "header is missing"),
            (r#"{"type":"agent_start"}"#, "JSON or RPC mode"),
            (r#"{"type":"recipe"}"#, "`recipe`"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "JSON-RPC"),
            (r#"{"name":"pi"}"#, "without a `type`"),
        ];
        for (first, expected) in cases {
            let seems = seems(first, first);
            assert!(seems.contains(expected), "{first}: {seems}");
        }
        assert!(seems("{", "{\n  \"name\": \"pi\"\n}\n").contains("many lines"));
    }
}
