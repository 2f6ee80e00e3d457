//! What a session is made of.

use std::sync::Arc;
use std::time::Duration;

use chaperone_contract::*;

use super::tracing::wall_clock;
use super::{Paused, Running};
use crate::config::State;
use crate::llm::Provider;
use crate::record::Recorder;
use crate::state::History;
use crate::store::{Awaited, Left, Owner, Requests, Store, StoreError};
use crate::traces::Policy;

/// What a session is made of.
pub struct Setup {
    /// Its first snapshot; `leaf` and `branch_length` are the session's own.
    pub snapshot: Snapshot,
    /// Its current branch; of a session that begins, it is empty.
    pub branch: Branch,
    /// The plugins, in the order in which they are called.
    pub plugins: Vec<Running>,
    /// Who answers model calls.
    pub provider: Arc<dyn Provider>,
    /// Answers the calls that name no model; none: the session's own model.
    pub judge: Option<ModelId>,
    /// What becomes of questions to the user.
    pub dialogs: Dialogs,
    /// Where everything is written down, if anywhere.
    pub recorder: Option<Recorder>,
    /// Where states are kept; none: they end with the session.
    pub memory: Option<Memory>,
    /// Where another process left the session, beside what is in the memory.
    pub paused: Paused,
}

/// What becomes of the questions that plugins ask the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialogs {
    /// There is nobody to ask: each is answered with `unavailable`.
    Unavailable,
    /// The embedding program shows them and answers through [`Session::answered`].
    Shown,
}

/// Where states and traces are kept, and whose they are.
#[derive(Clone)]
pub struct Memory {
    /// The states of all plugins, and the traces of their judgements.
    pub store: Arc<Store>,
    /// The project's root: sessions of one project share the project scope.
    pub project: String,
    /// Which states.
    pub extent: Extent,
    /// How much is kept of judgements.
    pub traces: Policy,
    /// How long the session is remembered if nobody goes on with it.
    pub keep: Duration,
}

/// Which states are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All: the session can be taken up again.
    Session,
    /// Those of the project alone: the session is none, such as that of a command in the shell.
    Project,
}

impl Setup {
    /// A session that is neither recorded nor remembered, and whose user cannot be asked.
    pub fn new(snapshot: Snapshot, plugins: Vec<Running>, provider: Arc<dyn Provider>) -> Self {
        Self {
            snapshot,
            branch: Branch::default(),
            plugins,
            provider,
            judge: None,
            dialogs: Dialogs::Unavailable,
            recorder: None,
            memory: None,
            paused: Paused::default(),
        }
    }
}

impl Memory {
    /// All of a session, with traces, and for as long, as the default has it.
    pub fn new(store: Arc<Store>, project: impl Into<String>) -> Self {
        let (traces, State { keep }) = Default::default();
        Self { store, project: project.into(), extent: Extent::Session, traces, keep }
    }

    /// Somebody works with a session; others that nobody worked with for long are forgotten, and old traces are.
    pub(super) fn begin(&self, session: &str) -> Result<(), StoreError> {
        if self.extent == Extent::Session {
            self.store.touch(session, self.until())?;
        }
        self.store.prune_traces(&self.traces, wall_clock())?;
        self.store.prune_sessions(wall_clock(), self.until())
    }

    /// Until when what is written now is remembered.
    pub(super) fn until(&self) -> Timestamp {
        wall_clock().saturating_add(Timestamp::try_from(self.keep.as_millis()).unwrap_or(Timestamp::MAX))
    }

    /// Lets the plugins begin with what they have in another session, as far as both sessions have the same entries.
    ///
    /// # Errors
    /// Where the store cannot be read or written.
    pub fn take_over<'e>(
        &self,
        plugins: &[Running],
        from: &str,
        to: &str,
        shared: impl IntoIterator<Item = &'e EntryId>,
    ) -> Result<(), StoreError> {
        let shared = shared.into_iter().collect();
        plugins
            .iter()
            .try_for_each(|it| self.store.fork(&self.owner(from, &it.name), &self.owner(to, &it.name), &shared))
    }

    pub(super) fn history(&self, owner: &Owner) -> Result<History, StoreError> {
        let history = self.store.history(owner)?;
        Ok(match self.extent {
            Extent::Session => history,
            Extent::Project => History::starting_with(None, history.current().get(Scope::Project).cloned()),
        })
    }

    /// What a plugin still waits for from an earlier process, and the id of its next request.
    pub(super) fn requests(&self, owner: &Owner) -> Result<(Vec<(RequestId, Awaited)>, RequestId), StoreError> {
        match self.extent {
            Extent::Session => self.store.requests(owner),
            Extent::Project => Ok((Vec::new(), 1)),
        }
    }

    /// Keeps what one hook left behind, as far as it is to be kept.
    pub(super) fn commit(&self, owner: &Owner, left: &Left<'_>) -> Result<(), StoreError> {
        match self.extent {
            Extent::Session => self.store.commit(owner, left),
            Extent::Project => {
                let of_project = |(scope, _): &&(Scope, Arc<[u8]>)| *scope == Scope::Project;
                let changed: Vec<_> = left.changed.iter().filter(of_project).cloned().collect();
                self.store.commit(owner, &Left { changed: &changed, requests: &Requests::default(), ..*left })
            }
        }
    }

    pub(super) fn owner(&self, session: &str, plugin: &str) -> Owner {
        Owner { plugin: plugin.into(), session: session.into(), project: self.project.clone() }
    }
}
