//! Whether a [`Condition`] holds.

use std::collections::HashMap;

use chaperone_sdk::ToolCall;

use super::Condition;
use crate::glob::Glob;
use crate::phrases;
use crate::transcript::{self, Call, Outcome, Transcript};
use crate::waiting;

impl Condition {
    /// Whether this is so. Every condition has an answer for every transcript.
    pub fn holds(&self, transcript: &Transcript) -> bool {
        match self {
            Self::Always => true,
            Self::HasToolResults => transcript.has_results(),
            Self::HasFileWrites => match transcript.pending() {
                Some(call) => transcript::writes(call),
                None => transcript.calls().iter().any(Call::is_write),
            },
            Self::HasBash => transcript.called().any(|call| call.name == "bash"),
            Self::Tool(name) => transcript.called().any(|call| name.matches(&call.name)),
            Self::ToolSucceeded(name) => latest_succeeded(transcript, |call| name.matches(&call.name)),
            Self::Command(glob) => transcript.called().any(|call| transcript::runs(call, glob)),
            Self::CommandSucceeded(glob) => latest_succeeded(transcript, |call| transcript::runs(call, glob)),
            Self::UnresolvedFailure(name) => {
                has_unresolved_failure(transcript, |call| name.as_ref().is_none_or(|name| name.matches(&call.name)))
            }
            Self::RepeatedFailure(times) => most_failures_in_a_row(transcript) >= times.get(),
            Self::UnreadWrite => has_unread_write(transcript),
            Self::UntestedWrite(glob) => has_untested_write(transcript, glob.as_ref()),
            Self::EndsInQuestion => phrases::ends_in_question(&transcript.answer()),
            Self::ClaimsSuccess => phrases::claims_success(&transcript.answer()),
            Self::AnswerSays(texts) => says(&transcript.answer(), texts),
            Self::UserSays(texts) => says(&transcript.user_text(), texts),
            Self::ResultSays(texts) => transcript.result_texts().any(|result| says(&result, texts)),
            Self::Waiting(state) => waiting::is_so(*state, transcript),
            Self::Not(condition) => !condition.holds(transcript),
            Self::Any(conditions) => conditions.iter().any(|condition| condition.holds(transcript)),
            Self::All(conditions) => conditions.iter().all(|condition| condition.holds(transcript)),
        }
    }
}

fn says(text: &str, phrases: &[String]) -> bool {
    phrases.iter().any(|phrase| phrases::contains(text, phrase))
}

fn latest_succeeded(transcript: &Transcript, is_meant: impl Fn(&ToolCall) -> bool) -> bool {
    let latest = transcript.calls().iter().rev().find(|call| call.outcome != Outcome::Open && is_meant(call.call));
    latest.is_some_and(|call| call.outcome == Outcome::Succeeded)
}

fn has_unresolved_failure(transcript: &Transcript, is_meant: impl Fn(&ToolCall) -> bool) -> bool {
    let mut latest: HashMap<_, Outcome> = HashMap::new();
    for call in transcript.calls().iter().filter(|call| call.outcome != Outcome::Open && is_meant(call.call)) {
        latest.insert(transcript::subject(call.call), call.outcome);
    }
    latest.values().any(|outcome| *outcome == Outcome::Failed)
}

fn most_failures_in_a_row(transcript: &Transcript) -> u32 {
    let mut in_a_row: HashMap<_, u32> = HashMap::new();
    let mut most = 0;
    for call in transcript.calls() {
        let failures = in_a_row.entry(transcript::subject(call.call)).or_default();
        match call.outcome {
            Outcome::Failed => *failures += 1,
            Outcome::Succeeded => *failures = 0,
            Outcome::Open => {}
        }
        most = most.max(*failures);
    }
    most
}

fn has_unread_write(transcript: &Transcript) -> bool {
    let mut known: Vec<String> = Vec::new();
    let mut commands = String::new();
    for call in transcript.calls().iter().filter(|call| call.outcome != Outcome::Failed) {
        if let Some(command) = transcript::command(call.call) {
            commands.push_str(&command);
            commands.push('\n');
        }
        let Some(path) = transcript::path(call.call) else { continue };
        let file = path.rsplit('/').next().unwrap_or(&path);
        let is_same = |other: &String| *other == path || ends_in(other, &path) || ends_in(&path, other);
        let is_known = known.iter().any(is_same) || phrases::contains(&commands, file);
        if call.is_write() && !is_known {
            return true;
        }
        known.push(path);
    }
    false
}

/// Whether an absolute path may be the same as a relative one.
fn ends_in(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.ends_with('/'))
}

fn has_untested_write(transcript: &Transcript, glob: Option<&Glob>) -> bool {
    let Some(last) = transcript.calls().iter().rposition(Call::is_write) else { return false };
    let tests = |call: &Call| {
        call.outcome == Outcome::Succeeded
            && match glob {
                Some(glob) => transcript::runs(call.call, glob),
                None => transcript::command(call.call).is_some(),
            }
    };
    !transcript.calls()[last + 1..].iter().any(tests)
}
