//! The imports of a plugin that are effects, as data: what a hook asked the host to do.

use serde::{Deserialize, Serialize};

use crate::json;
use crate::types::*;

/// One effect of a hook. In JSON it is tagged by the import's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each field stands in the contract under the same name")]
pub enum Effect {
    /// `llm.complete`
    Complete(CompleteEffect),
    /// `llm.cancel`
    Cancel { id: RequestId },
    /// `conversation.inject`
    Inject(Injection),
    /// `conversation.release`
    Release { call_id: String, refusal: Option<String> },
    /// `conversation.abort`
    Abort,
    /// `ui.notify`
    Notify { text: String, tone: Tone },
    /// `ui.set-status`
    SetStatus { text: Option<Line> },
    /// `ui.set-widget`
    SetWidget { lines: Vec<Line> },
    /// `ui.show`
    Show(Notice),
    /// `ui.ask`
    Ask { id: RequestId, prompt: Prompt },
    /// `files.refresh`
    Refresh { id: RequestId, file: Location },
    /// `files.write`
    Write { id: RequestId, file: Location, text: String, only_if_absent: bool },
    /// `files.patch`
    Patch { id: RequestId, file: Location, initial: Json, patch: Json },
    /// `state.set`
    Set {
        scope: Scope,
        #[serde(with = "json::bytes")]
        #[cfg_attr(feature = "schema", schemars(with = "json::bytes::Bytes<String, Vec<u8>>"))]
        value: Vec<u8>,
    },
    /// `timers.arm`
    Arm { id: RequestId, milliseconds: u64 },
    /// `timers.disarm`
    Disarm { id: RequestId },
    /// `report.judged`
    Judged(Judgement),
    /// `report.spared`
    Spared(Sparing),
    /// `report.found`
    Found(Finding),
    /// `traces.decided`
    Decided(Decision),
    /// `log.log`
    Log { level: Level, message: String },
}

impl Effect {
    /// The import's name in snake_case, as in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Complete(_) => "complete",
            Self::Cancel { .. } => "cancel",
            Self::Inject(_) => "inject",
            Self::Release { .. } => "release",
            Self::Abort => "abort",
            Self::Notify { .. } => "notify",
            Self::SetStatus { .. } => "set_status",
            Self::SetWidget { .. } => "set_widget",
            Self::Show(_) => "show",
            Self::Ask { .. } => "ask",
            Self::Refresh { .. } => "refresh",
            Self::Write { .. } => "write",
            Self::Patch { .. } => "patch",
            Self::Set { .. } => "set",
            Self::Arm { .. } => "arm",
            Self::Disarm { .. } => "disarm",
            Self::Judged(_) => "judged",
            Self::Spared(_) => "spared",
            Self::Found(_) => "found",
            Self::Decided(_) => "decided",
            Self::Log { .. } => "log",
        }
    }
}

/// A call of `llm.complete`: the request, and the id that the plugin was given for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompleteEffect {
    /// Names the call in `responses.llm-completed`.
    pub id: RequestId,
    /// What is asked.
    #[serde(flatten)]
    pub request: CompletionRequest,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_tagged_by_its_name() {
        let file = Location { mount: "workspace".into(), path: "a.json".into() };
        let effects = [
            Effect::Cancel { id: 1 },
            Effect::Abort,
            Effect::Notify { text: "a".into(), tone: Tone::Muted },
            Effect::SetStatus { text: None },
            Effect::Refresh { id: 1, file: file.clone() },
            Effect::Write { id: 1, file: file.clone(), text: "a".into(), only_if_absent: true },
            Effect::Patch { id: 1, file, initial: "[]".into(), patch: "[]".into() },
            Effect::Set { scope: Scope::Branch, value: vec![0xff] },
            Effect::Set { scope: Scope::Branch, value: b"text".to_vec() },
            Effect::Log { level: Level::Warn, message: "a".into() },
        ];
        for effect in effects {
            let json = serde_json::to_value(&effect).unwrap();
            let tag =
                json.as_str().map_or_else(|| json.as_object().unwrap().keys().next().unwrap().clone(), Into::into);
            assert_eq!(tag, effect.name());
            assert_eq!(serde_json::from_value::<Effect>(json).unwrap(), effect);
        }
    }
}
