//! What a hook tells its host, whichever host it is.

use serde_json::{Map, Value, json};

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

/// What is printed, built up field by field: only fields that have something to say are there, since a host may refuse
/// a whole answer over one that it does not know.
#[derive(Default)]
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    pub fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.into(), value.into());
    }

    /// What is said to this one event alone.
    pub fn put_specific(&mut self, event: &str, name: &str, value: impl Into<Value>) {
        let specific = self.0.entry("hookSpecificOutput").or_insert_with(|| json!({ "hookEventName": event }));
        specific[name] = value.into();
    }

    pub fn finish(self) -> Option<Value> {
        (!self.0.is_empty()).then_some(Value::Object(self.0))
    }
}
