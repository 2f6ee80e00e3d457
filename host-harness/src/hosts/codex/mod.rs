//! Codex CLI: what its hooks are told, and what they can answer. It refuses an answer with a field that it does not know
//! for the event.

mod transcript;

#[cfg(test)]
mod tests;

use chaperone_contract::{ModelId, ToolCall};
use serde_json::Value;

use super::answer::{self, Answer, Decision};
use super::event::{self, EventError, HookEvent, LastWords, Moment};
use super::{Host, tools};
pub(super) use transcript::transcript;

/// Reads an event.
pub(super) fn event(fields: event::Fields) -> Result<HookEvent, EventError> {
    let text = |name: &str| fields.text(name).unwrap_or_default();
    let moment = match text("hook_event_name").as_str() {
        "SessionStart" => match event::start(fields.text("source").as_deref()) {
            Some(reason) => Moment::SessionStart(reason),
            None => Moment::Other,
        },
        "UserPromptSubmit" => Moment::Prompt(text("prompt")),
        "PreToolUse" => Moment::BeforeTool(call(&fields)),
        "PostToolUse" => Moment::AfterTool(event::result(&call(&fields), fields.value("tool_response"), false)),
        "Stop" | "SubagentStop" => Moment::Stop {
            words: fields.text("last_assistant_message").map_or(LastWords::Unknown, LastWords::Last),
            sent_back: fields.flag("stop_hook_active"),
        },
        "StopFailure" => Moment::Failed(text("error")),
        "SessionEnd" => Moment::SessionEnd,
        _ => Moment::Other,
    };
    let model = fields.text("model").map(|model| ModelId { provider: Host::Codex.vendor().into(), model });
    fields.event(moment, model)
}

fn call(fields: &event::Fields) -> ToolCall {
    ToolCall {
        id: fields.text("tool_use_id").unwrap_or_default(),
        name: tools::name(Host::Codex, &fields.text("tool_name").unwrap_or_default()).into(),
        arguments: fields.value("tool_input").map_or_else(|| "{}".into(), Value::to_string),
    }
}

/// Writes an answer.
pub(super) fn decision(event: &HookEvent, answer: &Answer) -> Option<Value> {
    let takes_answers = matches!(
        event.name.as_str(),
        "SessionStart" | "UserPromptSubmit" | "PreToolUse" | "PostToolUse" | "Stop" | "SubagentStop"
    );
    if !takes_answers {
        return None;
    }
    let mut fields = answer::Fields::default();
    match &answer.decision {
        Decision::GoOn => {}
        Decision::SendBack(reason) | Decision::Answered(reason) => {
            fields.put("decision", "block");
            fields.put("reason", reason.as_str());
        }
        // Before a tool, `continue: false` makes the whole answer count as failed.
        Decision::End(reason) if event.name != "PreToolUse" => {
            fields.put("continue", false);
            fields.put("stopReason", reason.as_str());
        }
        Decision::Refuse(reason) | Decision::End(reason) => {
            fields.put_specific(&event.name, "permissionDecision", "deny");
            fields.put_specific(&event.name, "permissionDecisionReason", reason.as_str());
        }
    }
    if let Some(context) = &answer.context {
        fields.put_specific(&event.name, "additionalContext", context.as_str());
    }
    if let Some(shown) = &answer.shown {
        fields.put("systemMessage", shown.as_str());
    }
    fields.finish()
}
