//! What became of a judgement, for its trace: the words, and telling them to the host.

use chaperone_sdk::traces::outcome;
use chaperone_sdk::{Context, Decision, RequestId, Subject};

use crate::notice::Outcome;
use crate::request::LABEL;

/// The judge would have sent the agent back, and was not sure enough.
pub const UNSURE: &str = "unsure";
/// The agent was sent back as often as it may be.
pub const LIMIT_REACHED: &str = "limit_reached";
/// The answer was used up before it said anything, and the same was asked again.
pub const ASKED_AGAIN: &str = "asked_again";
/// The answer came too late, or nobody wanted it any more.
pub const DISCARDED: &str = "discarded";

/// Tells the host what became of the judgement that rests on a call.
pub fn became(cx: &mut Context, call: RequestId, outcome: &str, detail: Option<String>) {
    cx.decided(Decision {
        watcher: LABEL.into(),
        subject: Subject::Call(call),
        outcome: outcome.into(),
        detail,
        finding: None,
        evidence: None,
    });
}

/// The word for what became of a stop, and more about it. None: it was not judged.
pub fn of(outcome: &Outcome) -> Option<(&'static str, Option<String>)> {
    match outcome {
        Outcome::StopAccepted { confidence, .. } => Some((outcome::PASSED, Some(format!("confidence {confidence}")))),
        Outcome::Unsure { confidence, threshold, .. } => {
            Some((UNSURE, Some(format!("confidence {confidence}, below {threshold}"))))
        }
        Outcome::Premature { confidence, continuation, limit, .. } => {
            let limit = limit.map_or_else(|| "no limit".into(), |limit| format!("of {limit}"));
            let detail = format!("confidence {confidence}, continuation {continuation} ({limit})");
            Some((outcome::STEERED, Some(detail)))
        }
        Outcome::LimitReached { confidence, sent, limit, .. } => {
            Some((LIMIT_REACHED, Some(format!("confidence {confidence}, sent back {sent} times (of {limit})"))))
        }
        Outcome::JudgeFailed { .. } => Some((outcome::NO_VERDICT, None)),
        Outcome::Interrupted | Outcome::Unfinished | Outcome::ConfigurationRejected { .. } => None,
    }
}
