//! Waiting for what takes time: answers to model calls, files that are made, and timers.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::task::{Context, Poll};

use chaperone_contract::*;
use tokio::task::JoinError;

use super::{Ended, Note, Observer, Progress, Result, Session, Ticket};

/// A piece of an answer to a model call, or the end of something, on its way to the plugin that asked.
#[derive(Debug)]
pub struct Arrival(Option<Piece>);

#[derive(Debug)]
enum Piece {
    Text(Progress),
    End(Ticket, Ended),
}

impl Session {
    /// Waits until nothing is under way and no hook is due.
    ///
    /// Answers that come while others are awaited are delivered in the order in which they were asked for, so that the
    /// same answers always lead to the same hooks.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub async fn quiet(&mut self, observer: &mut dyn Observer) -> Result<()> {
        self.drain(observer)?;
        while !self.tasks.is_empty() {
            let mut answers = BTreeMap::new();
            while let Some(joined) = self.tasks.join_next().await {
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
                self.came(ticket, ended, observer)?;
            }
        }
        Ok(())
    }

    /// Waits for the next piece of an answer to a model call, or for the end of what is under way, and delivers it. False
    /// where nothing is under way.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub async fn next_answer(&mut self, observer: &mut dyn Observer) -> Result<bool> {
        if self.tasks.is_empty() {
            return Ok(false);
        }
        let arrived = poll_fn(|cx| self.poll_arrival(cx)).await;
        self.deliver(arrived, observer)?;
        Ok(true)
    }

    /// What [`next_answer`](Self::next_answer) waits for, to be handed to [`deliver`](Self::deliver). Pending as long as
    /// nothing is under way. Nothing is lost where nobody waits any more.
    pub fn poll_arrival(&mut self, cx: &mut Context<'_>) -> Poll<Arrival> {
        // The text comes first: it was sent before the call ended.
        if let Poll::Ready(Some(progress)) = self.progress.1.poll_recv(cx) {
            return Poll::Ready(Arrival(Some(Piece::Text(progress))));
        }
        match self.tasks.poll_join_next(cx) {
            Poll::Ready(Some(joined)) => {
                Poll::Ready(Arrival(self.ended(joined).map(|(ticket, ended)| Piece::End(ticket, ended))))
            }
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    /// Brings a plugin what [`poll_arrival`](Self::poll_arrival) has seen.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn deliver(&mut self, arrival: Arrival, observer: &mut dyn Observer) -> Result<()> {
        match arrival.0 {
            Some(Piece::Text(progress)) => self.progressed(progress, observer),
            Some(Piece::End(ticket, ended)) => self.came(ticket, ended, observer),
            None => Ok(()),
        }
    }

    /// Whether nothing is under way that is waited for: no model call, and no file that is being made.
    pub fn is_quiet(&self) -> bool {
        self.open.is_empty() && self.making.is_empty()
    }

    fn came(&mut self, ticket: Ticket, ended: Ended, observer: &mut dyn Observer) -> Result<()> {
        match ended {
            Ended::Answered(answer, took) => self.completed(ticket, (answer, took), observer),
            Ended::Made(text) => self.made(ticket, text, observer),
        }
    }

    /// What came of a task; none where it was cancelled.
    fn ended(&self, joined: Result<(Ticket, Ended), JoinError>) -> Option<(Ticket, Ended)> {
        match joined {
            Ok(ended) => Some(ended),
            Err(error) => {
                if let Some((ticket, call)) = self.open.iter().find(|(_, call)| call.task.id() == error.id()) {
                    let answer = Err(LlmError::Provider("the provider broke down".into()));
                    return Some((*ticket, Ended::Answered(answer, call.started.elapsed())));
                }
                let (ticket, _) = self.making.iter().find(|(_, making)| making.task.id() == error.id())?;
                Some((*ticket, Ended::Made(Err(FileError::Io("the host broke down while it made the file".into())))))
            }
        }
    }

    /// Moves the session's clock on, and fires each timer at its time, also those that are armed meanwhile: for sessions
    /// that are told after the event. [`tick`](Self::tick) is for those that happen now.
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
        self.end_holds(observer);
        Ok(())
    }

    /// Moves the session's clock on to the present, and fires the timers whose time has come. Those that are armed
    /// meanwhile wait for the next tick, so that a machine that slept does not make up for each second of it.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn tick(&mut self, now: Timestamp, observer: &mut dyn Observer) -> Result<()> {
        self.snapshot.now = self.snapshot.now.max(now);
        let later = self.timers.split_off(&(self.snapshot.now.saturating_add(1), (0, 0)));
        for (_, (index, id)) in std::mem::replace(&mut self.timers, later) {
            self.due.push_back((index, Event::TimerFired { id }));
        }
        self.drain(observer)?;
        self.end_holds(observer);
        Ok(())
    }

    /// When the next timer fires, or a tool call has been held for long enough.
    pub fn next_timer(&self) -> Option<Timestamp> {
        let timer = self.timers.first().map(|(at, _)| *at);
        timer.into_iter().chain(self.holds.next_end()).min()
    }

    /// Lets the calls run that have been held for [`LONGEST_HOLD_MS`](super::LONGEST_HOLD_MS).
    fn end_holds(&mut self, observer: &mut dyn Observer) {
        while let Some(call_id) = self.holds.take_expired(self.snapshot.now) {
            observer.note("", &Note::Decided { call_id, refusal: None });
        }
    }
}
