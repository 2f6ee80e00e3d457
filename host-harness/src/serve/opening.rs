//! A session that is being opened: its watchers are looked for, and everything else that is asked of it waits.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use super::protocol::{ClientRequest, Id, Open};
use super::{Finding, Watchers};

/// How many requests may wait for a session, before nothing is read any more until it is open.
const MANY: usize = 256;

/// A session that is being opened.
pub struct Opening {
    /// The request; none: nobody cares for the answer.
    pub id: Option<Id>,
    /// What it says.
    pub open: Open,
    finding: Finding,
    /// What was asked of the session since, in order.
    pub waiting: VecDeque<(Option<Id>, ClientRequest)>,
}

/// What became of a request that is not wanted any more.
pub enum Forgotten {
    /// It is not here.
    Not,
    /// It does not wait any more.
    Waiting,
    /// It is the one that opens the session.
    Itself,
}

impl Opening {
    /// A session whose watchers are looked for from now on.
    pub fn new(id: Option<Id>, open: Open, finding: Finding) -> Self {
        Self { id, open, finding, waiting: VecDeque::new() }
    }

    /// The watchers, or why there are none; pending as long as they are not found.
    pub fn poll_found(&mut self, cx: &mut Context<'_>) -> Poll<Result<Watchers, String>> {
        self.finding.as_mut().poll(cx)
    }

    /// Whether a request of this id waits here.
    pub fn awaits(&self, id: &Id) -> bool {
        self.ids().any(|it| it == id)
    }

    /// Whether so much waits that more should not be read.
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= MANY
    }

    /// A request waits no more.
    pub fn forget(&mut self, id: &Id) -> Forgotten {
        if self.id.as_ref() == Some(id) {
            return Forgotten::Itself;
        }
        let waited = self.waiting.len();
        self.waiting.retain(|(waiting, _)| waiting.as_ref() != Some(id));
        if self.waiting.len() < waited { Forgotten::Waiting } else { Forgotten::Not }
    }

    /// The requests that wait for an answer, in order.
    pub fn ids(&self) -> impl Iterator<Item = &Id> {
        self.id.iter().chain(self.waiting.iter().filter_map(|(id, _)| id.as_ref()))
    }
}
