//! What a hook tells its host, whichever host it is.

use serde_json::{Map, Value};

/// The answer to one event. The default says nothing, and the agent goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// What becomes of what is about to happen.
    pub decision: Decision,
    /// What the agent reads before it goes on.
    pub context: Option<String>,
    /// What the user sees.
    pub shown: Option<String>,
}

/// What becomes of what is about to happen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Decision {
    /// It happens.
    #[default]
    GoOn,
    /// The agent does not stop: this is what it works on next.
    SendBack(String),
    /// The tool does not run: the agent reads why.
    Refuse(String),
    /// The prompt was a command of a plugin: the user reads the answer, and the agent nothing.
    Answered(String),
    /// The agent stops here; why.
    End(String),
}

impl Answer {
    /// An answer that only the user sees.
    pub fn shows(text: impl Into<String>) -> Self {
        Self { shown: Some(text.into()), ..Self::default() }
    }
}

/// How a host is told that something does not happen.
#[derive(Clone, Copy)]
pub(super) enum No {
    /// `block`, and before a tool that it is not permitted.
    Block,
    /// `deny`, whatever it is.
    Deny,
}

/// The answer in the words that hosts have in common. Only fields that have something to say are there, since a host may
/// refuse a whole answer over one that it does not know for the event. None: there is nothing to say.
pub(super) fn written(event: &str, answer: &Answer, no: No) -> Option<Value> {
    let mut fields = Map::new();
    let mut specific = Map::new();
    let mut put = |name: &str, value: &str| _ = fields.insert(name.into(), value.into());
    match (&answer.decision, no) {
        (Decision::GoOn, _) => {}
        (Decision::Refuse(reason), No::Block) => {
            specific.insert("permissionDecision".into(), "deny".into());
            specific.insert("permissionDecisionReason".into(), reason.as_str().into());
        }
        (Decision::SendBack(reason) | Decision::Answered(reason) | Decision::Refuse(reason), no) => {
            put("decision", if matches!(no, No::Block) { "block" } else { "deny" });
            put("reason", reason);
        }
        (Decision::End(reason), _) => {
            put("stopReason", reason);
            fields.insert("continue".into(), false.into());
        }
    }
    if let Some(context) = &answer.context {
        specific.insert("additionalContext".into(), context.as_str().into());
    }
    if let Some(shown) = &answer.shown {
        fields.insert("systemMessage".into(), shown.as_str().into());
    }
    if !specific.is_empty() {
        specific.insert("hookEventName".into(), event.into());
        fields.insert("hookSpecificOutput".into(), specific.into());
    }
    (!fields.is_empty()).then_some(Value::Object(fields))
}
