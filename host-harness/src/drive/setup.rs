//! What a session is made of.

use std::sync::Arc;

use chaperone_contract::*;

use super::Running;
use crate::llm::Provider;
use crate::record::Recorder;
use crate::store::{Owner, Store, StoreError};

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
}

/// What becomes of the questions that plugins ask the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialogs {
    /// There is nobody to ask: each is answered with `unavailable`.
    Unavailable,
    /// The embedding program shows them and answers through [`Session::answered`].
    Shown,
}

/// Where states are kept, and whose they are.
pub struct Memory {
    /// The states of all plugins.
    pub store: Arc<Store>,
    /// The project's root: sessions of one project share the project scope.
    pub project: String,
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
        }
    }
}

impl Memory {
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

    pub(super) fn owner(&self, session: &str, plugin: &str) -> Owner {
        Owner { plugin: plugin.into(), session: session.into(), project: self.project.clone() }
    }
}
