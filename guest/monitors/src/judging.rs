//! From what happens to a question, from a question to a verdict, and from there to what the agent hears.

pub mod activation;
pub mod answer;
pub mod ceiling_dialog;
pub mod consequences;
pub mod delivery;
pub mod lessons;
pub mod recording;
mod request;
pub mod telling;

use chaperone_sdk::{AgentKind, Context, Entry, Level, Scope, Sparing, Tone};

use crate::branch::{self, Ending};
use crate::definition::Trigger;
use crate::desk::Desk;
use crate::errand::Errand;
use crate::evidence::Window;
use crate::exclusion::{self, Stand};
use crate::memory::{self, Judging, Run, Watch};
use crate::roster::Listed;

pub use request::{MAX_OUTPUT_TOKENS, TIMEOUT_MS};

/// How many digests of judged evidence are kept for one prompt.
const JUDGED: usize = 16;

/// The agent has finished a message or a turn, which ends like that.
pub fn look(cx: &mut Context, trigger: Trigger, ending: Ending) {
    let watch: Watch = cx.state(Scope::Session);
    let concerned = activation::concerned(&watch, trigger, ending, &cx.session().agent);
    if !concerned.is_empty() {
        let mut desk = Desk::with(cx, watch);
        activate(&mut desk, concerned, None);
        desk.close();
    }
}

/// The agent's loop has ended: those look that wait for that, and what was found is told.
pub fn end(cx: &mut Context) {
    let mut desk = Desk::open(cx);
    let agent = desk.cx.session().agent;
    let is_main = agent.kind == AgentKind::Main;
    let has_something_to_tell = is_main && !desk.memory.run.is_quiet();
    let looks = |desk: &Desk, ending| activation::concerned(&desk.watch, Trigger::AgentEnd, ending, &agent);
    if !has_something_to_tell && looks(&desk, Ending::AtRest).is_empty() {
        return;
    }
    let entries = branch::since_user(desk.cx);
    let ending = branch::last_message(&entries).map_or(Ending::GoesOn, branch::ending);
    let concerned = looks(&desk, ending);
    activate(&mut desk, concerned, Some(entries));
    match ending {
        _ if !is_main => {}
        Ending::BrokenOff => desk.drop_steers(None),
        Ending::AtRest | Ending::GoesOn => {
            desk.memory.run.ended = true;
            delivery::deliver(&mut desk);
        }
    }
    desk.close();
}

/// Somebody ran `/name`: its monitor is judged whatever stands in the way otherwise, and the verdict is told.
pub fn run_command(desk: &mut Desk, name: &str) {
    let listed = desk.watch.roster.find(name).filter(|listed| listed.event == Trigger::Command).cloned();
    let Some(listed) = listed else {
        return desk.cx.notify(format!("[{name}] is no monitor that can be run as a command"), Tone::Error);
    };
    if desk.watch.is_commanded(name) {
        return desk.cx.notify(format!("[{name}] is being judged already"), Tone::Normal);
    }
    let entries = branch::since_user(desk.cx);
    let window = Window::new(&entries);
    match request::question(desk.cx, &listed, &window, desk.memory.count(name)) {
        Ok(question) => {
            let id = desk.cx.complete(question.request);
            let entry = window.newest().map(|entry| entry.id.clone());
            let digest = Some(question.digest);
            desk.watch.sent(id, Errand::Command { monitor: name.into(), entry, digest, outdated: false });
        }
        Err(reason) => desk.cx.notify(format!("[{name}] cannot be judged: {reason}"), Tone::Error),
    }
}

/// Makes these look, whom an event is for. `entries` are those since the user's message, if they were read already.
fn activate(desk: &mut Desk, concerned: Vec<Listed>, entries: Option<Vec<Entry>>) {
    if concerned.is_empty() {
        return;
    }
    let knows_prompt = desk.memory.prompt != memory::Prompt::Unknown && !desk.memory.prompt_may_be_old;
    let mut entries = match entries {
        None if knows_prompt && concerned.iter().all(activation::counts) => None,
        entries => {
            let entries = entries.unwrap_or_else(|| branch::since_user(desk.cx));
            desk.memory.turn_to(branch::prompt(&entries));
            Some(entries)
        }
    };
    let mut looking = Vec::with_capacity(concerned.len());
    for listed in concerned {
        let holds = match activation::counts(&listed) {
            true => activation::comes_round(&listed, &mut desk.memory),
            false => entries.as_ref().is_some_and(|entries| activation::holds(&listed, entries)),
        };
        if holds {
            looking.push(listed);
        }
    }
    if looking.is_empty() {
        return;
    }
    let entries = entries.take().unwrap_or_else(|| branch::since_user(desk.cx));
    let window = Window::new(&entries);
    for listed in &looking {
        match stand(&desk.memory.run, listed) {
            Stand::KeepsOut => {}
            Stand::Waits if desk.memory.run.waiting.contains(&listed.name) => {}
            Stand::Waits => desk.memory.run.waiting.push(listed.name.clone()),
            Stand::Goes => ask(desk, listed, &window),
        }
    }
}

/// Something has been decided: those that waited for it ask or keep out, and what is due is told.
pub fn proceed(desk: &mut Desk) {
    release(desk);
    delivery::deliver(desk);
}

fn release(desk: &mut Desk) {
    if desk.memory.run.waiting.is_empty() {
        return;
    }
    let waiting = std::mem::take(&mut desk.memory.run.waiting);
    let listed = waiting.iter().filter_map(|name| desk.watch.roster.find(name)).collect();
    let in_order = activation::in_order(listed);
    desk.memory.run.waiting = in_order.iter().map(|listed| listed.name.clone()).collect();
    let mut entries = None;
    for listed in &in_order {
        let stand = stand(&desk.memory.run, listed);
        if stand != Stand::Waits {
            desk.memory.run.waiting.retain(|name| *name != listed.name);
        }
        if stand == Stand::Goes {
            let entries = entries.get_or_insert_with(|| branch::since_user(desk.cx));
            ask(desk, listed, &Window::new(entries));
        }
    }
}

fn stand(run: &Run, listed: &Listed) -> Stand {
    exclusion::stand(&listed.excludes, |name| run.steers(name), |name| run.is_undecided(name))
}

/// Asks a monitor's judge, unless it was asked often enough for this prompt, is failing, or has judged this already.
fn ask(desk: &mut Desk, listed: &Listed, window: &Window) {
    let name = &listed.name;
    if !activation::may_ask(listed, desk.memory.notes(name)) {
        let reason = match desk.memory.notes(name).back_off.is_failing() {
            true => "the judge is left alone after a failure",
            false => "the judge was asked often enough for this message of the user",
        };
        return spare(desk, name, window, reason);
    }
    let question = match request::question(desk.cx, listed, window, desk.memory.count(name)) {
        Ok(question) => question,
        Err(reason) => return desk.cx.log(Level::Warn, format!("[{name}] is not judged: {reason}")),
    };
    let digest = question.digest;
    let under_way = |judging: &Judging| judging.monitor == *name && judging.digest == digest;
    let is_known = desk.memory.notes(name).judged.contains(&digest) || desk.memory.run.judging.values().any(under_way);
    if is_known && !activation::counts(listed) {
        return spare(desk, name, window, "this evidence was judged before");
    }
    let id = desk.cx.complete(question.request);
    desk.memory.notes(name).calls += 1;
    let entry = window.newest().map(|entry| entry.id.clone());
    desk.memory.run.judging.insert(id, Judging { monitor: name.clone(), digest, entry });
}

/// Tells the host that a judge was not asked.
fn spare(desk: &mut Desk, name: &str, window: &Window, reason: &str) {
    let entry = window.newest().map(|entry| entry.id.clone());
    desk.cx.spared(Sparing { watcher: name.into(), reason: reason.into(), entry });
}
