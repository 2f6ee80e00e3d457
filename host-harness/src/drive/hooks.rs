//! One hook of one plugin: called, written down, seen, committed, carried out.

use std::time::Instant;

use chaperone_contract::*;

use super::requests::requests;
use super::{HookRun, Note, Observer, Result, Session};
use crate::record::{RecordedHook, RecordedResult};
use crate::store::Left;
use crate::transaction::{Committed, FileRead, Input};

impl Session {
    /// Calls the hooks that are due, and those that follow from them.
    pub(super) fn drain(&mut self, observer: &mut dyn Observer) -> Result<()> {
        while let Some((index, event)) = self.due.pop_front() {
            self.run(index, &event, observer)?;
        }
        Ok(())
    }

    /// Runs one hook of one plugin and carries out its effects. None where it did not come to its end.
    pub(super) fn run(
        &mut self,
        index: usize,
        event: &Event,
        observer: &mut dyn Observer,
    ) -> Result<Option<(Reply, Vec<FileRead>)>> {
        let plugin = &self.plugins[index];
        if plugin.is_quarantined() {
            return Ok(None);
        }
        let snapshot = Snapshot {
            leaf: self.branch.leaf().map(|leaf| leaf.id.clone()),
            branch_length: u32::try_from(self.branch.entries().len()).unwrap_or(u32::MAX),
            ..self.snapshot.clone()
        };
        let input = Input {
            snapshot,
            branch: self.branch.clone(),
            state: plugin.history.current().clone(),
            models: plugin.models.clone(),
            files: plugin.files.clone(),
            traces: self.traces_for(index),
            next_request: plugin.next_request,
        };
        let entry = input.snapshot.leaf.clone();
        let recorded = self.recorder.is_some().then(|| input.snapshot.clone());
        let started = Instant::now();
        let mut outcome = plugin.component.call(&plugin.limits, input, event);
        let took = started.elapsed();
        if let (Some(recorder), Some(snapshot)) = (&mut self.recorder, recorded) {
            recorder.hook(RecordedHook {
                plugin: plugin.name.clone(),
                event: event.clone(),
                snapshot,
                next_request: plugin.next_request,
                reads: outcome.reads.clone(),
                traces: outcome.traces.clone(),
                result: RecordedResult::of(&outcome),
            })?;
        }
        let denied = match &mut outcome.result {
            Ok(committed) if !plugin.grants.inject => take_ungranted(committed),
            _ => Vec::new(),
        };
        let effects = outcome.result.as_ref().map(|committed| committed.effects.as_slice()).unwrap_or_default();
        let changed = match &outcome.result {
            Ok(_) => self.plugins[index].succeeded(effects, &self.branch),
            Err(_) => Vec::new(),
        };
        if let Some(memory) = &self.memory {
            let owner = memory.owner(&self.snapshot.session_id, &self.plugins[index].name);
            let requests = requests(event, effects, self.snapshot.now);
            memory.commit(&owner, &Left { leaf: entry.as_ref(), changed: &changed, requests: &requests })?;
        }
        self.keep_traces(index, event, effects)?;
        observer.hook(&HookRun {
            plugin: &self.plugins[index].name,
            event,
            entry: entry.as_ref(),
            result: &outcome.result,
            took,
        });
        for effect in denied {
            observer.note(&self.plugins[index].name, &Note::Denied { effect });
        }
        match outcome.result {
            Ok(Committed { reply, effects }) => {
                self.carry_out(index, effects, observer);
                Ok(Some((reply, outcome.reads)))
            }
            Err(_) => {
                if let Some(failures) = self.plugins[index].failed() {
                    observer.note(&self.plugins[index].name, &Note::Quarantined { failures });
                    for call_id in self.holds.drop_plugin(index) {
                        observer.note(&self.plugins[index].name, &Note::Decided { call_id, refusal: None });
                    }
                }
                Ok(None)
            }
        }
    }
}

/// Takes out what needs the grant to speak into the conversation, and returns its names.
fn take_ungranted(committed: &mut Committed) -> Vec<&'static str> {
    let needs_grant = |effect: &Effect| matches!(effect, Effect::Inject(_) | Effect::Release { .. } | Effect::Abort);
    let effects = &mut committed.effects;
    let mut names: Vec<_> = effects.iter().filter(|effect| needs_grant(effect)).map(Effect::name).collect();
    effects.retain(|effect| !needs_grant(effect));
    if matches!(committed.reply, Reply::Gate(Gate::Hold | Gate::Refuse(_))) {
        names.push("tool_start");
        committed.reply = Reply::Gate(Gate::Allow);
    }
    names
}
