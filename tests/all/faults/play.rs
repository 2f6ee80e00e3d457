//! A short play: monitors in a project, a user, an agent, and a judge with a script.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use chaperone::drive::{Dialogs, Session, Setup};
use chaperone::llm::{Answer as LlmAnswer, BoxFuture, Call, Provider};
use chaperone_contract::*;
use chaperone_tests::stage::{self, Seen, Stage};
use serde_json::{Value, json};

/// Answers in the order in which it is asked, and CLEAN once nothing is written down for it.
#[derive(Default)]
pub struct Judge {
    answers: Mutex<VecDeque<LlmAnswer>>,
    /// A file that somebody saves while the judge thinks.
    meanwhile: Mutex<Option<(PathBuf, String)>>,
}

impl Provider for Judge {
    fn name(&self) -> &str {
        "judge"
    }

    fn models(&self) -> Vec<ModelInfo> {
        Vec::new()
    }

    fn complete<'a>(&'a self, _: &'a Call, _: &'a (dyn Fn(&str) + Send + Sync)) -> BoxFuture<'a, LlmAnswer> {
        if let Some((path, text)) = self.meanwhile.lock().unwrap().take() {
            std::fs::write(path, text).unwrap();
        }
        let answer = self.answers.lock().unwrap().pop_front().unwrap_or_else(|| Ok(said("CLEAN")));
        Box::pin(std::future::ready(answer))
    }
}

/// A finished answer.
pub fn said(text: &str) -> Completion {
    Completion {
        text: text.into(),
        stop_reason: StopReason::Stop,
        usage: None,
        model: ModelId { provider: "judge".into(), model: "judge".into() },
        parts: vec![("text".into(), text.len() as u32)],
    }
}

/// A tool that the agent runs: its name, its arguments, what it answers, and whether it failed.
pub type Tool = (&'static str, &'static str, &'static str, bool);

/// A command that succeeds.
pub const OK: Tool = ("bash", "{}", "ok", false);

/// A monitor that judges at the end of a run, steers with `S.` and learns; with changes merged into it.
pub fn monitor(name: &str, changes: Value) -> Value {
    let mut monitor = json!({
        "name": name,
        "event": "agent_end",
        "classify": {"prompt": "{patterns}"},
        "patterns": {"path": format!("{name}.patterns.json")},
        "actions": {"on_flag": {"steer": "S."}, "on_new": {"steer": "S.", "learn_pattern": true}},
    });
    merge(&mut monitor, changes);
    monitor
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

/// Writes monitors into a project, each with one pattern.
pub fn put(stage: &Stage, monitors: &[Value]) {
    for monitor in monitors {
        let name = monitor["name"].as_str().unwrap();
        stage.put(&format!(".pi/monitors/{name}.monitor.json"), &monitor.to_string());
        stage.put(&format!(".pi/monitors/{name}.patterns.json"), r#"[{"id":"p","description":"pd"}]"#);
    }
}

/// A session that has begun.
pub struct Play {
    pub stage: Arc<Stage>,
    pub session: Session,
    pub seen: Seen,
    judge: Arc<Judge>,
    runtime: tokio::runtime::Runtime,
    entries: u32,
}

impl Play {
    /// Over one monitor `m`; nobody can be asked.
    pub fn with(changes: Value) -> Self {
        Self::over(&[monitor("m", changes)])
    }

    /// Over these monitors; nobody can be asked.
    pub fn over(monitors: &[Value]) -> Self {
        let stage = Arc::new(Stage::bare());
        put(&stage, monitors);
        Self::on(stage, Dialogs::Unavailable)
    }

    /// Over one monitor `m`, with a user who can be asked.
    pub fn attended(changes: Value) -> Self {
        let stage = Arc::new(Stage::bare());
        put(&stage, &[monitor("m", changes)]);
        Self::on(stage, Dialogs::Shown)
    }

    /// In a project that is there already.
    pub fn on(stage: Arc<Stage>, dialogs: Dialogs) -> Self {
        let judge = Arc::new(Judge::default());
        let plugin = stage.plugin("monitors", stage::monitors(), stage.disk());
        let mut seen = Seen::default();
        static SESSIONS: AtomicU32 = AtomicU32::new(0);
        let session_id = format!("play-{}", SESSIONS.fetch_add(1, Ordering::Relaxed));
        let snapshot = Snapshot { session_id, ..stage::snapshot() };
        let setup = Setup { dialogs, ..Setup::new(snapshot, vec![plugin], judge.clone()) };
        let session = Session::new(setup, &mut seen).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut play = Self { stage, session, seen, judge, runtime, entries: 0 };
        play.trust();
        play.event(Event::SessionStart { reason: StartReason::New });
        play
    }

    /// The user trusts all monitors of the project as they are now.
    pub fn trust(&mut self) {
        self.command("monitors", "trust all");
        self.seen.clear();
    }

    /// Writes answers down for the judge.
    pub fn answers(&mut self, answers: &[&str]) {
        self.outcomes(answers.iter().map(|text| Ok(said(text))));
    }

    /// Writes down what comes of calls.
    pub fn outcomes(&mut self, outcomes: impl IntoIterator<Item = LlmAnswer>) {
        self.judge.answers.lock().unwrap().extend(outcomes);
    }

    /// Somebody saves a file of the project while the judge thinks the next time.
    pub fn meanwhile(&mut self, path: &str, text: &str) {
        *self.judge.meanwhile.lock().unwrap() = Some((self.stage.project().join(path), text.into()));
    }

    /// Something happens, with all that follows.
    pub fn event(&mut self, event: Event) {
        self.runtime.block_on(async {
            self.session.event(&event, &mut self.seen).unwrap();
            self.session.quiet(&mut self.seen).await.unwrap();
        });
        assert!(self.seen.failures().is_empty(), "{:?}", self.seen.failures());
    }

    /// Runs `/name arguments`.
    pub fn command(&mut self, name: &str, arguments: &str) {
        self.runtime.block_on(async {
            assert!(self.session.command(name, arguments, &mut self.seen).unwrap(), "there is no /{name}");
            self.session.quiet(&mut self.seen).await.unwrap();
        });
    }

    /// Appends an entry, with its `message-end`.
    pub fn append(&mut self, body: EntryBody) {
        self.entries += 1;
        let message = Entry { id: format!("e{}", self.entries), timestamp: 0, body };
        self.session.append(Arc::new(message.clone())).unwrap();
        self.event(Event::MessageEnd { message });
    }

    /// The user sends a message.
    pub fn user(&mut self, text: &str) {
        let content = vec![Content::Text(text.into())];
        self.event(Event::Input { content: content.clone() });
        self.event(Event::AgentStart);
        self.append(EntryBody::User(content));
    }

    /// One cycle of the agent: what it says, and the tools that it runs.
    pub fn agent(&mut self, text: &str, tools: &[Tool]) {
        self.agent_ending(text, tools, if tools.is_empty() { StopReason::Stop } else { StopReason::ToolUse });
    }

    /// The same, with any stop reason.
    pub fn agent_ending(&mut self, text: &str, tools: &[Tool], stop_reason: StopReason) {
        let first = self.entries;
        let calls = (first..).zip(tools).map(|(number, (name, arguments, ..))| ToolCall {
            id: format!("call-{number}"),
            name: (*name).into(),
            arguments: (*arguments).into(),
        });
        let calls: Vec<ToolCall> = calls.collect();
        let mut content = vec![Content::Text(text.into())];
        content.extend(calls.iter().cloned().map(Content::ToolCall));
        let message = AssistantMessage { content, stop_reason, usage: None, model: None, error: None };
        self.append(EntryBody::Assistant(message.clone()));
        let mut tool_results = Vec::new();
        for (call, (_, _, text, is_error)) in calls.into_iter().zip(tools) {
            let result = ToolResult {
                call_id: call.id.clone(),
                tool_name: call.name.clone(),
                content: vec![Content::Text((*text).into())],
                is_error: *is_error,
                details: None,
            };
            self.event(Event::ToolStart { call });
            self.event(Event::ToolEnd { outcome: result.clone() });
            self.append(EntryBody::ToolResult(result.clone()));
            tool_results.push(result);
        }
        self.event(Event::TurnEnd { turn: Turn { index: 0, message, tool_results } });
    }

    /// The run is over.
    pub fn end(&mut self) {
        self.event(Event::AgentEnd);
        self.event(Event::AgentSettled { reason: SettledReason::Finished });
    }

    /// A prompt, an answer, and the end of the run.
    pub fn exchange(&mut self, prompt: &str, answer: &str) {
        self.user(prompt);
        self.agent(answer, &[]);
        self.end();
    }

    /// The steer reaches the agent, which answers it.
    pub fn answer_steer(&mut self, answer: &str) {
        let injections = self.seen.injections();
        let Injection { custom_type, content, display, details, .. } = (*injections.last().unwrap()).clone();
        self.event(Event::AgentStart);
        self.append(EntryBody::Custom(CustomMessage { custom_type, content, display, details }));
        self.agent(answer, &[]);
        self.end();
    }

    /// The calls of the judge.
    pub fn calls(&self) -> Vec<&CompletionRequest> {
        let calls = self.seen.effects().filter_map(|effect| match effect {
            Effect::Complete(call) => Some(&call.request),
            _ => None,
        });
        calls.collect()
    }

    /// The evidence of the latest call.
    pub fn evidence(&self) -> &str {
        &self.calls().last().expect("a judge was asked").messages[0].text
    }

    /// The lines of all steers, without those that say who speaks.
    pub fn steers(&self) -> Vec<String> {
        let lines = self.seen.injections().into_iter().flat_map(|message| message.content.lines());
        lines.filter(|line| line.starts_with('[')).map(str::to_owned).collect()
    }

    /// The open dialogs, by title.
    pub fn dialogs(&self) -> Vec<(RequestId, &str)> {
        let dialogs = self.seen.effects().filter_map(|effect| match effect {
            Effect::Ask { id, prompt: Prompt::Confirm((title, _)) } => Some((*id, title.as_str())),
            _ => None,
        });
        dialogs.collect()
    }

    /// The user answers the latest dialog.
    pub fn answer_dialog(&mut self, answer: Answer) {
        let id = self.dialogs().last().expect("a dialog is open").0;
        self.session.answered("monitors", id, answer, &mut self.seen).unwrap();
    }

    /// Whether something like this was shown in passing.
    pub fn told(&self, part: &str) -> bool {
        self.seen.notices().iter().any(|notice| notice.contains(part))
    }

    /// A file of the project, as it is on the disk.
    pub fn file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.stage.project().join(path)).ok()
    }

    /// A JSON file of the project.
    pub fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.file(path).unwrap_or_else(|| panic!("{path} is missing"))).unwrap()
    }

    /// How many steers in a row the status bar shows for `m`.
    pub fn count(&self) -> Option<String> {
        let status = self.seen.effects().filter_map(|effect| match effect {
            Effect::SetStatus { text } => {
                Some(text.iter().flatten().map(|span| span.text.as_str()).collect::<String>())
            }
            _ => None,
        });
        status.last()
    }
}
