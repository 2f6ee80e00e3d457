//! From what happens to a question, from a question to a verdict, and from there to what the agent hears.

pub mod activation;
pub mod answer;
pub mod asking;
pub mod ceiling_dialog;
pub mod consequences;
pub mod delivery;
pub mod gate;
pub mod lessons;
pub mod looking;
mod moment;
pub mod recording;
mod request;
pub mod telling;

use chaperone_sdk::{AgentKind, Context, Entry, FileError, Scope, Tone};

use crate::branch::{self, Ending};
use crate::definition::Trigger;
use crate::desk::Desk;
use crate::errand::Errand;
use crate::evidence::git;
use crate::exclusion::{self, Stand};
use crate::memory::{self, Run, Watch};
use crate::roster::Listed;
use moment::Moment;

pub use request::{GATE_MS, MAX_OUTPUT_TOKENS, TIMEOUT_MS};

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
    let moment = Moment::now(desk.cx, std::slice::from_ref(&listed));
    if moment.window().is_whole(&listed.shows) {
        return ask_for_command(desk, &listed, &moment, false);
    }
    let id = git::look_up(desk.cx);
    desk.watch.sent(id, Errand::CommandStatus { monitor: name.into(), outdated: false });
}

/// The state of the repository was looked up for somebody's `/name`.
pub fn command_looked_up(desk: &mut Desk, name: &str, outdated: bool, outcome: Result<(), FileError>) {
    let Some(listed) = desk.watch.roster.find(name).cloned() else {
        return desk.cx.notify(format!("[{name}] is gone"), Tone::Error);
    };
    let moment = Moment::now(desk.cx, std::slice::from_ref(&listed));
    let moment = moment.with_git_status(git::status(desk.cx, outcome));
    ask_for_command(desk, &listed, &moment, outdated);
}

fn ask_for_command(desk: &mut Desk, listed: &Listed, moment: &Moment, outdated: bool) {
    let name = &listed.name;
    match request::question(desk, listed, &moment.window()) {
        Ok(request) => {
            let id = desk.cx.complete(request);
            let digest = Some(moment.window().evidence(&listed.shows).digest());
            let (monitor, entry) = (name.clone(), moment.newest());
            desk.watch.sent(id, Errand::Command { monitor, entry, digest, outdated });
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
    let mut counted: Vec<Listed> = Vec::with_capacity(concerned.len());
    for listed in concerned {
        if !activation::counts(&listed) || activation::comes_round(&listed, &mut desk.memory) {
            counted.push(listed);
        }
    }
    if counted.is_empty() {
        return;
    }
    let entries = entries.take().unwrap_or_else(|| branch::since_user(desk.cx));
    let moment = Moment::of(desk.cx, entries, &counted);
    let (window, transcript) = (moment.window(), moment.transcript());
    for listed in counted.iter().filter(|listed| listed.when.holds(&transcript)) {
        match stand(&desk.memory.run, listed) {
            Stand::KeepsOut => {}
            Stand::Waits if desk.memory.run.waiting.contains(&listed.name) => {}
            Stand::Waits => desk.memory.run.waiting.push(listed.name.clone()),
            Stand::Goes => asking::ask(desk, listed, &window, &transcript),
        }
    }
}

/// Something has been decided: those that waited for it ask or keep out, and what is due is told.
pub fn proceed(desk: &mut Desk) {
    release(desk);
    delivery::deliver(desk);
}

/// Asks a monitor's judge again about what there is now, since the question was refused for its form.
pub fn ask_again(desk: &mut Desk, name: &str) {
    let Some(listed) = desk.watch.roster.find(name).cloned() else { return };
    let moment = Moment::now(desk.cx, std::slice::from_ref(&listed));
    asking::ask(desk, &listed, &moment.window(), &moment.transcript());
}

fn release(desk: &mut Desk) {
    if desk.memory.run.waiting.is_empty() {
        return;
    }
    let waiting = std::mem::take(&mut desk.memory.run.waiting);
    let listed = waiting.iter().filter_map(|name| desk.watch.roster.find(name)).collect();
    let in_order = activation::in_order(listed);
    desk.memory.run.waiting = in_order.iter().map(|listed| listed.name.clone()).collect();
    let mut moment = None;
    for listed in &in_order {
        let stand = stand(&desk.memory.run, listed);
        if stand != Stand::Waits {
            desk.memory.run.waiting.retain(|name| *name != listed.name);
        }
        if stand == Stand::Goes {
            let moment: &Moment = moment.get_or_insert_with(|| Moment::now(desk.cx, &in_order));
            asking::ask(desk, listed, &moment.window(), &moment.transcript());
        }
    }
}

fn stand(run: &Run, listed: &Listed) -> Stand {
    exclusion::stand(&listed.excludes, |name| run.steers(name), |name| run.is_undecided(name))
}
