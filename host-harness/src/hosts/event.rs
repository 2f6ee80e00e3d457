//! What a host tells its hooks, whichever host it is.

use std::path::PathBuf;

use chaperone_contract::{Agent, AgentKind, Content, ModelId, StartReason, ToolCall, ToolResult};
use serde_json::{Map, Value};

use super::transcript::Whose;
use super::{Host, tools};

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

/// What an event is about, whatever its host calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    SessionStart,
    Prompt,
    BeforeTool,
    AfterTool,
    AfterFailedTool,
    Stop,
    Failure,
    SessionEnd,
    Other,
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

    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.text(name).filter(|path| !path.is_empty()).map(PathBuf::from)
    }

    /// What the event is about. One for which the host is not asked is about something else.
    pub fn topic(&self, host: Host) -> Topic {
        let name = self.text("hook_event_name").unwrap_or_default();
        host.events().iter().find(|(known, _)| *known == name).map_or(Topic::Other, |(_, topic)| *topic)
    }

    /// What happens, in the words that most hosts have for it.
    pub fn moment(&self, host: Host) -> Moment {
        let text = |name: &str| self.text(name).unwrap_or_default();
        match self.topic(host) {
            Topic::SessionStart => start(&text("source")).map_or(Moment::Other, Moment::SessionStart),
            Topic::Prompt => Moment::Prompt(text("prompt")),
            Topic::BeforeTool => Moment::BeforeTool(self.call(host)),
            Topic::AfterTool => Moment::AfterTool(result(&self.call(host), self.value("tool_response"), false)),
            Topic::AfterFailedTool => Moment::AfterTool(result(&self.call(host), self.value("error"), true)),
            Topic::Stop => self.stop(self.text("last_assistant_message").map(LastWords::Last)),
            Topic::Failure => {
                let told = ["error_details", "last_assistant_message", "error"];
                Moment::Failed(told.iter().find_map(|name| self.text(name)).unwrap_or_default())
            }
            Topic::SessionEnd => Moment::SessionEnd,
            Topic::Other => Moment::Other,
        }
    }

    pub fn stop(&self, words: Option<LastWords>) -> Moment {
        let sent_back = self.0.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false);
        Moment::Stop { words: words.unwrap_or(LastWords::Unknown), sent_back }
    }

    fn call(&self, host: Host) -> ToolCall {
        ToolCall {
            id: self.text("tool_use_id").unwrap_or_default(),
            name: tools::name(host, &self.text("tool_name").unwrap_or_default()).into(),
            arguments: self.value("tool_input").map_or_else(|| "{}".into(), Value::to_string),
        }
    }

    /// What every host calls alike. An agent that another one started has its own id, and perhaps its own transcript;
    /// the transcript of the event's session is not its own.
    pub fn event(&self, moment: Moment, model: Option<ModelId>) -> Result<HookEvent, EventError> {
        let name = self.text("hook_event_name").ok_or(EventError::Missing("hook_event_name"))?;
        let session = self.text("session_id").ok_or(EventError::Missing("session_id"))?;
        let main = Agent { kind: AgentKind::Main, name: None, workflow: None, step: None };
        let (session, transcript, agent) = match self.agent() {
            None => (session, self.path("transcript_path"), main),
            Some(id) => {
                let name = self.text("agent_type").filter(|name| !name.is_empty());
                let agent = Agent { kind: AgentKind::Subagent, name, ..main };
                (format!("{session}/{id}"), self.path("agent_transcript_path"), agent)
            }
        };
        let cwd = self.path("cwd").ok_or(EventError::Missing("cwd"))?;
        Ok(HookEvent { name, session, transcript, cwd, agent, model, moment })
    }

    /// The id of the agent that it comes from, where another one started it.
    pub fn agent(&self) -> Option<String> {
        self.text("agent_id").filter(|id| !id.is_empty())
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

/// How a session begins, by the word that hosts have for it. None: it goes on, as after a compaction.
fn start(source: &str) -> Option<StartReason> {
    match source {
        "resume" => Some(StartReason::Resume),
        "fork" => Some(StartReason::Fork),
        "compact" => None,
        _ => Some(StartReason::New),
    }
}
