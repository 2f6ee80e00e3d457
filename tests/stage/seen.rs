//! What a session did, for whoever asks afterwards.

use chaperone::drive::{HookRun, Note, Observer};
use chaperone::files::Change;
use chaperone::transaction::{Cause, Committed};
use chaperone_contract::{Effect, Event, Injection, Judgement};

/// Keeps everything that an observer is told.
#[derive(Debug, Default)]
pub struct Seen {
    /// The hooks, in order.
    pub hooks: Vec<SeenHook>,
    /// What the host had to say, and of which plugin.
    pub notes: Vec<(String, Note)>,
    /// The files that were written.
    pub changes: Vec<Change>,
}

/// A hook that ran.
#[derive(Debug)]
pub struct SeenHook {
    /// Of which plugin.
    pub plugin: String,
    /// What it was called with.
    pub event: Event,
    /// What came of it.
    pub result: Result<Committed, Cause>,
}

impl Observer for Seen {
    fn hook(&mut self, run: &HookRun<'_>) {
        self.hooks.push(SeenHook {
            plugin: run.plugin.into(),
            event: run.event.clone(),
            result: match run.result {
                Ok(committed) => Ok(committed.clone()),
                Err(failure) => Err(failure.cause.clone()),
            },
        });
    }

    fn changed(&mut self, _: &str, change: &Change) {
        self.changes.push(change.clone());
    }

    fn note(&mut self, plugin: &str, note: &Note) {
        self.notes.push((plugin.into(), note.clone()));
    }
}

impl Seen {
    /// The effects of all hooks, in order.
    pub fn effects(&self) -> impl Iterator<Item = &Effect> {
        self.hooks.iter().filter_map(|hook| hook.result.as_ref().ok()).flat_map(|committed| &committed.effects)
    }

    /// What judges said, in order.
    pub fn judgements(&self) -> Vec<&Judgement> {
        self.effects()
            .filter_map(|effect| if let Effect::Judged(judgement) = effect { Some(judgement) } else { None })
            .collect()
    }

    /// What was put before the agent, in order.
    pub fn injections(&self) -> Vec<&Injection> {
        self.effects()
            .filter_map(|effect| if let Effect::Inject(message) = effect { Some(message) } else { None })
            .collect()
    }

    /// Whom a model was asked for, in order.
    pub fn asked(&self) -> Vec<&str> {
        self.effects()
            .filter_map(
                |effect| if let Effect::Complete(call) = effect { Some(call.request.label.as_str()) } else { None },
            )
            .collect()
    }

    /// What was shown to the user in passing, in order.
    pub fn notices(&self) -> Vec<&str> {
        self.effects()
            .filter_map(|effect| if let Effect::Notify { text, .. } = effect { Some(text.as_str()) } else { None })
            .collect()
    }

    /// The hooks of one name, in order.
    pub fn hooks_called(&self, name: &str) -> Vec<&SeenHook> {
        self.hooks.iter().filter(|hook| hook.event.name() == name).collect()
    }

    /// Why hooks failed, in order.
    pub fn failures(&self) -> Vec<&Cause> {
        self.hooks.iter().filter_map(|hook| hook.result.as_ref().err()).collect()
    }

    /// Forgets everything, for the next act.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}
