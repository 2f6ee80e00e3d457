//! The host's answers to what it was asked for: each goes to whoever asked.

use chaperone_sdk::{Answer, Completion, Context, FileError, Judgement, Level, LlmError, RequestId};

use crate::command;
use crate::consent;
use crate::desk::Desk;
use crate::errand::Errand;
use crate::judging::consequences::{self, Judged, Occasion};
use crate::judging::{self, answer, ceiling_dialog, gate, lessons, looking, recording, telling};
use crate::seeding;
use crate::verdict::form;

/// A judge has answered, or has failed to.
pub fn completed(cx: &mut Context, id: RequestId, outcome: Result<Completion, LlmError>) {
    let mut desk = Desk::open(cx);
    let held;
    let (name, entry, evidence, occasion) = if let Some(judging) = desk.memory.run.judging.remove(&id) {
        (judging.monitor, judging.entry, Some(judging.digest), Occasion::Event(judging.digest))
    } else {
        match desk.watch.errands.remove(&id) {
            Some(Errand::Command { monitor, entry, digest, outdated }) => {
                (monitor, entry, digest, Occasion::Command { outdated })
            }
            Some(Errand::Gate { monitor, call, digest, entry }) => {
                held = call;
                (monitor, entry, Some(digest), Occasion::Gate { call: &held, digest })
            }
            Some(other) => return desk.watch.sent(id, other),
            None => return,
        }
    };
    if let Err(LlmError::Provider(reason)) = &outcome
        && form::is_refused(reason)
        && !desk.watch.plain_answers
    {
        desk.cx.log(Level::Info, format!("judges are asked for plain answers from now on: {reason}"));
        desk.watch.plain_answers = true;
        if matches!(occasion, Occasion::Event(_)) {
            let notes = desk.memory.notes(&name);
            notes.calls = notes.calls.saturating_sub(1);
            judging::ask_again(&mut desk, &name);
            judging::proceed(&mut desk);
            return desk.close();
        }
    }
    match answer::read(outcome) {
        None => telling::no_verdict(&mut desk, &name, occasion),
        Some(verdict) => {
            desk.cx.judged(Judgement {
                watcher: name.clone(),
                verdict: verdict.kind(),
                description: verdict.description().map(str::to_owned),
                request: Some(id),
                entry: entry.clone(),
            });
            let request = Some(id);
            let judged = Judged { monitor: &name, verdict: &verdict, occasion, request, entry, evidence };
            consequences::follow(&mut desk, &judged);
        }
    }
    if let Occasion::Gate { call, .. } = occasion {
        gate::settle(&mut desk, call);
    }
    judging::proceed(&mut desk);
    desk.close();
}

/// The host has written or made a file, or has not.
pub fn stored(cx: &mut Context, id: RequestId, outcome: Result<(), FileError>) {
    let mut desk = Desk::open(cx);
    if let Some(looking) = desk.memory.run.looking.remove(&id) {
        looking::end(&mut desk, looking, outcome);
        return desk.close();
    }
    match desk.watch.errands.remove(&id) {
        Some(Errand::CommandStatus { monitor, outdated }) => {
            judging::command_looked_up(&mut desk, &monitor, outdated, outcome);
        }
        Some(Errand::GateStatus { monitor, call }) => {
            gate::looked_up(&mut desk, &monitor, call, outcome);
            judging::proceed(&mut desk);
        }
        Some(Errand::Finding(record)) => recording::stored(&mut desk, record, outcome),
        Some(Errand::Pattern(lesson)) => {
            lessons::stored(&mut desk, id, lesson, outcome);
            judging::proceed(&mut desk);
        }
        Some(Errand::Approval(approval)) => command::patterns::approved(&mut desk, approval, outcome),
        Some(Errand::Proposal { monitor, description, ruling, rest }) => {
            command::patterns::ruled(&mut desk, &monitor, &description, ruling, rest, outcome);
        }
        Some(Errand::Unlearned { monitor, pattern, keeps_trust }) => {
            command::patterns::unlearned(&mut desk, &monitor, &pattern, keeps_trust, outcome);
        }
        Some(Errand::Refusal { monitor, description }) => {
            command::patterns::refused(&mut desk, &monitor, &description, outcome);
        }
        Some(Errand::Rules(change)) => command::rules::stored(&mut desk, change, outcome),
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
        Some(Errand::TrustOffer(words)) => consent::answered(&mut desk, words, answer),
        Some(Errand::RuleOffer { monitor }) => command::wrong::answered(&mut desk, &monitor, answer),
        Some(other) => desk.watch.sent(id, other),
        None => {}
    }
    desk.close();
}

/// A timer has fired.
pub fn timer_fired(cx: &mut Context, id: RequestId) {
    let mut desk = Desk::open(cx);
    gate::time_is_up(&mut desk, id);
    desk.close();
}
