//! What becomes of a pattern that a judge calls new, where the monitor's file allows it to be learned: it is added to the
//! others, or proposed to the user.

use chaperone_sdk::failure::not_written;
use chaperone_sdk::{FileError, Level, RequestId, Tone};

use crate::consent;
use crate::decision::{self, About};
use crate::definition::{Learn, Monitor};
use crate::desk::Desk;
use crate::errand::{Errand, Lesson, TRIES};
use crate::learning::{self, NotLearned, Reported};
use crate::memory::{Flagged, Learning};
use crate::{patterns, proposals, roster};

/// Asks the host to write a new pattern down, unless it is known or refused, or the file is none to write to.
pub fn learn(desk: &mut Desk, monitor: &Monitor, lesson: Lesson) -> Learning {
    let lists = patterns::load(desk.cx, &monitor.patterns)
        .and_then(|list| Ok((list, proposals::load(desk.cx, &monitor.patterns)?)));
    let (list, proposals) = match lists {
        Ok(lists) => lists,
        Err(fault) => {
            not_learned(desk, &lesson, &fault.to_string());
            return Learning::No;
        }
    };
    let is_proposal = monitor.learn == Learn::Propose;
    let (learn, file): (fn(_, _, _, _) -> _, _) = match is_proposal {
        true => (learning::propose, proposals::file_beside(&monitor.patterns)),
        false => (learning::learn, monitor.patterns.clone()),
    };
    let reported = Reported { pattern: &lesson.pattern, provenance: &lesson.provenance, now: desk.cx.session().now };
    let learned = match learn(&list, &proposals, &reported, monitor.max_learned.get() as usize) {
        Ok(learned) => learned,
        Err(reason) => {
            let cause = format!("{}: {reason}", lesson.monitor);
            if matches!(reason, NotLearned::Full(_)) && desk.watch.tells(&cause) {
                not_learned(desk, &lesson, &reason.to_string());
            } else {
                about(&lesson).became(desk.cx, decision::NOT_LEARNED, Some(&reason.to_string()));
            }
            return Learning::No;
        }
    };
    let listed = desk.watch.roster.find(&monitor.name).cloned();
    let keeps_trust = !is_proposal && listed.is_some_and(|listed| consent::holds(desk, &listed, monitor));
    let id = desk.cx.patch(&file.mount, &file.path, learned.change.initial, learned.change.patch);
    desk.watch.sent(id, Errand::Pattern(Lesson { is_proposal, keeps_trust, ..lesson }));
    // The agent need not wait for what only the user is going to read.
    if is_proposal { Learning::No } else { Learning::Asked(id) }
}

/// The host has written the pattern down, or has not; a file that was changed meanwhile is read and tried again.
pub fn stored(desk: &mut Desk, id: RequestId, lesson: Lesson, outcome: Result<(), FileError>) {
    let name = lesson.monitor.clone();
    let learning = match outcome {
        Ok(()) if lesson.is_proposal => {
            about(&lesson).became(desk.cx, decision::PROPOSED, Some(&lesson.pattern));
            let text = format!("[{name}] Pattern proposed: {} (/monitors {name} patterns)", lesson.pattern);
            desk.cx.notify(text, Tone::Muted);
            Learning::No
        }
        Ok(()) => {
            about(&lesson).became(desk.cx, decision::LEARNED, Some(&lesson.pattern));
            if lesson.keeps_trust {
                consent::renew(desk, &name);
            }
            Learning::Done
        }
        Err(FileError::Conflict(_)) if lesson.tries + 1 < TRIES => {
            let listed = desk.watch.roster.find(&name).cloned();
            match listed.and_then(|listed| roster::load(desk.cx, &listed).ok()) {
                Some(monitor) => learn(desk, &monitor, Lesson { tries: lesson.tries + 1, ..lesson }),
                None => Learning::No,
            }
        }
        Err(error) => {
            not_learned(desk, &lesson, &not_written(&error));
            Learning::No
        }
    };
    let waits = |flagged: &&mut Flagged| flagged.learning == Learning::Asked(id);
    let asked_about = desk.watch.ceiling_dialog(&name).and_then(Option::as_mut);
    for flagged in desk.memory.run.flagged.iter_mut().chain(asked_about).filter(waits) {
        flagged.learning = learning;
    }
}

fn not_learned(desk: &mut Desk, lesson: &Lesson, reason: &str) {
    about(lesson).became(desk.cx, decision::NOT_LEARNED, Some(reason));
    let text = format!("[{}] Not learned, since {reason}: {}", lesson.monitor, lesson.pattern);
    desk.cx.log(Level::Warn, text.clone());
    desk.cx.notify(text, Tone::Warning);
}

fn about(lesson: &Lesson) -> About<'_> {
    About { monitor: &lesson.monitor, request: Some(lesson.request) }
}
