//! Behaviour monitors: judges of what a coding agent does, each defined by a few JSON files.
//!
//! A monitor looks at what the agent did since the user's latest message, shows it to a language model together with a
//! list of known faults, and acts on the verdict: it tells the agent, records a finding in a file, learns a new fault.
//!
//! The parts that know files and texts, in the order in which a judgement needs them:
//! - [`roster`] finds the monitors, [`definition`] reads one, [`fault`] says what is wrong with a file;
//! - [`scope`] and [`when`] decide whether a monitor has to look, [`waiting`] and [`precheck`] whether its judge is needed:
//!   both by [`condition`]s on the [`transcript`], whose words [`phrases`] finds;
//! - [`evidence`] collects what its judge gets to see, [`template`] makes the prompt of it;
//! - [`verdict`] reads the judge's answer;
//! - [`finding`], [`learning`], [`proposals`] and [`rules`] turn what follows into changes of files.
//!
//! The parts that know what has happened so far:
//! - [`memory`] and [`errand`] are what is remembered between hooks, [`desk`] reads and writes it for one hook;
//! - [`judging`] goes from an event to the message that the agent gets, with the rules of [`exclusion`], [`backoff`]
//!   and [`ceiling`], and the words of [`steer`]; [`branch`] is what it looks at;
//! - [`trust`] says which monitors of a project may act, and [`consent`] asks the user and keeps the answer;
//! - [`decision`] tells the host what became of each judgement, for its trace;
//! - [`replies`] takes the host's answers to whoever asked;
//! - [`command`] is `/monitors`, [`status`] the status bar, [`seeding`] the bundled monitors.
//!
//! Here, the hooks are handed to them; no rule stands here.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may"))]

mod words;

pub mod backoff;
pub mod branch;
pub mod ceiling;
pub mod command;
pub mod condition;
pub mod consent;
pub mod decision;
pub mod definition;
pub mod desk;
pub mod errand;
pub mod evidence;
pub mod exclusion;
pub mod fault;
pub mod finding;
pub mod glob;
pub mod judging;
pub mod learning;
pub mod memory;
pub mod patterns;
pub mod phrases;
pub mod precheck;
pub mod proposals;
pub mod replies;
pub mod roster;
pub mod rules;
pub mod scope;
pub mod seeding;
pub mod sidecar;
pub mod status;
pub mod steer;
pub mod template;
pub mod transcript;
pub mod trust;
pub mod verdict;
pub mod waiting;
pub mod when;

#[cfg(test)]
mod samples;

use chaperone_sdk::{
    Answer, Command, Completion, CompletionItem, Content, Context, Description, Entry, EntryBody, FileError, Gate,
    Hook, Level, LlmError, Plugin, RequestId, Scope, SettledReason, StartReason, ToolCall, ToolResult, Turn,
};

use crate::branch::{Ending, ending};
use crate::definition::{RESERVED_COMMAND, Trigger};
use crate::desk::Desk;
use crate::memory::{Habits, Prompt, Watch};
use crate::roster::Roster;

/// The watcher.
pub struct Monitors;

chaperone_sdk::export!(Monitors);

impl Plugin for Monitors {
    fn describe(cx: &mut Context) -> Description {
        let habits: Habits = cx.state(Scope::Project);
        let roster = roster::discover(cx, &habits.trust);
        for fault in &roster.faults {
            cx.log(if fault.is_to_be_mended() { Level::Warn } else { Level::Info }, fault.to_string());
        }
        let description = description(&roster);
        let mut watch: Watch = cx.state(Scope::Session);
        if watch.roster != roster {
            watch.roster = roster;
            cx.set_state(Scope::Session, &watch);
        }
        description
    }

    fn session_start(cx: &mut Context, reason: StartReason) {
        let mut desk = Desk::open(cx);
        desk.begin(reason);
        command::tell_faults(&mut desk);
        if matches!(reason, StartReason::New | StartReason::Resume) {
            seeding::offer(&mut desk);
            consent::offer(&mut desk);
        }
        desk.close();
    }

    fn branch_changed(cx: &mut Context) {
        let mut desk = Desk::open(cx);
        desk.drop_steers(None);
        desk.close();
    }

    fn input(cx: &mut Context, _: Vec<Content>) {
        let mut desk = Desk::open(cx);
        desk.drop_steers(None);
        desk.memory.prompt_may_be_old = desk.memory.prompt != Prompt::Unknown;
        command::tell_faults(&mut desk);
        consent::tell(&mut desk);
        desk.close();
    }

    fn tool_start(cx: &mut Context, call: ToolCall) -> Gate {
        judging::gate::start(cx, call)
    }

    fn tool_end(cx: &mut Context, outcome: ToolResult) {
        let mut desk = Desk::open(cx);
        judging::gate::ended(&mut desk, &outcome);
        desk.close();
    }

    fn message_end(cx: &mut Context, message: Entry) {
        if let EntryBody::Assistant(message) = &message.body {
            judging::look(cx, Trigger::MessageEnd, ending(message));
        }
    }

    fn turn_end(cx: &mut Context, turn: Turn) {
        let ending = match ending(&turn.message) {
            Ending::AtRest if !turn.tool_results.is_empty() => Ending::GoesOn,
            ending => ending,
        };
        judging::look(cx, Trigger::TurnEnd, ending);
    }

    fn agent_end(cx: &mut Context) {
        judging::end(cx);
    }

    fn agent_settled(cx: &mut Context, reason: SettledReason) {
        match reason {
            SettledReason::Finished => {}
            SettledReason::Interrupted | SettledReason::Failed => {
                let mut desk = Desk::open(cx);
                desk.drop_steers(None);
                desk.close();
            }
        }
    }

    fn llm_completed(cx: &mut Context, id: RequestId, outcome: Result<Completion, LlmError>) {
        replies::completed(cx, id, outcome);
    }

    fn answered(cx: &mut Context, id: RequestId, answer: Answer) {
        replies::answered(cx, id, &answer);
    }

    fn stored(cx: &mut Context, id: RequestId, outcome: Result<(), FileError>) {
        replies::stored(cx, id, outcome);
    }

    fn timer_fired(cx: &mut Context, id: RequestId) {
        replies::timer_fired(cx, id);
    }

    fn command(cx: &mut Context, name: String, arguments: String) {
        let mut desk = Desk::open(cx);
        if name == RESERVED_COMMAND {
            command::run(&mut desk, &arguments);
            judging::proceed(&mut desk);
        } else {
            judging::run_command(&mut desk, &name);
        }
        desk.close();
    }

    fn complete_command(cx: &mut Context, name: String, prefix: String) -> Vec<CompletionItem> {
        match name == RESERVED_COMMAND {
            true => command::completion::items(&prefix, &cx.state::<Watch>(Scope::Session).roster.monitors),
            false => Vec::new(),
        }
    }
}

/// What the host is to call: only what these monitors need.
fn description(roster: &Roster) -> Description {
    let looks_at = |trigger| roster.monitors.iter().any(|listed| listed.event == trigger);
    let mut hooks = vec![Hook::SessionStart, Hook::BranchChanged, Hook::Input, Hook::AgentEnd, Hook::AgentSettled];
    if looks_at(Trigger::MessageEnd) {
        hooks.push(Hook::MessageEnd);
    }
    if looks_at(Trigger::TurnEnd) {
        hooks.push(Hook::TurnEnd);
    }
    if looks_at(Trigger::ToolCall) {
        hooks.extend([Hook::ToolStart, Hook::ToolEnd]);
    }
    let all = Command { name: RESERVED_COMMAND.into(), description: "List, calibrate and silence monitors".into() };
    let own = roster.monitors.iter().filter(|listed| listed.event == Trigger::Command).map(|listed| Command {
        name: listed.name.clone(),
        description: match listed.description.as_str() {
            "" => format!("Run {} monitor", listed.name),
            description => description.into(),
        },
    });
    let summary = "Judges what the agent does by monitors that are defined in JSON files, and steers it";
    Description {
        commands: std::iter::once(all).chain(own).collect(),
        ..chaperone_sdk::describe("monitors", env!("CARGO_PKG_VERSION"), summary, hooks)
    }
}
