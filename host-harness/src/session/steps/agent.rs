//! The agent as its entries show it, and the telling of what it does.

use std::sync::Arc;

use chaperone_contract::{
    AssistantMessage, Content, Entry, EntryBody, EntryId, Event, ModelId, SettledReason, StartReason, StopReason,
    Timestamp, ToolResult, Turn,
};

use super::ahead::Ahead;
use super::{Step, TimedStep};
use crate::session::BranchEntry;

/// Where the agent stands.
#[derive(Default)]
enum Agent {
    /// It will not go on by itself.
    #[default]
    Settled,
    /// Its run ended, and it is about to start another one by itself.
    Restarting,
    /// A run is going on; the next turn will have this index.
    BetweenTurns(u32),
    /// The model has been asked, and has not answered yet.
    Asked(u32),
    /// The model asked for tools.
    Working(Box<Work>),
}

/// A turn whose tools are running.
struct Work {
    /// With the results that are in.
    turn: Turn,
    /// Ids of the calls without a result.
    open_calls: Vec<String>,
}

/// Tells what happens while it is shown one entry after the other.
#[derive(Default)]
pub(super) struct Narrator {
    told: Vec<TimedStep>,
    agent: Agent,
    model: Option<ModelId>,
    at: Timestamp,
    entry: Option<EntryId>,
}

impl Narrator {
    fn tell(&mut self, event: Event) {
        self.push(Step::Event(event));
    }

    fn push(&mut self, step: Step) {
        let idle = matches!(self.agent, Agent::Settled);
        self.told.push(TimedStep { at: self.at, entry: self.entry.clone(), idle, step });
    }

    pub(super) fn take(&mut self, BranchEntry { entry, model }: &BranchEntry, ahead: Ahead) {
        self.entry = Some(entry.id.clone());
        // An answer's entry is written when the model is done, yet its turn began right after what came before.
        if matches!(entry.body, EntryBody::Assistant(_)) && !matches!(self.agent, Agent::Settled) {
            self.open_turn();
        }
        self.at = self.at.max(entry.timestamp);
        match &entry.body {
            EntryBody::User(content) => {
                let waits = self.waits_for_results(ahead);
                if !waits {
                    self.close_turn();
                }
                self.tell(Event::Input { content: content.clone() });
                if !waits {
                    self.open_turn();
                }
                self.append_message(entry);
            }
            EntryBody::Custom(_) if matches!(self.agent, Agent::Settled) && !ahead.agent_answers => self.append(entry),
            EntryBody::Custom(_) => {
                if !self.waits_for_results(ahead) {
                    self.open_turn();
                }
                self.append_message(entry);
            }
            EntryBody::Assistant(message) => self.answer(entry, message, ahead),
            EntryBody::ToolResult(result) => self.result(entry, result),
            EntryBody::Compaction(_) | EntryBody::Other(_) => self.append(entry),
        }
        if let Some(model) = model {
            self.run_on(model);
        }
    }

    /// What was taken until now was there when the session started for plugins.
    pub(super) fn start(&mut self) {
        self.entry = None;
        self.tell(Event::SessionStart { reason: StartReason::New });
    }

    /// The session is over.
    pub(super) fn end(mut self) -> Vec<TimedStep> {
        self.entry = None;
        self.tell(Event::SessionEnd);
        self.told
    }

    fn append(&mut self, entry: &Arc<Entry>) {
        self.push(Step::Append(entry.clone()));
    }

    fn append_message(&mut self, entry: &Arc<Entry>) {
        self.append(entry);
        self.tell(Event::MessageEnd { message: Entry::clone(entry) });
    }

    fn run_on(&mut self, model: &ModelId) {
        if self.model.as_ref() != Some(model) {
            self.model = Some(model.clone());
            self.push(Step::Model(model.clone()));
        }
    }

    fn waits_for_results(&self, ahead: Ahead) -> bool {
        matches!(self.agent, Agent::Working(_)) && ahead.results_come
    }

    /// Brings the agent to where the model is being asked; gives the turn's index.
    fn open_turn(&mut self) -> u32 {
        self.close_turn();
        let turn = match self.agent {
            Agent::Asked(turn) => return turn,
            Agent::BetweenTurns(turn) => turn,
            Agent::Settled | Agent::Restarting | Agent::Working(_) => {
                self.agent = Agent::BetweenTurns(0);
                self.tell(Event::AgentStart);
                0
            }
        };
        self.agent = Agent::Asked(turn);
        self.tell(Event::TurnStart { index: turn });
        turn
    }

    /// Ends a turn whose tools are running, with the results that there are.
    fn close_turn(&mut self) {
        match std::mem::take(&mut self.agent) {
            Agent::Working(work) => self.turn_ends(work.turn),
            other => self.agent = other,
        }
    }

    fn turn_ends(&mut self, turn: Turn) {
        self.agent = Agent::BetweenTurns(turn.index + 1);
        self.tell(Event::TurnEnd { turn });
    }

    fn answer(&mut self, entry: &Arc<Entry>, message: &AssistantMessage, ahead: Ahead) {
        if let Some(model) = &message.model {
            self.run_on(model);
        }
        let index = self.open_turn();
        self.append_message(entry);
        let calls: Vec<_> = message
            .content
            .iter()
            .filter_map(|part| match part {
                Content::ToolCall(call) => Some(call),
                _ => None,
            })
            .collect();
        // Tools of a message that broke off are not run.
        let reason = match message.stop_reason {
            StopReason::Aborted => Some(SettledReason::Interrupted),
            StopReason::Error => Some(SettledReason::Failed),
            StopReason::Stop | StopReason::Length | StopReason::ToolUse => {
                calls.is_empty().then_some(SettledReason::Finished)
            }
        };
        let turn = Turn { index, message: message.clone(), tool_results: Vec::new() };
        match reason {
            Some(reason) => {
                self.turn_ends(turn);
                self.run_ends(reason, ahead);
            }
            None => {
                let open_calls = calls.iter().map(|call| call.id.clone()).collect();
                self.agent = Agent::Working(Box::new(Work { turn, open_calls }));
                calls.into_iter().for_each(|call| self.tell(Event::ToolStart { call: call.clone() }));
            }
        }
    }

    fn run_ends(&mut self, reason: SettledReason, ahead: Ahead) {
        self.tell(Event::AgentEnd);
        if ahead.agent_goes_on && reason != SettledReason::Interrupted {
            self.agent = Agent::Restarting;
        } else {
            self.agent = Agent::Settled;
            self.tell(Event::AgentSettled { reason });
        }
    }

    fn result(&mut self, entry: &Arc<Entry>, result: &ToolResult) {
        let Agent::Working(work) = &mut self.agent else { return self.append(entry) };
        work.turn.tool_results.push(result.clone());
        if let Some(answered) = work.open_calls.iter().position(|call| *call == result.call_id) {
            work.open_calls.remove(answered);
        }
        let all_in = work.open_calls.is_empty();
        self.tell(Event::ToolEnd { outcome: result.clone() });
        self.append_message(entry);
        if all_in {
            self.close_turn();
        }
    }
}
