//! The block that tells the user what became of a stop. It is shown in the transcript and never reaches the model.

#[cfg(test)]
mod tests;

use std::num::NonZeroU32;

use chaperone_sdk::{Line, Notice, Span, StopReason, Tone};
use serde::Serialize;

use crate::confidence::Confidence;

/// The kind of block.
pub const CUSTOM_TYPE: &str = "auto-goal-verdict";

/// What became of a stop. As JSON, it is what programs read in the block, with all that it takes to show it again.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// Stopping here was fine.
    StopAccepted {
        /// How sure the judge is.
        confidence: Confidence,
        /// Why.
        reason: String,
    },
    /// The judge would have sent the agent back, and was not sure enough.
    Unsure {
        /// How sure the judge is.
        confidence: Confidence,
        /// How sure it would have to be.
        threshold: Confidence,
        /// What seems to be missing.
        reason: String,
    },
    /// The agent was sent back.
    Premature {
        /// How sure the judge is.
        confidence: Confidence,
        /// What is missing.
        reason: String,
        /// What the agent was told.
        nudge: String,
        /// For the how manieth time it was sent back for this request.
        continuation: NonZeroU32,
        /// How often it may be.
        limit: Option<NonZeroU32>,
    },
    /// The agent was sent back as often as it may be for this request.
    LimitReached {
        /// How sure the judge is.
        confidence: Confidence,
        /// What is missing.
        reason: String,
        /// How often it was sent back.
        sent: u32,
        /// How often it may be.
        limit: NonZeroU32,
    },
    /// The user stopped the agent.
    Interrupted,
    /// The agent did not come to its end: the provider failed, or what it wrote is not all there.
    Unfinished,
    /// No judgement came about.
    JudgeFailed {
        /// Why.
        failure: String,
    },
    /// There is no judgement as long as the configuration is wrong.
    ConfigurationRejected {
        /// All that is wrong with it.
        faults: Vec<String>,
    },
}

impl Outcome {
    /// What is always shown, and how it is meant.
    fn verdict_line(&self) -> (String, Tone) {
        match self {
            Self::StopAccepted { confidence, .. } => {
                (format!("⚖️ stop accepted · confidence {confidence}"), Tone::Success)
            }
            Self::Unsure { confidence, threshold, .. } => (
                format!("⚖️ perhaps premature · confidence {confidence}, below {threshold} · no intervention"),
                Tone::Muted,
            ),
            Self::Premature { continuation, limit: Some(limit), .. } => {
                (format!("⚖️ judged premature · continuation {continuation}/{limit}"), Tone::Warning)
            }
            Self::Premature { continuation, limit: None, .. } => {
                (format!("⚖️ judged premature · continuation {continuation}, no limit"), Tone::Warning)
            }
            Self::LimitReached { sent, limit, .. } => {
                (format!("⚖️ continuation limit reached ({sent}/{limit}) · no further intervention"), Tone::Muted)
            }
            Self::Interrupted => ("⚖️ interrupted · not judged".into(), Tone::Muted),
            Self::Unfinished => ("⚖️ turn did not finish normally · not judged".into(), Tone::Muted),
            Self::JudgeFailed { .. } => ("⚖️ judge failed".into(), Tone::Error),
            Self::ConfigurationRejected { .. } => ("⚖️ configuration rejected · not judged".into(), Tone::Error),
        }
    }

    /// What is shown when the user expands the block: name and text.
    fn details(&self) -> Vec<(&'static str, &str)> {
        match self {
            Self::StopAccepted { reason, .. } | Self::Unsure { reason, .. } | Self::LimitReached { reason, .. } => {
                vec![("reason", reason)]
            }
            Self::Premature { reason, nudge, .. } => vec![("reason", reason), ("nudge", nudge)],
            Self::JudgeFailed { failure } => vec![("failure", failure)],
            Self::ConfigurationRejected { faults } => faults.iter().map(|fault| ("fault", fault.as_str())).collect(),
            Self::Interrupted | Self::Unfinished => Vec::new(),
        }
    }

    /// The block. `ending` is how the agent's latest message ended, where there is one.
    pub fn notice(&self, ending: Option<StopReason>) -> Notice {
        let (line, tone) = self.verdict_line();
        let ending = ending.map(StopReason::name);
        let stop_reason = ending.map(|ending| ("stop reason", ending));
        let details = self.details().into_iter().chain(stop_reason);
        Notice {
            custom_type: CUSTOM_TYPE.into(),
            title: vec![Span { text: "[auto-goal] ".into(), tone: Tone::Normal }, Span { text: line, tone }],
            details: details.filter(|(_, text)| !text.is_empty()).flat_map(|(name, text)| lines(name, text)).collect(),
            data: serde_json::to_string(&Data { outcome: self, stop_reason: ending }).ok(),
        }
    }

    /// The same in one line, for a passing message.
    pub fn summary(&self) -> (String, Tone) {
        let (line, tone) = self.verdict_line();
        let details: Vec<&str> = self.details().into_iter().map(|(_, text)| text).collect();
        (format!("[auto-goal] {line}: {}", details.join("; ")), tone)
    }
}

#[derive(Serialize)]
struct Data<'o> {
    #[serde(flatten)]
    outcome: &'o Outcome,
    stop_reason: Option<&'static str>,
}

/// `name: text`, on as many lines as the text has.
fn lines(name: &str, text: &str) -> Vec<Line> {
    let muted = |text: String| vec![Span { text, tone: Tone::Muted }];
    let mut lines = text.lines();
    let first = format!("{name}: {}", lines.next().unwrap_or_default());
    std::iter::once(first).chain(lines.map(|line| format!("  {line}"))).map(muted).collect()
}
