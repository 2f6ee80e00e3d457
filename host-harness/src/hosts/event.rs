//! What a host tells its hooks, whichever host it is.

use std::path::PathBuf;

use chaperone_contract::{Agent, AgentKind, Content, ModelId, StartReason, ToolCall, ToolResult};
use serde_json::{Map, Value};

use super::transcript::Whose;

/// One event, as the host wrote it to the hook's stdin.
#[derive(Clone, Debug, PartialEq)]
pub struct HookEvent {
    /// What the host calls it, such as `PostToolUse`.
    pub name: String,
    /// The session's id; of an agent that another one started, with that agent's id behind a slash.
    pub session: String,
    /// Where the conversation is written down, if anywhere.
    pub transcript: Option<PathBuf>,
    /// The agent's working directory.
    pub cwd: PathBuf,
    /// Which agent it comes from.
    pub agent: Agent,
    /// The model that the agent runs on, where the event tells.
    pub model: Option<ModelId>,
    /// What happens.
    pub moment: Moment,
}

/// What happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Moment {
    /// The session begins.
    SessionStart(StartReason),
    /// The user has sent something; the agent has not seen it yet.
    Prompt(String),
    /// A tool is about to run.
    BeforeTool(ToolCall),
    /// A tool has run.
    AfterTool(ToolResult),
    /// The agent is about to stop.
    Stop {
        /// Its last words, where the event has them: the transcript may not have them yet.
        words: LastWords,
        /// It is at work since a hook sent it back.
        sent_back: bool,
    },
    /// The provider has failed, and the agent stopped over it.
    Failed(String),
    /// The session is being closed.
    SessionEnd,
    /// Something for which plugins have no hook.
    Other,
}

/// What the agent wrote last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LastWords {
    /// Not told.
    Unknown,
    /// The text of its last message.
    Last(String),
    /// The texts of all its messages since the user's prompt, with line breaks between them.
    Joined(String),
}

/// Why there is no event.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// The text is no JSON object.
    #[error("stdin has no event: {0}; a host writes one JSON object to each hook")]
    NotJson(String),
    /// A field that every event has is missing.
    #[error("the event on stdin has no `{0}`; is it an event of this host?")]
    Missing(&'static str),
}

impl HookEvent {
    /// Whose conversation the transcript holds.
    pub fn whose(&self) -> Whose {
        match self.agent.kind {
            AgentKind::Main => Whose::Main,
            AgentKind::Subagent | AgentKind::WorkflowStep => Whose::Subagent,
        }
    }
}

/// The fields of an event. One that is of another kind than expected counts as missing.
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    pub fn parse(text: &str) -> Result<Self, EventError> {
        match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => Ok(Self(fields)),
            Ok(_) => Err(EventError::NotJson("JSON, but no object".into())),
            Err(error) => Err(EventError::NotJson(error.to_string())),
        }
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.0.get(name)?.as_str().map(Into::into)
    }

    pub fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// What every host calls alike. An agent that another one started has its own id, and perhaps its own transcript;
    /// the transcript of the event's session is not its own.
    pub fn event(&self, moment: Moment, model: Option<ModelId>) -> Result<HookEvent, EventError> {
        let name = self.text("hook_event_name").ok_or(EventError::Missing("hook_event_name"))?;
        let session = self.text("session_id").ok_or(EventError::Missing("session_id"))?;
        let path = |name: &str| self.text(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        let main = Agent { kind: AgentKind::Main, name: None, workflow: None, step: None };
        let (session, transcript, agent) = match self.text("agent_id").filter(|id| !id.is_empty()) {
            None => (session, path("transcript_path"), main),
            Some(id) => {
                let agent = Agent { kind: AgentKind::Subagent, name: self.text("agent_type"), ..main };
                (format!("{session}/{id}"), path("agent_transcript_path"), agent)
            }
        };
        let cwd = path("cwd").ok_or(EventError::Missing("cwd"))?;
        Ok(HookEvent { name, session, transcript, cwd, agent, model, moment })
    }
}

/// What a tool answered, as text: a string as it is, anything else as JSON.
pub(super) fn result(call: &ToolCall, answer: Option<&Value>, is_error: bool) -> ToolResult {
    let text = match answer {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    ToolResult {
        call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content: vec![Content::Text(text)],
        is_error,
        details: None,
    }
}

/// Where a session begins by the word that hosts have for it. None: it goes on, as after a compaction.
pub(super) fn start(source: Option<&str>) -> Option<StartReason> {
    match source {
        Some("resume") => Some(StartReason::Resume),
        Some("fork") => Some(StartReason::Fork),
        Some("compact") => None,
        _ => Some(StartReason::New),
    }
}
