//! The hooks of a watcher.

use chaperone_contract::*;

use crate::Context;

/// A watcher. Every hook but `describe` does nothing by default.
///
/// The host calls a hook only if [`describe`](Plugin::describe) names it. Hooks are associated functions: each call runs
/// on a fresh instance, so there is no `self` that could remember anything.
#[allow(unused_variables, reason = "the defaults do nothing with what they are given")]
pub trait Plugin {
    /// What the watcher is, and which hooks it wants.
    fn describe(cx: &mut Context) -> Description;

    /// The session begins, or the watcher joins it.
    fn session_start(cx: &mut Context, reason: StartReason) {}
    /// The user went to another entry of the session tree.
    fn branch_changed(cx: &mut Context) {}
    /// The user sent something; before the agent sees it.
    fn input(cx: &mut Context, content: Vec<Content>) {}
    /// The agent begins to work.
    fn agent_start(cx: &mut Context) {}
    /// A model call begins; `index` counts from 0 within one run.
    fn turn_start(cx: &mut Context, index: u32) {}
    /// A message is streaming in.
    fn message_update(cx: &mut Context, usage: Option<Usage>) {}
    /// A message is complete; it is the newest entry of the branch.
    fn message_end(cx: &mut Context, message: Entry) {}
    /// Before a tool runs.
    fn tool_start(cx: &mut Context, call: ToolCall) -> Gate {
        Gate::Allow
    }
    /// After a tool ran.
    fn tool_end(cx: &mut Context, outcome: ToolResult) {}
    /// A model call and its tools are over.
    fn turn_end(cx: &mut Context, turn: Turn) {}
    /// The agent's loop ended; queued messages may start it again.
    fn agent_end(cx: &mut Context) {}
    /// The agent will not go on by itself.
    fn agent_settled(cx: &mut Context, reason: SettledReason) {}
    /// Before each model call: the indices of the messages to leave out. May have no effects.
    fn context(cx: &mut Context, messages: Vec<ContextMessage>) -> Vec<u32> {
        Vec::new()
    }
    /// The session is being closed.
    fn session_end(cx: &mut Context) {}

    /// More text of a streamed completion.
    fn llm_progress(cx: &mut Context, id: RequestId, text: String) {}
    /// A completion ended, one way or the other.
    fn llm_completed(cx: &mut Context, id: RequestId, outcome: Result<Completion, LlmError>) {}
    /// A dialog was answered.
    fn answered(cx: &mut Context, id: RequestId, answer: Answer) {}
    /// A file was written, or was not.
    fn stored(cx: &mut Context, id: RequestId, outcome: Result<(), FileError>) {}
    /// A timer's time has come.
    fn timer_fired(cx: &mut Context, id: RequestId) {}

    /// The user ran `/name arguments`.
    fn command(cx: &mut Context, name: String, arguments: String) {}
    /// What could stand next on that line. May have no effects.
    fn complete_command(cx: &mut Context, name: String, prefix: String) -> Vec<CompletionItem> {
        Vec::new()
    }
    /// The agent called one of the watcher's tools; the error is for the agent to read.
    ///
    /// # Errors
    /// By default, every call: a watcher that describes no tool has none.
    fn tool(cx: &mut Context, name: String, arguments: Json) -> Result<ToolOutput, String> {
        Err(format!("there is no tool `{name}`"))
    }
}

/// A description without commands and tools.
pub fn describe(name: &str, version: &str, summary: &str, hooks: impl Into<Vec<Hook>>) -> Description {
    Description {
        name: name.into(),
        version: version.into(),
        summary: summary.into(),
        hooks: hooks.into(),
        commands: Vec::new(),
        tools: Vec::new(),
    }
}

/// Calls the hook that an event is for.
pub fn dispatch<P: Plugin>(cx: &mut Context, event: Event) -> Reply {
    match event {
        Event::Describe => return Reply::Description(P::describe(cx)),
        Event::SessionStart { reason } => P::session_start(cx, reason),
        Event::BranchChanged => P::branch_changed(cx),
        Event::Input { content } => P::input(cx, content),
        Event::AgentStart => P::agent_start(cx),
        Event::TurnStart { index } => P::turn_start(cx, index),
        Event::MessageUpdate { usage } => P::message_update(cx, usage),
        Event::MessageEnd { message } => P::message_end(cx, message),
        Event::ToolStart { call } => return Reply::Gate(P::tool_start(cx, call)),
        Event::ToolEnd { outcome } => P::tool_end(cx, outcome),
        Event::TurnEnd { turn } => P::turn_end(cx, turn),
        Event::AgentEnd => P::agent_end(cx),
        Event::AgentSettled { reason } => P::agent_settled(cx, reason),
        Event::Context { messages } => return Reply::LeaveOut(P::context(cx, messages)),
        Event::SessionEnd => P::session_end(cx),
        Event::LlmProgress { id, text } => P::llm_progress(cx, id, text),
        Event::LlmCompleted { id, outcome } => P::llm_completed(cx, id, outcome),
        Event::Answered { id, answer } => P::answered(cx, id, answer),
        Event::Stored { id, outcome } => P::stored(cx, id, outcome),
        Event::TimerFired { id } => P::timer_fired(cx, id),
        Event::Command { name, arguments } => P::command(cx, name, arguments),
        Event::CompleteCommand { name, prefix } => return Reply::Completions(P::complete_command(cx, name, prefix)),
        Event::Tool { name, arguments } => return Reply::Tool(P::tool(cx, name, arguments)),
    }
    Reply::Nothing
}
