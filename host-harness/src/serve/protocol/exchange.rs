//! Requests, and what they are answered with.

use chaperone_contract::*;
use serde::{Deserialize, Serialize};

use super::{Method, requests};

requests! {
    /// What the client asks for.
    ClientRequest {
        /// Who is there, and what can they do?
        Initialize = "initialize" => Initialized,
        /// The first entries of a branch, where all of them are too long for one line.
        Bring = "session/entries" => Brought,
        /// A session begins, or is gone on with.
        Open = "session/open" => Opened,
        /// Entries joined the branch.
        Append = "session/append" => BranchIs,
        /// The session went to another branch.
        GoTo = "session/branch" => BranchIs,
        /// Something happened.
        Happened = "session/event" => Replied,
        /// The user ran a command.
        RunCommand = "session/command" => Ran,
        /// The user types a command.
        CompleteCommand = "session/complete_command" => Completions,
        /// The agent called a tool of a plugin.
        RunTool = "session/tool" => ToolRan,
        /// The user answered a question.
        AnswerQuestion = "session/answer" => Done,
        /// Wait until no model call is under way.
        Quiet = "session/quiet" => Done,
        /// The session ends.
        Close = "session/close" => Done,
        /// All sessions end, and nothing follows but `exit`.
        Shutdown = "shutdown" => Done,
    }
}

impl ClientRequest {
    /// The session that it is about; none: no single one.
    pub fn session(&self) -> Option<&str> {
        Some(match self {
            Self::Initialize(_) | Self::Shutdown(_) => return None,
            Self::Bring(Bring { session, .. })
            | Self::Open(Open { session, .. })
            | Self::Append(Append { session, .. })
            | Self::GoTo(GoTo { session, .. })
            | Self::Happened(Happened { session, .. })
            | Self::RunCommand(RunCommand { session, .. })
            | Self::CompleteCommand(CompleteCommand { session, .. })
            | Self::RunTool(RunTool { session, .. })
            | Self::AnswerQuestion(AnswerQuestion { session, .. })
            | Self::Quiet(Quiet { session })
            | Self::Close(Close { session }) => session,
        })
    }
}

requests! {
    /// What the sidecar asks for.
    SidecarRequest {
        /// Ask a model.
        AskModel = "llm/complete" => Completion,
    }
}

/// Parameters of `initialize`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Initialize {
    /// The version of the protocol that the client speaks: 1.
    pub protocol_version: u32,
    /// Who the client is.
    pub client: Program,
    /// What the client can do.
    #[serde(default)]
    pub capabilities: ClientCapabilities,
}

/// A program and its version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Program {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What a client can do. The default is nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientCapabilities {
    /// It can ask its user: else every question is answered with `unavailable` at once, and not sent.
    #[serde(default)]
    pub dialogs: bool,
    /// What it can do to a tool call.
    #[serde(default)]
    pub gate: GateCapability,
    /// The models that it can ask for plugins. None: it asks none.
    #[serde(default)]
    pub models: Option<Vec<ModelInfo>>,
}

/// What a client can do to a tool call before it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GateCapability {
    /// Nothing: it only tells of them.
    #[default]
    None,
    /// Refuse it.
    Refuse,
    /// Refuse it, or hold it until it is released.
    Hold,
}

impl GateCapability {
    /// Whether a client that can do this can do what a plugin wants.
    pub fn is_enough_for(self, gate: &Gate) -> bool {
        match gate {
            Gate::Allow => true,
            Gate::Refuse(_) => self != Self::None,
            Gate::Hold => self == Self::Hold,
        }
    }
}

/// Answer to `initialize`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Initialized {
    /// The version of the protocol that the sidecar speaks.
    pub protocol_version: u32,
    /// Who the sidecar is.
    pub server: Program,
    /// The contract whose JSON form is spoken, such as `chaperone:agent@0.1.0`.
    pub contract: String,
    /// What the sidecar can do.
    pub capabilities: ServerCapabilities,
}

/// What the sidecar can do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerCapabilities {
    /// The requests and notifications that it takes.
    pub methods: Vec<String>,
    /// How long a line may be, in bytes.
    pub max_line_bytes: u64,
}

/// Parameters of `session/entries`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bring {
    /// Which session. It may be open already, or be opened next.
    pub session: String,
    /// Entries, oldest first. They stand before those of the next message for this session that has a whole branch.
    pub entries: Vec<Entry>,
}

/// Answer to `session/entries`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Brought {
    /// How many entries wait for the rest of their branch.
    pub length: u64,
}

/// Parameters of `session/open`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Open {
    /// The session's id; stable across restarts.
    pub session: String,
    /// The agent's working directory; its project is found from there.
    pub cwd: String,
    /// Who is on the other side of the agent.
    pub mode: Mode,
    /// The model that the agent runs on.
    #[serde(default)]
    pub model: Option<ModelId>,
    /// The agent that watches are put beside. None: the main agent.
    #[serde(default)]
    pub agent: Option<Agent>,
    /// Why it begins.
    pub reason: StartReason,
    /// With the reason `fork`: what it is a copy of.
    #[serde(default)]
    pub forked_from: Option<ForkedFrom>,
    /// The current branch, oldest first; what `session/entries` brought stands before it.
    #[serde(default)]
    pub entries: Vec<Entry>,
    /// How things are.
    #[serde(default)]
    pub circumstances: Circumstances,
}

/// What a session is a copy of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForkedFrom {
    /// The other session's id.
    pub session: String,
    /// The newest entry that they have in common. None: all that this one begins with.
    #[serde(default)]
    pub entry: Option<EntryId>,
}

/// How things are with a session. What is missing stays as it was.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Circumstances {
    /// The agent will not go on by itself. `agent_start` and `agent_settled` say it as well.
    #[serde(default)]
    pub idle: Option<bool>,
    /// The user has typed or queued something that the agent has not read yet.
    #[serde(default)]
    pub input_pending: Option<bool>,
    /// The model that the agent runs on.
    #[serde(default)]
    pub model: Option<ModelId>,
    /// Who is on the other side of the agent.
    #[serde(default)]
    pub mode: Option<Mode>,
    /// The agent that the event comes from.
    #[serde(default)]
    pub agent: Option<Agent>,
    /// What time it is, up to 2^53 - 1: the session's clock runs on from there. None: as its clock says, which begins as
    /// the sidecar's.
    #[serde(default)]
    pub now: Option<Timestamp>,
}

/// Answer to `session/open`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Opened {
    /// The plugins, in the order in which they are called.
    pub plugins: Vec<PluginInfo>,
    /// Who answers model calls: `host`, `script`, or the name of another provider.
    pub provider: String,
}

/// What there is to know of a plugin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PluginInfo {
    /// Its name in the configuration.
    pub name: String,
    /// Where its component came from, such as `builtin:monitors`.
    pub source: String,
    /// What it says of itself; null before it could.
    pub description: Option<Description>,
    /// Why it could not be loaded, or could not describe itself.
    pub error: Option<String>,
}

/// Parameters of `session/append`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Append {
    /// Which session.
    pub session: String,
    /// The entries behind the leaf, oldest first. Those that are on the branch already change nothing.
    pub entries: Vec<Entry>,
}

/// Parameters of `session/branch`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoTo {
    /// Which session.
    pub session: String,
    /// The newest entry of the branch; null: before the first one.
    pub leaf: Option<EntryId>,
    /// The whole branch, oldest first; what `session/entries` brought stands before it. None: the leaf is known already, and so is the way to it.
    #[serde(default)]
    pub entries: Option<Vec<Entry>>,
}

/// What the branch is now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BranchIs {
    /// Its newest entry.
    pub leaf: Option<EntryId>,
    /// How many entries it has.
    pub length: u64,
}

/// Parameters of `session/event`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Happened {
    /// Which session.
    pub session: String,
    /// What happened: one of the hooks of `lifecycle`, but for those that other methods stand for.
    pub event: Event,
    /// How things are.
    #[serde(default)]
    pub circumstances: Circumstances,
}

/// Answer to `session/event`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Replied {
    /// What the plugins said together; null where there was nothing to say.
    pub reply: Option<HookReply>,
}

/// What plugins say to an event, all together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HookReply {
    /// To `tool_start`, unless the client can do nothing to a tool call: the first plugin that holds or refuses it
    /// decides.
    Gate(Gate),
    /// To `context`: the indices of the messages to leave out, ascending.
    LeaveOut(Vec<u32>),
}

/// Parameters of `session/command`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunCommand {
    /// Which session.
    pub session: String,
    /// The command, without the slash.
    pub name: String,
    /// The rest of the line.
    #[serde(default)]
    pub arguments: String,
}

/// Answer to `session/command`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ran {
    /// Whether a plugin has this command.
    pub known: bool,
}

/// Parameters of `session/complete_command`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompleteCommand {
    /// Which session.
    pub session: String,
    /// The command, without the slash.
    pub name: String,
    /// What stands behind it so far.
    #[serde(default)]
    pub prefix: String,
}

/// Answer to `session/complete_command`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Completions {
    /// What could stand there.
    pub completions: Vec<CompletionItem>,
}

/// Parameters of `session/tool`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunTool {
    /// Which session.
    pub session: String,
    /// The tool's name.
    pub name: String,
    /// Its arguments, an object as JSON in a text.
    pub arguments: Json,
}

/// Answer to `session/tool`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolRan {
    /// What it gave back; null where no plugin has this tool, or where it broke down.
    pub outcome: Option<ToolOutcome>,
}

/// What a tool of a plugin gave back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    /// It did what it was asked for.
    Ok(ToolOutput),
    /// It did not; for the agent to read.
    Err(String),
}

/// Parameters of `session/answer`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerQuestion {
    /// Which session.
    pub session: String,
    /// The plugin that asks.
    pub plugin: String,
    /// The `id` of its effect `ask`.
    pub id: RequestId,
    /// What the user says.
    pub answer: Answer,
}

/// Parameters of `session/quiet`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quiet {
    /// Which session.
    pub session: String,
}

/// Parameters of `session/close`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Close {
    /// Which session.
    pub session: String,
}

/// Parameters of `shutdown`: none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shutdown {}

/// Answer to a request that brings nothing back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Done {}

/// Parameters of `llm/complete`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AskModel {
    /// Which session.
    pub session: String,
    /// The plugin that asks.
    pub plugin: String,
    /// The model to ask; null: the client's own choice.
    pub model: Option<ModelId>,
    /// What to ask.
    pub request: CompletionRequest,
}
