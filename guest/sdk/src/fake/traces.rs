//! What a fake host keeps of judgements.

use chaperone_contract::*;

use super::FakeHost;
use crate::Plugin;

/// A call that was answered.
pub(super) struct Answered {
    id: RequestId,
    request: CompletionRequest,
    outcome: Result<Completion, LlmError>,
}

impl<P: Plugin> FakeHost<P> {
    /// The call that an event brings the answer of.
    pub(super) fn answered(&mut self, event: &Event) -> Option<Answered> {
        let Event::LlmCompleted { id, outcome } = event else { return None };
        let request = self.asked.remove(id)?;
        Some(Answered { id: *id, request, outcome: outcome.clone() })
    }

    /// Keeps what a hook did for the traces. A call is kept, whether it was judged by or not.
    pub(super) fn keep(&mut self, mut answered: Option<Answered>, effects: &[Effect]) {
        let is_judged_by = |call: &Answered| {
            let is_of =
                |effect: &Effect| matches!(effect, Effect::Judged(judgement) if judgement.request == Some(call.id));
            effects.iter().any(is_of)
        };
        // What is decided about a call must find it.
        if let Some(call) = answered.take_if(|call| !is_judged_by(call)) {
            let id = call.id;
            self.trace(Some(call), None, Some(id));
        }
        for effect in effects {
            match effect {
                Effect::Complete(CompleteEffect { id, request }) => _ = self.asked.insert(*id, request.clone()),
                Effect::Judged(judgement) => {
                    let call = answered.take_if(|answered| judgement.request == Some(answered.id));
                    self.trace(call, Some(judgement), judgement.request);
                }
                Effect::Spared(sparing) => {
                    let (at, detail) = (self.session.now, Some(sparing.reason.clone()));
                    let spared = Consequence { at, outcome: "spared".into(), detail, finding: None };
                    let trace = self.empty_trace(sparing.watcher.clone());
                    let entry = sparing.entry.clone();
                    self.traces.push(Trace { entry, consequences: vec![spared], ..trace });
                }
                Effect::Decided(decision) => self.decided(decision),
                _ => {}
            }
        }
    }

    fn trace(&mut self, call: Option<Answered>, judgement: Option<&Judgement>, request: Option<RequestId>) {
        let watcher = judgement.map(|judgement| judgement.watcher.clone());
        let watcher = watcher.or_else(|| call.as_ref().map(|call| call.request.label.clone())).unwrap_or_default();
        let mut trace = self.empty_trace(watcher);
        if let Some(Answered { request, outcome, .. }) = call {
            trace.model = request.model;
            trace.system = request.system;
            trace.messages = request.messages;
            trace.duration_ms = Some(0);
            match outcome {
                Ok(completion) => {
                    trace.model = Some(completion.model);
                    trace.answer = Some(completion.text);
                    trace.stop_reason = Some(completion.stop_reason);
                    trace.usage = completion.usage;
                }
                Err(error) => trace.error = Some(error.to_string()),
            }
        }
        if let Some(judgement) = judgement {
            trace.entry.clone_from(&judgement.entry);
            trace.verdict = Some(judgement.verdict);
            trace.description.clone_from(&judgement.description);
        }
        if let Some(request) = request {
            self.traced.insert(request, trace.id);
        }
        self.traces.push(trace);
    }

    fn decided(&mut self, decision: &Decision) {
        let id = match decision.subject {
            Subject::Call(request) => self.traced.get(&request).copied(),
            Subject::Trace(id) => Some(id),
        };
        let at = self.session.now;
        if let Some(trace) = self.traces.iter_mut().find(|trace| Some(trace.id) == id) {
            let Decision { outcome, detail, finding, evidence, .. } = decision.clone();
            trace.evidence = trace.evidence.take().or(evidence);
            trace.consequences.push(Consequence { at, outcome, detail, finding });
        }
    }

    fn empty_trace(&self, watcher: String) -> Trace {
        Trace {
            id: self.traces.last().map_or(1, |trace| trace.id + 1),
            at: self.session.now,
            session_id: self.session.session_id.clone(),
            watcher,
            entry: self.branch.leaf().map(|entry| entry.id.clone()),
            evidence: None,
            model: None,
            system: None,
            messages: Vec::new(),
            answer: None,
            stop_reason: None,
            error: None,
            usage: None,
            duration_ms: None,
            verdict: None,
            description: None,
            consequences: Vec::new(),
        }
    }
}

/// `traces.read`
pub(super) fn read(traces: &[Trace], session: &str, query: &TraceQuery) -> Vec<Trace> {
    let is_meant = |trace: &&Trace| match &query.selection {
        Selection::Session => trace.session_id == session,
        Selection::Project => true,
        Selection::Id(id) => trace.id == *id,
        Selection::Finding(prefix) => trace.consequences.iter().any(|consequence| {
            consequence.finding.as_ref().is_some_and(|finding| finding.starts_with(prefix.as_str()))
        }),
    };
    let is_of_watcher = |trace: &&Trace| query.watcher.as_ref().is_none_or(|watcher| trace.watcher == *watcher);
    let newest = traces.iter().rev().filter(is_meant).filter(is_of_watcher).take(query.limit as usize).cloned();
    let mut read: Vec<Trace> = newest.collect();
    read.reverse();
    if !query.texts {
        for trace in &mut read {
            (trace.system, trace.messages, trace.answer) = (None, Vec::new(), None);
        }
    }
    read
}

/// `traces.accounts`
pub(super) fn accounts<'t>(traces: impl Iterator<Item = &'t Trace>) -> Vec<Account> {
    let mut accounts: Vec<Account> = Vec::new();
    for trace in traces {
        let position = accounts.iter().position(|account| account.watcher == trace.watcher);
        let position = position.unwrap_or_else(|| {
            accounts.push(empty_account(trace));
            accounts.len() - 1
        });
        count(&mut accounts[position], trace);
    }
    accounts.sort_by(|a, b| a.watcher.cmp(&b.watcher));
    accounts
}

fn empty_account(first: &Trace) -> Account {
    Account {
        watcher: first.watcher.clone(),
        since: first.at,
        calls: 0,
        failed: 0,
        spared: 0,
        usage: Usage { input: 0, output: 0, cache_read: 0, cache_write: 0, total: 0 },
        duration_ms: 0,
        clean: 0,
        flag: 0,
        new: 0,
        unknown: 0,
        outcomes: Vec::new(),
    }
}

fn count(account: &mut Account, trace: &Trace) {
    account.calls += u64::from(trace.duration_ms.is_some());
    account.spared += u64::from(trace.duration_ms.is_none());
    account.failed += u64::from(trace.error.is_some());
    account.duration_ms += u64::from(trace.duration_ms.unwrap_or(0));
    if let Some(usage) = &trace.usage {
        account.usage.input += usage.input;
        account.usage.output += usage.output;
        account.usage.cache_read += usage.cache_read;
        account.usage.cache_write += usage.cache_write;
        account.usage.total += usage.total;
    }
    match trace.verdict {
        Some(Verdict::Clean) => account.clean += 1,
        Some(Verdict::Flag) => account.flag += 1,
        Some(Verdict::New) => account.new += 1,
        Some(Verdict::Unknown) => account.unknown += 1,
        None => {}
    }
    for consequence in &trace.consequences {
        match account.outcomes.iter_mut().find(|tally| tally.outcome == consequence.outcome) {
            Some(tally) => tally.count += 1,
            None => account.outcomes.push(Tally { outcome: consequence.outcome.clone(), count: 1 }),
        }
    }
}
