//! Whether a monitor that looks has anything to ask its judge: what costs nothing comes first.

use chaperone_sdk::{Judgement, Level, Sparing, Verdict as Reported};

use super::consequences::{self, Judged, Occasion};
use super::{activation, looking, request};
use crate::desk::Desk;
use crate::evidence::{Digest, Window};
use crate::memory::Judging;
use crate::precheck;
use crate::roster::Listed;
use crate::transcript::Transcript;
use crate::verdict::Verdict;
use crate::waiting;

/// Asks a monitor's judge, unless the agent is waiting for something, or this was judged already, or rules settle it, or
/// the judge was asked often enough for this prompt or is failing.
pub fn ask(desk: &mut Desk, listed: &Listed, window: &Window, transcript: &Transcript) {
    let name = &listed.name;
    if looking::is_under_way(&desk.memory.run, name, window) {
        return;
    }
    looking::stop(&mut desk.memory.run, name);
    let digest = window.evidence(&listed.shows).digest();
    if is_known(desk, listed, digest) && !activation::counts(listed) {
        return spare(desk, listed, window, "known: this evidence was judged before");
    }
    if let Some(state) = waiting::first_of(&listed.exempt, transcript) {
        return spare(desk, listed, window, &format!("exempt: {state}"));
    }
    let occasion = Occasion::Event(digest);
    if let Some(condition) = precheck::clean(&listed.precheck, transcript) {
        return settle(desk, listed, window, occasion, &condition.to_string());
    }
    if !activation::may_ask(listed, desk.memory.notes(name)) {
        return spare_judge(desk, listed, window);
    }
    if !window.is_whole(&listed.shows) {
        return looking::begin(desk, name, window);
    }
    let request = match request::question(desk, listed, window) {
        Ok(request) => request,
        Err(reason) => return desk.cx.log(Level::Warn, format!("[{name}] is not judged: {reason}")),
    };
    let id = desk.cx.complete(request);
    desk.memory.notes(name).calls += 1;
    let entry = window.newest().map(|entry| entry.id.clone());
    desk.memory.run.judging.insert(id, Judging { monitor: name.clone(), digest, entry });
}

/// Tells the host why a judge was not asked that may not be.
pub fn spare_judge(desk: &mut Desk, listed: &Listed, window: &Window) {
    let reason = match desk.memory.notes(&listed.name).back_off.is_failing() {
        true => "failing: the judge is left alone after a failure",
        false => "limit: the judge was asked often enough for this message of the user",
    };
    spare(desk, listed, window, reason);
}

/// Whether this evidence was judged for this prompt, or is being judged.
pub fn is_known(desk: &mut Desk, listed: &Listed, digest: Digest) -> bool {
    let under_way = |judging: &Judging| judging.monitor == listed.name && judging.digest == digest;
    desk.memory.notes(&listed.name).judged.contains(&digest) || desk.memory.run.judging.values().any(under_way)
}

/// Rules say that all is well: that is a clean verdict, without a judge.
pub fn settle(desk: &mut Desk, listed: &Listed, window: &Window, occasion: Occasion, condition: &str) {
    // The last rule of a list that none of the others has decided.
    let reason = if condition == "always" { "no rule asks for a look" } else { condition };
    desk.cx.judged(Judgement {
        watcher: listed.name.clone(),
        verdict: Reported::Clean,
        description: Some(format!("precheck: {reason}")),
        request: None,
        entry: window.newest().map(|entry| entry.id.clone()),
    });
    let verdict = &Verdict::Clean;
    let judged = Judged { monitor: &listed.name, verdict, occasion, request: None, entry: None, evidence: None };
    consequences::follow(desk, &judged);
}

/// Tells the host that a judge was not asked. The reason begins with a word and a colon: the host counts by that word.
pub fn spare(desk: &mut Desk, listed: &Listed, window: &Window, reason: &str) {
    let entry = window.newest().map(|entry| entry.id.clone());
    desk.cx.spared(Sparing { watcher: listed.name.clone(), reason: reason.into(), entry });
}
