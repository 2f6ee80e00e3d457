//! Keeping traces: each model call with the judgement that rests on it, and what became of that.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chaperone_contract::*;

use super::{Session, Ticket};
use crate::llm::Answer as LlmAnswer;
use crate::store::{CallTrace, Kept, StoreError, StoredTraces};
use crate::transaction::{NoTraces, ReadTraces};

/// A question that is under way.
pub(super) struct Asked {
    pub(super) request: CompletionRequest,
    /// The model that was meant.
    pub(super) model: Option<ModelId>,
}

impl Session {
    /// What a plugin's hooks read of traces.
    pub(super) fn traces_for(&self, index: usize) -> Arc<dyn ReadTraces> {
        match &self.memory {
            Some(memory) => {
                let owner = memory.owner(&self.snapshot.session_id, &self.plugins[index].name);
                Arc::new(StoredTraces { store: memory.store.clone(), owner })
            }
            None => Arc::new(NoTraces),
        }
    }

    /// Holds an answer until the hook that hears of it has run.
    pub(super) fn hold_answer(&mut self, ticket: Ticket, asked: Option<Asked>, outcome: &LlmAnswer, took: Duration) {
        if let Some(Asked { request, model }) = asked {
            let duration_ms = u32::try_from(took.as_millis()).unwrap_or(u32::MAX);
            let call = CallTrace { request_id: ticket.1, request, model, outcome: outcome.clone(), duration_ms };
            self.answered.insert(ticket, Box::new(call));
        }
    }

    /// Keeps what a hook led to: its call, its judgements, and what became of them. A call is kept whether it was judged
    /// by or not, and whether its hook came to its end or not: it was paid for.
    pub(super) fn keep_traces(&mut self, index: usize, event: &Event, effects: &[Effect]) -> Result<(), StoreError> {
        let mut call = match event {
            Event::LlmCompleted { id, .. } => self.answered.remove(&(index, *id)),
            _ => None,
        };
        let Some(memory) = &self.memory else { return Ok(()) };
        let mut kept = Vec::new();
        let is_judged_by = |call: &CallTrace| {
            let is_of = |effect: &Effect| matches!(effect, Effect::Judged(judgement) if judgement.request == Some(call.request_id));
            effects.iter().any(is_of)
        };
        // What is decided about a call must find it.
        kept.extend(call.take_if(|call| !is_judged_by(call)).map(Kept::Call));
        for effect in effects {
            match effect {
                Effect::Judged(judgement) => {
                    let call = call.take_if(|call| judgement.request == Some(call.request_id));
                    kept.push(Kept::Judgement(judgement.clone(), call));
                }
                Effect::Spared(sparing) => kept.push(Kept::Sparing(sparing.clone())),
                Effect::Decided(decision) => kept.push(Kept::Decision(decision.clone())),
                _ => {}
            }
        }
        let owner = memory.owner(&self.snapshot.session_id, &self.plugins[index].name);
        memory.store.keep(&owner, &memory.traces, &kept, self.snapshot.now, wall_clock())
    }
}

/// How long traces and sessions are kept goes by the clock on the wall: a recorded session has a time of its own.
pub(super) fn wall_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::try_from(since.as_millis()).unwrap_or(Timestamp::MAX)
}
