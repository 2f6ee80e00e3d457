//! Drives plugins through a session: feeds them its events, carries out what they ask for, and brings them the answers.
//!
//! The shell around the functional core: here is tokio, here are the clock of the session and the calls under way.

mod effects;
mod observer;
mod running;
mod setup;
mod tracing;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chaperone_contract::*;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{AbortHandle, JoinError, JoinSet};

pub use observer::{HookRun, Note, Observer};
pub use running::{Grants, Running};
pub use setup::{Dialogs, Extent, Memory, Setup};

use crate::llm::allowance::Ledger;
use crate::llm::{Answer as LlmAnswer, Provider};
use crate::record::{RecordedHook, RecordedResult, Recorder};
use crate::session::{Step, TimedStep};
use crate::store::{CallTrace, StoreError};
use crate::transaction::{Committed, FileRead, Input};

/// A session with the plugins that watch it.
///
/// Hooks run on the calling thread, one after another; model calls run as tokio tasks beside them.
pub struct Session {
    snapshot: Snapshot,
    branch: Arc<Branch>,
    plugins: Vec<Running>,
    provider: Arc<dyn Provider>,
    judge: Option<ModelId>,
    ledger: Ledger,
    dialogs: Dialogs,
    /// Text of streamed calls, as it arrives.
    progress: (UnboundedSender<Progress>, UnboundedReceiver<Progress>),
    calls: JoinSet<(Ticket, Ended)>,
    open: BTreeMap<Ticket, OpenCall>,
    timers: BTreeSet<(Timestamp, Ticket)>,
    /// Hooks that are due, in order: the answers to what earlier hooks asked for.
    due: VecDeque<(usize, Event)>,
    recorder: Option<Recorder>,
    memory: Option<Memory>,
    /// Answers that go into the traces, until the hooks that hear of them have run.
    answered: BTreeMap<Ticket, Box<CallTrace>>,
}

/// Why a session cannot go on: what it does can no longer be kept.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The recording.
    #[error("the recording cannot be written")]
    Recording(#[from] std::io::Error),
    /// The states.
    #[error(transparent)]
    Store(#[from] StoreError),
}

type Result<T, E = DriveError> = std::result::Result<T, E>;

/// Names a request among all plugins of a session.
type Ticket = (usize, RequestId);

/// A piece of a streamed answer.
type Progress = (Ticket, String);

/// A model call under way.
struct OpenCall {
    label: String,
    /// None: no traces are kept.
    asked: Option<tracing::Asked>,
    task: AbortHandle,
    started: Instant,
}

/// What came of a model call, and how long it took.
struct Ended {
    answer: LlmAnswer,
    took: Duration,
}

impl Session {
    /// Begins a session and asks every plugin what it is.
    pub fn new(setup: Setup, observer: &mut dyn Observer) -> Result<Self> {
        let Setup { snapshot, mut plugins, provider, judge, dialogs, recorder, memory } = setup;
        if let Some(memory) = &memory {
            for plugin in &mut plugins {
                plugin.history = memory.history(&memory.owner(&snapshot, &plugin.name))?;
                plugin.history.follow(&Branch::default());
            }
            memory.store.prune_traces(&memory.traces, tracing::wall_clock())?;
        }
        let mut ledger = Ledger::default();
        for plugin in &plugins {
            ledger.allow(&plugin.name, plugin.grants.allowance());
        }
        let models = provider.models();
        for plugin in &mut plugins {
            plugin.models = models.iter().filter(|model| plugin.grants.allows(&model.id)).cloned().collect();
        }
        let mut session = Self {
            snapshot,
            branch: Arc::default(),
            plugins,
            provider,
            judge,
            ledger,
            dialogs,
            progress: unbounded_channel(),
            calls: JoinSet::new(),
            open: BTreeMap::new(),
            timers: BTreeSet::new(),
            due: VecDeque::new(),
            recorder,
            memory,
            answered: BTreeMap::new(),
        };
        if let Some(recorder) = &mut session.recorder {
            recorder.session(&session.snapshot.session_id, session.plugins.iter().map(Running::recorded).collect())?;
        }
        for index in 0..session.plugins.len() {
            session.describe(index, observer)?;
        }
        Ok(session)
    }

    /// The plugins.
    pub fn plugins(&self) -> &[Running] {
        &self.plugins
    }

    /// The current branch.
    pub fn branch(&self) -> &Branch {
        &self.branch
    }

    /// Calls and tokens so far.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Feeds one step of a recorded session, and waits until nothing is under way any more.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub async fn feed(&mut self, step: &TimedStep, observer: &mut dyn Observer) -> Result<()> {
        self.advance(step.at, observer)?;
        self.quiet(observer).await?;
        self.snapshot.idle = step.idle;
        match &step.step {
            Step::Append(entry) => self.append(entry.clone())?,
            Step::Model(model) => self.snapshot.model = Some(model.clone()),
            Step::Event(event) => _ = self.event(event, observer)?,
        }
        self.quiet(observer).await
    }

    /// Waits until no model call is under way and no hook is due.
    ///
    /// Answers that come while others are awaited are delivered in the order in which they were asked for, so that the
    /// same answers always lead to the same hooks.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub async fn quiet(&mut self, observer: &mut dyn Observer) -> Result<()> {
        self.drain(observer)?;
        while !self.calls.is_empty() {
            let mut answers = BTreeMap::new();
            while let Some(joined) = self.calls.join_next().await {
                if let Some((ticket, ended)) = self.ended(joined) {
                    answers.insert(ticket, ended);
                }
            }
            // How the text of a streamed answer was cut into pieces depends on the network: here it comes in one.
            let mut streamed: BTreeMap<Ticket, String> = BTreeMap::new();
            while let Ok((ticket, text)) = self.progress.1.try_recv() {
                streamed.entry(ticket).or_default().push_str(&text);
            }
            for (ticket, ended) in answers {
                if let Some(text) = streamed.remove(&ticket) {
                    self.progressed((ticket, text), observer)?;
                }
                self.completed(ticket, ended, observer)?;
            }
        }
        Ok(())
    }

    /// Waits for the next piece of an answer to a model call, or its end, and delivers it. False where no call is under
    /// way.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub async fn next_answer(&mut self, observer: &mut dyn Observer) -> Result<bool> {
        if self.calls.is_empty() {
            return Ok(false);
        }
        tokio::select! {
            biased;
            Some(progress) = self.progress.1.recv() => self.progressed(progress, observer)?,
            Some(joined) = self.calls.join_next() => {
                if let Some((ticket, ended)) = self.ended(joined) {
                    self.completed(ticket, ended, observer)?;
                }
            }
        }
        Ok(true)
    }

    /// What came of a call; none where it was cancelled.
    fn ended(&self, joined: Result<(Ticket, Ended), JoinError>) -> Option<(Ticket, Ended)> {
        match joined {
            Ok(ended) => Some(ended),
            Err(error) => {
                let (ticket, call) = self.open.iter().find(|(_, call)| call.task.id() == error.id())?;
                let answer = Err(LlmError::Provider("the provider broke down".into()));
                Some((*ticket, Ended { answer, took: call.started.elapsed() }))
            }
        }
    }

    /// Puts an entry behind the leaf.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn append(&mut self, entry: Arc<Entry>) -> Result<()> {
        if let Some(recorder) = &mut self.recorder {
            recorder.entry(&entry)?;
        }
        // Copies the list only while somebody still reads the branch as it was.
        Arc::make_mut(&mut self.branch).push(entry);
        Ok(())
    }

    /// Goes to another branch of the session tree.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn go_to(&mut self, branch: Branch, observer: &mut dyn Observer) -> Result<()> {
        if let Some(recorder) = &mut self.recorder {
            recorder.branch(&branch)?;
        }
        self.branch = Arc::new(branch);
        for plugin in &mut self.plugins {
            plugin.history.follow(&self.branch);
        }
        self.event(&Event::BranchChanged, observer)?;
        Ok(())
    }

    /// Calls a hook of every plugin that asked for it, and everything that follows from it without waiting. Returns what
    /// the plugins replied, in their order.
    ///
    /// An event that is no hook, such as a command, is for one plugin only and does nothing here.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn event(&mut self, event: &Event, observer: &mut dyn Observer) -> Result<Vec<Reply>> {
        let Some(hook) = event.hook() else { return Ok(Vec::new()) };
        match event {
            Event::SessionStart { .. } => self.refresh(observer)?,
            Event::Input { .. } => {
                self.refresh(observer)?;
                self.ledger.turn_started();
            }
            Event::AgentStart => self.snapshot.idle = false,
            Event::AgentSettled { .. } => self.snapshot.idle = true,
            _ => {}
        }
        let mut replies = Vec::new();
        for index in 0..self.plugins.len() {
            if self.plugins[index].wants(hook)
                && let Some((reply, _)) = self.run(index, event, observer)?
                && reply != Reply::Nothing
            {
                replies.push(reply);
            }
        }
        self.drain(observer)?;
        Ok(replies)
    }

    /// Asks whether a tool call may run: the first plugin that holds or refuses it decides.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn tool_start(&mut self, call: ToolCall, observer: &mut dyn Observer) -> Result<Gate> {
        let replies = self.event(&Event::ToolStart { call }, observer)?;
        let gates = replies.into_iter().filter_map(|reply| match reply {
            Reply::Gate(gate) => Some(gate),
            _ => None,
        });
        Ok(gates.into_iter().find(|gate| *gate != Gate::Allow).unwrap_or(Gate::Allow))
    }

    /// What could stand next on the line `/name prefix`. Empty where no plugin has such a command.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn complete_command(
        &mut self,
        name: &str,
        prefix: &str,
        observer: &mut dyn Observer,
    ) -> Result<Vec<CompletionItem>> {
        let Some(index) = self.plugins.iter().position(|plugin| plugin.has_command(name)) else {
            return Ok(Vec::new());
        };
        let event = Event::CompleteCommand { name: name.into(), prefix: prefix.into() };
        Ok(match self.run(index, &event, observer)? {
            Some((Reply::Completions(items), _)) => items,
            _ => Vec::new(),
        })
    }

    /// Runs a tool of a plugin for the agent. None where no plugin has it, or where it broke down.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn tool(
        &mut self,
        name: &str,
        arguments: Json,
        observer: &mut dyn Observer,
    ) -> Result<Option<Result<ToolOutput, String>>> {
        let Some(index) = self.plugins.iter().position(|plugin| plugin.has_tool(name)) else { return Ok(None) };
        let reply = self.run(index, &Event::Tool { name: name.into(), arguments }, observer)?;
        self.drain(observer)?;
        Ok(match reply {
            Some((Reply::Tool(outcome), _)) => Some(outcome),
            _ => None,
        })
    }

    /// Runs `/name arguments`. False where no plugin has such a command.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn command(&mut self, name: &str, arguments: &str, observer: &mut dyn Observer) -> Result<bool> {
        self.refresh(observer)?;
        let Some(index) = self.plugins.iter().position(|plugin| plugin.has_command(name)) else { return Ok(false) };
        if let Some(failures) = self.plugins[index].set_aside_after() {
            observer.note(&self.plugins[index].name, &Note::Quarantined { failures });
            return Ok(true);
        }
        let event = Event::Command { name: name.into(), arguments: arguments.into() };
        self.run(index, &event, observer)?;
        self.drain(observer)?;
        Ok(true)
    }

    /// Brings a plugin the user's answer to a dialog.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn answered(&mut self, plugin: &str, id: RequestId, answer: Answer, observer: &mut dyn Observer) -> Result<()> {
        if let Some(index) = self.plugins.iter().position(|running| running.name == plugin) {
            self.due.push_back((index, Event::Answered { id, answer }));
        }
        self.drain(observer)
    }

    /// Moves the session's clock on, and fires each timer at its time.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn advance(&mut self, now: Timestamp, observer: &mut dyn Observer) -> Result<()> {
        while let Some(&(at, (index, id))) = self.timers.first().filter(|(at, _)| *at <= now) {
            self.timers.pop_first();
            self.snapshot.now = self.snapshot.now.max(at);
            self.due.push_back((index, Event::TimerFired { id }));
            self.drain(observer)?;
        }
        self.snapshot.now = self.snapshot.now.max(now);
        Ok(())
    }

    /// Ends the session. Hands the recorder back, for the next one.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn finish(mut self) -> Result<Option<Recorder>> {
        if let Some(recorder) = &mut self.recorder {
            recorder.flush()?;
        }
        Ok(self.recorder.take())
    }

    /// Asks those plugins anew what they are that read files to answer which have changed since.
    fn refresh(&mut self, observer: &mut dyn Observer) -> Result<()> {
        for index in 0..self.plugins.len() {
            if self.plugins[index].is_stale() {
                self.describe(index, observer)?;
            }
        }
        Ok(())
    }

    fn describe(&mut self, index: usize, observer: &mut dyn Observer) -> Result<()> {
        if let Some((Reply::Description(description), reads)) = self.run(index, &Event::Describe, observer)? {
            self.plugins[index].described(description, &reads);
        }
        Ok(())
    }

    fn drain(&mut self, observer: &mut dyn Observer) -> Result<()> {
        while let Some((index, event)) = self.due.pop_front() {
            self.run(index, &event, observer)?;
        }
        Ok(())
    }

    /// Runs one hook of one plugin and carries out its effects. None where it did not come to its end.
    fn run(
        &mut self,
        index: usize,
        event: &Event,
        observer: &mut dyn Observer,
    ) -> Result<Option<(Reply, Vec<FileRead>)>> {
        let plugin = &self.plugins[index];
        if plugin.is_quarantined() {
            return Ok(None);
        }
        let snapshot = Snapshot {
            leaf: self.branch.leaf().map(|leaf| leaf.id.clone()),
            branch_length: u32::try_from(self.branch.entries().len()).unwrap_or(u32::MAX),
            ..self.snapshot.clone()
        };
        let input = Input {
            snapshot,
            branch: self.branch.clone(),
            state: plugin.history.current().clone(),
            models: plugin.models.clone(),
            files: plugin.files.clone(),
            traces: self.traces_for(index),
            next_request: plugin.next_request,
        };
        let entry = input.snapshot.leaf.clone();
        let recorded = self.recorder.is_some().then(|| input.snapshot.clone());
        let started = Instant::now();
        let mut outcome = plugin.component.call(&plugin.limits, input, event);
        let took = started.elapsed();
        if let (Some(recorder), Some(snapshot)) = (&mut self.recorder, recorded) {
            recorder.hook(RecordedHook {
                plugin: plugin.name.clone(),
                event: event.clone(),
                snapshot,
                next_request: plugin.next_request,
                reads: outcome.reads.clone(),
                traces: outcome.traces.clone(),
                result: RecordedResult::of(&outcome),
            })?;
        }
        let denied = match &mut outcome.result {
            Ok(committed) if !plugin.grants.inject => take_ungranted(&mut committed.effects),
            _ => Vec::new(),
        };
        observer.hook(&HookRun { plugin: &plugin.name, event, entry: entry.as_ref(), result: &outcome.result, took });
        for effect in denied {
            observer.note(&self.plugins[index].name, &Note::Denied { effect });
        }
        match outcome.result {
            Ok(Committed { reply, effects }) => {
                let changed = self.plugins[index].succeeded(&effects, &self.branch);
                if let Some(memory) = &self.memory {
                    memory.commit(&memory.owner(&self.snapshot, &self.plugins[index].name), entry.as_ref(), changed)?;
                }
                self.keep_traces(index, event, &effects)?;
                self.carry_out(index, effects, observer);
                Ok(Some((reply, outcome.reads)))
            }
            Err(_) => {
                self.keep_traces(index, event, &[])?;
                if let Some(failures) = self.plugins[index].failed() {
                    observer.note(&self.plugins[index].name, &Note::Quarantined { failures });
                }
                Ok(None)
            }
        }
    }
}

/// Takes out the effects that need the grant to speak into the conversation, and returns their names.
fn take_ungranted(effects: &mut Vec<Effect>) -> Vec<&'static str> {
    let needs_grant = |effect: &Effect| matches!(effect, Effect::Inject(_) | Effect::Release { .. } | Effect::Abort);
    let names = effects.iter().filter(|effect| needs_grant(effect)).map(Effect::name).collect();
    effects.retain(|effect| !needs_grant(effect));
    names
}
