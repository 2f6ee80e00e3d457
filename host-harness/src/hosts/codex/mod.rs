//! Codex CLI: what its hooks are told, and what they can answer. It refuses an answer with a field that it does not know
//! for the event.

mod history;
mod transcript;

#[cfg(test)]
mod tests;

use chaperone_contract::ModelId;
use serde_json::Value;

use super::Host;
use super::answer::{self, Answer, Decision, No};
use super::event::{EventError, Fields, HookEvent, Topic};
pub(super) use history::read;
pub(super) use transcript::transcript;

/// What its events are called.
pub(super) const EVENTS: &[(&str, Topic)] = &[
    ("SessionStart", Topic::SessionStart),
    ("UserPromptSubmit", Topic::Prompt),
    ("PreToolUse", Topic::BeforeTool),
    ("PostToolUse", Topic::AfterTool),
    ("Stop", Topic::Stop),
    ("SubagentStop", Topic::Stop),
    ("PreCompact", Topic::Other),
    ("SessionEnd", Topic::SessionEnd),
];

/// Reads an event.
pub(super) fn event(fields: &Fields) -> Result<HookEvent, EventError> {
    let model = fields.text("model").map(|model| ModelId { provider: Host::Codex.vendor().into(), model });
    fields.event(fields.moment(Host::Codex), model)
}

/// Writes an answer.
pub(super) fn decision(event: &HookEvent, answer: &Answer) -> Option<Value> {
    match (event.name.as_str(), &answer.decision) {
        // Here `continue: false` makes the whole answer count as failed.
        ("PreToolUse", Decision::End(reason)) => {
            let refused = Answer { decision: Decision::Refuse(reason.clone()), ..answer.clone() };
            answer::written(&event.name, &refused, No::Block)
        }
        ("SessionStart" | "UserPromptSubmit" | "PreToolUse" | "PostToolUse" | "Stop" | "SubagentStop", _) => {
            answer::written(&event.name, answer, No::Block)
        }
        _ => None,
    }
}
