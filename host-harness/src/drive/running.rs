//! A plugin in a session.

use std::sync::Arc;

use chaperone_contract::{
    Branch, CompleteEffect, Description, Effect, Event, Hook, Location, ModelId, ModelInfo, RequestId, Scope,
};

use super::Note;
use crate::config::LlmGrant;
use crate::files::{Mounts, Stamp};
use crate::llm::allowance::Allowance;
use crate::plugin::Plugin;
use crate::record::{RecordedPlugin, RecordedState};
use crate::state::History;
use crate::transaction::{FileRead, Limits};

/// What a plugin may do beyond its files. The default is nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grants {
    /// Speak into the conversation, release tool calls, stop the agent.
    pub inject: bool,
    /// Which models it may call, and how often.
    pub llm: Option<LlmGrant>,
}

impl Grants {
    /// Whether the plugin may call this model.
    pub fn allows(&self, model: &ModelId) -> bool {
        self.llm.as_ref().is_some_and(|grant| {
            grant.models.allow(&model.model) || grant.models.allow(&format!("{}/{}", model.provider, model.model))
        })
    }

    pub(super) fn allowance(&self) -> Allowance {
        self.llm.as_ref().map_or_else(Allowance::default, |grant| Allowance {
            calls_per_turn: Some(grant.calls_per_turn),
            tokens_per_session: grant.tokens_per_session,
        })
    }
}

/// A plugin that watches a session.
pub struct Running {
    /// Its name among the plugins of the session.
    pub name: String,
    /// Where its component came from, such as `builtin:monitors`.
    pub source: String,
    /// Its code.
    pub component: Arc<Plugin>,
    /// Its folders.
    pub files: Arc<Mounts>,
    /// What else it may do.
    pub grants: Grants,
    /// What each of its hooks may use.
    pub limits: Limits,
    /// How many failures in a row set it aside.
    pub quarantine_after: u32,
    /// What it remembers.
    pub history: History,
    /// The models that it may name.
    pub(crate) models: Arc<[ModelInfo]>,
    pub(super) next_request: RequestId,
    description: Option<Description>,
    /// What it read to describe itself, as it was then.
    described_from: Vec<(Location, Stamp)>,
    failures: u32,
    /// Why it is called no more, if it is not.
    pub(super) set_aside: Option<Note>,
}

impl Running {
    /// A plugin that has not run yet.
    pub fn new(name: impl Into<String>, source: impl Into<String>, component: Arc<Plugin>, files: Mounts) -> Self {
        Self {
            name: name.into(),
            source: source.into(),
            component,
            files: Arc::new(files),
            grants: Grants::default(),
            limits: Limits::default(),
            quarantine_after: 3,
            history: History::default(),
            models: Arc::new([]),
            next_request: 1,
            description: None,
            described_from: Vec::new(),
            failures: 0,
            set_aside: None,
        }
    }

    /// What it says of itself; none before it could.
    pub fn description(&self) -> Option<&Description> {
        self.description.as_ref()
    }

    /// Why it is called no more, if it was set aside.
    pub fn set_aside(&self) -> Option<&Note> {
        self.set_aside.as_ref()
    }

    /// How many of its hooks failed one after another, up to now; of one that was set aside, enough for it to stay so.
    pub(super) fn failures(&self) -> u32 {
        match self.set_aside {
            Some(_) => self.failures.max(self.quarantine_after),
            None => self.failures,
        }
    }

    /// It failed so often before this process began.
    pub(super) fn resume_failures(&mut self, failures: u32) {
        self.failures = failures;
        self.set_aside = (failures >= self.quarantine_after).then_some(Note::Quarantined { failures });
    }

    /// The id of the request that it makes next.
    pub fn next_request(&self) -> RequestId {
        self.next_request
    }

    pub(super) fn wants(&self, hook: Hook) -> bool {
        self.description.as_ref().is_some_and(|description| description.hooks.contains(&hook))
    }

    pub(super) fn has_command(&self, name: &str) -> bool {
        self.description.as_ref().is_some_and(|description| description.commands.iter().any(|it| it.name == name))
    }

    pub(super) fn has_tool(&self, name: &str) -> bool {
        self.description.as_ref().is_some_and(|description| description.tools.iter().any(|it| it.name == name))
    }

    pub(super) fn described(&mut self, description: Description, reads: &[FileRead]) {
        self.description = Some(description);
        self.described_from =
            reads.iter().map(|read| (read.location().clone(), self.files.stamp(read.location()))).collect();
    }

    /// Whether it has to be asked anew what it is: it could not say so far, or a file or folder that its answer rests on
    /// has changed.
    pub(super) fn is_stale(&self) -> bool {
        self.description.is_none()
            || self.described_from.iter().any(|(location, stamp)| self.files.stamp(location) != *stamp)
    }

    /// As a recording names it.
    pub(super) fn recorded(&self) -> RecordedPlugin {
        let state = self.history.values().map(|(scope, entry, value)| RecordedState {
            scope,
            entry: entry.cloned(),
            value: value.to_vec(),
        });
        RecordedPlugin {
            name: self.name.clone(),
            source: self.source.clone(),
            digest: self.component.digest().to_hex().to_string(),
            models: self.models.to_vec(),
            state: state.collect(),
        }
    }

    /// Keeps what a hook set, and returns it.
    pub(super) fn succeeded(&mut self, event: &Event, effects: &[Effect], branch: &Branch) -> Vec<(Scope, Arc<[u8]>)> {
        // That it can say what it is does not mean that it works: each process that goes on with a session asks.
        if *event != Event::Describe {
            self.failures = 0;
        }
        self.next_request += effects.iter().filter(|effect| request_id(effect).is_some()).count() as RequestId;
        self.history.commit(effects, branch)
    }

    /// Counts a failure. Where it was the last one that is tolerated, the plugin is to be set aside, for this reason.
    pub(super) fn failed(&mut self) -> Option<Note> {
        self.failures += 1;
        (self.failures >= self.quarantine_after).then_some(Note::Quarantined { failures: self.failures })
    }
}

/// The id of an effect that is answered.
pub fn request_id(effect: &Effect) -> Option<RequestId> {
    match effect {
        Effect::Complete(CompleteEffect { id, .. })
        | Effect::Ask { id, .. }
        | Effect::Write { id, .. }
        | Effect::Refresh { id, .. }
        | Effect::Patch { id, .. }
        | Effect::Arm { id, .. } => Some(*id),
        _ => None,
    }
}
