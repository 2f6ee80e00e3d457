//! Gemini CLI: what its hooks are told, and what they can answer.

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
        "BeforeAgent" => Moment::Prompt(text("prompt")),
        "BeforeTool" => Moment::BeforeTool(tool_call(&fields)),
        "AfterTool" => {
            let response = fields.value("tool_response");
            let part = |name: &str| response.and_then(|response| response.get(name)).filter(|part| !part.is_null());
            let answer = part("error").or_else(|| part("llmContent")).or(response);
            Moment::AfterTool(event::result(&tool_call(&fields), answer, part("error").is_some()))
        }
        "AfterAgent" => Moment::Stop {
            words: fields.text("prompt_response").map_or(LastWords::Unknown, LastWords::Joined),
            sent_back: fields.flag("stop_hook_active"),
        },
        "SessionEnd" => Moment::SessionEnd,
        _ => Moment::Other,
    };
    let model = fields.value("llm_request").and_then(|request| request.get("model")).and_then(Value::as_str);
    fields.event(moment, model.map(|model| ModelId { provider: Host::GeminiCli.vendor().into(), model: model.into() }))
}

fn tool_call(fields: &event::Fields) -> ToolCall {
    let name = fields.text("tool_name").unwrap_or_default();
    call(&name, fields.value("tool_input"))
}

/// A call of a tool. Events do not tell its id, so it is named after what it is: the same in an event as in the
/// transcript.
fn call(name: &str, arguments: Option<&Value>) -> ToolCall {
    let arguments = arguments.map_or_else(|| "{}".into(), Value::to_string);
    let mut hasher = blake3::Hasher::new();
    hasher.update(name.as_bytes()).update(b"\0").update(arguments.as_bytes());
    let id = format!("{name}-{}", &hasher.finalize().to_hex()[..12]);
    ToolCall { id, name: tools::name(Host::GeminiCli, name).into(), arguments }
}

/// Writes an answer.
pub(super) fn decision(event: &HookEvent, answer: &Answer) -> Option<Value> {
    let mut fields = answer::Fields::default();
    match &answer.decision {
        Decision::GoOn => {}
        Decision::SendBack(reason) | Decision::Answered(reason) | Decision::Refuse(reason) => {
            fields.put("decision", "deny");
            fields.put("reason", reason.as_str());
        }
        Decision::End(reason) => {
            fields.put("continue", false);
            fields.put("stopReason", reason.as_str());
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
