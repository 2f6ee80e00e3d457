//! One open session.

use std::path::Path;
use std::task::{Context, Poll};

use chaperone_contract::*;

use super::Watchers;
use super::errors::{Code, Fault};
use super::outbox::Outbox;
use super::protocol::*;
use super::teller::{Descriptions, Teller};
use super::tree::{Misplaced, Tree};
use crate::drive::{self, Arrival, Dialogs, DriveError, Running, Setup};

/// The latest time that a client can name: what JavaScript can count to.
const LATEST: Timestamp = (1 << 53) - 1;

/// A session with its plugins, as its client has told of it.
pub struct Watched {
    id: String,
    drive: drive::Session,
    tree: Tree,
    /// How far the session's clock is ahead of the sidecar's.
    ahead: i64,
    /// Plugins that could not be loaded.
    unloaded: Vec<PluginInfo>,
    descriptions: Descriptions,
    /// What the client was last told of the plugins.
    told: Vec<PluginInfo>,
    /// Requests that wait until no model call is under way.
    waiting: Vec<Id>,
}

/// What a session works with that is not its own.
pub struct Desk<'d> {
    /// Where its lines go.
    pub outbox: &'d mut Outbox,
    /// What the client can do.
    pub client: &'d ClientCapabilities,
    /// What time it is.
    pub now: Timestamp,
}

impl From<DriveError> for Fault {
    fn from(error: DriveError) -> Self {
        let mut text = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            text.push_str(&format!(": {error}"));
            cause = error.source();
        }
        Fault::other(text)
    }
}

/// Runs something on the session, with the client watching.
macro_rules! tell {
    ($session:expr, $desk:expr) => {
        &mut Teller {
            session: &$session.id,
            client: $desk.client,
            outbox: $desk.outbox,
            descriptions: &mut $session.descriptions,
        }
    };
}

impl Watched {
    /// Begins a session, and tells its plugins.
    pub fn open(open: Open, watchers: Watchers, desk: &mut Desk<'_>) -> Result<(Self, Opened), Fault> {
        let Open { session: id, cwd, mode, model, agent, reason, forked_from, entries, mut circumstances } = open;
        let mut tree = Tree::default();
        let branch = tree.retell(entries).map_err(|error| misplaced("entries", &error))?;
        let ahead = ahead(&circumstances, desk.now)?.unwrap_or(0);
        circumstances.model = circumstances.model.or(model);
        circumstances.agent = circumstances.agent.or(agent);
        let Watchers { plugins, unloaded, provider, judge, memory, recorder } = watchers;
        if let (Some(memory), Some(ForkedFrom { session, entry })) = (&memory, &forked_from) {
            let last = branch.entries().iter().position(|it| Some(&it.id) == entry.as_ref());
            let shared = branch.entries().iter().map(|it| &it.id);
            let shared = shared.take(last.map_or(usize::MAX, |last| last + 1));
            memory.take_over(&plugins, session, &id, shared).map_err(DriveError::from)?;
        }
        let mut snapshot = Snapshot { mode, ..Snapshot::new(id.clone(), cwd, at(desk.now, ahead)) };
        apply(circumstances, &mut snapshot);
        let mut descriptions = Descriptions::default();
        let provider_name = provider.name().to_owned();
        let setup = Setup {
            branch,
            judge,
            dialogs: if desk.client.dialogs { Dialogs::Shown } else { Dialogs::Unavailable },
            recorder,
            memory,
            ..Setup::new(snapshot, plugins, provider)
        };
        let mut teller =
            Teller { session: &id, client: desk.client, outbox: desk.outbox, descriptions: &mut descriptions };
        let mut drive = drive::Session::new(setup, &mut teller)?;
        drive.event(&Event::SessionStart { reason }, &mut teller)?;
        descriptions.are_news = false;
        let mut session =
            Self { id, drive, tree, ahead, unloaded, descriptions, told: Vec::new(), waiting: Vec::new() };
        session.told = session.plugins();
        let opened = Opened { plugins: session.told.clone(), provider: provider_name };
        Ok((session, opened))
    }

    /// What there is to know of the plugins.
    fn plugins(&self) -> Vec<PluginInfo> {
        let info = |plugin: &Running| PluginInfo {
            name: plugin.name.clone(),
            source: plugin.source.clone(),
            description: plugin.description().cloned(),
            error: self.descriptions.errors.get(&plugin.name).cloned(),
        };
        self.drive.plugins().iter().map(info).chain(self.unloaded.iter().cloned()).collect()
    }

    /// Entries joined the branch.
    pub fn append(&mut self, entries: Vec<Entry>, desk: &mut Desk<'_>) -> Result<BranchIs, Fault> {
        self.pass_time(desk)?;
        let joined = self.tree.extend(self.drive.branch(), entries).map_err(|error| misplaced("entries", &error))?;
        for entry in joined {
            self.drive.append(entry)?;
        }
        Ok(self.branch())
    }

    /// The session went to another branch.
    pub fn go_to(
        &mut self,
        leaf: Option<EntryId>,
        entries: Option<Vec<Entry>>,
        desk: &mut Desk<'_>,
    ) -> Result<BranchIs, Fault> {
        self.pass_time(desk)?;
        let branch = match entries {
            None => self.tree.branch(leaf.as_ref()).map_err(|error| misplaced("leaf", &error))?,
            Some(entries) if entries.last().map(|last| &last.id) != leaf.as_ref() => {
                return Err(Fault::params("leaf", "must be the id of the last one of `entries`"));
            }
            Some(entries) => self.tree.retell(entries).map_err(|error| misplaced("entries", &error))?,
        };
        if branch.entries() != self.drive.branch().entries() {
            self.drive.go_to(branch, tell!(self, desk))?;
        }
        Ok(self.branch())
    }

    fn branch(&self) -> BranchIs {
        let branch = self.drive.branch();
        BranchIs { leaf: branch.leaf().map(|leaf| leaf.id.clone()), length: branch.entries().len() as u64 }
    }

    /// Something happened.
    pub fn happened(
        &mut self,
        event: Event,
        circumstances: Circumstances,
        desk: &mut Desk<'_>,
    ) -> Result<Option<HookReply>, Fault> {
        refuse_foreign(&event)?;
        if let Some(ahead) = ahead(&circumstances, desk.now)? {
            self.ahead = ahead;
        }
        self.pass_time(desk)?;
        apply(circumstances, self.drive.snapshot_mut());
        match event {
            Event::ToolStart { call } => self.gate(call, desk),
            Event::Context { messages } => self.leave_out(messages, desk).map(Some),
            Event::MessageEnd { message } if !self.drive.branch().contains(&message.id) => {
                self.append(vec![message.clone()], desk)?;
                self.drive.event(&Event::MessageEnd { message }, tell!(self, desk))?;
                Ok(None)
            }
            event => {
                self.drive.event(&event, tell!(self, desk))?;
                Ok(None)
            }
        }
    }

    fn gate(&mut self, call: ToolCall, desk: &mut Desk<'_>) -> Result<Option<HookReply>, Fault> {
        let call_id = call.id.clone();
        let gate = self.drive.tool_start(call, tell!(self, desk))?;
        let can = desk.client.gate;
        let gate = if can.is_enough_for(&gate) { gate } else { Gate::Allow };
        if gate == Gate::Allow {
            self.drive.let_go(&call_id);
        }
        Ok((can != GateCapability::None).then_some(HookReply::Gate(gate)))
    }

    fn leave_out(&mut self, messages: Vec<ContextMessage>, desk: &mut Desk<'_>) -> Result<HookReply, Fault> {
        let count = messages.len();
        let replies = self.drive.event(&Event::Context { messages }, tell!(self, desk))?;
        let mut indices: Vec<u32> = replies
            .into_iter()
            .flat_map(|reply| if let Reply::LeaveOut(indices) = reply { indices } else { Vec::new() })
            .filter(|&index| (index as usize) < count)
            .collect();
        indices.sort_unstable();
        indices.dedup();
        Ok(HookReply::LeaveOut(indices))
    }

    /// The user ran a command.
    pub fn command(&mut self, name: &str, arguments: &str, desk: &mut Desk<'_>) -> Result<Ran, Fault> {
        self.pass_time(desk)?;
        Ok(Ran { known: self.drive.command(name, arguments, tell!(self, desk))? })
    }

    /// The user types a command.
    pub fn complete_command(&mut self, name: &str, prefix: &str, desk: &mut Desk<'_>) -> Result<Completions, Fault> {
        self.pass_time(desk)?;
        Ok(Completions { completions: self.drive.complete_command(name, prefix, tell!(self, desk))? })
    }

    /// The agent called a tool.
    pub fn tool(&mut self, name: &str, arguments: Json, desk: &mut Desk<'_>) -> Result<ToolRan, Fault> {
        self.pass_time(desk)?;
        let outcome = self.drive.tool(name, arguments, tell!(self, desk))?;
        Ok(ToolRan {
            outcome: outcome.map(|outcome| match outcome {
                Ok(output) => ToolOutcome::Ok(output),
                Err(error) => ToolOutcome::Err(error),
            }),
        })
    }

    /// The user answered a question.
    pub fn answered(
        &mut self,
        plugin: &str,
        id: RequestId,
        answer: Answer,
        desk: &mut Desk<'_>,
    ) -> Result<Done, Fault> {
        self.pass_time(desk)?;
        if !self.drive.plugins().iter().any(|running| running.name == plugin) {
            return Err(Fault::params("plugin", format!("there is no plugin `{plugin}` in this session")));
        }
        match self.drive.answered(plugin, id, answer, tell!(self, desk))? {
            true => Ok(Done {}),
            false => Err(Fault::params("id", format!("`{plugin}` does not ask anything under {id}"))),
        }
    }

    /// A request waits until no model call is under way.
    pub fn wait(&mut self, id: Id) {
        self.waiting.push(id);
    }

    /// Whether a request of this id waits here.
    pub fn awaits(&self, id: &Id) -> bool {
        self.waiting.contains(id)
    }

    /// A request waits no more. False where it did not.
    pub fn forget(&mut self, id: &Id) -> bool {
        let waited = self.waiting.len();
        self.waiting.retain(|waiting| waiting != id);
        self.waiting.len() < waited
    }

    /// What came of a model call; pending as long as there is none.
    pub fn poll_arrival(&mut self, cx: &mut Context<'_>) -> Poll<Arrival> {
        self.drive.poll_arrival(cx)
    }

    /// Brings a plugin what came of its model call.
    pub fn deliver(&mut self, arrival: Arrival, desk: &mut Desk<'_>) -> Result<(), Fault> {
        self.drive.snapshot_mut().now = self.drive.snapshot_mut().now.max(at(desk.now, self.ahead));
        Ok(self.drive.deliver(arrival, tell!(self, desk))?)
    }

    /// How long it is until a timer fires, in milliseconds.
    pub fn timer(&self, now: Timestamp) -> Option<u64> {
        Some(self.drive.next_timer()?.saturating_sub(at(now, self.ahead)))
    }

    /// Lets the session's clock come to the present, and fires the timers that are due.
    pub fn pass_time(&mut self, desk: &mut Desk<'_>) -> Result<(), Fault> {
        Ok(self.drive.tick(at(desk.now, self.ahead), tell!(self, desk))?)
    }

    /// Tells what plugins say of themselves, where that has changed.
    pub fn tell_news(&mut self, desk: &mut Desk<'_>) {
        if std::mem::take(&mut self.descriptions.are_news) {
            let plugins = self.plugins();
            if plugins != self.told {
                self.told.clone_from(&plugins);
                desk.outbox.tell(&Plugins { session: self.id.clone(), plugins });
            }
        }
    }

    /// Answers the requests that need not wait any more.
    pub fn settle(&mut self, outbox: &mut Outbox) {
        if self.drive.is_quiet() {
            for id in self.waiting.drain(..) {
                outbox.answer::<Quiet>(Some(&id), Ok(Done {}));
            }
        }
    }

    /// Ends the session. Requests that wait are told that it is over.
    pub fn close(mut self, desk: &mut Desk<'_>) -> Result<Done, Fault> {
        for id in self.waiting.drain(..) {
            desk.outbox.refuse(Some(&id), &closed(&self.id));
        }
        self.pass_time(desk)?;
        self.drive.event(&Event::SessionEnd, tell!(self, desk))?;
        self.drive.finish()?;
        Ok(Done {})
    }
}

/// What requests are told that wait for a session which is not there any more.
pub fn closed(session: &str) -> Fault {
    Fault::new(Code::UnknownSession, format!("session `{session}` was closed"))
}

fn misplaced(place: &str, error: &Misplaced) -> Fault {
    Fault::params(place, error)
}

/// How far the clock of these circumstances is ahead, where they name a time.
fn ahead(circumstances: &Circumstances, now: Timestamp) -> Result<Option<i64>, Fault> {
    match circumstances.now {
        None => Ok(None),
        Some(named) if named > LATEST => {
            Err(Fault::params("circumstances.now", "must be milliseconds since 1970, and at most 2^53 - 1"))
        }
        Some(named) => Ok(Some(named.cast_signed().saturating_sub_unsigned(now))),
    }
}

fn at(now: Timestamp, ahead: i64) -> Timestamp {
    now.saturating_add_signed(ahead)
}

fn apply(circumstances: Circumstances, snapshot: &mut Snapshot) {
    let Circumstances { idle, input_pending, model, mode, agent, now: _ } = circumstances;
    snapshot.idle = idle.unwrap_or(snapshot.idle);
    snapshot.input_pending = input_pending.unwrap_or(snapshot.input_pending);
    snapshot.model = model.or(snapshot.model.take());
    snapshot.mode = mode.unwrap_or(snapshot.mode);
    if let Some(agent) = agent {
        snapshot.agent = agent;
    }
}

/// Events that other methods stand for, or that are the sidecar's own doing.
fn refuse_foreign(event: &Event) -> Result<(), Fault> {
    let method = match event {
        Event::SessionStart { .. } => Open::NAME,
        Event::SessionEnd => Close::NAME,
        Event::BranchChanged => GoTo::NAME,
        Event::Answered { .. } => AnswerQuestion::NAME,
        Event::Command { .. } => RunCommand::NAME,
        Event::CompleteCommand { .. } => CompleteCommand::NAME,
        Event::Tool { .. } => RunTool::NAME,
        Event::Describe
        | Event::LlmProgress { .. }
        | Event::LlmCompleted { .. }
        | Event::Stored { .. }
        | Event::TimerFired { .. } => {
            let told = format!("`{}` is what the sidecar itself tells plugins", event.name());
            return Err(Fault::params("event", told));
        }
        _ => return Ok(()),
    };
    Err(Fault::params("event", format!("`{}` is told with the method `{method}`", event.name())))
}

/// The working directory of a session that is to be opened.
pub fn cwd(open: &Open) -> Result<&Path, Fault> {
    let cwd = Path::new(&open.cwd);
    match cwd.is_absolute() {
        true => Ok(cwd),
        false => Err(Fault::params("cwd", format!("`{}` is not an absolute path", open.cwd))),
    }
}
