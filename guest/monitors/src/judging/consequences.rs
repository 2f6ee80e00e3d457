//! What follows a verdict.

use chaperone_sdk::{EntryId, Level, RequestId, Tone};

use super::answer::{self, Found};
use super::telling::{self, Told};
use super::{ceiling_dialog, gate, lessons, recording};
use crate::ceiling::{self, Passage};
use crate::decision::{self, About};
use crate::definition::{Action, Learn, Monitor};
use crate::desk::Desk;
use crate::errand::{Lesson, Record};
use crate::evidence::{Digest, hash64};
use crate::finding;
use crate::learning::Provenance;
use crate::memory::{Flagged, Learning};
use crate::patterns::{self, Severity};
use crate::roster::{self, Listed};
use crate::steer::Kind;
use crate::trust;
use crate::verdict::Verdict;

/// How many digests of judged evidence are kept for one prompt.
const JUDGED: usize = 32;

/// Why a monitor was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion<'v> {
    /// Something happened; the evidence has this digest.
    Event(Digest),
    /// A tool call is held.
    Gate {
        /// Which one.
        call: &'v str,
        /// Of the evidence.
        digest: Digest,
    },
    /// Somebody ran its command.
    Command {
        /// Things have changed since: the agent is left alone.
        outdated: bool,
    },
}

/// A verdict, and how it came about.
pub struct Judged<'v> {
    /// Whose.
    pub monitor: &'v str,
    /// What was said.
    pub verdict: &'v Verdict,
    /// Why it was asked for.
    pub occasion: Occasion<'v>,
    /// The model call that it rests on. None: rules have decided.
    pub request: Option<RequestId>,
    /// The newest entry of the evidence.
    pub entry: Option<EntryId>,
    /// Of the evidence.
    pub evidence: Option<Digest>,
}

impl<'v> Judged<'v> {
    fn about(&self) -> About<'v> {
        About { monitor: self.monitor, request: self.request }
    }
}

/// What the monitor's file wants done about a finding. None: it is only reported.
pub fn action(monitor: &Monitor, kind: Kind) -> Option<&Action> {
    match kind {
        Kind::Flag => monitor.actions.on_flag.as_ref(),
        Kind::New => monitor.actions.on_new.as_ref(),
    }
}

/// What is to become a pattern.
pub fn lesson<'v>(monitor: &Monitor, action: &Action, found: &Found<'v>) -> Option<&'v str> {
    found.pattern.filter(|_| monitor.learn != Learn::Never && action.learn_pattern)
}

/// Does what follows a verdict.
pub fn follow(desk: &mut Desk, judged: &Judged) {
    let Judged { monitor: name, verdict, occasion, evidence, .. } = *judged;
    if let Verdict::Unknown { reason } = verdict {
        judged.about().came(desk.cx, decision::NO_VERDICT, None, evidence);
        return unknown(desk, name, reason, occasion);
    }
    let notes = desk.memory.notes(name);
    if judged.request.is_some() {
        notes.back_off.spoke();
    }
    // A call that was refused is judged again where the agent tries it again.
    let settled = match occasion {
        Occasion::Event(digest) => Some(digest),
        Occasion::Gate { digest, .. } if *verdict == Verdict::Clean => Some(digest),
        Occasion::Gate { .. } | Occasion::Command { .. } => None,
    };
    if let Some(digest) = settled {
        if notes.judged.len() == JUDGED {
            notes.judged.remove(0);
        }
        notes.judged.push(digest);
    }
    if *verdict == Verdict::Clean && !desk.watch.roster.find(name).is_some_and(|listed| listed.records_clean) {
        return clean(desk, judged, None);
    }
    let monitor = match desk.watch.roster.find(name).cloned() {
        Some(listed) => load(desk, &listed),
        None => Err("the monitor is no longer there".into()),
    };
    let monitor = monitor.inspect_err(|reason| desk.cx.log(Level::Warn, format!("[{name}] {reason}"))).ok();
    match answer::found(verdict) {
        None => clean(desk, judged, monitor.as_ref()),
        Some(found) => wrong(desk, judged, &found, monitor.as_ref()),
    }
}

/// What a monitor's file says, if it may act as it is now.
fn load(desk: &Desk, listed: &Listed) -> Result<Monitor, String> {
    let monitor = roster::load(desk.cx, listed).map_err(|fault| fault.to_string())?;
    trust::check_definition(desk.cx, listed, &monitor)?;
    Ok(monitor)
}

fn unknown(desk: &mut Desk, name: &str, reason: &str, occasion: Occasion) {
    match occasion {
        Occasion::Command { .. } => desk.cx.notify(format!("[{name}] No verdict: {reason}"), Tone::Error),
        Occasion::Event(_) | Occasion::Gate { .. } => {
            desk.memory.notes(name).back_off.failed();
            if desk.watch.tells(answer::cause(reason)) {
                telling::unknown(desk, name, reason);
            }
        }
    }
}

fn clean(desk: &mut Desk, judged: &Judged, monitor: Option<&Monitor>) {
    let name = judged.monitor;
    judged.about().came(desk.cx, decision::PASSED, None, judged.evidence);
    // That one call is in order says nothing of those that were refused.
    if !matches!(judged.occasion, Occasion::Gate { .. }) {
        desk.memory.notes(name).count = 0;
    }
    if matches!(judged.occasion, Occasion::Command { .. }) {
        desk.cx.notify(format!("[{name}] CLEAN"), Tone::Success);
    }
    if let Some(write) = monitor.and_then(|monitor| recording::write(monitor, None)) {
        let id = finding_id(desk, judged);
        let record = record(desk, judged, id, None, "No issue found", Severity::Info);
        recording::send(desk, record, write);
    }
}

fn wrong(desk: &mut Desk, judged: &Judged, found: &Found, monitor: Option<&Monitor>) {
    let Judged { monitor: name, occasion, .. } = *judged;
    let finding = finding_id(desk, judged);
    judged.about().came(desk.cx, decision::NOTED, Some(&finding), judged.evidence);
    let action = monitor.and_then(|monitor| action(monitor, found.kind));
    let (Some(monitor), Some(action)) = (monitor, action) else {
        return telling::wrong(desk, name, found, &Told { finding: &finding, steer: None, file: None }, occasion);
    };
    let steer = monitor.steer(action);
    let file = action.write.as_ref().map(|write| format!("{}:{}", write.file.mount, write.file.path));
    telling::wrong(desk, name, found, &Told { finding: &finding, steer, file: file.as_deref() }, occasion);
    if let Some(write) = &action.write {
        let known = patterns::load(desk.cx, &monitor.patterns).map(|list| list.entries).unwrap_or_default();
        let severity = patterns::severity_of(&known, found.pattern_id, found.description);
        let record = record(desk, judged, finding.clone(), Some(found.kind), found.description, severity);
        recording::send(desk, record, write);
    }
    let learning = match lesson(monitor, action, found) {
        Some(pattern) => lessons::learn(desk, monitor, to_learn(desk, judged, pattern, finding)),
        None => Learning::No,
    };
    // Who runs a dismissed monitor wants its answer; the agent is still spared its words.
    let is_spared = occasion == Occasion::Command { outdated: true } || desk.watch.dismissed.contains(name);
    if is_spared {
        return;
    }
    let flagged = |steer: &str, learning| Flagged {
        monitor: name.into(),
        verdict: found.kind,
        description: found.description.into(),
        steer: steer.into(),
        ceiling: monitor.ceiling.get(),
        request: call_of(judged),
        learning,
        at_once: matches!(occasion, Occasion::Command { .. }),
    };
    match (occasion, gate::refusal(monitor, action.block.as_ref(), action.steer.as_deref()), steer) {
        // The agent waits for the refusal, so that is not put off until the pattern is written down.
        (Occasion::Gate { call, .. }, Some(words), _) => {
            gate::refuse(desk, monitor, call, flagged(&words, Learning::No));
        }
        (_, _, Some(steer)) => pass(desk, monitor, flagged(steer, learning)),
        (_, _, None) => {}
    }
}

/// The call that a finding rests on: only judges find something, rules never do.
fn call_of(judged: &Judged) -> RequestId {
    judged.request.unwrap_or_default()
}

fn finding_id(desk: &Desk, judged: &Judged) -> String {
    let session = desk.cx.session();
    // Without a call, what was looked at tells the verdicts of one moment apart.
    let unique = judged.request.unwrap_or_else(|| match judged.occasion {
        Occasion::Event(digest) | Occasion::Gate { digest, .. } => hash64(digest.to_string().as_bytes()),
        Occasion::Command { .. } => 0,
    });
    finding::id(judged.monitor, session.now, unique, &session.session_id)
}

/// What is needed to write a new pattern down.
fn to_learn(desk: &Desk, judged: &Judged, pattern: &str, finding: String) -> Lesson {
    let session = desk.cx.session().session_id;
    Lesson {
        monitor: judged.monitor.into(),
        pattern: pattern.into(),
        provenance: Provenance { session, entry: judged.entry.clone(), evidence: judged.evidence, finding },
        request: call_of(judged),
        tries: 0,
        is_proposal: false,
        keeps_trust: false,
    }
}

/// What is needed to write a finding down.
fn record(
    desk: &Desk,
    judged: &Judged,
    id: String,
    verdict: Option<Kind>,
    description: &str,
    severity: Severity,
) -> Record {
    Record {
        monitor: judged.monitor.into(),
        request: judged.request,
        verdict,
        id,
        description: description.into(),
        severity,
        timestamp: desk.cx.session().now,
        file: String::new(),
        aside: None,
        tries: 0,
    }
}

/// Lets a steer pass, or escalates.
fn pass(desk: &mut Desk, monitor: &Monitor, flagged: Flagged) {
    match ceiling::passage(desk.memory.count(&monitor.name), monitor.ceiling, monitor.escalate) {
        Passage::Passes => desk.memory.run.flagged.push(flagged),
        Passage::Asks => ceiling_dialog::ask(desk, flagged),
        Passage::Dismisses => ceiling_dialog::silence(desk, &monitor.name, Some(&flagged)),
    }
}
