//! A plugin's exports: found once, called with an event.

use chaperone_contract::*;
use wasmtime::Store;
use wasmtime::component::{Component, ComponentExportIndex, ComponentNamedList, Instance, Lift, Lower, TypedFunc};

use super::imports::Call;

/// Where each function of the contract stands in a component.
macro_rules! exports {
    ($($interface:literal { $($field:ident = $name:literal: ($($parameter:ty),*) -> $result:ty;)* })*) => {
        pub struct Exports {
            $($($field: ComponentExportIndex,)*)*
        }

        impl Exports {
            /// Finds every export, or says which is missing.
            pub fn find(component: &Component) -> Result<Self, String> {
                $(
                    let name = interface($interface);
                    let parent = component
                        .get_export_index(None, &name)
                        .ok_or_else(|| format!("it does not export {name}"))?;
                    $(
                        let $field = component
                            .get_export_index(Some(&parent), $name)
                            .ok_or_else(|| format!("it does not export {name}.{}", $name))?;
                    )*
                )*
                Ok(Self { $($($field,)*)* })
            }

            /// Holds the type of every export against the contract.
            pub fn check_types(&self, store: &mut Store<Call>, instance: &Instance) -> wasmtime::Result<()> {
                $($(
                    function::<($($parameter,)*), $result>(store, instance, &self.$field)
                        .map_err(|error| error.context(format!("{}.{}", $interface, $name)))?;
                )*)*
                Ok(())
            }
        }
    };
}

exports! {
    "plugin" {
        describe = "describe": () -> (Description,);
    }
    "lifecycle" {
        session_start = "session-start": (StartReason) -> ();
        branch_changed = "branch-changed": () -> ();
        input = "input": (&[Content]) -> ();
        agent_start = "agent-start": () -> ();
        turn_start = "turn-start": (u32) -> ();
        message_update = "message-update": (Option<Usage>) -> ();
        message_end = "message-end": (&Entry) -> ();
        tool_start = "tool-start": (&ToolCall) -> (Gate,);
        tool_end = "tool-end": (&ToolResult) -> ();
        turn_end = "turn-end": (&Turn) -> ();
        agent_end = "agent-end": () -> ();
        agent_settled = "agent-settled": (SettledReason) -> ();
        context = "context": (&[ContextMessage]) -> (Vec<u32>,);
        session_end = "session-end": () -> ();
    }
    "responses" {
        llm_progress = "llm-progress": (RequestId, &str) -> ();
        llm_completed = "llm-completed": (RequestId, &Result<Completion, LlmError>) -> ();
        answered = "answered": (RequestId, &Answer) -> ();
        stored = "stored": (RequestId, &Result<(), FileError>) -> ();
        timer_fired = "timer-fired": (RequestId) -> ();
    }
    "invocations" {
        command = "command": (&str, &str) -> ();
        complete_command = "complete-command": (&str, &str) -> (Vec<CompletionItem>,);
        tool = "tool": (&str, &str) -> (Result<ToolOutput, String>,);
    }
}

impl Exports {
    /// Calls the export that an event is for.
    pub fn call(&self, store: &mut Store<Call>, instance: &Instance, event: &Event) -> wasmtime::Result<Reply> {
        let mut hook = Hook { store, instance };
        match event {
            Event::Describe => return hook.ask(&self.describe, ()).map(Reply::Description),
            Event::SessionStart { reason } => hook.tell(&self.session_start, (*reason,)),
            Event::BranchChanged => hook.tell(&self.branch_changed, ()),
            Event::Input { content } => hook.tell(&self.input, (content.as_slice(),)),
            Event::AgentStart => hook.tell(&self.agent_start, ()),
            Event::TurnStart { index } => hook.tell(&self.turn_start, (*index,)),
            Event::MessageUpdate { usage } => hook.tell(&self.message_update, (usage.clone(),)),
            Event::MessageEnd { message } => hook.tell(&self.message_end, (message,)),
            Event::ToolStart { call } => return hook.ask(&self.tool_start, (call,)).map(Reply::Gate),
            Event::ToolEnd { outcome } => hook.tell(&self.tool_end, (outcome,)),
            Event::TurnEnd { turn } => hook.tell(&self.turn_end, (turn,)),
            Event::AgentEnd => hook.tell(&self.agent_end, ()),
            Event::AgentSettled { reason } => hook.tell(&self.agent_settled, (*reason,)),
            Event::Context { messages } => {
                return hook.ask(&self.context, (messages.as_slice(),)).map(Reply::LeaveOut);
            }
            Event::SessionEnd => hook.tell(&self.session_end, ()),
            Event::LlmProgress { id, text } => hook.tell(&self.llm_progress, (*id, text.as_str())),
            Event::LlmCompleted { id, outcome } => hook.tell(&self.llm_completed, (*id, outcome)),
            Event::Answered { id, answer } => hook.tell(&self.answered, (*id, answer)),
            Event::Stored { id, outcome } => hook.tell(&self.stored, (*id, outcome)),
            Event::TimerFired { id } => hook.tell(&self.timer_fired, (*id,)),
            Event::Command { name, arguments } => hook.tell(&self.command, (name.as_str(), arguments.as_str())),
            Event::CompleteCommand { name, prefix } => {
                return hook.ask(&self.complete_command, (name.as_str(), prefix.as_str())).map(Reply::Completions);
            }
            Event::Tool { name, arguments } => {
                return hook.ask(&self.tool, (name.as_str(), arguments.as_str())).map(Reply::Tool);
            }
        }
        .map(|()| Reply::Nothing)
    }
}

/// An instance that one function is called on.
struct Hook<'call> {
    store: &'call mut Store<Call>,
    instance: &'call Instance,
}

impl Hook<'_> {
    fn tell<P: ComponentNamedList + Lower>(
        &mut self,
        export: &ComponentExportIndex,
        parameters: P,
    ) -> wasmtime::Result<()> {
        function::<P, ()>(self.store, self.instance, export)?.call(&mut *self.store, parameters)
    }

    fn ask<P: ComponentNamedList + Lower, R: Lift + 'static>(
        &mut self,
        export: &ComponentExportIndex,
        parameters: P,
    ) -> wasmtime::Result<R>
    where
        (R,): ComponentNamedList + Lift,
    {
        let (reply,) = function::<P, (R,)>(self.store, self.instance, export)?.call(&mut *self.store, parameters)?;
        Ok(reply)
    }
}

fn function<P: ComponentNamedList + Lower, R: ComponentNamedList + Lift + 'static>(
    store: &mut Store<Call>,
    instance: &Instance,
    export: &ComponentExportIndex,
) -> wasmtime::Result<TypedFunc<P, R>> {
    instance.get_typed_func::<P, R>(&mut *store, export)
}
