//! Carrying effects out.

use std::time::{Duration, Instant};

use chaperone_contract::*;

use super::requests::fires_at;
use super::tracing::Asked;
use super::{Dialogs, Ended, Note, Observer, Progress, Session, Ticket};
use crate::files::Change;
use crate::llm::{Answer as LlmAnswer, Call};

impl Session {
    /// Carries out the effects of one hook. Those that only the embedding program can carry out are left to the
    /// observer, which has seen them already.
    pub(super) fn carry_out(&mut self, index: usize, effects: Vec<Effect>, observer: &mut dyn Observer) {
        for effect in effects {
            match effect {
                Effect::Complete(CompleteEffect { id, request }) => self.complete((index, id), request),
                Effect::Cancel { id } => self.cancel((index, id)),
                Effect::Refresh { id, file } => self.make((index, id), file),
                Effect::Write { id, file, text, only_if_absent } => {
                    let outcome = self.plugins[index].files.write(&file, &text, only_if_absent);
                    self.stored((index, id), outcome, observer);
                }
                Effect::Patch { id, file, initial, patch } => {
                    let outcome = self.plugins[index].files.patch(&file, &initial, &patch);
                    self.stored((index, id), outcome, observer);
                }
                Effect::Ask { id, .. } => match self.dialogs {
                    Dialogs::Shown => _ = self.asked.insert((index, id)),
                    Dialogs::Unavailable => {
                        self.due.push_back((index, Event::Answered { id, answer: Answer::Unavailable }));
                    }
                },
                Effect::Arm { id, milliseconds } => {
                    self.timers.insert((fires_at(self.snapshot.now, milliseconds), (index, id)));
                }
                Effect::Disarm { id } => self.timers.retain(|(_, ticket)| *ticket != (index, id)),
                Effect::Release { call_id, refusal } => self.released(index, &call_id, refusal, observer),
                Effect::Inject(_)
                | Effect::Abort
                | Effect::Notify { .. }
                | Effect::SetStatus { .. }
                | Effect::SetWidget { .. }
                | Effect::Show(_)
                | Effect::Set { .. }
                | Effect::Judged(_)
                | Effect::Spared(_)
                | Effect::Found(_)
                | Effect::Decided(_)
                | Effect::Log { .. } => {}
            }
        }
    }

    /// A plugin lets a tool call go, or refuses it.
    fn released(&mut self, index: usize, call_id: &str, refusal: Option<String>, observer: &mut dyn Observer) {
        if let Some(refusal) = self.holds.release(index, call_id, refusal) {
            observer.note(&self.plugins[index].name, &Note::Decided { call_id: call_id.into(), refusal });
        }
    }

    /// An answer to a model call has come.
    pub(super) fn completed(
        &mut self,
        ticket: Ticket,
        (answer, took): (LlmAnswer, Duration),
        observer: &mut dyn Observer,
    ) -> Result<(), super::DriveError> {
        let (index, id) = ticket;
        let Some(call) = self.open.remove(&ticket) else { return Ok(()) };
        self.hold_answer(ticket, call.asked, &answer, took);
        let name = &self.plugins[index].name;
        let usage = answer.as_ref().ok().and_then(|completion| completion.usage.clone());
        if let Some(usage) = &usage {
            self.ledger.record(name, usage);
        }
        observer.note(name, &Note::Answered { label: call.label, usage, ok: answer.is_ok(), took });
        self.due.push_back((index, Event::LlmCompleted { id, outcome: answer }));
        self.drain(observer)
    }

    /// A piece of a streamed answer has come.
    pub(super) fn progressed(
        &mut self,
        (ticket, text): Progress,
        observer: &mut dyn Observer,
    ) -> Result<(), super::DriveError> {
        let (index, id) = ticket;
        if self.open.contains_key(&ticket) {
            self.due.push_back((index, Event::LlmProgress { id, text }));
        }
        self.drain(observer)
    }

    fn complete(&mut self, ticket: Ticket, request: CompletionRequest) {
        let (index, id) = ticket;
        let plugin = &self.plugins[index];
        let session_model = self.judge.clone().or_else(|| self.snapshot.model.clone());
        let admitted = match request.model.as_ref().or(session_model.as_ref()) {
            _ if plugin.grants.llm.is_none() => {
                Err(LlmError::AllowanceSpent("this plugin is granted no model calls".into()))
            }
            Some(model) if !plugin.grants.allows(model) => Err(LlmError::UnknownModel(format!(
                "this plugin is not granted {}/{}; grant it under `llm.models`",
                model.provider, model.model
            ))),
            _ => self.ledger.admit(&plugin.name).and(if self.gave_up { Err(LlmError::TimedOut) } else { Ok(()) }),
        };
        let asked = self.memory.as_ref().map(|_| {
            let model = request.model.clone().or_else(|| session_model.clone());
            Asked { request: request.clone(), model }
        });
        if let Err(error) = admitted {
            let outcome = Err(error);
            self.hold_answer(ticket, asked, &outcome, Duration::ZERO);
            self.due.push_back((index, Event::LlmCompleted { id, outcome }));
            return;
        }
        let label = request.label.clone();
        let session = self.snapshot.session_id.clone();
        let call = Call { plugin: plugin.name.clone(), session, request, session_model };
        let provider = self.provider.clone();
        let progress = self.progress.0.clone();
        let task = self.tasks.spawn(async move {
            // Nobody listens any more where the session has ended.
            let tell = |text: &str| _ = progress.send((ticket, text.to_owned()));
            // From here, so that hooks of other sessions on this thread are not counted as the provider's time.
            let started = Instant::now();
            let answer = provider.complete(&call, &tell).await;
            (ticket, Ended::Answered(answer, started.elapsed()))
        });
        self.open.insert(ticket, super::OpenCall { label, asked, task, started: Instant::now() });
    }

    fn cancel(&mut self, ticket: Ticket) {
        let (index, id) = ticket;
        if let Some(call) = self.open.remove(&ticket) {
            call.task.abort();
            let outcome = Err(LlmError::Cancelled);
            self.hold_answer(ticket, call.asked, &outcome, call.started.elapsed());
            self.due.push_back((index, Event::LlmCompleted { id, outcome }));
        }
    }

    fn stored(&mut self, ticket: Ticket, outcome: Result<Change, FileError>, observer: &mut dyn Observer) {
        let (index, id) = ticket;
        let outcome = outcome.map(|change| observer.changed(&self.plugins[index].name, &change));
        self.due.push_back((index, Event::Stored { id, outcome }));
    }
}
