//! One hook of one plugin: called, written down, seen, committed, carried out.

use std::time::Instant;

use chaperone_contract::*;

use super::requests::requests;
use super::{HookRun, Note, Observer, Result, Session};
use crate::record::{RecordedHook, RecordedResult};
use crate::store::Left;
use crate::transaction::{Committed, FileRead, Input};

/// How many hooks of one plugin may follow from one event without waiting, beyond the answers to its first ones. Nothing
/// sensible needs a tenth of it: a hook that is told how a write ended may write again, but not for ever.
const CHAIN: u32 = 1_000;

impl Session {
    /// Calls the hooks that are due, and those that follow from them without waiting. A plugin whose hooks go on for
    /// longer than [`CHAIN`] is set aside; the others still get what is due to them.
    pub(super) fn drain(&mut self, observer: &mut dyn Observer) -> Result<()> {
        // What is due already has been asked for by hooks that have run, and by timers: there may be as much as they like.
        let mut left = vec![CHAIN; self.plugins.len()];
        for (index, _) in &self.due {
            left[*index] += 1;
        }
        while let Some((index, event)) = self.due.pop_front() {
            if self.plugins[index].set_aside.is_some() {
                continue;
            }
            let Some(fewer) = left[index].checked_sub(1) else {
                self.set_aside(index, Note::RanAway { hooks: CHAIN }, observer);
                continue;
            };
            left[index] = fewer;
            self.run(index, &event, observer)?;
        }
        Ok(())
    }

    /// Calls a plugin no more, says why, and lets go of the tool calls that it holds.
    fn set_aside(&mut self, index: usize, why: Note, observer: &mut dyn Observer) {
        let plugin = &mut self.plugins[index];
        observer.note(&plugin.name, &why);
        plugin.set_aside = Some(why);
        for call_id in self.holds.drop_plugin(index) {
            observer.note(&plugin.name, &Note::Decided { call_id, refusal: None });
        }
    }

    /// Runs one hook of one plugin and carries out its effects. None where it did not come to its end.
    pub(super) fn run(
        &mut self,
        index: usize,
        event: &Event,
        observer: &mut dyn Observer,
    ) -> Result<Option<(Reply, Vec<FileRead>)>> {
        let plugin = &self.plugins[index];
        if plugin.set_aside.is_some() {
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
            Ok(_) => self.plugins[index].succeeded(event, effects, &self.branch),
            Err(_) => Vec::new(),
        };
        if let Some(memory) = &self.memory {
            let owner = memory.owner(&self.snapshot.session_id, &self.plugins[index].name);
            let requests = requests(event, effects, self.snapshot.now);
            let left = Left { leaf: entry.as_ref(), changed: &changed, requests: &requests, until: memory.until() };
            memory.commit(&owner, &left)?;
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
                if let Some(why) = self.plugins[index].failed() {
                    self.set_aside(index, why, observer);
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
