//! A monitor as its author wrote it, checked: one `NAME.monitor.json`.

mod classify;
mod fields;
mod parse;
#[cfg(test)]
mod tests;

use std::num::NonZeroU32;

use chaperone_sdk::{Location, ModelId};
use serde_json::{Map, Value};

pub use parse::parse;

use crate::evidence::selection::Selection;
use crate::precheck;
use crate::scope::{Subject, Target};
use crate::waiting::Waiting;
use crate::when::When;
use crate::words::words;

/// The mount that a finding's file is in: the folder that holds the project's `.pi`.
pub const WORKSPACE: &str = "workspace";

/// The command that manages all monitors; no command monitor may have its name.
pub const RESERVED_COMMAND: &str = "monitors";

/// `ceiling` where the file does not say.
pub const DEFAULT_CEILING: NonZeroU32 = NonZeroU32::new(5).expect("5 is not 0");

/// `classify.max_per_prompt` where the file does not say.
pub const DEFAULT_MAX_PER_PROMPT: NonZeroU32 = NonZeroU32::new(3).expect("3 is not 0");

/// `patterns.max_learned` where the file does not say.
pub const DEFAULT_MAX_LEARNED: NonZeroU32 = NonZeroU32::new(50).expect("50 is not 0");

/// The same for a monitor that looks at tool calls: a guard that falls asleep after three of them is none.
pub const DEFAULT_MAX_CALLS_PER_PROMPT: NonZeroU32 = NonZeroU32::new(30).expect("30 is not 0");

words! {
    /// `event`: when a monitor looks.
    Trigger {
        /// The agent finished a message.
        MessageEnd = "message_end",
        /// A message and its tool calls are finished.
        TurnEnd = "turn_end",
        /// The agent stopped.
        AgentEnd = "agent_end",
        /// A tool is about to run.
        ToolCall = "tool_call",
        /// Only when somebody runs `/name`.
        Command = "command",
    }
}

words! {
    /// `classify.context`: a part of the conversation that the judge is shown.
    Collector {
        /// The user's latest message.
        UserText = "user_text",
        /// The agent's latest message.
        AssistantText = "assistant_text",
        /// What the latest tools answered.
        ToolResults = "tool_results",
        /// The latest tool calls and their results.
        ToolCalls = "tool_calls",
        /// Messages of extensions since the user's latest message.
        CustomMessages = "custom_messages",
        /// The tool call that waits to be let through.
        ToolCall = "tool_call",
        /// What was asked and done before the user's latest message.
        ConversationHistory = "conversation_history",
        /// What git says of the working tree.
        GitStatus = "git_status",
    }
}

words! {
    /// `escalate`: what happens at the ceiling.
    Escalate {
        /// The user decides whether the monitor goes on.
        Ask = "ask",
        /// The monitor is silent for the rest of the session.
        Dismiss = "dismiss",
    }
}

words! {
    /// `write.merge`: how an entry gets into its file.
    Merge {
        /// Behind the others.
        Append = "append",
        /// In place of the one with an equal `id`; behind the others where there is none.
        Upsert = "upsert",
    }
}

/// `patterns.learn`: what becomes of a new pattern that is to be learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learn {
    /// `true`: it is added to the list.
    Add,
    /// `"propose"`: it waits for the user's word, and no judge sees it until then.
    Propose,
    /// `false`: nothing.
    Never,
}

/// One monitor.
#[derive(Clone, Debug, PartialEq)]
pub struct Monitor {
    /// Unique among the monitors. Begins with a letter or digit; then letters, digits, dot, underscore and hyphen.
    pub name: String,
    /// What it watches for, for people. May be empty.
    pub description: String,
    /// When it looks.
    pub event: Trigger,
    /// What must have happened.
    pub when: When,
    /// Whose work it looks at.
    pub scope: Subject,
    /// What it asks the judge.
    pub classify: Classify,
    /// Where the known faults are listed.
    pub patterns: Location,
    /// `patterns.learn`: what becomes of a new pattern that is to be learned.
    pub learn: Learn,
    /// `patterns.max_learned`: how many learned patterns the list has at most.
    pub max_learned: NonZeroU32,
    /// Where the user's rules are listed. The file may be missing.
    pub instructions: Location,
    /// What is done about a verdict.
    pub actions: Actions,
    /// After how many steers in a row it escalates.
    pub ceiling: NonZeroU32,
    /// How.
    pub escalate: Escalate,
}

/// The `classify` block: the question to the judge.
#[derive(Clone, Debug, PartialEq)]
pub struct Classify {
    /// The judge. None: the session's own model.
    pub model: Option<ModelId>,
    /// What the judge is shown.
    pub shows: Selection,
    /// What is decided before the judge is asked.
    pub precheck: Vec<precheck::Rule>,
    /// States in which the monitor does not look.
    pub exempt: Vec<Waiting>,
    /// Monitors whose steer makes this one keep out of the turn.
    pub excludes: Vec<String>,
    /// How often at most the judge is asked within one user prompt.
    pub max_per_prompt: NonZeroU32,
    /// The instructions, with placeholders. Never blank.
    pub prompt: String,
}

/// The `actions` block, by verdict. None: the verdict is reported, and nothing else.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Actions {
    /// A known fault.
    pub on_flag: Option<Action>,
    /// A fault that no pattern describes.
    pub on_new: Option<Action>,
    /// No fault.
    pub on_clean: Option<Action>,
}

/// What is done about one verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Action {
    /// What to tell the agent. Never blank.
    pub steer: Option<String>,
    /// Whether, and with what words, a tool call that waits is refused.
    pub block: Option<Block>,
    /// Whether a new pattern is to be learned, as [`Monitor::learn`] says.
    pub learn_pattern: bool,
    /// Where to record the finding.
    pub write: Option<Write>,
}

/// `block`: a tool call that waits is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// `true`: the agent is told what was found, and what the action's `steer` says.
    WithSteer,
    /// The agent is told what was found, and this. Never blank.
    WithReason(String),
}

/// A `write` block: an entry for a list in a JSON file.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// The file, in the [`WORKSPACE`].
    pub file: Location,
    /// How the entry gets in.
    pub merge: Merge,
    /// The field of the file's object that holds the list. Never empty.
    pub array_field: String,
    /// The entry; placeholders in its strings, however deep, are filled in. With [`Merge::Upsert`] it has an `id`.
    pub template: Map<String, Value>,
}

impl Actions {
    /// Whether a finding makes it tell the agent something.
    pub fn steer(&self) -> bool {
        [&self.on_flag, &self.on_new].into_iter().flatten().any(|action| action.steer.is_some())
    }
}

impl Monitor {
    /// Whether it may refuse a tool call, which has to wait for its judge then.
    pub fn blocks(&self) -> bool {
        let blocks = |action: &Option<Action>| action.as_ref().is_some_and(|action| action.block.is_some());
        self.event == Trigger::ToolCall && (blocks(&self.actions.on_flag) || blocks(&self.actions.on_new))
    }

    /// What is to be told to the agent after this action. None for agents that cannot be steered.
    pub fn steer<'a>(&self, action: &'a Action) -> Option<&'a str> {
        match self.scope.target {
            Target::Main => action.steer.as_deref(),
            Target::Subagent | Target::All | Target::Workflow => None,
        }
    }
}

/// Whether a text may be a monitor's name.
pub fn is_name(text: &str) -> bool {
    let rest = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(rest)
}

/// The model that `classify.model` names: `provider/model`, split at the first slash; without one, a model of
/// `anthropic`. None where either part is empty.
pub fn model_id(text: &str) -> Option<ModelId> {
    let (provider, model) = text.split_once('/').unwrap_or(("anthropic", text));
    let named = !provider.trim().is_empty() && !model.trim().is_empty();
    named.then(|| ModelId { provider: provider.trim().into(), model: model.trim().into() })
}
