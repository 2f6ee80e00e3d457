//! The host's answers to what it was asked for: each goes to whoever asked.

use chaperone_sdk::{Answer, Completion, Context, FileError, Judgement, LlmError, RequestId};

use crate::command;
use crate::desk::Desk;
use crate::errand::Errand;
use crate::judging::consequences::{self, Judged, Occasion};
use crate::judging::{self, answer, ceiling_dialog, lessons, recording, telling};
use crate::seeding;

/// A judge has answered, or has failed to.
pub fn completed(cx: &mut Context, id: RequestId, outcome: Result<Completion, LlmError>) {
    let mut desk = Desk::open(cx);
    let (name, entry, occasion) = if let Some(judging) = desk.memory.run.judging.remove(&id) {
        (judging.monitor, judging.entry, Occasion::Event(judging.digest))
    } else if let Some(Errand::Command { monitor, entry, outdated }) = desk.watch.errands.remove(&id) {
        (monitor, entry, Occasion::Command { outdated })
    } else {
        return;
    };
    match answer::read(outcome) {
        None => telling::no_verdict(&mut desk, &name, occasion),
        Some(verdict) => {
            desk.cx.judged(Judgement {
                watcher: name.clone(),
                verdict: verdict.kind(),
                description: verdict.description().map(str::to_owned),
                request: Some(id),
                entry,
            });
            let judged = Judged { monitor: &name, verdict: &verdict, occasion, request: id };
            consequences::follow(&mut desk, &judged);
        }
    }
    judging::proceed(&mut desk);
    desk.close();
}

/// The host has written a file, or has not.
pub fn stored(cx: &mut Context, id: RequestId, outcome: Result<(), FileError>) {
    let mut desk = Desk::open(cx);
    match desk.watch.errands.remove(&id) {
        Some(Errand::Finding(record)) => recording::stored(&mut desk, record, outcome),
        Some(Errand::Pattern { monitor, pattern, tries }) => {
            lessons::stored(&mut desk, id, &monitor, &pattern, tries, outcome);
            judging::proceed(&mut desk);
        }
        Some(Errand::Rules { monitor, edit, was, tries }) => {
            command::rules::stored(&mut desk, &monitor, edit, was, tries, outcome);
        }
        Some(Errand::Seed { file }) => seeding::stored(&mut desk, file, outcome),
        Some(other) => {
            desk.watch.sent(id, other);
        }
        None => {}
    }
    desk.close();
}

/// The user has answered a dialog, or nobody could.
pub fn answered(cx: &mut Context, id: RequestId, answer: &Answer) {
    let mut desk = Desk::open(cx);
    match desk.watch.errands.remove(&id) {
        Some(Errand::Ceiling { monitor, flagged }) => {
            ceiling_dialog::answered(&mut desk, &monitor, flagged, answer);
            judging::proceed(&mut desk);
        }
        Some(Errand::SeedOffer) => seeding::answered(&mut desk, answer),
        Some(other) => desk.watch.sent(id, other),
        None => {}
    }
    desk.close();
}
