//! What the client asks for, and how it is answered.

use std::collections::{BTreeMap, VecDeque};

use chaperone_contract::Entry;
use serde_json::value::RawValue;

use super::errors::{Code, Fault};
use super::opening::Opening;
use super::protocol::*;
use super::sessions::{self, Desk, Watched};
use super::{Models, Phase, Serving, Sidecar, Watchers};

impl Sidecar {
    pub(super) fn request(&mut self, id: Id, method: &str, params: Option<&RawValue>) {
        let request = match ClientRequest::read(method, params) {
            // The parameters of what comes too early do not matter.
            Some(_) if matches!(self.phase, Phase::Fresh) && !is_first(method) => {
                return self.outbox.refuse(Some(&id), &not_initialized());
            }
            Some(request) => request,
            None if ClientNotification::NAMES.contains(&method) => {
                let told = format!("`{method}` is not answered; send it without an `id`");
                return self.outbox.refuse(Some(&id), &Fault::new(Code::InvalidRequest, told));
            }
            None => return self.outbox.refuse(Some(&id), &unknown_method(method)),
        };
        if matches!(&self.phase, Phase::Serving(serving) if serving.awaits(&id)) {
            let told = format!("the id {id} belongs to a request that is not answered yet");
            return self.outbox.refuse(Some(&id), &Fault::new(Code::InvalidRequest, told));
        }
        self.serve(Some(id), request);
    }

    /// Serves a request, and answers it where it has an id.
    pub(super) fn serve(&mut self, id: Option<Id>, request: Result<ClientRequest, Fault>) {
        let id = id.as_ref();
        let request = match (request, &self.phase) {
            (_, Phase::ShutDown) => Err(Fault::new(Code::InvalidRequest, "the sidecar is shutting down")),
            (Ok(ClientRequest::Initialize(_)), Phase::Serving(_)) => {
                Err(Fault::new(Code::InvalidRequest, "`initialize` was there before"))
            }
            (Ok(request @ (ClientRequest::Initialize(_) | ClientRequest::Shutdown(_))), _) => Ok(request),
            (Ok(_), Phase::Fresh) => Err(not_initialized()),
            (request, _) => request,
        };
        let request = match request {
            Ok(request) => request,
            Err(fault) => match id {
                Some(_) => return self.outbox.refuse(id, &fault),
                None => return self.outbox.log(fault.message),
            },
        };
        let Some(request) = self.unless_it_waits(id, request) else { return };
        match request {
            ClientRequest::Initialize(it) => {
                let outcome = self.initialize(it);
                self.outbox.answer::<Initialize>(id, outcome);
            }
            ClientRequest::Bring(it) => {
                let outcome = self.bring(it);
                self.outbox.answer::<Bring>(id, outcome);
            }
            ClientRequest::Open(it) => {
                if let Err(fault) = self.open(id, it) {
                    self.outbox.answer::<Open>(id, Err(fault));
                }
            }
            ClientRequest::Append(Append { session, entries }) => {
                self.answer::<Append>(id, &session, |it, desk| it.append(entries, desk));
            }
            ClientRequest::GoTo(GoTo { session, leaf, entries }) => {
                let entries = entries.map(|entries| self.whole(&session, entries));
                self.answer::<GoTo>(id, &session, |it, desk| it.go_to(leaf, entries, desk));
            }
            ClientRequest::Happened(Happened { session, event, circumstances }) => {
                self.answer::<Happened>(id, &session, |it, desk| {
                    it.happened(event, circumstances, desk).map(|reply| Replied { reply })
                });
            }
            ClientRequest::RunCommand(RunCommand { session, name, arguments }) => {
                self.answer::<RunCommand>(id, &session, |it, desk| it.command(&name, &arguments, desk));
            }
            ClientRequest::CompleteCommand(CompleteCommand { session, name, prefix }) => {
                self.answer::<CompleteCommand>(id, &session, |it, desk| it.complete_command(&name, &prefix, desk));
            }
            ClientRequest::RunTool(RunTool { session, name, arguments }) => {
                self.answer::<RunTool>(id, &session, |it, desk| it.tool(&name, arguments, desk));
            }
            ClientRequest::AnswerQuestion(AnswerQuestion { session, plugin, id: question, answer }) => {
                self.answer::<AnswerQuestion>(id, &session, |it, desk| it.answered(&plugin, question, answer, desk));
            }
            ClientRequest::Quiet(Quiet { session }) => match (self.session(&session), id) {
                (Ok(it), Some(id)) => it.wait(id.clone()),
                (Ok(_), None) => {}
                (Err(fault), _) => self.outbox.answer::<Quiet>(id, Err(fault)),
            },
            ClientRequest::Close(Close { session }) => {
                let outcome = self.close(&session);
                self.outbox.answer::<Close>(id, outcome);
            }
            ClientRequest::Shutdown(_) => {
                if let Phase::Serving(serving) = &mut self.phase {
                    serving.shutdowns.push(id.cloned());
                    self.shut_down_when_open();
                } else {
                    self.phase = Phase::ShutDown;
                    self.outbox.answer::<Shutdown>(id, Ok(Done {}));
                }
            }
        }
    }

    /// Closes all sessions if that was asked for, and none is being opened.
    fn shut_down_when_open(&mut self) {
        if let Phase::Serving(serving) = &self.phase
            && serving.opening.is_empty()
            && !serving.shutdowns.is_empty()
        {
            self.close_all();
            self.phase = Phase::ShutDown;
        }
    }

    /// Serves requests that have waited, in order. Where one of them opens their session anew, the rest waits again.
    pub(super) fn serve_all(&mut self, waiting: VecDeque<(Option<Id>, ClientRequest)>) {
        for (id, request) in waiting {
            self.serve(id, Ok(request));
        }
    }

    /// Hands a request back, unless it waits from now on, because its session is being opened.
    fn unless_it_waits(&mut self, id: Option<&Id>, request: ClientRequest) -> Option<ClientRequest> {
        if let Phase::Serving(serving) = &mut self.phase
            && let Some(opening) = request.session().and_then(|name| serving.opening.get_mut(name))
        {
            opening.waiting.push_back((id.cloned(), request));
            return None;
        }
        Some(request)
    }

    fn initialize(&mut self, initialize: Initialize) -> Result<Initialized, Fault> {
        let Initialize { protocol_version, client, capabilities } = initialize;
        if protocol_version != PROTOCOL_VERSION {
            let told = format!("is {protocol_version}; this sidecar speaks {PROTOCOL_VERSION}");
            return Err(Fault::params("protocol_version", told));
        }
        self.outbox.log(format!("serving {} {}", client.name, client.version));
        let (models, wished) = capabilities.models.clone().map(Models::lent).unzip();
        self.phase = Phase::Serving(Box::new(Serving {
            client: capabilities,
            models,
            wished,
            questions: BTreeMap::new(),
            sessions: BTreeMap::new(),
            opening: BTreeMap::new(),
            shutdowns: Vec::new(),
            brought: BTreeMap::new(),
        }));
        let methods = ClientRequest::NAMES.iter().chain(ClientNotification::NAMES);
        Ok(Initialized {
            protocol_version: PROTOCOL_VERSION,
            server: Program { name: "chaperone".into(), version: env!("CARGO_PKG_VERSION").into() },
            contract: format!("chaperone:agent@{}", chaperone_contract::VERSION),
            capabilities: ServerCapabilities {
                methods: methods.map(|&method| method.into()).collect(),
                max_line_bytes: self.settings.max_line_bytes as u64,
            },
        })
    }

    fn bring(&mut self, Bring { session, entries }: Bring) -> Result<Brought, Fault> {
        let Phase::Serving(serving) = &mut self.phase else { return Err(unknown_session(&session)) };
        let brought = serving.brought.entry(session).or_default();
        brought.extend(entries);
        Ok(Brought { length: brought.len() as u64 })
    }

    /// A branch with the entries that were brought before. They are used once, whatever comes of it.
    fn whole(&mut self, session: &str, mut entries: Vec<Entry>) -> Vec<Entry> {
        let Phase::Serving(serving) = &mut self.phase else { return entries };
        let mut whole = serving.brought.remove(session).unwrap_or_default();
        whole.append(&mut entries);
        whole
    }

    /// Begins to open a session. It is answered when its watchers are found.
    fn open(&mut self, id: Option<&Id>, mut open: Open) -> Result<(), Fault> {
        open.entries = self.whole(&open.session, open.entries);
        let Phase::Serving(serving) = &mut self.phase else { return Err(unknown_session(&open.session)) };
        if serving.sessions.contains_key(&open.session) {
            let told = format!("session `{}` is open already; close it first", open.session);
            return Err(Fault::new(Code::SessionOpen, told));
        }
        sessions::cwd(&open)?;
        let finding = (self.settings.find_watchers)(&open, serving.models.as_ref());
        serving.opening.insert(open.session.clone(), Opening::new(id.cloned(), open, finding));
        Ok(())
    }

    /// The watchers of a session are there, or cannot be: what has waited for them is served.
    pub(super) fn found(&mut self, name: &str, found: Result<Watchers, String>) {
        let Phase::Serving(serving) = &mut self.phase else { return };
        let Some(Opening { id, open, waiting, .. }) = serving.opening.remove(name) else { return };
        let outcome = found.map_err(Fault::other).and_then(|watchers| self.begin(open, watchers));
        self.outbox.answer::<Open>(id.as_ref(), outcome);
        self.serve_all(waiting);
        self.shut_down_when_open();
    }

    fn begin(&mut self, open: Open, watchers: Watchers) -> Result<Opened, Fault> {
        let now = (self.settings.clock)();
        let Phase::Serving(serving) = &mut self.phase else { return Err(unknown_session(&open.session)) };
        let name = open.session.clone();
        let mut desk = Desk { outbox: &mut self.outbox, client: &serving.client, now };
        let (session, opened) = Watched::open(open, watchers, &mut desk)?;
        serving.sessions.insert(name, session);
        Ok(opened)
    }

    fn close(&mut self, name: &str) -> Result<Done, Fault> {
        let now = (self.settings.clock)();
        let Phase::Serving(serving) = &mut self.phase else { return Err(unknown_session(name)) };
        serving.brought.remove(name);
        let session = serving.sessions.remove(name).ok_or_else(|| unknown_session(name))?;
        session.close(&mut Desk { outbox: &mut self.outbox, client: &serving.client, now })
    }

    pub(super) fn close_all(&mut self) {
        let Phase::Serving(serving) = &mut self.phase else { return };
        for (name, opening) in std::mem::take(&mut serving.opening) {
            let fault = sessions::closed(&name);
            opening.ids().for_each(|id| self.outbox.refuse(Some(id), &fault));
        }
        for name in serving.sessions.keys().cloned().collect::<Vec<_>>() {
            if let Err(fault) = self.close(&name) {
                self.outbox.log(format!("session `{name}`: {}", fault.message));
            }
        }
        if let Phase::Serving(serving) = &mut self.phase {
            for ticket in std::mem::take(&mut serving.questions).into_keys() {
                self.outbox.tell(&CancelRequest { id: Id::Number(ticket.cast_signed()) });
            }
            for id in std::mem::take(&mut serving.shutdowns) {
                self.outbox.answer::<Shutdown>(id.as_ref(), Ok(Done {}));
            }
        }
    }

    /// Serves a request to a session.
    fn answer<M: Method>(
        &mut self,
        id: Option<&Id>,
        name: &str,
        serve: impl FnOnce(&mut Watched, &mut Desk<'_>) -> Result<M::Result, Fault>,
    ) {
        let outcome = self.with_session(name, serve);
        self.outbox.answer::<M>(id, outcome);
    }

    pub(super) fn with_session<T>(
        &mut self,
        name: &str,
        serve: impl FnOnce(&mut Watched, &mut Desk<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let now = (self.settings.clock)();
        let Phase::Serving(serving) = &mut self.phase else { return Err(unknown_session(name)) };
        let session = serving.sessions.get_mut(name).ok_or_else(|| unknown_session(name))?;
        let mut desk = Desk { outbox: &mut self.outbox, client: &serving.client, now };
        let outcome = serve(session, &mut desk);
        session.tell_news(&mut desk);
        outcome
    }

    fn session(&mut self, name: &str) -> Result<&mut Watched, Fault> {
        match &mut self.phase {
            Phase::Serving(serving) => serving.sessions.get_mut(name).ok_or_else(|| unknown_session(name)),
            _ => Err(unknown_session(name)),
        }
    }
}

impl Serving {
    /// Whether a request of this id is not answered yet.
    fn awaits(&self, id: &Id) -> bool {
        self.sessions.values().any(|it| it.awaits(id))
            || self.opening.values().any(|it| it.awaits(id))
            || self.shutdowns.iter().flatten().any(|it| it == id)
    }
}

/// Whether a request can come before anybody has said who is there.
fn is_first(method: &str) -> bool {
    method == Initialize::NAME || method == Shutdown::NAME
}

fn not_initialized() -> Fault {
    Fault::new(Code::NotInitialized, "send `initialize` first")
}

fn unknown_method(method: &str) -> Fault {
    Fault::new(Code::UnknownMethod, format!("there is no method `{method}`"))
}

fn unknown_session(name: &str) -> Fault {
    Fault::new(Code::UnknownSession, format!("no session `{name}` is open"))
}
