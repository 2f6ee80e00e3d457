//! Messages that are not answered.

use chaperone_contract::*;
use serde::{Deserialize, Serialize};

use super::{Id, Notification, PluginInfo, notifications};

notifications! {
    /// What the client tells.
    ClientNotification {
        /// It does not want an answer any more.
        CancelRequest = "$/cancel_request",
        /// More text of an answer that streams in.
        Progress = "llm/progress",
        /// The sidecar is to end.
        Exit = "exit",
    }
}

notifications! {
    /// What the sidecar tells, beside `$/cancel_request`.
    SidecarNotification {
        /// A plugin wants something of the client, or has something to say.
        Told = "session/effect",
        /// A plugin wrote a file.
        Changed = "session/changed",
        /// What plugins say of themselves has changed.
        Plugins = "session/plugins",
        /// The sidecar has something to say of a plugin.
        Noted = "session/note",
    }
}

/// Parameters of `$/cancel_request`, in both directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CancelRequest {
    /// The request's.
    pub id: Id,
}

/// Parameters of `llm/progress`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Progress {
    /// The id of the `llm/complete`.
    pub id: Id,
    /// The text since the last one.
    pub text: String,
}

/// Parameters of `exit`: none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exit {}

/// Parameters of `session/effect`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Told {
    /// Which session.
    pub session: String,
    /// Whose effect it is.
    pub plugin: String,
    /// The effect.
    pub effect: Effect,
}

/// Parameters of `session/changed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Changed {
    /// Which session.
    pub session: String,
    /// Who wrote it.
    pub plugin: String,
    /// The file, as the plugin names it.
    pub file: Location,
    /// Where it is on the disk.
    pub path: String,
    /// Whether there was no such file before.
    pub created: bool,
}

/// Parameters of `session/plugins`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plugins {
    /// Which session.
    pub session: String,
    /// All of them, in the order in which they are called.
    pub plugins: Vec<PluginInfo>,
}

/// Parameters of `session/note`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Noted {
    /// Which session.
    pub session: String,
    /// About which plugin.
    pub plugin: String,
    /// What there is to say.
    pub note: HostNote,
}

/// What the sidecar has to say of a plugin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HostNote {
    /// A hook did not come to its end, and has no effects.
    Failed {
        /// The hook.
        hook: String,
        /// Why, with the last lines that it wrote to the log.
        reason: String,
    },
    /// An effect was not carried out, since the plugin is not granted it.
    Denied {
        /// The effect.
        effect: String,
    },
    /// Hooks failed so often in a row that the plugin is set aside until the session is opened anew.
    Quarantined {
        /// How many failed.
        failures: u32,
    },
    /// Hooks asked again and again for what is answered at once, so that the plugin is set aside until the session is
    /// opened anew.
    RanAway {
        /// How many followed from one event.
        hooks: u32,
    },
    /// A model call came to its end.
    Answered {
        /// What it was for.
        label: String,
        /// Tokens, where the provider told.
        usage: Option<Usage>,
        /// Whether there is an answer.
        ok: bool,
        /// How long it took, in milliseconds.
        took_ms: u64,
    },
    /// What the plugin wants done with a tool call is beyond the client, so that the call runs.
    Ungated {
        /// The call.
        call_id: String,
        /// What it wanted.
        gate: Gate,
    },
}
