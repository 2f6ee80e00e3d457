//! One hook's work: the states, read once and written back only where they changed.

use chaperone_sdk::{Context, Scope, StartReason};

use crate::decision::{self, About};
use crate::judging::gate;
use crate::memory::{Dropped, Flagged, Memory, Notes, Run, Watch};
use crate::status;

/// What a hook works on.
pub struct Desk<'cx, 'host> {
    /// The session and its effects.
    pub cx: &'cx mut Context<'host>,
    /// Of the session.
    pub watch: Watch,
    /// Of the branch.
    pub memory: Memory,
    watch_before: Watch,
    memory_before: Memory,
}

impl<'cx, 'host> Desk<'cx, 'host> {
    /// Reads the states.
    pub fn open(cx: &'cx mut Context<'host>) -> Self {
        let watch = cx.state(Scope::Session);
        Self::with(cx, watch)
    }

    /// Reads what is missing.
    pub fn with(cx: &'cx mut Context<'host>, watch: Watch) -> Self {
        let memory: Memory = cx.state(Scope::Branch);
        Self { cx, watch_before: watch.clone(), memory_before: memory.clone(), watch, memory }
    }

    /// Shows the status and writes the states, where they changed.
    pub fn close(mut self) {
        let status = status::line(&self.watch, &self.memory);
        if self.watch.status != status.text {
            self.watch.status.clone_from(&status.text);
            self.cx.set_status(status.into_line());
        }
        self.memory.notes.retain(|_, notes| *notes != Notes::default());
        if self.watch != self.watch_before {
            self.cx.set_state(Scope::Session, &self.watch);
        }
        if self.memory != self.memory_before {
            self.cx.set_state(Scope::Branch, &self.memory);
        }
    }

    /// The session begins: what was under way elsewhere, or before, is over. All are on again and none is dismissed, unless
    /// the plugin was only loaded anew.
    pub fn begin(&mut self, reason: StartReason) {
        self.watch.status = None;
        if reason != StartReason::Reload {
            self.watch = std::mem::take(&mut self.watch).anew();
            self.memory.run = Run::default();
        }
    }

    /// Makes `monitor`, or all of them (none), leave the agent alone: cancels what is being judged for events, and gives
    /// up what was to be told. Commands still get their answers.
    pub fn drop_steers(&mut self, monitor: Option<&str>) {
        let Dropped { calls, flagged } = self.memory.run.drop(monitor);
        for id in calls {
            self.cx.cancel(id);
        }
        for Flagged { monitor, request, .. } in &flagged {
            About { monitor, request: Some(*request) }.became(self.cx, decision::DROPPED, None);
        }
        gate::give_up(self, monitor);
        self.watch.outdate(monitor);
    }
}
