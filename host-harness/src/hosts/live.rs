//! One event of a host, taken through the watchers of its session.
//!
//! The process holds the session's lock from reading where the last one left it to writing where it leaves it itself,
//! and writes everything at once. So processes that run at the same time take turns, none tells what another has told,
//! and one that is killed has done nothing but what its plugins wrote to files.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chaperone_contract::{Content, Event, Gate, Hook, Injection, ModelId, Snapshot, Timestamp, ToolCall};
use serde::{Deserialize, Serialize};

use super::Host;
use super::answer::{Answer, Decision};
use super::delivery::Opening;
use super::event::{HookEvent, Moment};
use super::observed::Observed;
use super::told::{News, Told};
use super::transcript::Transcript;
use crate::drive::{DriveError, Memory, Paused, Running, Session, Setup};
use crate::files::Locks;
use crate::llm::Provider;
use crate::store::{Store, StoreError};
use crate::traces::Policy;

/// Who watches.
pub struct Watchers {
    /// The plugins.
    pub plugins: Vec<Running>,
    /// Who answers model calls.
    pub provider: Arc<dyn Provider>,
    /// Answers the calls that name no model; none: the session's own model.
    pub judge: Option<ModelId>,
    /// The project's root.
    pub project: String,
    /// How much is kept of judgements.
    pub traces: Policy,
    /// How long a session is remembered that nobody goes on with.
    pub keep: Duration,
}

/// What is around the process.
pub struct Surroundings {
    /// What plugins remember, and where sessions were left.
    pub store: Arc<Store>,
    /// Locks of sessions.
    pub locks: Locks,
    /// How often in a row the agent may be sent back when it is about to stop.
    pub send_back_cap: u32,
    /// When the answer must be there.
    pub deadline: Instant,
    /// The time of day.
    pub now: Timestamp,
}

/// Why an event could not be taken through the watchers. The agent goes on all the same.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// Another process works on the session, and went on too long.
    #[error("another hook of this session is still at work: {0}")]
    Busy(io::Error),
    /// What is remembered.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What the session does.
    #[error(transparent)]
    Drive(#[from] DriveError),
}

/// What came of an event.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What the host is told.
    pub answer: Answer,
    /// What whoever operates the program may want to know, a line each.
    pub remarks: Vec<String>,
}

/// Where a session was left.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Left {
    told: Told,
    paused: Paused,
    /// The hooks that plugins asked for.
    hooks: Vec<Hook>,
    /// Messages for the agent that no answer could carry so far.
    waiting: Vec<Injection>,
    /// How often in a row the agent was sent back.
    sent_back: u32,
}

/// Takes one event through the watchers. They are loaded only if they have to do with it.
///
/// # Errors
/// As [`LiveError`] says, and where the watchers cannot be loaded.
pub async fn answer<E: From<LiveError>>(
    host: Host,
    event: &HookEvent,
    around: &Surroundings,
    load: impl FnOnce() -> Result<Watchers, E>,
) -> Result<Outcome, E> {
    let session = name(host, &event.session);
    let is_concerned = match left(&around.store, &session)? {
        Some(left) => left.is_concerned(&event.moment),
        // A session begins with something that happens.
        None => event.moment != Moment::Other,
    };
    if !is_concerned {
        return Ok(Outcome::default());
    }
    let lock = Path::new("session").join(&session);
    let _lock = around.locks.hold_until(&lock, around.deadline).map_err(LiveError::Busy)?;
    let left = left(&around.store, &session)?;
    let watchers = load()?;
    let mut observed = Observed::default();
    let transcript = read_transcript(host, event).unwrap_or_else(|error| {
        observed.remarks.push(error);
        Transcript::default()
    });
    let (left, parent) = match left {
        Some(left) => (left, None),
        None => begin(host, &transcript, &around.store)?,
    };
    let mut visit = Visit { event, around, left, parent, observed };
    let answer = visit.run(&session, transcript, watchers).await?;
    Ok(Outcome { answer, remarks: visit.observed.remarks })
}

/// Where the session was left. What an older program wrote, and this one cannot read, counts as nothing.
fn left(store: &Store, session: &str) -> Result<Option<Left>, LiveError> {
    Ok(store.paused(session)?.and_then(|text| serde_json::from_str(&text).ok()))
}

/// Where a session begins: where the one was left that it is a fork of, if that is known here; else anew.
fn begin(host: Host, transcript: &Transcript, store: &Store) -> Result<(Left, Option<String>), LiveError> {
    let Some(parent) = transcript.forked_from.as_ref().map(|parent| name(host, parent)) else {
        return Ok(Default::default());
    };
    Ok(match left(store, &parent)? {
        Some(left) => (Left { told: left.told.forked(), ..Left::default() }, Some(parent)),
        None => Default::default(),
    })
}

/// What a session is called among those of all hosts.
fn name(host: Host, session: &str) -> String {
    format!("{}/{session}", host.name())
}

/// What the transcript holds so far; it may not be there yet.
fn read_transcript(host: Host, event: &HookEvent) -> Result<Transcript, String> {
    let Some(path) = &event.transcript else { return Ok(Transcript::default()) };
    match host.read(path) {
        Ok(tail) => Ok(host.transcript(&tail.text, tail.start, event.whose())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Transcript::default()),
        Err(error) => Err(format!("cannot read the transcript {}: {error}", path.display())),
    }
}

impl Left {
    /// Whether anybody has to do with this moment. What is not told now, the next event brings.
    fn is_concerned(&self, moment: &Moment) -> bool {
        let wants = |hooks: &[Hook]| self.hooks.iter().any(|hook| hooks.contains(hook));
        match moment {
            Moment::BeforeTool(_) => wants(&[Hook::ToolStart]),
            Moment::AfterTool(_) => {
                use Hook::{AgentStart, MessageEnd, ToolEnd, ToolStart, TurnEnd, TurnStart};
                !self.waiting.is_empty() || wants(&[AgentStart, TurnStart, MessageEnd, ToolStart, ToolEnd, TurnEnd])
            }
            _ => true,
        }
    }
}

/// One event at work.
struct Visit<'v> {
    event: &'v HookEvent,
    around: &'v Surroundings,
    left: Left,
    /// The session of which this one is a fork, where it begins now.
    parent: Option<String>,
    observed: Observed,
}

impl Visit<'_> {
    async fn run(&mut self, name: &str, transcript: Transcript, watchers: Watchers) -> Result<Answer, LiveError> {
        self.observed.remarks.extend(transcript.report.to_string().lines().map(|line| format!("transcript: {line}")));
        let moment = match &self.event.moment {
            // The host hands the agent what it was sent back with, as if the user had typed it.
            Moment::Prompt(text) if self.left.told.was_sent_back_with(text) => &Moment::Other,
            moment => moment,
        };
        if matches!(moment, Moment::Prompt(_) | Moment::Stop { sent_back: false, .. }) {
            self.left.sent_back = 0;
        }
        if matches!(moment, Moment::SessionStart(_)) {
            self.left.paused.forget_failures();
        }
        let news = self.left.told.news(transcript.entries, moment, self.around.now);
        self.around.store.hold();
        let mut session = self.resume(name, &news, watchers)?;
        self.tell(&mut session, &news)?;
        let decision = self.happen(&mut session, moment).await?;
        let opening = Opening::at(moment, self.left.sent_back < self.around.send_back_cap);
        self.settle(&mut session, &news, opening).await?;

        let mut answer = Answer { decision, context: None, shown: self.observed.shown() };
        self.left.waiting.append(&mut self.observed.injections);
        match &answer.decision {
            // What the user asked for is answered; the agent is not at work.
            Decision::Answered(_) => {}
            // It stops by itself.
            _ if self.observed.has_aborted && !matches!(moment, Moment::Stop { .. }) => {
                answer.decision = Decision::End("a watcher stopped the agent".into());
            }
            _ => {
                if let Some(text) = opening.take(&mut self.left.waiting) {
                    self.say(&mut answer, opening, text);
                }
            }
        }
        self.left.paused = session.pause();
        self.left.hooks = session.hooks();
        let left = serde_json::to_string(&self.left).expect("plain data has a JSON form");
        self.around.store.settle(name, &left)?;
        Ok(answer)
    }

    fn say(&mut self, answer: &mut Answer, opening: Opening, text: String) {
        match opening {
            Opening::SendBack => {
                self.left.told.send_back(&text);
                self.left.sent_back += 1;
                answer.decision = Decision::SendBack(text);
            }
            Opening::Prompt | Opening::Context | Opening::Nothing => answer.context = Some(text),
        }
    }

    /// The session as the last process left it.
    fn resume(&mut self, name: &str, news: &News, watchers: Watchers) -> Result<Session, LiveError> {
        let Watchers { plugins, provider, judge, project, traces, keep } = watchers;
        let snapshot = Snapshot {
            agent: self.event.agent.clone(),
            model: self.event.model.clone().or_else(|| news.model.clone()),
            ..Snapshot::new(name, project.clone(), self.around.now)
        };
        let memory = Memory { traces, keep, ..Memory::new(self.around.store.clone(), project) };
        if let Some(parent) = &self.parent {
            memory.take_over(&plugins, parent, name, news.known.entries().iter().map(|entry| &entry.id))?;
        }
        let setup = Setup {
            branch: news.known.clone(),
            judge,
            memory: Some(memory),
            paused: std::mem::take(&mut self.left.paused),
            ..Setup::new(snapshot, plugins, provider)
        };
        Ok(Session::new(setup, &mut self.observed)?)
    }

    /// Tells what has happened since.
    fn tell(&mut self, session: &mut Session, news: &News) -> Result<(), LiveError> {
        if let Some(reason) = news.start {
            session.event(&Event::SessionStart { reason }, &mut self.observed)?;
        }
        if news.moved {
            session.event(&Event::BranchChanged, &mut self.observed)?;
        }
        session.tick(self.around.now, &mut self.observed)?;
        for step in &news.steps {
            session.tell(step, &mut self.observed)?;
        }
        Ok(())
    }

    /// Tells what is happening, and waits for what it leads to.
    async fn happen(&mut self, session: &mut Session, moment: &Moment) -> Result<Decision, LiveError> {
        match moment {
            Moment::Prompt(text) => {
                if let Some((name, arguments)) = command(session, text) {
                    return self.command(session, name, arguments).await;
                }
                self.left.told.tell_prompt(text);
                let content = vec![Content::Text(text.clone())];
                session.event(&Event::Input { content }, &mut self.observed)?;
            }
            Moment::BeforeTool(call) => return self.gate(session, call).await,
            Moment::AfterTool(result) => {
                if self.left.told.tell_result(&result.call_id) {
                    session.event(&Event::ToolEnd { outcome: result.clone() }, &mut self.observed)?;
                }
            }
            Moment::SessionEnd => _ = session.event(&Event::SessionEnd, &mut self.observed)?,
            Moment::SessionStart(_) | Moment::Stop { .. } | Moment::Failed(_) | Moment::Other => {}
        }
        self.quiet(session).await?;
        Ok(Decision::GoOn)
    }

    async fn command(&mut self, session: &mut Session, name: &str, arguments: &str) -> Result<Decision, LiveError> {
        self.observed.forget_shown();
        session.command(name, arguments, &mut self.observed)?;
        self.quiet(session).await?;
        let answer = self.observed.take_in_full();
        Ok(Decision::Answered(if answer.is_empty() { format!("/{name}: done") } else { answer }))
    }

    async fn gate(&mut self, session: &mut Session, call: &ToolCall) -> Result<Decision, LiveError> {
        let is_news = self.left.told.tell_call(&call.id);
        let gate = if is_news { session.tool_start(call.clone(), &mut self.observed)? } else { Gate::Allow };
        self.quiet(session).await?;
        let refusal = match gate {
            Gate::Allow => None,
            Gate::Refuse(reason) => Some(reason),
            Gate::Hold => {
                // One that is not decided about in time runs.
                session.let_go(&call.id);
                self.observed.decided.remove(&call.id).flatten()
            }
        };
        Ok(refusal.map_or(Decision::GoOn, Decision::Refuse))
    }

    /// The agent comes to rest, unless there is a reason for it to go on.
    async fn settle(&mut self, session: &mut Session, news: &News, opening: Opening) -> Result<(), LiveError> {
        let goes_on = opening.has_any(&self.left.waiting) || opening.has_any(&self.observed.injections);
        if let Some(reason) = news.settles.filter(|_| !goes_on) {
            session.event(&Event::AgentSettled { reason }, &mut self.observed)?;
            self.quiet(session).await?;
        }
        Ok(())
    }

    async fn quiet(&mut self, session: &mut Session) -> Result<(), LiveError> {
        if !session.quiet_until(self.around.deadline, &mut self.observed).await? {
            session.give_up(&mut self.observed)?;
            self.observed.remarks.push("a model did not answer in time; the agent does not wait for it".into());
        }
        Ok(())
    }
}

/// The command of a plugin that a prompt is, and its arguments.
fn command<'t>(session: &Session, prompt: &'t str) -> Option<(&'t str, &'t str)> {
    let line = prompt.trim().strip_prefix('/')?;
    let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    session.has_command(name).then_some((name, arguments.trim()))
}
