//! The component's side of the contract: bindings, and the exports of a [`Plugin`].

use std::marker::PhantomData;
use std::sync::Once;

use chaperone_contract::*;

use crate::host::{Host, Unanswered};
use crate::{Context, Plugin, dispatch};

#[allow(missing_docs, unsafe_code, reason = "generated from the documented contract; crossing the boundary is unsafe")]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "agent-plugin",
        pub_export_macro: true,
        default_bindings_module: "chaperone_sdk::component::bindings",
        with: {
            "chaperone:agent/types@0.1.0/model-id": chaperone_contract::ModelId,
            "chaperone:agent/types@0.1.0/tool-call": chaperone_contract::ToolCall,
            "chaperone:agent/types@0.1.0/content": chaperone_contract::Content,
            "chaperone:agent/types@0.1.0/stop-reason": chaperone_contract::StopReason,
            "chaperone:agent/types@0.1.0/usage": chaperone_contract::Usage,
            "chaperone:agent/types@0.1.0/assistant-message": chaperone_contract::AssistantMessage,
            "chaperone:agent/types@0.1.0/tool-result": chaperone_contract::ToolResult,
            "chaperone:agent/types@0.1.0/custom-message": chaperone_contract::CustomMessage,
            "chaperone:agent/types@0.1.0/entry-body": chaperone_contract::EntryBody,
            "chaperone:agent/types@0.1.0/entry": chaperone_contract::Entry,
            "chaperone:agent/types@0.1.0/agent-kind": chaperone_contract::AgentKind,
            "chaperone:agent/types@0.1.0/agent": chaperone_contract::Agent,
            "chaperone:agent/session@0.1.0/mode": chaperone_contract::Mode,
            "chaperone:agent/session@0.1.0/snapshot": chaperone_contract::Snapshot,
            "chaperone:agent/llm@0.1.0/role": chaperone_contract::Role,
            "chaperone:agent/llm@0.1.0/prompt-message": chaperone_contract::PromptMessage,
            "chaperone:agent/llm@0.1.0/effort": chaperone_contract::Effort,
            "chaperone:agent/llm@0.1.0/completion-request": chaperone_contract::CompletionRequest,
            "chaperone:agent/llm@0.1.0/completion": chaperone_contract::Completion,
            "chaperone:agent/llm@0.1.0/llm-error": chaperone_contract::LlmError,
            "chaperone:agent/llm@0.1.0/model-info": chaperone_contract::ModelInfo,
            "chaperone:agent/conversation@0.1.0/delivery": chaperone_contract::Delivery,
            "chaperone:agent/conversation@0.1.0/injection": chaperone_contract::Injection,
            "chaperone:agent/ui@0.1.0/tone": chaperone_contract::Tone,
            "chaperone:agent/ui@0.1.0/span": chaperone_contract::Span,
            "chaperone:agent/ui@0.1.0/notice": chaperone_contract::Notice,
            "chaperone:agent/ui@0.1.0/choice": chaperone_contract::Choice,
            "chaperone:agent/ui@0.1.0/setting": chaperone_contract::Setting,
            "chaperone:agent/ui@0.1.0/prompt": chaperone_contract::Prompt,
            "chaperone:agent/ui@0.1.0/answer": chaperone_contract::Answer,
            "chaperone:agent/files@0.1.0/location": chaperone_contract::Location,
            "chaperone:agent/files@0.1.0/file-error": chaperone_contract::FileError,
            "chaperone:agent/state@0.1.0/scope": chaperone_contract::Scope,
            "chaperone:agent/report@0.1.0/verdict": chaperone_contract::Verdict,
            "chaperone:agent/report@0.1.0/judgement": chaperone_contract::Judgement,
            "chaperone:agent/report@0.1.0/sparing": chaperone_contract::Sparing,
            "chaperone:agent/report@0.1.0/finding": chaperone_contract::Finding,
            "chaperone:agent/traces@0.1.0/subject": chaperone_contract::Subject,
            "chaperone:agent/traces@0.1.0/decision": chaperone_contract::Decision,
            "chaperone:agent/traces@0.1.0/consequence": chaperone_contract::Consequence,
            "chaperone:agent/traces@0.1.0/trace": chaperone_contract::Trace,
            "chaperone:agent/traces@0.1.0/selection": chaperone_contract::Selection,
            "chaperone:agent/traces@0.1.0/query": chaperone_contract::TraceQuery,
            "chaperone:agent/traces@0.1.0/tally": chaperone_contract::Tally,
            "chaperone:agent/traces@0.1.0/account": chaperone_contract::Account,
            "chaperone:agent/log@0.1.0/level": chaperone_contract::Level,
            "chaperone:agent/plugin@0.1.0/hook": chaperone_contract::Hook,
            "chaperone:agent/plugin@0.1.0/command": chaperone_contract::Command,
            "chaperone:agent/plugin@0.1.0/tool": chaperone_contract::Tool,
            "chaperone:agent/plugin@0.1.0/description": chaperone_contract::Description,
            "chaperone:agent/lifecycle@0.1.0/start-reason": chaperone_contract::StartReason,
            "chaperone:agent/lifecycle@0.1.0/turn": chaperone_contract::Turn,
            "chaperone:agent/lifecycle@0.1.0/gate": chaperone_contract::Gate,
            "chaperone:agent/lifecycle@0.1.0/settled-reason": chaperone_contract::SettledReason,
            "chaperone:agent/lifecycle@0.1.0/context-message": chaperone_contract::ContextMessage,
            "chaperone:agent/invocations@0.1.0/completion-item": chaperone_contract::CompletionItem,
            "chaperone:agent/invocations@0.1.0/tool-output": chaperone_contract::ToolOutput,
        },
    });
}

use bindings::chaperone::agent::{conversation, files, llm, log, report, session, state, timers, traces, ui};
use bindings::exports::chaperone::agent::{invocations, lifecycle, plugin, responses};

/// Implements the component's exports for a plugin.
pub struct Component<P>(PhantomData<P>);

/// The component's imports.
struct Imports;

/// Runs the hook that an event is for, on the component's imports.
fn run<P: Plugin>(event: Event) -> Reply {
    static PANIC_HOOK: Once = Once::new();
    PANIC_HOOK.call_once(|| {
        std::panic::set_hook(Box::new(|panic| log::log(Level::Error, &panic.to_string())));
    });
    dispatch::<P>(&mut Context::new(&mut Imports), event)
}

impl Host for Imports {
    fn snapshot(&self) -> Snapshot {
        session::current()
    }
    fn entries_before(&self, before: Option<&str>, limit: u32) -> Vec<Entry> {
        session::entries_before(before, limit)
    }
    fn entries_since_user(&self, include_user: bool, limit: u32) -> Vec<Entry> {
        session::entries_since_user(include_user, limit)
    }
    fn models(&self) -> Vec<ModelInfo> {
        llm::models()
    }
    fn list(&self, folder: &Location) -> Result<Vec<String>, FileError> {
        files::entries(folder)
    }
    fn read(&self, file: &Location) -> Result<String, FileError> {
        files::read(file)
    }
    fn state(&self, scope: Scope) -> Option<Vec<u8>> {
        state::get(scope)
    }
    fn traces(&self, query: &TraceQuery) -> Vec<Trace> {
        traces::read(query)
    }
    fn accounts(&self, whole_project: bool) -> Vec<Account> {
        traces::accounts(whole_project)
    }
    fn complete(&mut self, request: CompletionRequest) -> RequestId {
        llm::complete(&request)
    }
    fn ask(&mut self, prompt: Prompt) -> RequestId {
        ui::ask(&prompt)
    }
    fn refresh(&mut self, file: Location) -> RequestId {
        files::refresh(&file)
    }
    fn write(&mut self, file: Location, text: String, only_if_absent: bool) -> RequestId {
        files::write(&file, &text, only_if_absent)
    }
    fn patch(&mut self, file: Location, initial: Json, patch: Json) -> RequestId {
        files::patch(&file, &initial, &patch)
    }
    fn arm(&mut self, milliseconds: u64) -> RequestId {
        timers::arm(milliseconds)
    }
    fn perform(&mut self, effect: Unanswered) {
        match effect {
            Unanswered::Cancel(id) => llm::cancel(id),
            Unanswered::Inject(message) => conversation::inject(&message),
            Unanswered::Release(call_id, refusal) => conversation::release(&call_id, refusal.as_deref()),
            Unanswered::Abort => conversation::abort(),
            Unanswered::Notify(text, tone) => ui::notify(&text, tone),
            Unanswered::SetStatus(text) => ui::set_status(text.as_deref()),
            Unanswered::SetWidget(lines) => ui::set_widget(&lines),
            Unanswered::Show(notice) => ui::show(&notice),
            Unanswered::Set(scope, value) => state::set(scope, &value),
            Unanswered::Disarm(id) => timers::disarm(id),
            Unanswered::Judged(judgement) => report::judged(&judgement),
            Unanswered::Spared(sparing) => report::spared(&sparing),
            Unanswered::Found(finding) => report::found(&finding),
            Unanswered::Decided(decision) => traces::decided(&decision),
            Unanswered::Log(level, message) => log::log(level, &message),
        }
    }
}

impl<P: Plugin> plugin::Guest for Component<P> {
    fn describe() -> Description {
        match run::<P>(Event::Describe) {
            Reply::Description(description) => description,
            other => unreachable!("dispatch answers describe with {other:?}"),
        }
    }
}

impl<P: Plugin> lifecycle::Guest for Component<P> {
    fn session_start(reason: StartReason) {
        run::<P>(Event::SessionStart { reason });
    }
    fn branch_changed() {
        run::<P>(Event::BranchChanged);
    }
    fn input(content: Vec<Content>) {
        run::<P>(Event::Input { content });
    }
    fn agent_start() {
        run::<P>(Event::AgentStart);
    }
    fn turn_start(index: u32) {
        run::<P>(Event::TurnStart { index });
    }
    fn message_update(usage: Option<Usage>) {
        run::<P>(Event::MessageUpdate { usage });
    }
    fn message_end(message: Entry) {
        run::<P>(Event::MessageEnd { message });
    }
    fn tool_start(call: ToolCall) -> Gate {
        match run::<P>(Event::ToolStart { call }) {
            Reply::Gate(gate) => gate,
            other => unreachable!("dispatch answers tool-start with {other:?}"),
        }
    }
    fn tool_end(outcome: ToolResult) {
        run::<P>(Event::ToolEnd { outcome });
    }
    fn turn_end(turn: Turn) {
        run::<P>(Event::TurnEnd { turn });
    }
    fn agent_end() {
        run::<P>(Event::AgentEnd);
    }
    fn agent_settled(reason: SettledReason) {
        run::<P>(Event::AgentSettled { reason });
    }
    fn context(messages: Vec<ContextMessage>) -> Vec<u32> {
        match run::<P>(Event::Context { messages }) {
            Reply::LeaveOut(indices) => indices,
            other => unreachable!("dispatch answers context with {other:?}"),
        }
    }
    fn session_end() {
        run::<P>(Event::SessionEnd);
    }
}

impl<P: Plugin> responses::Guest for Component<P> {
    fn llm_progress(id: RequestId, text: String) {
        run::<P>(Event::LlmProgress { id, text });
    }
    fn llm_completed(id: RequestId, outcome: Result<Completion, LlmError>) {
        run::<P>(Event::LlmCompleted { id, outcome });
    }
    fn answered(id: RequestId, answer: Answer) {
        run::<P>(Event::Answered { id, answer });
    }
    fn stored(id: RequestId, outcome: Result<(), FileError>) {
        run::<P>(Event::Stored { id, outcome });
    }
    fn timer_fired(id: RequestId) {
        run::<P>(Event::TimerFired { id });
    }
}

impl<P: Plugin> invocations::Guest for Component<P> {
    fn command(name: String, arguments: String) {
        run::<P>(Event::Command { name, arguments });
    }
    fn complete_command(name: String, prefix: String) -> Vec<CompletionItem> {
        match run::<P>(Event::CompleteCommand { name, prefix }) {
            Reply::Completions(items) => items,
            other => unreachable!("dispatch answers complete-command with {other:?}"),
        }
    }
    fn tool(name: String, arguments: Json) -> Result<ToolOutput, String> {
        match run::<P>(Event::Tool { name, arguments }) {
            Reply::Tool(outcome) => outcome,
            other => unreachable!("dispatch answers tool with {other:?}"),
        }
    }
}
