//! What an entry holds, in the words of the contract.

use chaperone_contract::{
    AssistantMessage, Content, CustomMessage, EntryBody, StopReason, ToolCall, ToolResult, Usage,
};
use serde_json::Value;

use super::report::Report;
use crate::session::line::{self, Object};

/// The types of entries that pi writes.
pub(super) const TYPES: [&str; 11] = [
    "message",
    "model_change",
    "thinking_level_change",
    "usage",
    "compaction",
    "context_edit",
    "branch_summary",
    "custom",
    "custom_message",
    "label",
    "session_info",
];

/// The body of an entry of type `kind`.
pub(super) fn body(kind: String, mut entry: Object, version: u32, report: &mut Report) -> EntryBody {
    match kind.as_str() {
        "message" => {
            let message = match entry.remove("message") {
                Some(Value::Object(message)) => message,
                _ => Object::new(),
            };
            of_message(message, version, report)
        }
        "custom_message" => EntryBody::Custom(custom(entry, report)),
        "compaction" => EntryBody::Compaction(line::text(&mut entry, "summary").unwrap_or_default()),
        known if TYPES.contains(&known) => EntryBody::Other(kind),
        _ => {
            report.count_unknown(kind.clone());
            EntryBody::Other(kind)
        }
    }
}

fn of_message(mut message: Object, version: u32, report: &mut Report) -> EntryBody {
    let role = line::text(&mut message, "role").unwrap_or_default();
    match role.as_str() {
        "user" => EntryBody::User(content(&mut message, report)),
        "assistant" => EntryBody::Assistant(assistant(message, report)),
        "toolResult" => EntryBody::ToolResult(tool_result(message, report)),
        "custom" => EntryBody::Custom(custom(message, report)),
        "hookMessage" if version < 3 => EntryBody::Custom(custom(message, report)),
        "system" | "bashExecution" => EntryBody::Other(role),
        _ => {
            report.count_unknown(format!("message/{role}"));
            EntryBody::Other(role)
        }
    }
}

fn assistant(mut message: Object, report: &mut Report) -> AssistantMessage {
    let content = content(&mut message, report);
    let stop_reason = stop_reason(&message, &content, report);
    AssistantMessage {
        stop_reason,
        usage: message.get("usage").and_then(Value::as_object).map(usage),
        model: line::model(&message, "provider", "model"),
        error: line::text(&mut message, "errorMessage").filter(|_| stop_reason == StopReason::Error),
        content,
    }
}

/// `pending` and `deferred` mark an answer that has not come yet, so nobody should take it for one that is complete.
/// A reason that is missing or unknown follows from whether the message asks for tools.
fn stop_reason(message: &Object, content: &[Content], report: &mut Report) -> StopReason {
    let reason = message.get("stopReason").and_then(Value::as_str);
    match reason {
        Some("stop") => return StopReason::Stop,
        Some("length") => return StopReason::Length,
        Some("toolUse") => return StopReason::ToolUse,
        Some("error") => return StopReason::Error,
        Some("aborted" | "pending" | "deferred") => return StopReason::Aborted,
        unknown => report.count_unknown(format!("stopReason/{}", unknown.unwrap_or_default())),
    }
    match content.iter().any(|part| matches!(part, Content::ToolCall(_))) {
        true => StopReason::ToolUse,
        false => StopReason::Stop,
    }
}

fn usage(usage: &Object) -> Usage {
    let tokens = |key| line::count(usage, key).unwrap_or(0);
    let (input, output) = (tokens("input"), tokens("output"));
    let (cache_read, cache_write) = (tokens("cacheRead"), tokens("cacheWrite"));
    let sum = || [output, cache_read, cache_write].into_iter().fold(input, u64::saturating_add);
    Usage { input, output, cache_read, cache_write, total: line::count(usage, "totalTokens").unwrap_or_else(sum) }
}

fn tool_result(mut message: Object, report: &mut Report) -> ToolResult {
    ToolResult {
        call_id: line::text(&mut message, "toolCallId").unwrap_or_default(),
        tool_name: line::text(&mut message, "toolName").unwrap_or_default(),
        content: content(&mut message, report),
        is_error: message.get("isError").and_then(Value::as_bool).unwrap_or(false),
        details: line::json(&message, "details"),
    }
}

/// The content of a custom message is text; its parts are joined by line breaks, and images left out.
fn custom(mut message: Object, report: &mut Report) -> CustomMessage {
    let texts: Vec<String> = content(&mut message, report)
        .into_iter()
        .filter_map(|part| match part {
            Content::Text(text) => Some(text),
            _ => None,
        })
        .collect();
    CustomMessage {
        custom_type: line::text(&mut message, "customType").unwrap_or_default(),
        content: texts.join("\n"),
        display: message.get("display").and_then(Value::as_bool).unwrap_or(false),
        details: line::json(&message, "details"),
    }
}

/// A text, or a list of parts; pi itself reads a missing content as an empty one.
fn content(message: &mut Object, report: &mut Report) -> Vec<Content> {
    match message.remove("content") {
        Some(Value::String(text)) => vec![Content::Text(text)],
        Some(Value::Array(parts)) => parts.into_iter().filter_map(|part| of_part(part, report)).collect(),
        _ => Vec::new(),
    }
}

fn of_part(part: Value, report: &mut Report) -> Option<Content> {
    let mut part = match part {
        Value::Object(part) => part,
        Value::String(text) => return Some(Content::Text(text)),
        _ => Object::new(),
    };
    let kind = line::text(&mut part, "type").unwrap_or_default();
    let mut text = |key| line::text(&mut part, key).unwrap_or_default();
    Some(match kind.as_str() {
        "text" => Content::Text(text("text")),
        "thinking" => Content::Thinking(text("thinking")),
        "image" => Content::Image(text("mimeType")),
        "toolCall" => Content::ToolCall(ToolCall {
            id: text("id"),
            name: text("name"),
            arguments: line::json(&part, "arguments").unwrap_or_else(|| "{}".into()),
        }),
        _ => {
            report.count_unknown(format!("content/{kind}"));
            return None;
        }
    })
}
