//! Drives plugins through a session: feeds them its events, carries out what they ask for, and brings them the answers.
//!
//! The shell around the functional core: here is tokio, here are the clock of the session and the calls under way.

mod bound;
mod effects;
mod git;
mod holds;
mod hooks;
mod making;
mod observer;
mod pause;
mod requests;
mod running;
mod setup;
mod tracing;
mod waiting;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chaperone_contract::*;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{AbortHandle, JoinSet};

pub use bound::LONGEST_TEXT;
pub use holds::LONGEST_HOLD_MS;
pub use observer::{HookRun, Note, Observer};
pub use pause::Paused;
pub use running::{Grants, Running};
pub use setup::{Dialogs, Extent, Memory, Setup};
pub use waiting::Arrival;

use crate::llm::allowance::Ledger;
use crate::llm::{Answer as LlmAnswer, Provider};
use crate::record::Recorder;
use crate::session::{Step, TimedStep};
use crate::store::{CallTrace, StoreError};
use git::Git;
use holds::Holds;
use making::Making;

/// A session with the plugins that watch it.
///
/// Hooks run on the calling thread, one after another; what takes time runs as tokio tasks beside them. Their runtime
/// needs its clock, and, where a plugin is granted a repository, its I/O.
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
    /// Model calls, and files that are being made.
    tasks: JoinSet<(Ticket, Ended)>,
    open: BTreeMap<Ticket, OpenCall>,
    making: BTreeMap<Ticket, Making>,
    git: Arc<Git>,
    timers: BTreeSet<(Timestamp, Ticket)>,
    /// Questions to the user that are not answered yet.
    asked: BTreeSet<Ticket>,
    holds: Holds,
    /// Hooks that are due, in order: the answers to what earlier hooks asked for.
    due: VecDeque<(usize, Event)>,
    recorder: Option<Recorder>,
    memory: Option<Memory>,
    /// Answers that go into the traces, until the hooks that hear of them have run.
    answered: BTreeMap<Ticket, Box<CallTrace>>,
    /// Calls are not waited for any more.
    gave_up: bool,
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

/// What came of a task.
#[derive(Debug)]
enum Ended {
    /// Of a model call, and how long it took.
    Answered(LlmAnswer, Duration),
    /// Of a file that was to be made: its text.
    Made(std::result::Result<String, FileError>),
}

impl Session {
    /// Begins a session and asks every plugin what it is.
    pub fn new(setup: Setup, observer: &mut dyn Observer) -> Result<Self> {
        let Setup { snapshot, branch, mut plugins, provider, judge, dialogs, recorder, memory, paused } = setup;
        let mut awaited = Vec::new();
        if let Some(memory) = &memory {
            memory.begin(&snapshot.session_id)?;
            for plugin in &mut plugins {
                let owner = memory.owner(&snapshot.session_id, &plugin.name);
                plugin.history = memory.history(&owner)?;
                let (waits_for, next_request) = memory.requests(&owner)?;
                plugin.next_request = next_request;
                awaited.push(waits_for);
            }
        }
        for plugin in &mut plugins {
            plugin.history.follow(&branch);
        }
        let mut ledger = Ledger::default();
        for plugin in &mut plugins {
            ledger.allow(&plugin.name, plugin.grants.allowance());
            paused.resume(plugin, &mut ledger);
        }
        let models = provider.models();
        for plugin in &mut plugins {
            plugin.models = models.iter().filter(|model| plugin.grants.allows(&model.id)).cloned().collect();
        }
        let mut session = Self {
            snapshot,
            branch: Arc::new(branch.entries().iter().cloned().map(bound::entry).collect()),
            plugins,
            provider,
            judge,
            ledger,
            dialogs,
            progress: unbounded_channel(),
            tasks: JoinSet::new(),
            open: BTreeMap::new(),
            making: BTreeMap::new(),
            git: Arc::default(),
            timers: BTreeSet::new(),
            asked: BTreeSet::new(),
            holds: Holds::default(),
            due: VecDeque::new(),
            recorder,
            memory,
            answered: BTreeMap::new(),
            gave_up: false,
        };
        if let Some(recorder) = &mut session.recorder {
            recorder.session(&session.snapshot.session_id, session.plugins.iter().map(Running::recorded).collect())?;
            if session.branch.leaf().is_some() {
                recorder.branch(&session.branch)?;
            }
        }
        for (index, awaited) in awaited.into_iter().enumerate() {
            session.resume(index, awaited);
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

    /// What hooks see of the session from now on. Its `leaf` and `branch_length` are not looked at: they are the branch's.
    pub fn snapshot_mut(&mut self) -> &mut Snapshot {
        &mut self.snapshot
    }

    /// The current branch.
    pub fn branch(&self) -> &Branch {
        &self.branch
    }

    /// The hooks that any plugin asked for.
    pub fn hooks(&self) -> Vec<Hook> {
        let descriptions = self.plugins.iter().filter_map(Running::description);
        let mut hooks: Vec<Hook> = descriptions.flat_map(|description| description.hooks.iter().copied()).collect();
        hooks.sort();
        hooks.dedup();
        hooks
    }

    /// Whether a plugin has the command `/name`.
    pub fn has_command(&self, name: &str) -> bool {
        self.plugins.iter().any(|plugin| plugin.has_command(name))
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
        self.tell(step, observer)?;
        self.quiet(observer).await
    }

    /// Feeds one step of a session that goes on, and waits for nothing. The session's clock stays as it is.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn tell(&mut self, step: &TimedStep, observer: &mut dyn Observer) -> Result<()> {
        self.snapshot.idle = step.idle;
        match &step.step {
            Step::Append(entry) => self.append(entry.clone())?,
            Step::Model(model) => self.snapshot.model = Some(model.clone()),
            Step::Event(event) => _ = self.event(event, observer)?,
        }
        Ok(())
    }

    /// Puts an entry behind the leaf. Texts of more than [`LONGEST_TEXT`] are cut in their middle.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn append(&mut self, entry: Arc<Entry>) -> Result<()> {
        let entry = bound::entry(entry);
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
        let branch: Branch = branch.entries().iter().cloned().map(bound::entry).collect();
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
    /// the plugins replied, in their order; to `tool-start`, what it comes to, see [`tool_start`](Self::tool_start).
    ///
    /// An event that is no hook, such as a command, is for one plugin only and does nothing here.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn event(&mut self, event: &Event, observer: &mut dyn Observer) -> Result<Vec<Reply>> {
        let Some(hook) = event.hook() else { return Ok(Vec::new()) };
        let event = &*bound::event(event);
        match event {
            Event::SessionStart { .. } => self.refresh(observer)?,
            Event::Input { .. } => {
                self.refresh(observer)?;
                self.ledger.turn_started();
            }
            Event::ToolEnd { outcome } => self.let_go(&outcome.call_id),
            Event::AgentStart => self.snapshot.idle = false,
            Event::AgentSettled { .. } => self.snapshot.idle = true,
            _ => {}
        }
        let mut replies: Vec<(usize, Reply)> = Vec::new();
        for index in 0..self.plugins.len() {
            if self.plugins[index].wants(hook)
                && let Some((reply, _)) = self.run(index, event, observer)?
                && reply != Reply::Nothing
            {
                replies.push((index, reply));
            }
        }
        if let Event::ToolStart { call } = event {
            let held = self.holds.gate(&call.id, &replies, self.snapshot.now);
            self.drain(observer)?;
            return Ok(vec![Reply::Gate(self.holds.by_now(&call.id, held))]);
        }
        self.drain(observer)?;
        Ok(replies.into_iter().map(|(_, reply)| reply).collect())
    }

    /// Asks whether a tool call may run. A refusal of any plugin decides; else who holds it is waited for, until
    /// [`Note::Decided`] tells what came of it. Whoever cannot hold a call goes on, and says so by
    /// [`let_go`](Self::let_go).
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn tool_start(&mut self, call: ToolCall, observer: &mut dyn Observer) -> Result<Gate> {
        let gate = self.event(&Event::ToolStart { call }, observer)?.into_iter().find_map(|reply| match reply {
            Reply::Gate(gate) => Some(gate),
            _ => None,
        });
        Ok(gate.unwrap_or(Gate::Allow))
    }

    /// Whether a tool call waits for a plugin.
    pub fn is_held(&self, call_id: &str) -> bool {
        self.holds.contains(call_id)
    }

    /// Lets a tool call run that plugins hold, since whoever runs it does not wait any longer, or cannot.
    pub fn let_go(&mut self, call_id: &str) {
        self.holds.forget(call_id);
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
        if let Some(why) = &self.plugins[index].set_aside {
            observer.note(&self.plugins[index].name, why);
            return Ok(true);
        }
        let event = Event::Command { name: name.into(), arguments: arguments.into() };
        self.run(index, &event, observer)?;
        self.drain(observer)?;
        Ok(true)
    }

    /// Brings a plugin the user's answer to a dialog. False where the plugin asks nothing under this id.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn answered(
        &mut self,
        plugin: &str,
        id: RequestId,
        answer: Answer,
        observer: &mut dyn Observer,
    ) -> Result<bool> {
        let index = self.plugins.iter().position(|running| running.name == plugin);
        let Some(ticket) = index.map(|index| (index, id)).filter(|ticket| self.asked.contains(ticket)) else {
            return Ok(false);
        };
        // A panel of settings stays open for further changes.
        if !matches!(answer, Answer::Changed(_)) {
            self.asked.remove(&ticket);
        }
        self.due.push_back((ticket.0, Event::Answered { id, answer }));
        self.drain(observer)?;
        Ok(true)
    }

    /// Ends the session. Hands the recorder back, for the next one.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn finish(mut self) -> Result<Option<Recorder>> {
        if let Some(recorder) = &mut self.recorder {
            recorder.end()?;
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
}
