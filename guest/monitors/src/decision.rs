//! What became of a judgement, for its trace: the words, and telling them to the host.

pub use chaperone_sdk::traces::outcome::{DROPPED, NO_VERDICT, PASSED, REFUSED, STEERED, WRONG};
use chaperone_sdk::{Context, Decision, RequestId, Subject};

use crate::evidence::Digest;

/// Something is wrong; the finding has its id from here on.
pub const NOTED: &str = "noted";
/// The finding stands in a file.
pub const RECORDED: &str = "recorded";
/// The finding was to be written to a file, and was not.
pub const NOT_RECORDED: &str = "not_recorded";
/// The new pattern is among the others.
pub const LEARNED: &str = "learned";
/// The new pattern waits for the user's word.
pub const PROPOSED: &str = "proposed";
/// The new pattern was not added.
pub const NOT_LEARNED: &str = "not_learned";
/// The monitor is at its ceiling: the user is asked.
pub const CEILING: &str = "ceiling";
/// The monitor fell silent.
pub const DISMISSED: &str = "dismissed";

/// The judgement that is spoken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About<'a> {
    /// Whose.
    pub monitor: &'a str,
    /// The model call that it rests on. None: rules made it, and there is nothing more to be told of it.
    pub request: Option<RequestId>,
}

impl About<'_> {
    /// Tells the host what became of it.
    pub fn became(self, cx: &mut Context, outcome: &str, detail: Option<&str>) {
        if let Some(decision) = self.decision(outcome, detail) {
            cx.decided(decision);
        }
    }

    /// The verdict has come: the first thing that is told of a judgement.
    pub fn came(self, cx: &mut Context, outcome: &str, finding: Option<&str>, evidence: Option<Digest>) {
        let finding = finding.map(str::to_owned);
        let evidence = evidence.map(|digest| digest.to_string());
        if let Some(decision) = self.decision(outcome, None) {
            cx.decided(Decision { finding, evidence, ..decision });
        }
    }

    fn decision(self, outcome: &str, detail: Option<&str>) -> Option<Decision> {
        Some(Decision {
            watcher: self.monitor.into(),
            subject: Subject::Call(self.request?),
            outcome: outcome.into(),
            detail: detail.map(str::to_owned),
            finding: None,
            evidence: None,
        })
    }
}
