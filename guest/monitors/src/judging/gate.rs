//! Tool calls that wait for their judges: let through, or refused with a reason.
//!
//! A call is refused by a verdict alone. Whatever else happens (the judge fails or takes too long, the user speaks, the
//! monitor is silenced, its ceiling is reached) lets it through.

use chaperone_sdk::{
    Content, Context, FileError, Gate, Judgement, Level, RequestId, Scope, Tone, ToolCall, ToolResult,
};

use super::consequences::{self, Judged, Occasion};
use super::moment::Moment;
use super::request::{self, GATE_MS};
use super::{activation, asking, ceiling_dialog, looking};
use crate::branch::{self, Ending};
use crate::ceiling::{self, Passage};
use crate::decision::{self, About};
use crate::definition::{Block, Monitor, Trigger};
use crate::desk::Desk;
use crate::errand::Errand;
use crate::evidence::{Window, git};
use crate::memory::{Flagged, Watch};
use crate::precheck;
use crate::roster::Listed;
use crate::steer;
use crate::transcript::Transcript;
use crate::verdict::Verdict;

/// A tool is about to run.
pub fn start(cx: &mut Context, call: ToolCall) -> Gate {
    let watch: Watch = cx.state(Scope::Session);
    let concerned = activation::concerned(&watch, Trigger::ToolCall, Ending::AtRest, &cx.session().agent);
    if concerned.is_empty() {
        return Gate::Allow;
    }
    let mut desk = Desk::with(cx, watch);
    let entries = branch::since_user(desk.cx);
    desk.memory.turn_to(branch::prompt(&entries));
    let moment = Moment::of(desk.cx, entries, &concerned).before(call.clone());
    let (window, transcript) = (moment.window(), moment.transcript());
    for listed in &concerned {
        let is_time = !activation::counts(listed) || activation::comes_round(listed, &mut desk.memory);
        if is_time && listed.when.holds(&transcript) {
            look(&mut desk, listed, &call, &window, &transcript);
        }
    }
    let is_held = !judges_of(&desk.watch, &call.id).is_empty();
    if is_held {
        let limit = desk.cx.arm(GATE_MS.into());
        desk.watch.sent(limit, Errand::GateLimit { call: call.id });
    }
    desk.close();
    if is_held { Gate::Hold } else { Gate::Allow }
}

/// Makes a monitor look at a call. Only one that may refuse it makes it wait.
pub fn look(desk: &mut Desk, listed: &Listed, call: &ToolCall, window: &Window, transcript: &Transcript) {
    let name = &listed.name;
    let digest = window.evidence(&listed.shows).digest().about(call);
    if asking::is_known(desk, listed, digest) && !activation::counts(listed) {
        return asking::spare(desk, listed, window, "known: this evidence was judged before");
    }
    let occasion = Occasion::Gate { call: &call.id, digest };
    if let Some(condition) = precheck::clean(&listed.precheck, transcript) {
        return asking::settle(desk, listed, window, occasion, &condition.to_string());
    }
    if !activation::may_ask(listed, desk.memory.notes(name)) {
        asking::spare_judge(desk, listed, window);
        return tell_exhausted(desk, listed);
    }
    if !window.is_whole(&listed.shows) {
        if !listed.blocks {
            return looking::begin(desk, name, window);
        }
        let id = git::look_up(desk.cx);
        return desk.watch.sent(id, Errand::GateStatus { monitor: name.clone(), call: call.clone() });
    }
    let request = match request::question(desk, listed, window) {
        Ok(request) => request,
        Err(reason) => return desk.cx.log(Level::Warn, format!("[{name}] is not judged: {reason}")),
    };
    let id = desk.cx.complete(request);
    desk.memory.notes(name).calls += 1;
    let entry = window.newest().map(|entry| entry.id.clone());
    match listed.blocks {
        true => {
            let call = call.id.clone();
            desk.watch.sent(id, Errand::Gate { monitor: name.clone(), call, digest, entry });
        }
        false => {
            let judging = crate::memory::Judging { monitor: name.clone(), digest, entry };
            desk.memory.run.judging.insert(id, judging);
        }
    }
}

/// The state of the repository was looked up for the judge of a call that is held.
pub fn looked_up(desk: &mut Desk, name: &str, call: ToolCall, outcome: Result<(), FileError>) {
    if let Some(listed) = desk.watch.roster.find(name).cloned() {
        let moment = Moment::now(desk.cx, std::slice::from_ref(&listed)).before(call.clone());
        let moment = moment.with_git_status(git::status(desk.cx, outcome));
        look(desk, &listed, &call, &moment.window(), &moment.transcript());
    }
    settle(desk, &call.id);
}

/// Says once for each message of the user that a guard looks no more.
fn tell_exhausted(desk: &mut Desk, listed: &Listed) {
    let (name, most) = (&listed.name, listed.max_per_prompt.get());
    let notes = desk.memory.notes(name);
    if notes.calls == most {
        notes.calls += 1;
        let times = if most == 1 { "once".into() } else { format!("{most} times") };
        let text = format!("[{name}] has looked {times} since your message; further tool calls run unjudged");
        desk.cx.log(Level::Warn, text.clone());
        desk.cx.notify(text, Tone::Warning);
    }
}

/// The words with which a finding refuses a call, if the monitor's file wants that.
pub fn refusal(monitor: &Monitor, block: Option<&Block>, steer: Option<&str>) -> Option<String> {
    match block.filter(|_| monitor.event == Trigger::ToolCall)? {
        Block::WithSteer => Some(steer.unwrap_or_default().to_owned()),
        Block::WithReason(reason) => Some(reason.clone()),
    }
}

/// Refuses a call, unless the monitor has refused often enough.
pub fn refuse(desk: &mut Desk, monitor: &Monitor, call: &str, flagged: Flagged) {
    if limit_of(&desk.watch, call).is_none() {
        return; // It has been decided about, or has waited too long.
    }
    match ceiling::passage(desk.memory.count(&monitor.name), monitor.ceiling, monitor.escalate) {
        Passage::Passes => {
            let notes = desk.memory.notes(&monitor.name);
            notes.count += 1;
            notes.refuses = true;
            let words = steer::refusal(&flagged.monitor, &flagged.description, &flagged.steer);
            let about = About { monitor: &flagged.monitor, request: Some(flagged.request) };
            about.became(desk.cx, decision::REFUSED, None);
            desk.memory.refused.insert(call.into(), flagged);
            decide(desk, call, Some(words));
        }
        Passage::Asks => ceiling_dialog::ask(desk, flagged),
        Passage::Dismisses => ceiling_dialog::silence(desk, &monitor.name, Some(&flagged)),
    }
}

/// Lets a call run that nobody looks at any more.
pub fn settle(desk: &mut Desk, call: &str) {
    if judges_of(&desk.watch, call).is_empty() && limit_of(&desk.watch, call).is_some() {
        decide(desk, call, None);
    }
}

/// A timer has fired: a call has waited long enough.
pub fn time_is_up(desk: &mut Desk, id: RequestId) {
    let Some(Errand::GateLimit { call }) = desk.watch.errands.get(&id).cloned() else { return };
    for judge in judges_of(&desk.watch, &call) {
        let (monitor, digest, entry) = match desk.watch.errands.remove(&judge) {
            Some(Errand::Gate { monitor, digest, entry, .. }) => (monitor, digest, entry),
            Some(Errand::GateStatus { monitor, .. }) => {
                let text =
                    format!("[{monitor}] a call runs unjudged: the state of the repository was not found out in time");
                desk.cx.log(Level::Warn, text);
                continue;
            }
            _ => continue,
        };
        desk.cx.cancel(judge);
        let verdict = Verdict::unknown("the judge did not answer in time");
        desk.cx.judged(Judgement {
            watcher: monitor.clone(),
            verdict: verdict.kind(),
            description: verdict.description().map(str::to_owned),
            request: Some(judge),
            entry: entry.clone(),
        });
        let occasion = Occasion::Gate { call: &call, digest };
        let (request, evidence) = (Some(judge), Some(digest));
        let judged = Judged { monitor: &monitor, verdict: &verdict, occasion, request, entry, evidence };
        consequences::follow(desk, &judged);
    }
    decide(desk, &call, None);
}

/// A tool has run. Where it was refused, its result says so; where it ran all the same, since the host cannot hold calls,
/// the agent hears of the finding as of any other.
pub fn ended(desk: &mut Desk, outcome: &ToolResult) {
    let Some(flagged) = desk.memory.refused.remove(&outcome.call_id) else { return };
    let mark = format!("[{}]", flagged.monitor);
    let says_so = |part: &Content| matches!(part, Content::Text(text) if text.contains(&mark));
    if outcome.content.iter().any(says_so) {
        return;
    }
    let name = flagged.monitor.clone();
    desk.cx.log(Level::Info, format!("[{name}] refused a call that ran all the same: this host does not hold calls"));
    let notes = desk.memory.notes(&name);
    notes.count = notes.count.saturating_sub(1);
    if !flagged.steer.is_empty() {
        desk.memory.run.flagged.push(flagged);
    }
}

/// Gives up what `monitor`, or all (none), look at: those calls run.
pub fn give_up(desk: &mut Desk, monitor: Option<&str>) {
    let mut calls = Vec::new();
    let mut judges = Vec::new();
    for (id, errand) in &desk.watch.errands {
        let (name, call) = match errand {
            Errand::Gate { monitor, call, .. } => (monitor, call),
            Errand::GateStatus { monitor, call } => (monitor, &call.id),
            _ => continue,
        };
        if monitor.is_none_or(|monitor| monitor == name) {
            judges.push(*id);
            calls.push(call.clone());
        }
    }
    judges.into_iter().for_each(|id| forget(desk, id));
    calls.iter().for_each(|call| settle(desk, call));
}

/// Lets a call run or refuses it, and forgets who else looks at it.
fn decide(desk: &mut Desk, call: &str, refusal: Option<String>) {
    for judge in judges_of(&desk.watch, call) {
        forget(desk, judge);
    }
    if let Some(limit) = limit_of(&desk.watch, call) {
        desk.watch.errands.remove(&limit);
        desk.cx.disarm(limit);
    }
    desk.cx.release(call, refusal);
}

/// Waits no longer for a question about a call.
fn forget(desk: &mut Desk, judge: RequestId) {
    if let Some(Errand::Gate { .. }) = desk.watch.errands.remove(&judge) {
        desk.cx.cancel(judge);
    }
}

/// The questions that a call waits for, and what is looked up for them.
fn judges_of(watch: &Watch, call: &str) -> Vec<RequestId> {
    let is_about = |errand: &Errand| match errand {
        Errand::Gate { call: other, .. } => other == call,
        Errand::GateStatus { call: other, .. } => other.id == call,
        _ => false,
    };
    watch.errands.iter().filter(|(_, errand)| is_about(errand)).map(|(id, _)| *id).collect()
}

/// The timer of a call that is held.
fn limit_of(watch: &Watch, call: &str) -> Option<RequestId> {
    let is_about = |errand: &Errand| matches!(errand, Errand::GateLimit { call: other } if other == call);
    watch.errands.iter().find(|(_, errand)| is_about(errand)).map(|(id, _)| *id)
}
