//! Claude Code: what its hooks are told, and what they can answer.

mod content;
mod transcript;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use chaperone_contract::{Content, ToolResult};
use serde_json::Value;

use super::Host;
use super::answer::{self, Answer, Decision, No};
use super::event::{EventError, Fields, HookEvent, Moment, Topic};
pub(super) use transcript::transcript;

/// What its events are called.
pub(super) const EVENTS: &[(&str, Topic)] = &[
    ("SessionStart", Topic::SessionStart),
    ("UserPromptSubmit", Topic::Prompt),
    ("PreToolUse", Topic::BeforeTool),
    ("PostToolUse", Topic::AfterTool),
    ("PostToolUseFailure", Topic::AfterFailedTool),
    ("Stop", Topic::Stop),
    ("SubagentStop", Topic::Stop),
    ("StopFailure", Topic::Failure),
    ("PreCompact", Topic::Other),
    ("SessionEnd", Topic::SessionEnd),
];

/// How a message begins that says what became of work in the background. It comes where the user's words do.
const NOTIFICATION: &str = "<task-notification>";

/// Reads an event.
pub(super) fn event(fields: &Fields) -> Result<HookEvent, EventError> {
    let moment = match fields.moment(Host::ClaudeCode) {
        Moment::Prompt(text) if text.trim_start().starts_with(NOTIFICATION) => Moment::Other,
        // Agents without a type are its own: one of them writes the summary at a compaction.
        _ if fields.agent().is_some() && fields.text("agent_type").is_some_and(|kind| kind.is_empty()) => Moment::Other,
        Moment::AfterTool(result) => Moment::AfterTool(plain(result, fields.value("tool_response"))),
        moment => moment,
    };
    let event = fields.event(moment, None)?;
    let transcript = event.transcript.or_else(|| agent_transcript(fields));
    Ok(HookEvent { transcript, ..event })
}

/// What a command wrote, as the agent reads it, without what is said about it.
fn plain(result: ToolResult, response: Option<&Value>) -> ToolResult {
    let output = |name: &str| response.and_then(|response| response.get(name)).and_then(Value::as_str);
    let Some(stdout) = output("stdout") else { return result };
    let outputs = [stdout, output("stderr").unwrap_or_default()];
    let outputs: Vec<_> = outputs.into_iter().filter(|output| !output.is_empty()).collect();
    ToolResult { content: vec![Content::Text(outputs.join("\n"))], ..result }
}

/// Where the conversation of an agent is that another one started. Only its last event says so; but it is always
/// in a folder beside the main transcript.
fn agent_transcript(fields: &Fields) -> Option<PathBuf> {
    let agent = fields.agent()?;
    let folder = fields.path("transcript_path")?.with_extension("");
    Some(folder.join("subagents").join(format!("agent-{agent}.jsonl")))
}

/// Writes an answer.
pub(super) fn decision(event: &HookEvent, answer: &Answer) -> Option<Value> {
    let mut written = answer::written(&event.name, answer, No::Block)?;
    if matches!(answer.decision, Decision::Answered(_)) {
        // The user has just typed it.
        written["hookSpecificOutput"]["hookEventName"] = event.name.as_str().into();
        written["hookSpecificOutput"]["suppressOriginalPrompt"] = true.into();
    }
    Some(written)
}
