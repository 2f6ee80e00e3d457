//! A host for native tests: feed events, answer requests, inspect effects, move time.
//!
//! [`FakeHost::call`] runs one hook and returns what it asked for, and nothing more. The other methods play a host: they
//! keep state, carry out file effects, fire timers, and hand the answers back to the watcher.

mod traces;
mod transaction;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::marker::PhantomData;

use chaperone_contract::*;

use crate::{Context, Plugin, dispatch};
use transaction::{Transaction, View};

/// What one hook returned and asked for.
#[derive(Debug)]
pub struct Outcome {
    /// What the export returned.
    pub reply: Reply,
    /// The effects in their order.
    pub effects: Vec<Effect>,
}

/// Who answers model calls.
pub type Judge = fn(&CompletionRequest) -> Result<String, LlmError>;

/// A host that runs the watcher `P` natively.
pub struct FakeHost<P> {
    /// What `session.current` answers; `leaf` and `branch_length` are taken from the branch.
    pub session: Snapshot,
    /// The entries so far.
    pub branch: Branch,
    /// What `llm.models` answers.
    pub models: Vec<ModelInfo>,
    /// The files of all mounts, by mount and path. A mount is there if a file is in it.
    pub files: BTreeMap<(String, String), String>,
    /// What a read of one file answers, whatever is in `files`: an error that a host may have, or the answer of a recording.
    pub reads: BTreeMap<(String, String), Result<String, FileError>>,
    /// The same for the names in one folder.
    pub lists: BTreeMap<(String, String), Result<Vec<String>, FileError>>,
    /// What comes of making a file anew: its text, which is in `files` from then on, or why there is none. What is not
    /// here cannot be made.
    pub made: BTreeMap<(String, String), Result<String, FileError>>,
    /// Answers to the next file effects, instead of carrying them out.
    pub file_errors: VecDeque<FileError>,
    /// The id of the next request.
    pub next_request: RequestId,
    /// What is kept of judgements, oldest first. [`fire`](Self::fire) adds to it.
    pub traces: Vec<Trace>,
    /// The calls that may still be answered.
    asked: BTreeMap<RequestId, CompletionRequest>,
    /// The trace of each call.
    traced: BTreeMap<RequestId, TraceId>,
    /// Answers the model calls that are open while a turn's tool call is held. None: this host cannot hold calls, and
    /// runs them.
    pub while_held: Option<Judge>,
    /// What was decided about tool calls that were held: none, they run; else why they are refused.
    decisions: BTreeMap<String, Option<String>>,
    /// Every effect since the last [`take_effects`](Self::take_effects).
    effects: Vec<Effect>,
    state: BTreeMap<Scope, Vec<u8>>,
    timers: BTreeSet<(Timestamp, RequestId)>,
    next_entry: u32,
    plugin: PhantomData<P>,
}

impl<P: Plugin> Default for FakeHost<P> {
    fn default() -> Self {
        let model = ModelId { provider: "fake".into(), model: "agent".into() };
        let session = Snapshot { model: Some(model), ..Snapshot::new("fake", "/project", 1_700_000_000_000) };
        Self {
            session,
            branch: Branch::default(),
            models: Vec::new(),
            files: BTreeMap::new(),
            reads: BTreeMap::new(),
            lists: BTreeMap::new(),
            made: BTreeMap::new(),
            file_errors: VecDeque::new(),
            next_request: 1,
            traces: Vec::new(),
            asked: BTreeMap::new(),
            traced: BTreeMap::new(),
            while_held: None,
            decisions: BTreeMap::new(),
            effects: Vec::new(),
            state: BTreeMap::new(),
            timers: BTreeSet::new(),
            next_entry: 1,
            plugin: PhantomData,
        }
    }
}

/// One hook at a time.
impl<P: Plugin> FakeHost<P> {
    /// Runs one hook and commits the state that it set; its other effects are only returned.
    pub fn call(&mut self, event: Event) -> Outcome {
        let permitted = event.permitted();
        let mut transaction = Transaction { host: self.view(), effects: Vec::new() };
        let reply = dispatch::<P>(&mut Context::new(&mut transaction), event);
        let mut effects = transaction.effects;
        effects.retain(|effect| permitted.includes(effect));
        for effect in &effects {
            match effect {
                Effect::Set { scope, value } => {
                    self.state.insert(*scope, value.clone());
                }
                Effect::Complete(CompleteEffect { id, .. })
                | Effect::Ask { id, .. }
                | Effect::Write { id, .. }
                | Effect::Refresh { id, .. }
                | Effect::Patch { id, .. }
                | Effect::Arm { id, .. } => self.next_request = self.next_request.max(id + 1),
                _ => {}
            }
        }
        Outcome { reply, effects }
    }

    fn view(&self) -> View<'_> {
        View {
            session: &self.session,
            branch: &self.branch,
            models: &self.models,
            files: &self.files,
            reads: &self.reads,
            lists: &self.lists,
            state: &self.state,
            traces: &self.traces,
            next_request: self.next_request,
        }
    }
}

/// A host that carries effects out.
impl<P: Plugin> FakeHost<P> {
    /// Runs a hook, and those that bring it the outcome of its file effects.
    pub fn fire(&mut self, event: Event) -> Reply {
        let answered = self.answered(&event);
        let outcome = self.call(event);
        self.keep(answered, &outcome.effects);
        let mut stored = Vec::new();
        for effect in &outcome.effects {
            match effect {
                Effect::Refresh { id, file } => stored.push((*id, self.refresh(file))),
                Effect::Write { id, file, text, only_if_absent } => {
                    stored.push((*id, self.write(file, text, *only_if_absent)));
                }
                Effect::Patch { id, file, initial, patch } => stored.push((*id, self.patch(file, initial, patch))),
                Effect::Arm { id, milliseconds } => {
                    self.timers.insert((self.session.now + milliseconds, *id));
                }
                Effect::Disarm { id } => self.timers.retain(|(_, timer)| timer != id),
                Effect::Release { call_id, refusal } => {
                    self.decisions.entry(call_id.clone()).or_insert_with(|| refusal.clone());
                }
                _ => {}
            }
        }
        self.effects.extend(outcome.effects);
        for (id, outcome) in stored {
            self.fire(Event::Stored { id, outcome });
        }
        outcome.reply
    }

    /// Moves time on, firing each timer at its time.
    pub fn advance(&mut self, milliseconds: u64) {
        let end = self.session.now + milliseconds;
        while let Some(&(at, id)) = self.timers.first().filter(|(at, _)| *at <= end) {
            self.timers.remove(&(at, id));
            self.session.now = at;
            self.fire(Event::TimerFired { id });
        }
        self.session.now = end;
    }

    /// Answers a model call.
    pub fn answer(&mut self, id: RequestId, outcome: Result<Completion, LlmError>) {
        self.fire(Event::LlmCompleted { id, outcome });
    }

    /// Answers every open model call, in order, also those that answers lead to. Returns how many there were.
    ///
    /// Open are the calls among the effects that were not taken yet; they are taken out.
    pub fn answer_all(&mut self, mut judge: impl FnMut(&CompletionRequest) -> Result<String, LlmError>) -> usize {
        let mut answered = 0;
        while let Some(position) = self.effects.iter().position(|effect| matches!(effect, Effect::Complete(_))) {
            let Effect::Complete(CompleteEffect { id, request }) = self.effects.remove(position) else { continue };
            let outcome = judge(&request).map(completion);
            self.answer(id, outcome);
            answered += 1;
        }
        answered
    }

    /// The effects since this was last called.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// The effects since they were last taken.
    pub fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// The injections among the effects.
    pub fn injections(&self) -> Vec<&Injection> {
        self.effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Inject(message) => Some(message),
                _ => None,
            })
            .collect()
    }

    /// The stored value of a scope.
    pub fn state(&self, scope: Scope) -> Option<&[u8]> {
        self.state.get(&scope).map(Vec::as_slice)
    }

    /// Stores a value as if an earlier hook had.
    pub fn set_state(&mut self, scope: Scope, value: impl Into<Vec<u8>>) {
        self.state.insert(scope, value.into());
    }

    /// Puts a file into a mount.
    pub fn put(&mut self, mount: &str, path: &str, text: impl Into<String>) {
        self.files.insert((mount.into(), path.into()), text.into());
    }

    /// A file of a mount.
    pub fn file(&self, mount: &str, path: &str) -> Option<&str> {
        self.files.get(&(mount.into(), path.into())).map(String::as_str)
    }

    fn refresh(&mut self, file: &Location) -> Result<(), FileError> {
        let key = key(file);
        self.files.remove(&key);
        let text = match self.file_errors.pop_front() {
            Some(error) => Err(error),
            None => self.made.get(&key).cloned().unwrap_or(Err(FileError::NotFound)),
        }?;
        self.files.insert(key, text);
        Ok(())
    }

    fn write(&mut self, file: &Location, text: &str, only_if_absent: bool) -> Result<(), FileError> {
        if let Some(error) = self.file_errors.pop_front() {
            return Err(error);
        }
        let key = key(file);
        if only_if_absent && self.files.contains_key(&key) {
            return Err(FileError::Conflict("the file is there already".into()));
        }
        self.files.insert(key, text.into());
        Ok(())
    }

    fn patch(&mut self, file: &Location, initial: &str, patch: &str) -> Result<(), FileError> {
        if let Some(error) = self.file_errors.pop_front() {
            return Err(error);
        }
        let key = key(file);
        let text = self.files.get(&key).map_or(initial, String::as_str);
        let mut document: serde_json::Value =
            serde_json::from_str(text).map_err(|error| FileError::NotJson(error.to_string()))?;
        let patch: json_patch::Patch =
            serde_json::from_str(patch).map_err(|error| FileError::Conflict(error.to_string()))?;
        json_patch::patch(&mut document, &patch).map_err(|error| FileError::Conflict(error.to_string()))?;
        self.files.insert(key, format!("{document:#}\n"));
        Ok(())
    }
}

/// An agent's life, in a few words.
impl<P: Plugin> FakeHost<P> {
    /// Appends an entry and returns it.
    pub fn append(&mut self, body: EntryBody) -> Entry {
        let entry = Entry { id: format!("e{}", self.next_entry), timestamp: self.session.now, body };
        self.next_entry += 1;
        self.branch.push(entry.clone());
        entry
    }

    /// The user sends a message: `input`, `agent-start`, and the entry with its `message-end`.
    pub fn user(&mut self, text: &str) {
        let content = vec![Content::Text(text.into())];
        self.fire(Event::Input { content: content.clone() });
        self.session.idle = false;
        self.fire(Event::AgentStart);
        let message = self.append(EntryBody::User(content));
        self.fire(Event::MessageEnd { message });
    }

    /// One turn of the agent: what it says, and the tools that it runs with what they answer, unless they are refused.
    pub fn turn(&mut self, text: &str, tools: &[Tooling]) {
        let stop_reason = if tools.is_empty() { StopReason::Stop } else { StopReason::ToolUse };
        self.turn_ending(text, tools, stop_reason);
    }

    /// As [`turn`](Self::turn), with any stop reason.
    pub fn turn_ending(&mut self, text: &str, tools: &[Tooling], stop_reason: StopReason) {
        self.fire(Event::TurnStart { index: 0 });
        let mut content = vec![Content::Text(text.into())];
        let first_call = self.next_entry;
        let calls: Vec<ToolCall> = (first_call..)
            .zip(tools)
            .map(|(number, tool)| ToolCall {
                id: format!("call-{number}"),
                name: tool.name.into(),
                arguments: tool.arguments.into(),
            })
            .collect();
        content.extend(calls.iter().cloned().map(Content::ToolCall));
        let message =
            AssistantMessage { content, stop_reason, usage: None, model: self.session.model.clone(), error: None };
        let entry = self.append(EntryBody::Assistant(message.clone()));
        self.fire(Event::MessageEnd { message: entry });
        let mut tool_results = Vec::new();
        for (call, tool) in calls.into_iter().zip(tools) {
            let refusal = self.refusal(call.clone());
            let result = ToolResult {
                call_id: call.id,
                tool_name: call.name,
                is_error: tool.is_error || refusal.is_some(),
                content: vec![Content::Text(refusal.unwrap_or_else(|| tool.result.into()))],
                details: None,
            };
            self.fire(Event::ToolEnd { outcome: result.clone() });
            let entry = self.append(EntryBody::ToolResult(result.clone()));
            self.fire(Event::MessageEnd { message: entry });
            tool_results.push(result);
        }
        self.fire(Event::TurnEnd { turn: Turn { index: 0, message, tool_results } });
    }

    /// Asks whether a tool call may run.
    pub fn tool_start(&mut self, call: ToolCall) -> Gate {
        self.decisions.remove(&call.id);
        match self.fire(Event::ToolStart { call }) {
            Reply::Gate(gate) => gate,
            other => unreachable!("dispatch answers tool-start with {other:?}"),
        }
    }

    /// What was decided about a call that was held. None: it still waits.
    pub fn decision(&self, call_id: &str) -> Option<Gate> {
        self.decisions.get(call_id).map(|refusal| refusal.clone().map_or(Gate::Allow, Gate::Refuse))
    }

    /// Why a call of a turn does not run, if it does not.
    fn refusal(&mut self, call: ToolCall) -> Option<String> {
        let id = call.id.clone();
        match (self.tool_start(call), self.while_held) {
            (Gate::Hold, Some(judge)) => {
                self.answer_all(judge);
                self.decisions.get(&id).cloned().flatten()
            }
            (Gate::Refuse(reason), Some(_)) => Some(reason),
            (Gate::Allow | Gate::Hold | Gate::Refuse(_), _) => None,
        }
    }

    /// The run is over.
    pub fn end(&mut self) {
        self.fire(Event::AgentEnd);
        self.settle(SettledReason::Finished);
    }

    /// The agent comes to rest.
    pub fn settle(&mut self, reason: SettledReason) {
        self.session.idle = true;
        self.fire(Event::AgentSettled { reason });
    }
}

/// A tool that a turn runs, and what it answers.
#[derive(Clone, Copy, Debug)]
pub struct Tooling {
    /// The tool.
    pub name: &'static str,
    /// Its arguments, a JSON object.
    pub arguments: &'static str,
    /// What it answers.
    pub result: &'static str,
    /// Whether it failed.
    pub is_error: bool,
}

impl Tooling {
    /// A call that succeeds.
    pub fn ok(name: &'static str, arguments: &'static str, result: &'static str) -> Self {
        Self { name, arguments, result, is_error: false }
    }

    /// A call that fails.
    pub fn failing(name: &'static str, arguments: &'static str, result: &'static str) -> Self {
        Self { name, arguments, result, is_error: true }
    }
}

/// A finished answer of a model.
pub fn completion(text: impl Into<String>) -> Completion {
    let text = text.into();
    let length = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    Completion {
        stop_reason: StopReason::Stop,
        usage: None,
        model: ModelId { provider: "fake".into(), model: "judge".into() },
        parts: vec![("text".into(), length)],
        text,
    }
}

fn key(location: &Location) -> (String, String) {
    (location.mount.clone(), location.path.clone())
}

#[cfg(test)]
mod tests;
