//! The sidecar: sessions of agents that live in other processes, over a pipe.
//!
//! [`Sidecar`] is the protocol, without the pipe: it takes lines, and has lines to send. [`connection`] is the pipe.
//! `docs/sidecar.md` describes the protocol for those who write the other end.

pub mod connection;
pub mod errors;
mod host_provider;
pub mod lines;
mod opening;
mod outbox;
pub mod presence;
pub mod protocol;
mod requests;
#[cfg(feature = "schema")]
pub mod schema;
mod sessions;
mod teller;
mod tree;

use std::collections::BTreeMap;
use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use chaperone_contract::{Entry, ModelId, Timestamp};
use serde_json::value::RawValue;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

pub use host_provider::Models;
pub use lines::MAX_LINE_BYTES;

use crate::drive::{Arrival, Memory, Running};
use crate::llm::{BoxFuture, Provider};
use crate::record::Recorder;
use errors::{Code, Fault};
use host_provider::{Heard, Ticket, Wish, failure, nonsense};
use opening::{Forgotten, Opening};
use outbox::Outbox;
use protocol::*;
use sessions::{Desk, Watched};

/// Who watches a session, and what they work with.
pub struct Watchers {
    /// The plugins, in the order in which they are called.
    pub plugins: Vec<Running>,
    /// Plugins that could not be loaded, for the client to see.
    pub unloaded: Vec<PluginInfo>,
    /// Who answers model calls.
    pub provider: Arc<dyn Provider>,
    /// Answers the calls that name no model; none: the session's own model.
    pub judge: Option<ModelId>,
    /// Where states are kept.
    pub memory: Option<Memory>,
    /// Where everything is written down, if anywhere.
    pub recorder: Option<Recorder>,
}

/// Finds the watchers of a session that is to be opened, with the models that the client lends.
pub type FindWatchers = Box<dyn FnMut(&Open, Option<&Models>) -> Finding>;

/// Watchers that are being found, or why there are none, for the client. Other sessions are served meanwhile, so what
/// takes long has to be done elsewhere than where this is polled. It is dropped where nobody wants the session any more.
pub type Finding = BoxFuture<'static, Result<Watchers, String>>;

/// What a sidecar is made of.
pub struct Settings {
    /// Finds the watchers of each session.
    pub find_watchers: FindWatchers,
    /// What time it is.
    pub clock: Box<dyn Fn() -> Timestamp>,
    /// How long a line may be, in bytes.
    pub max_line_bytes: usize,
}

/// The sidecar's side of the protocol.
pub struct Sidecar {
    settings: Settings,
    phase: Phase,
    outbox: Outbox,
}

enum Phase {
    /// Nobody has said who is there.
    Fresh,
    /// There is a client.
    Serving(Box<Serving>),
    /// All sessions are over.
    ShutDown,
    /// Nothing is read any more.
    Over,
}

/// What there is for a client.
struct Serving {
    client: ClientCapabilities,
    models: Option<Models>,
    /// What calls of the client's models want of the pipe.
    wished: Option<UnboundedReceiver<Wish>>,
    questions: BTreeMap<Ticket, UnboundedSender<Heard>>,
    sessions: BTreeMap<String, Watched>,
    /// None of them is among the sessions yet.
    opening: BTreeMap<String, Opening>,
    /// The ids of each `shutdown` that waits for those.
    shutdowns: Vec<Option<Id>>,
    /// The first entries of branches, by session, before the rest has come.
    brought: BTreeMap<String, Vec<Entry>>,
}

/// What can happen without a line.
enum Happening {
    Wish(Wish),
    Found(String, Result<Watchers, String>),
    Arrival(String, Arrival),
    Timer,
}

impl Sidecar {
    /// A sidecar that has heard of nobody.
    pub fn new(settings: Settings) -> Self {
        Self { settings, phase: Phase::Fresh, outbox: Outbox::default() }
    }

    /// How long a line may be, in bytes.
    pub fn max_line_bytes(&self) -> usize {
        self.settings.max_line_bytes
    }

    /// The lines to send, in order, and those for the log; none stays.
    pub fn take_output(&mut self) -> (Vec<String>, Vec<String>) {
        self.outbox.take()
    }

    /// Whether nothing is read any more.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// Whether it takes more lines now. Where it does not, it will when a session that is being opened is open.
    pub fn takes_lines(&self) -> bool {
        match &self.phase {
            Phase::Serving(serving) => serving.shutdowns.is_empty() && !serving.opening.values().any(Opening::is_full),
            _ => true,
        }
    }

    /// Whether a session is being opened: what was asked of it has still to be served.
    pub fn is_opening(&self) -> bool {
        matches!(&self.phase, Phase::Serving(serving) if !serving.opening.is_empty())
    }

    /// Takes a line from the client. Nothing in it waits for a model, nor for the watchers of another session.
    pub fn line(&mut self, line: &[u8]) {
        if line.trim_ascii().is_empty() || self.is_over() {
            return;
        }
        let line = match std::str::from_utf8(line) {
            Ok(line) => lines::mend_surrogates(line),
            Err(error) => {
                let told = format!("the line is not UTF-8: byte {}", error.valid_up_to() + 1);
                return self.outbox.refuse(None, &Fault::new(Code::Parse, told));
            }
        };
        match incoming(&line) {
            Ok(Incoming::Request { id, method, params }) => self.request(id, &method, params),
            Ok(Incoming::Notification { method, params }) => self.notification(&method, params),
            Ok(Incoming::Response { id, outcome }) => self.response(&id, outcome),
            Err((id, fault)) => self.outbox.refuse(id.as_ref(), &fault),
        }
        self.settle();
    }

    /// A line was longer than it may be.
    pub fn line_too_long(&mut self) {
        let told = format!("the line is longer than {} bytes", self.settings.max_line_bytes);
        self.outbox.refuse(None, &Fault::new(Code::InvalidRequest, told));
    }

    /// Waits until something happens that no line tells of, such as the answer of a model, and does what follows from
    /// it. Nothing is lost where nobody waits any more.
    pub async fn next(&mut self) {
        let now = (self.settings.clock)();
        let Phase::Serving(serving) = &mut self.phase else { return pending().await };
        let happening = serving.next(now).await;
        match happening {
            Happening::Wish(Wish::Ask { ticket, ask, heard }) => {
                self.outbox.ask(ticket, &*ask);
                serving.questions.insert(ticket, heard);
            }
            Happening::Wish(Wish::Forget(ticket)) => {
                if serving.questions.remove(&ticket).is_some() {
                    self.outbox.tell(&CancelRequest { id: Id::Number(ticket.cast_signed()) });
                }
            }
            Happening::Found(name, found) => self.found(&name, found),
            Happening::Arrival(name, arrival) => {
                self.unasked(&name, |session, desk| session.deliver(arrival, desk));
            }
            Happening::Timer => {
                let names: Vec<_> = serving.sessions.keys().cloned().collect();
                for name in names {
                    self.unasked(&name, Watched::pass_time);
                }
            }
        }
        self.settle();
    }

    /// The client is gone, or wants no more: all sessions end.
    pub fn end(&mut self) {
        self.close_all();
        self.phase = Phase::Over;
    }

    fn notification(&mut self, method: &str, params: Option<&RawValue>) {
        match ClientNotification::read(method, params) {
            Some(Ok(told)) => self.told(told),
            Some(Err(fault)) => self.outbox.log(format!("{method}: {}", fault.message)),
            // Who does not care for the answer may leave out the id.
            None => match ClientRequest::read(method, params) {
                Some(request) => self.serve(None, request),
                None => self.outbox.log(format!("there is no method `{method}`")),
            },
        }
    }

    fn told(&mut self, told: ClientNotification) {
        match (told, &mut self.phase) {
            (ClientNotification::Exit(_), _) => self.end(),
            (ClientNotification::CancelRequest(CancelRequest { id }), _) => self.cancel(&id),
            (ClientNotification::Progress(Progress { id: Id::Number(id), text }), Phase::Serving(serving)) => {
                if let Some(heard) = serving.questions.get(&id.cast_unsigned()) {
                    // Where nobody hears it, the question is being forgotten.
                    let _ = heard.send(Heard::Text(text));
                }
            }
            _ => {}
        }
    }

    fn cancel(&mut self, id: &Id) {
        let Phase::Serving(serving) = &mut self.phase else { return };
        let mut waited = serving.sessions.values_mut().any(|session| session.forget(id));
        let mut given_up = None;
        for (name, opening) in &mut serving.opening {
            match opening.forget(id) {
                Forgotten::Not => {}
                Forgotten::Waiting => waited = true,
                Forgotten::Itself => given_up = Some(name.clone()),
            }
        }
        let given_up = given_up.and_then(|name| serving.opening.remove(&name));
        if waited || given_up.is_some() {
            self.outbox.refuse(Some(id), &Fault::new(Code::Cancelled, "cancelled"));
        }
        if let Some(Opening { waiting, .. }) = given_up {
            self.serve_all(waiting);
        }
    }

    fn response(&mut self, id: &Id, outcome: Result<&RawValue, ErrorIn>) {
        let ticket = if let Id::Number(number) = id { number.cast_unsigned() } else { 0 };
        let heard = match &mut self.phase {
            Phase::Serving(serving) => serving.questions.remove(&ticket),
            _ => None,
        };
        let Some(heard) = heard else {
            return self.outbox.log(format!("an answer came for {id}, which is not asked, or not any more"));
        };
        let answer = match outcome {
            Ok(result) => errors::read("result", Some(result)).map_err(|fault| nonsense(&fault)),
            Err(error) => Err(failure(error)),
        };
        // Where nobody hears it, the call has just timed out.
        let _ = heard.send(Heard::Answer(answer));
    }

    /// Does something on a session that nobody asked for; an error is for the log.
    fn unasked(&mut self, name: &str, serve: impl FnOnce(&mut Watched, &mut Desk<'_>) -> Result<(), Fault>) {
        if let Err(fault) = self.with_session(name, serve) {
            self.outbox.log(format!("session `{name}`: {}", fault.message));
        }
    }

    fn settle(&mut self) {
        let Phase::Serving(serving) = &mut self.phase else { return };
        for session in serving.sessions.values_mut() {
            session.settle(&mut self.outbox);
        }
    }
}

impl Serving {
    /// Waits for what no line tells of.
    async fn next(&mut self, now: Timestamp) -> Happening {
        let timer = self.sessions.values().filter_map(|session| session.timer(now)).min().map(Duration::from_millis);
        let (wished, sessions, opening) = (&mut self.wished, &mut self.sessions, &mut self.opening);
        let wish = async {
            match wished {
                Some(wished) => wished.recv().await,
                None => pending().await,
            }
        };
        let found = poll_fn(|cx| {
            for (name, opening) in opening.iter_mut() {
                if let Poll::Ready(found) = opening.poll_found(cx) {
                    return Poll::Ready((name.clone(), found));
                }
            }
            Poll::Pending
        });
        let arrival = poll_fn(|cx| {
            for (name, session) in sessions.iter_mut() {
                if let Poll::Ready(arrival) = session.poll_arrival(cx) {
                    return Poll::Ready((name.clone(), arrival));
                }
            }
            Poll::Pending
        });
        tokio::select! {
            Some(wish) = wish => Happening::Wish(wish),
            (name, found) = found => Happening::Found(name, found),
            (name, arrival) = arrival => Happening::Arrival(name, arrival),
            () = tokio::time::sleep(timer.unwrap_or_default()), if timer.is_some() => Happening::Timer,
            else => pending().await,
        }
    }
}
