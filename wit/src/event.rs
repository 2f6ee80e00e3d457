//! The exports of a plugin as data: what the host calls, and what comes back.

use serde::{Deserialize, Serialize};

use crate::effect::Effect;
use crate::json;
use crate::types::*;

/// One call of a plugin's export. In JSON it is tagged by the export's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each field stands in the contract under the same name")]
pub enum Event {
    /// `plugin.describe`
    Describe,
    /// `lifecycle.session-start`
    SessionStart { reason: StartReason },
    /// `lifecycle.branch-changed`
    BranchChanged,
    /// `lifecycle.input`
    Input { content: Vec<Content> },
    /// `lifecycle.agent-start`
    AgentStart,
    /// `lifecycle.turn-start`
    TurnStart { index: u32 },
    /// `lifecycle.message-update`
    MessageUpdate { usage: Option<Usage> },
    /// `lifecycle.message-end`
    MessageEnd { message: Entry },
    /// `lifecycle.tool-start`
    ToolStart { call: ToolCall },
    /// `lifecycle.tool-end`
    ToolEnd { outcome: ToolResult },
    /// `lifecycle.turn-end`
    TurnEnd { turn: Turn },
    /// `lifecycle.agent-end`
    AgentEnd,
    /// `lifecycle.agent-settled`
    AgentSettled { reason: SettledReason },
    /// `lifecycle.context`
    Context { messages: Vec<ContextMessage> },
    /// `lifecycle.session-end`
    SessionEnd,
    /// `responses.llm-progress`
    LlmProgress { id: RequestId, text: String },
    /// `responses.llm-completed`
    LlmCompleted {
        id: RequestId,
        #[serde(with = "json::outcome")]
        #[cfg_attr(feature = "schema", schemars(with = "json::outcome::Outcome<Completion, LlmError>"))]
        outcome: Result<Completion, LlmError>,
    },
    /// `responses.answered`
    Answered { id: RequestId, answer: Answer },
    /// `responses.stored`
    Stored {
        id: RequestId,
        #[serde(with = "json::outcome")]
        #[cfg_attr(feature = "schema", schemars(with = "json::outcome::Outcome<(), FileError>"))]
        outcome: Result<(), FileError>,
    },
    /// `responses.timer-fired`
    TimerFired { id: RequestId },
    /// `invocations.command`
    Command { name: String, arguments: String },
    /// `invocations.complete-command`
    CompleteCommand { name: String, prefix: String },
    /// `invocations.tool`
    Tool { name: String, arguments: Json },
}

impl Event {
    /// The export's name in snake_case, as in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Describe => "describe",
            Self::SessionStart { .. } => "session_start",
            Self::BranchChanged => "branch_changed",
            Self::Input { .. } => "input",
            Self::AgentStart => "agent_start",
            Self::TurnStart { .. } => "turn_start",
            Self::MessageUpdate { .. } => "message_update",
            Self::MessageEnd { .. } => "message_end",
            Self::ToolStart { .. } => "tool_start",
            Self::ToolEnd { .. } => "tool_end",
            Self::TurnEnd { .. } => "turn_end",
            Self::AgentEnd => "agent_end",
            Self::AgentSettled { .. } => "agent_settled",
            Self::Context { .. } => "context",
            Self::SessionEnd => "session_end",
            Self::LlmProgress { .. } => "llm_progress",
            Self::LlmCompleted { .. } => "llm_completed",
            Self::Answered { .. } => "answered",
            Self::Stored { .. } => "stored",
            Self::TimerFired { .. } => "timer_fired",
            Self::Command { .. } => "command",
            Self::CompleteCommand { .. } => "complete_command",
            Self::Tool { .. } => "tool",
        }
    }

    /// The hook that a plugin must have asked for to get this event; none: every plugin gets it that it is meant for.
    pub fn hook(&self) -> Option<Hook> {
        Some(match self {
            Self::SessionStart { .. } => Hook::SessionStart,
            Self::BranchChanged => Hook::BranchChanged,
            Self::Input { .. } => Hook::Input,
            Self::AgentStart => Hook::AgentStart,
            Self::TurnStart { .. } => Hook::TurnStart,
            Self::MessageUpdate { .. } => Hook::MessageUpdate,
            Self::MessageEnd { .. } => Hook::MessageEnd,
            Self::ToolStart { .. } => Hook::ToolStart,
            Self::ToolEnd { .. } => Hook::ToolEnd,
            Self::TurnEnd { .. } => Hook::TurnEnd,
            Self::AgentEnd => Hook::AgentEnd,
            Self::AgentSettled { .. } => Hook::AgentSettled,
            Self::Context { .. } => Hook::Context,
            Self::SessionEnd => Hook::SessionEnd,
            Self::Describe
            | Self::LlmProgress { .. }
            | Self::LlmCompleted { .. }
            | Self::Answered { .. }
            | Self::Stored { .. }
            | Self::TimerFired { .. }
            | Self::Command { .. }
            | Self::CompleteCommand { .. }
            | Self::Tool { .. } => return None,
        })
    }

    /// The effects that this hook may have; others are dropped.
    pub fn permitted(&self) -> Permitted {
        match self {
            Self::Context { .. } | Self::CompleteCommand { .. } => Permitted::Log,
            Self::Describe => Permitted::StateAndLog,
            _ => Permitted::All,
        }
    }
}

/// Effects that a hook may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permitted {
    /// Every effect.
    All,
    /// `state.set` and `log.log`
    StateAndLog,
    /// `log.log`
    Log,
}

impl Permitted {
    /// Whether it is one of them.
    pub fn includes(self, effect: &Effect) -> bool {
        match self {
            Self::All => true,
            Self::StateAndLog => matches!(effect, Effect::Set { .. } | Effect::Log { .. }),
            Self::Log => matches!(effect, Effect::Log { .. }),
        }
    }
}

/// What a call of an export returned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// Most hooks return nothing.
    #[default]
    Nothing,
    /// Of `plugin.describe`.
    Description(Description),
    /// Of `lifecycle.tool-start`.
    Gate(Gate),
    /// Of `lifecycle.context`: the indices of the messages to leave out.
    LeaveOut(Vec<u32>),
    /// Of `invocations.complete-command`.
    Completions(Vec<CompletionItem>),
    /// Of `invocations.tool`.
    Tool(
        #[serde(with = "json::outcome")]
        #[cfg_attr(feature = "schema", schemars(with = "json::outcome::Outcome<ToolOutput, String>"))]
        Result<ToolOutput, String>,
    ),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_tagged_by_its_name() {
        let events = [
            Event::Describe,
            Event::BranchChanged,
            Event::TurnStart { index: 0 },
            Event::AgentSettled { reason: SettledReason::Finished },
            Event::LlmCompleted { id: 1, outcome: Err(LlmError::RateLimited(Some(3))) },
            Event::Stored { id: 1, outcome: Ok(()) },
            Event::CompleteCommand { name: "a".into(), prefix: "b".into() },
        ];
        for event in events {
            let json = serde_json::to_value(&event).unwrap();
            let tag =
                json.as_str().map_or_else(|| json.as_object().unwrap().keys().next().unwrap().clone(), Into::into);
            assert_eq!(tag, event.name());
            assert_eq!(serde_json::from_value::<Event>(json).unwrap(), event);
        }
    }

    #[test]
    fn results_and_errors_have_the_contracts_names() {
        let event = Event::LlmCompleted { id: 1, outcome: Err(LlmError::RateLimited(Some(3))) };
        let json = serde_json::json!({"llm_completed": {"id": 1, "outcome": {"err": {"rate_limited": 3}}}});
        assert_eq!(serde_json::to_value(&event).unwrap(), json);
    }
}
