//! What `types.wit` names.

use super::{EntryId, Json, Timestamp};

record! {
    /// A language model, by the names that its provider gives it.
    ModelId {
        /// Such as `anthropic` or `openai`.
        provider = "provider": String,
        /// The provider's own name of the model.
        model = "model": String,
    }
}

record! {
    /// The agent's wish to run a tool.
    ToolCall {
        /// Pairs the call with its `tool-result`.
        id = "id": String,
        /// The tool's name, such as `bash`.
        name = "name": String,
        /// The arguments, an object.
        arguments = "arguments": Json,
    }
}

variant! {
    /// One part of a message.
    Content {
        /// What is read by the other side.
        Text(String) = "text",
        /// The model's reasoning, where the provider shows it.
        Thinking(String) = "thinking",
        /// A tool that the message asks for.
        ToolCall(ToolCall) = "tool-call",
        /// Media type of an image; its bytes stay with the host.
        Image(String) = "image",
    }
}

wit_enum! {
    /// Why a model stopped writing.
    StopReason {
        /// The model finished on its own.
        Stop = "stop",
        /// The output limit cut the message.
        Length = "length",
        /// The model asked for tools.
        ToolUse = "tool-use",
        /// The user interrupted.
        Aborted = "aborted",
        /// The provider failed.
        Error = "error",
    }
}

record! {
    /// Token counts as the provider reported them.
    Usage {
        /// Tokens read, cached ones left out.
        input = "input": u64,
        /// Tokens written.
        output = "output": u64,
        /// Tokens read from the provider's cache.
        cache_read = "cache-read": u64,
        /// Tokens written to the provider's cache.
        cache_write = "cache-write": u64,
        /// The sum that the provider names.
        total = "total": u64,
    }
}

record! {
    /// A message of the agent's model.
    AssistantMessage {
        /// Its parts in order.
        content = "content": Vec<Content>,
        /// Why it ended.
        stop_reason = "stop-reason": StopReason,
        /// What it cost, where the provider tells.
        usage = "usage": Option<Usage>,
        /// Who wrote it.
        model = "model": Option<ModelId>,
        /// The provider's words, where `stop-reason` is `error`.
        error = "error": Option<String>,
    }
}

record! {
    /// What a tool gave back.
    ToolResult {
        /// The `id` of its `tool-call`.
        call_id = "call-id": String,
        /// The tool's name.
        tool_name = "tool-name": String,
        /// What the model reads.
        content = "content": Vec<Content>,
        /// Whether the tool failed.
        is_error = "is-error": bool,
        /// What the tool attached for programs rather than for the model.
        details = "details": Option<Json>,
    }
}

record! {
    /// A message that an extension, not the user, put into the conversation.
    CustomMessage {
        /// Names the kind of message; chosen by the extension.
        custom_type = "custom-type": String,
        /// What the model reads.
        content = "content": String,
        /// Whether the user sees it.
        display = "display": bool,
        /// What the extension attached for programs.
        details = "details": Option<Json>,
    }
}

variant! {
    /// What one entry of a session holds.
    EntryBody {
        /// The user's words.
        User(Vec<Content>) = "user",
        /// The agent's message.
        Assistant(AssistantMessage) = "assistant",
        /// A tool's answer.
        ToolResult(ToolResult) = "tool-result",
        /// An extension's message.
        Custom(CustomMessage) = "custom",
        /// Everything older was replaced by this summary.
        Compaction(String) = "compaction",
        /// An entry that plugins have no use for; its type, for diagnostics.
        Other(String) = "other",
    }
}

record! {
    /// One entry of the current branch of the session.
    Entry {
        /// Unique within the session.
        id = "id": EntryId,
        /// When it was written.
        timestamp = "timestamp": Timestamp,
        /// What it holds.
        body = "body": EntryBody,
    }
}

wit_enum! {
    /// The part that an agent plays in the session.
    AgentKind {
        /// The agent that the user talks to.
        Main = "main",
        /// An agent that another agent started.
        Subagent = "subagent",
        /// An agent that runs one step of a workflow.
        WorkflowStep = "workflow-step",
    }
}

record! {
    /// Which agent of the session an event comes from.
    Agent {
        /// Its part.
        kind = "kind": AgentKind,
        /// Its name, where it has one.
        name = "name": Option<String>,
        /// The workflow that it runs in.
        workflow = "workflow": Option<String>,
        /// The workflow's step that it runs.
        step = "step": Option<String>,
    }
}
