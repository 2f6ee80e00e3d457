//! What goes out: lines for the client, in their order, and what is told to whoever reads the log.

use serde::Serialize;

use super::errors::Fault;
use super::protocol::{Id, Method, Notification, NotificationLine, RequestLine, ResponseLine};

/// Lines on their way out.
#[derive(Debug, Default)]
pub struct Outbox {
    lines: Vec<String>,
    log: Vec<String>,
}

impl Outbox {
    /// Answers a request; without an id, only the log hears of it.
    pub fn answer<M: Method>(&mut self, id: Option<&Id>, outcome: Result<M::Result, Fault>) {
        match (id, outcome) {
            (Some(id), Ok(result)) => self.line(&ResponseLine::new(Some(id), Ok(&result))),
            (Some(id), Err(fault)) => self.refuse(Some(id), &fault),
            (None, Ok(_)) => {}
            (None, Err(fault)) => self.log(format!("{}: {}", M::NAME, fault.message)),
        }
    }

    /// Answers with an error.
    pub fn refuse(&mut self, id: Option<&Id>, fault: &Fault) {
        self.line(&ResponseLine::<()>::new(id, Err(fault)));
    }

    /// Tells the client something.
    pub fn tell<N: Notification>(&mut self, params: &N) {
        self.line(&NotificationLine::new(N::NAME, params));
    }

    /// Asks the client for something.
    pub fn ask<M: Method + Serialize>(&mut self, id: u64, params: &M) {
        self.line(&RequestLine::new(id, M::NAME, params));
    }

    /// Tells whoever reads the log.
    pub fn log(&mut self, text: impl Into<String>) {
        self.log.push(text.into());
    }

    /// The lines so far, and those for the log; none stays.
    pub fn take(&mut self) -> (Vec<String>, Vec<String>) {
        (std::mem::take(&mut self.lines), std::mem::take(&mut self.log))
    }

    fn line(&mut self, message: &impl Serialize) {
        match serde_json::to_string(message) {
            Ok(line) => self.lines.push(line),
            // Only a map whose keys are no texts cannot be written, and no message has one.
            Err(error) => self.log(format!("a message cannot be written: {error}")),
        }
    }
}
