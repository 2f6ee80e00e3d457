//! Gemini CLI: what its hooks are told, and what they can answer.

mod transcript;

#[cfg(test)]
mod tests;

use chaperone_contract::{ModelId, ToolCall};
use serde_json::Value;

use super::answer::{self, Answer, No};
use super::event::{self, EventError, Fields, HookEvent, LastWords, Moment, Topic};
use super::{Host, tools};
pub(super) use transcript::transcript;

/// What its events are called.
pub(super) const EVENTS: &[(&str, Topic)] = &[
    ("SessionStart", Topic::SessionStart),
    ("BeforeAgent", Topic::Prompt),
    ("BeforeTool", Topic::BeforeTool),
    ("AfterTool", Topic::AfterTool),
    ("AfterAgent", Topic::Stop),
    ("SessionEnd", Topic::SessionEnd),
];

/// Reads an event.
pub(super) fn event(fields: &Fields) -> Result<HookEvent, EventError> {
    let tool_call = || call(&fields.text("tool_name").unwrap_or_default(), fields.value("tool_input"));
    let moment = match fields.topic(Host::GeminiCli) {
        Topic::BeforeTool => Moment::BeforeTool(tool_call()),
        Topic::AfterTool => {
            let response = fields.value("tool_response");
            let part = |name: &str| response.and_then(|response| response.get(name)).filter(|part| !part.is_null());
            let answer = part("error").or_else(|| part("llmContent")).or(response);
            Moment::AfterTool(event::result(&tool_call(), answer, part("error").is_some()))
        }
        Topic::Stop => fields.stop(fields.text("prompt_response").map(LastWords::Joined)),
        _ => fields.moment(Host::GeminiCli),
    };
    let model = fields.value("llm_request").and_then(|request| request.get("model")).and_then(Value::as_str);
    fields.event(moment, model.map(|model| ModelId { provider: Host::GeminiCli.vendor().into(), model: model.into() }))
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
    answer::written(&event.name, answer, No::Deny)
}
