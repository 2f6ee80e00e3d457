//! The stop guard: when the agent comes to rest, a second model judges whether it stopped too early. If so, and if the
//! judge is sure enough, the agent is sent back with a directive that names what is missing.
//!
//! The parts that know texts and rules, in the order in which a judgement needs them:
//! - [`config`] is what the user has set, [`file`](mod@file) where it stands;
//! - [`round`] reads what happened since the user's message, [`evidence`] makes of it what the judge sees;
//! - [`prompt`] is what the judge is told, [`request`] the question with its budget;
//! - [`answer`] tells a verdict from a failure, [`verdict`] reads it, [`confidence`] is how sure it is;
//! - [`ruling`] says what follows, [`nudge`] what the agent is told, [`notice`] what the user sees, [`decision`] what is
//!   kept of it.
//!
//! The parts that know what has happened so far:
//! - [`memory`] is what is remembered between hooks, [`desk`] reads and writes it for one hook;
//! - [`judging`] goes from a stop to what follows from it;
//! - [`command`] is `/config:auto-goal`, [`settings`] its panel.
//!
//! Here, the hooks are handed to them; no rule stands here.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may"))]

pub mod answer;
pub mod command;
pub mod confidence;
pub mod config;
pub mod decision;
pub mod desk;
pub mod evidence;
pub mod file;
pub mod judging;
pub mod memory;
pub mod notice;
pub mod nudge;
pub mod prompt;
pub mod request;
pub mod round;
pub mod ruling;
pub mod settings;
pub mod verdict;

use chaperone_sdk::{
    Answer, Command, Completion, CompletionItem, Content, Context, Description, FileError, Hook, LlmError, Plugin,
    RequestId, SettledReason, StartReason,
};

/// The watcher.
pub struct StopGuard;

chaperone_sdk::export!(StopGuard);

impl Plugin for StopGuard {
    fn describe(_: &mut Context) -> Description {
        let summary = "Judges whether the agent stopped too early, and sends it back";
        let hooks = [Hook::SessionStart, Hook::BranchChanged, Hook::Input, Hook::AgentStart, Hook::AgentSettled];
        let command = |name: &str| Command {
            name: name.into(),
            description: "Set how premature stops of the agent are judged".into(),
        };
        Description {
            commands: command::NAMES.map(command).into(),
            ..chaperone_sdk::describe(request::LABEL, env!("CARGO_PKG_VERSION"), summary, hooks)
        }
    }

    fn session_start(cx: &mut Context, reason: StartReason) {
        desk::work(cx, |desk| judging::begin(desk, reason));
    }

    fn branch_changed(cx: &mut Context) {
        desk::work(cx, judging::give_up);
    }

    fn input(cx: &mut Context, _: Vec<Content>) {
        desk::work(cx, judging::give_up);
    }

    fn agent_start(cx: &mut Context) {
        desk::work(cx, judging::give_up);
    }

    fn agent_settled(cx: &mut Context, reason: SettledReason) {
        desk::work(cx, |desk| judging::settled(desk, reason));
    }

    fn llm_completed(cx: &mut Context, id: RequestId, outcome: Result<Completion, LlmError>) {
        desk::work(cx, |desk| judging::completed(desk, id, outcome));
    }

    fn answered(cx: &mut Context, _: RequestId, answer: Answer) {
        desk::work(cx, |desk| command::answered(desk, answer));
    }

    fn stored(cx: &mut Context, id: RequestId, outcome: Result<(), FileError>) {
        desk::work(cx, |desk| command::stored(desk, id, outcome));
    }

    fn command(cx: &mut Context, _: String, arguments: String) {
        desk::work(cx, |desk| command::run(desk, &arguments));
    }

    fn complete_command(cx: &mut Context, _: String, prefix: String) -> Vec<CompletionItem> {
        command::items(&prefix, &cx.models())
    }
}
