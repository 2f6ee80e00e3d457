//! Drives plugins through a session: feeds them its events, carries out what they ask for, and brings them the answers.
//!
//! The shell around the functional core: here is tokio, here are the clock of the session and the calls under way.

mod effects;
mod running;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chaperone_contract::*;
use tokio::task::{AbortHandle, JoinSet};

pub use running::{Grants, Running};

use crate::files::Change;
use crate::llm::allowance::Ledger;
use crate::llm::{Answer as LlmAnswer, Provider};
use crate::record::Recorder;
use crate::session::{Step, TimedStep};
use crate::store::{Owner, Store, StoreError};
use crate::transaction::{Committed, Failure, FileRead, Input};

/// A session with the plugins that watch it.
///
/// Hooks run on the calling thread, one after another; model calls run as tokio tasks beside them.
pub struct Session {
    snapshot: Snapshot,
    branch: Arc<Branch>,
    plugins: Vec<Running>,
    provider: Arc<dyn Provider>,
    ledger: Ledger,
    dialogs: Dialogs,
    calls: JoinSet<(Ticket, LlmAnswer)>,
    open: BTreeMap<Ticket, OpenCall>,
    timers: BTreeSet<(Timestamp, Ticket)>,
    /// Hooks that are due, in order: the answers to what earlier hooks asked for.
    due: VecDeque<(usize, Event)>,
    recorder: Option<Recorder>,
    memory: Option<Memory>,
}

/// Where states are kept, and whose they are.
pub struct Memory {
    /// The states of all plugins.
    pub store: Arc<Store>,
    /// The project's root: sessions of one project share the project scope.
    pub project: String,
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

/// A model call under way.
struct OpenCall {
    label: String,
    task: AbortHandle,
}

/// What becomes of the questions that plugins ask the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialogs {
    /// There is nobody to ask: each is answered with `unavailable`.
    Unavailable,
    /// The embedding program shows them and answers through [`Session::answered`].
    Shown,
}

/// A hook that has run.
#[derive(Debug)]
pub struct HookRun<'run> {
    /// The plugin's name.
    pub plugin: &'run str,
    /// What it was called with.
    pub event: &'run Event,
    /// The newest entry of the branch.
    pub entry: Option<&'run EntryId>,
    /// What it returned and asked for, or why it failed.
    pub result: &'run std::result::Result<Committed, Failure>,
    /// How long it took.
    pub took: Duration,
}

/// What the host itself has to say about a plugin.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// An effect was not carried out, since the plugin is not granted it.
    Denied {
        /// The effect's name.
        effect: &'static str,
    },
    /// It failed too often in a row and is set aside until it is loaded anew.
    Quarantined {
        /// How many hooks failed one after another.
        failures: u32,
    },
    /// A model call came to its end.
    Answered {
        /// What the call was for.
        label: String,
        /// Tokens, where the provider told.
        usage: Option<Usage>,
        /// Whether there is an answer.
        ok: bool,
    },
}

/// Sees everything that happens while plugins are driven, and carries out what only the embedding program can:
/// injections, notices, status, dialogs, tool gates.
pub trait Observer {
    /// A hook ran; its effects are the observer's to show or to carry out.
    fn hook(&mut self, run: &HookRun<'_>);
    /// A file was written, or would have been.
    fn changed(&mut self, plugin: &str, change: &Change);
    /// The host has something to say.
    fn note(&mut self, plugin: &str, note: &Note);
}

/// What a session is made of.
pub struct Setup {
    /// Its first snapshot; `leaf` and `branch_length` are the session's own.
    pub snapshot: Snapshot,
    /// The plugins, in the order in which they are called.
    pub plugins: Vec<Running>,
    /// Who answers model calls.
    pub provider: Arc<dyn Provider>,
    /// What becomes of questions to the user.
    pub dialogs: Dialogs,
    /// Where everything is written down, if anywhere.
    pub recorder: Option<Recorder>,
    /// Where states are kept; none: they end with the session.
    pub memory: Option<Memory>,
}

impl Memory {
    fn owner(&self, session: &Snapshot, plugin: &str) -> Owner {
        Owner { plugin: plugin.into(), session: session.session_id.clone(), project: self.project.clone() }
    }
}

impl Session {
    /// Begins a session and asks every plugin what it is.
    pub fn new(setup: Setup, observer: &mut dyn Observer) -> Result<Self> {
        let Setup { snapshot, mut plugins, provider, dialogs, recorder, memory } = setup;
        if let Some(memory) = &memory {
            for plugin in &mut plugins {
                plugin.history = memory.store.history(&memory.owner(&snapshot, &plugin.name))?;
                plugin.history.follow(&Branch::default());
            }
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
            ledger,
            dialogs,
            calls: JoinSet::new(),
            open: BTreeMap::new(),
            timers: BTreeSet::new(),
            due: VecDeque::new(),
            recorder,
            memory,
        };
        if let Some(recorder) = &mut session.recorder {
            recorder.begin(&session.snapshot, &session.plugins)?;
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
            Step::Event(event) => self.event(event, observer)?,
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
                let Ok((ticket, answer)) = joined else { continue };
                answers.insert(ticket, answer);
            }
            for (ticket, answer) in answers {
                self.completed(ticket, answer, observer)?;
            }
        }
        Ok(())
    }

    /// Waits for the next answer to a model call and delivers it. False where none is under way.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub async fn next_answer(&mut self, observer: &mut dyn Observer) -> Result<bool> {
        match self.calls.join_next().await {
            None => Ok(false),
            Some(Err(_)) => Ok(true),
            Some(Ok((ticket, answer))) => {
                self.completed(ticket, answer, observer)?;
                Ok(true)
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
        self.event(&Event::BranchChanged, observer)
    }

    /// Calls a hook of every plugin that asked for it, and everything that follows from it without waiting.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn event(&mut self, event: &Event, observer: &mut dyn Observer) -> Result<()> {
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
        let hook = event.hook();
        for index in 0..self.plugins.len() {
            if hook.is_none_or(|hook| self.plugins[index].wants(hook)) {
                self.run(index, event, observer)?;
            }
        }
        self.drain(observer)
    }

    /// Runs `/name arguments`. False where no plugin has such a command.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn command(&mut self, name: &str, arguments: &str, observer: &mut dyn Observer) -> Result<bool> {
        self.refresh(observer)?;
        let Some(index) = self.plugins.iter().position(|plugin| plugin.has_command(name)) else { return Ok(false) };
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
            next_request: plugin.next_request,
        };
        let entry = input.snapshot.leaf.clone();
        let recorded = self.recorder.is_some().then(|| input.snapshot.clone());
        let started = Instant::now();
        let outcome = plugin.component.call(&plugin.limits, input, event);
        let took = started.elapsed();
        if let (Some(recorder), Some(snapshot)) = (&mut self.recorder, recorded) {
            recorder.hook(plugin, event, &snapshot, &outcome)?;
        }
        observer.hook(&HookRun { plugin: &plugin.name, event, entry: entry.as_ref(), result: &outcome.result, took });
        match outcome.result {
            Ok(Committed { reply, effects }) => {
                let changed = self.plugins[index].succeeded(&effects, &self.branch);
                if let Some(memory) = &self.memory {
                    let owner = memory.owner(&self.snapshot, &self.plugins[index].name);
                    memory.store.commit(&owner, entry.as_ref(), &changed)?;
                }
                self.carry_out(index, effects, observer);
                Ok(Some((reply, outcome.reads)))
            }
            Err(_) => {
                if let Some(failures) = self.plugins[index].failed() {
                    observer.note(&self.plugins[index].name, &Note::Quarantined { failures });
                }
                Ok(None)
            }
        }
    }
}
