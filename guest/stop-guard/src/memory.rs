//! What is remembered between hooks.

use std::collections::BTreeMap;

use chaperone_sdk::{EntryId, RequestId, StopReason};
use serde::{Deserialize, Serialize};

use crate::config::Field;
use crate::request::Attempt;

/// Of the branch: how often the agent was sent back for one request of the user. It goes back with the user, and comes
/// back with the session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// The request: the entry of the user's message.
    pub request: Option<EntryId>,
    /// How often.
    pub continuations: u32,
    /// The user was told that this was the last time.
    pub told_limit: bool,
}

impl Spent {
    /// What was spent on a request: nothing so far, if it is another one.
    pub fn on(self, request: &EntryId) -> Self {
        match self.request.as_ref() == Some(request) {
            true => self,
            false => Self { request: Some(request.clone()), ..Self::default() },
        }
    }
}

/// Of the session, whatever branch it is on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Watch {
    /// The stop that is being judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judging: Option<Judging>,
    /// How often the agent was sent back in this session.
    pub continuations: u32,
    /// Why the configuration was last rejected, as the user was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told_rejected: Option<String>,
    /// The changes of the configuration that are on their way into its file.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub changes: BTreeMap<RequestId, Change>,
}

/// A stop that is being judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judging {
    /// The call.
    pub call: RequestId,
    /// The how manieth.
    pub attempt: Attempt,
    /// What is judged.
    pub stop: Stop,
}

/// A stop of the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// The entry of the user's message.
    pub request: EntryId,
    /// The newest entry of the conversation.
    pub newest: EntryId,
    /// How the agent's latest message ended.
    pub ending: StopReason,
}

/// A change of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The field's name.
    field: String,
    /// It was made in the settings panel, which shows it already.
    pub in_panel: bool,
}

impl Change {
    /// A change of a field.
    pub fn of(field: Field, in_panel: bool) -> Self {
        Self { field: field.name().into(), in_panel }
    }

    /// The field, unless a newer version has it no more.
    pub fn field(&self) -> Option<Field> {
        Field::named(&self.field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_request_has_everything_before_it() {
        let spent = Spent { request: Some("a".into()), continuations: 2, told_limit: true };
        assert_eq!(spent.clone().on(&"a".into()), spent);
        assert_eq!(spent.on(&"b".into()), Spent { request: Some("b".into()), ..Spent::default() });
    }

    #[test]
    fn what_is_remembered_comes_back() {
        let stop = Stop { request: "u".into(), newest: "a".into(), ending: StopReason::Length };
        let mut watch =
            Watch { judging: Some(Judging { call: 3, attempt: Attempt::Second, stop }), ..Watch::default() };
        watch.changes.insert(4, Change::of(Field::Model, true));
        let json = serde_json::to_string(&watch).unwrap();
        assert_eq!(serde_json::from_str::<Watch>(&json).unwrap(), watch);
        assert_eq!(watch.changes[&4].field(), Some(Field::Model));
    }
}
