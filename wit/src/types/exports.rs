//! What `hooks.wit` names: the plugin's side.

use super::{AssistantMessage, EntryId, Json, ToolResult};

wit_enum! {
    /// The functions of `lifecycle`, by name.
    Hook {
        /// `lifecycle.session-start`
        SessionStart = "session-start",
        /// `lifecycle.branch-changed`
        BranchChanged = "branch-changed",
        /// `lifecycle.input`
        Input = "input",
        /// `lifecycle.turn-start`
        TurnStart = "turn-start",
        /// `lifecycle.turn-end`
        TurnEnd = "turn-end",
        /// `lifecycle.message-update`
        MessageUpdate = "message-update",
        /// `lifecycle.message-end`
        MessageEnd = "message-end",
        /// `lifecycle.tool-start`
        ToolStart = "tool-start",
        /// `lifecycle.tool-end`
        ToolEnd = "tool-end",
        /// `lifecycle.agent-start`
        AgentStart = "agent-start",
        /// `lifecycle.agent-end`
        AgentEnd = "agent-end",
        /// `lifecycle.agent-settled`
        AgentSettled = "agent-settled",
        /// `lifecycle.context`
        Context = "context",
        /// `lifecycle.session-end`
        SessionEnd = "session-end",
    }
}

record! {
    /// A command that the user can run as `/name`.
    Command {
        /// Without the slash.
        name = "name": String,
        /// One line, for lists of commands.
        description = "description": String,
    }
}

record! {
    /// A tool that the agent itself can call.
    Tool {
        /// What the model calls it.
        name = "name": String,
        /// What the user sees.
        label = "label": String,
        /// What the model reads to decide when to use it.
        description = "description": String,
        /// JSON Schema of the arguments, an object.
        parameters = "parameters": Json,
    }
}

record! {
    /// What the host needs to know before it calls anything else.
    Description {
        /// The plugin's name; `chaperone.toml` may give it another.
        name = "name": String,
        /// The plugin's own version.
        version = "version": String,
        /// One line, for lists of plugins.
        summary = "summary": String,
        /// The hooks to call; the host skips the others.
        hooks = "hooks": Vec<Hook>,
        /// The commands to offer.
        commands = "commands": Vec<Command>,
        /// The tools to offer to the agent.
        tools = "tools": Vec<Tool>,
    }
}

wit_enum! {
    /// Why a session begins for the plugin.
    StartReason {
        /// A session without history.
        New = "new",
        /// A stored session is taken up again.
        Resume = "resume",
        /// A copy of another session, up to some entry.
        Fork = "fork",
        /// The plugin was loaded anew while the session went on.
        Reload = "reload",
    }
}

record! {
    /// One model call of the agent, and the tools that it led to.
    Turn {
        /// Counts from 0 within one run of the agent.
        index = "index": u32,
        /// What the model wrote.
        message = "message": AssistantMessage,
        /// What its tools answered; empty where the run is about to end.
        tool_results = "tool-results": Vec<ToolResult>,
    }
}

variant! {
    /// What becomes of a tool call.
    Gate {
        /// It runs.
        Allow = "allow",
        /// The agent gets the reason instead of a result.
        Refuse(String) = "refuse",
        /// The call waits for `conversation.release`, or for the host's limit,
        /// after which it runs.
        Hold = "hold",
    }
}

wit_enum! {
    /// How the agent came to rest.
    SettledReason {
        /// It had nothing left to do.
        Finished = "finished",
        /// The user stopped it.
        Interrupted = "interrupted",
        /// The provider failed for good.
        Failed = "failed",
    }
}

record! {
    /// One message as the `context` hook sees it; its content is in the session.
    ContextMessage {
        /// The entry that it came from, where it came from one.
        entry = "entry": Option<EntryId>,
        /// `user`, `assistant`, `tool-result`, or the custom type.
        kind = "kind": String,
        /// The `details` of a tool result or custom message.
        details = "details": Option<Json>,
    }
}

record! {
    /// One way to go on typing a command.
    CompletionItem {
        /// What the line's arguments become.
        value = "value": String,
        /// What the list shows.
        label = "label": String,
        /// A hint beside it.
        description = "description": String,
    }
}

record! {
    /// What a tool of the plugin gives back.
    ToolOutput {
        /// What the agent reads.
        content = "content": String,
        /// What programs read; comes back as the tool result's `details`.
        details = "details": Option<Json>,
    }
}
