//! Entries for tests, in few words. Their ids count from `e0` within one [`branch`].

use chaperone_sdk::*;

/// The entries of a branch.
pub fn branch(bodies: impl IntoIterator<Item = EntryBody>) -> Vec<Entry> {
    let entry = |(number, body)| Entry { id: format!("e{number}"), timestamp: 1_700_000_000_000, body };
    bodies.into_iter().enumerate().map(entry).collect()
}

/// The user says something.
pub fn user(text: &str) -> EntryBody {
    EntryBody::User(vec![Content::Text(text.into())])
}

/// The agent says something and calls tools: the id and name of each, with its arguments.
pub fn assistant(text: &str, calls: &[(&str, &str, &str)]) -> EntryBody {
    let mut content = vec![Content::Text(text.into())];
    content.extend(calls.iter().map(|&(id, name, arguments)| {
        Content::ToolCall(ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() })
    }));
    let stop_reason = if calls.is_empty() { StopReason::Stop } else { StopReason::ToolUse };
    EntryBody::Assistant(AssistantMessage { content, stop_reason, usage: None, model: None, error: None })
}

/// A tool answers the call of that id.
pub fn result(id: &str, name: &str, text: &str) -> EntryBody {
    EntryBody::ToolResult(ToolResult {
        call_id: id.into(),
        tool_name: name.into(),
        content: vec![Content::Text(text.into())],
        is_error: false,
        details: None,
    })
}

/// A tool fails.
pub fn failure(id: &str, name: &str, text: &str) -> EntryBody {
    match result(id, name, text) {
        EntryBody::ToolResult(result) => EntryBody::ToolResult(ToolResult { is_error: true, ..result }),
        other => other,
    }
}

/// An extension says something.
pub fn custom(custom_type: &str, content: &str) -> EntryBody {
    EntryBody::Custom(CustomMessage {
        custom_type: custom_type.into(),
        content: content.into(),
        display: true,
        details: None,
    })
}

/// What a host makes of a change: the file's new document, or why it is left as it is.
pub fn apply(change: &crate::sidecar::Change, file: Option<&str>) -> Result<serde_json::Value, String> {
    let text = file.unwrap_or(&change.initial).trim_start_matches('\u{feff}');
    let mut document = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let patch: json_patch::Patch = serde_json::from_str(&change.patch).unwrap();
    json_patch::patch(&mut document, &patch).map_err(|error| error.to_string())?;
    Ok(document)
}
