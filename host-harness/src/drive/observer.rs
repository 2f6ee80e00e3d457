//! What the embedding program sees of a session while it is driven.

use std::time::Duration;

use chaperone_contract::*;

use crate::files::Change;
use crate::transaction::{Committed, Failure};

/// A hook that has run.
#[derive(Debug)]
pub struct HookRun<'run> {
    /// The plugin's name.
    pub plugin: &'run str,
    /// What it was called with.
    pub event: &'run Event,
    /// The newest entry of the branch.
    pub entry: Option<&'run EntryId>,
    /// What it returned and asked for, or why it failed.
    pub result: &'run Result<Committed, Failure>,
    /// How long it took.
    pub took: Duration,
}

/// What the host itself has to say about a plugin.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// An effect was not carried out, since the plugin is not granted it.
    Denied {
        /// The effect's name.
        effect: &'static str,
    },
    /// It failed too often in a row and is set aside until it is loaded anew.
    Quarantined {
        /// How many hooks failed one after another.
        failures: u32,
    },
    /// Its hooks asked again and again for what is answered at once, and it is set aside until it is loaded anew.
    RanAway {
        /// How many hooks followed from one event.
        hooks: u32,
    },
    /// A tool call that was held waits no longer.
    Decided {
        /// Which one.
        call_id: String,
        /// Why it is refused; none: it runs.
        refusal: Option<String>,
    },
    /// A model call came to its end.
    Answered {
        /// What the call was for.
        label: String,
        /// Tokens, where the provider told.
        usage: Option<Usage>,
        /// Whether there is an answer.
        ok: bool,
        /// How long it took.
        took: Duration,
    },
}

/// Sees everything that happens while plugins are driven, and carries out what only the embedding program can:
/// injections, notices, status, dialogs, tool gates.
pub trait Observer {
    /// A hook ran; its effects are the observer's to show or to carry out.
    fn hook(&mut self, run: &HookRun<'_>);
    /// A file was written, or would have been.
    fn changed(&mut self, plugin: &str, change: &Change);
    /// The host has something to say.
    fn note(&mut self, plugin: &str, note: &Note);
}
