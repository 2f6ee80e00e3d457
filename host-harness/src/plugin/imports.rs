//! The host's side of a hook call: reads from the input, effects into a list.

use std::sync::Arc;

use chaperone_contract::*;
use wasmtime::component::{Linker, LinkerInstance};
use wasmtime::{ResourceLimiter, StoreContextMut};

use crate::transaction::{Cause, FileRead, Input, Limits, TraceRead};

/// One hook call under way: the data of its store.
pub struct Call {
    input: Input,
    limits: Limits,
    effects: Vec<Effect>,
    effect_bytes: usize,
    reads: Vec<FileRead>,
    traces: Vec<TraceRead>,
    memory: usize,
    stopped: Option<Cause>,
}

impl Call {
    pub fn new(limits: Limits, input: Input) -> Self {
        Self {
            input,
            limits,
            effects: Vec::new(),
            effect_bytes: 0,
            reads: Vec::new(),
            traces: Vec::new(),
            memory: 0,
            stopped: None,
        }
    }

    /// The effects, what was read, and why the host stopped the hook, if it did.
    pub fn into_parts(self) -> (Vec<Effect>, Vec<FileRead>, Vec<TraceRead>, Option<Cause>) {
        (self.effects, self.reads, self.traces, self.stopped)
    }

    fn perform(&mut self, bytes: usize, effect: Effect) -> wasmtime::Result<()> {
        self.effect_bytes += bytes;
        if self.effects.len() >= self.limits.effects || self.effect_bytes > self.limits.effect_bytes {
            let cause = Cause::TooManyEffects(self.limits.effects, self.limits.effect_bytes);
            self.stopped = Some(cause.clone());
            return Err(wasmtime::Error::new(cause));
        }
        self.effects.push(effect);
        Ok(())
    }

    fn request(&mut self, bytes: usize, effect: impl FnOnce(RequestId) -> Effect) -> wasmtime::Result<(RequestId,)> {
        let id = self.input.next_request;
        self.input.next_request += 1;
        self.perform(bytes, effect(id))?;
        Ok((id,))
    }
}

/// Counts the memories of all parts of a component together.
impl ResourceLimiter for Call {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let total = self.memory + (desired - current);
        if total > self.limits.memory || maximum.is_some_and(|maximum| desired > maximum) {
            // A guest that is refused memory would end in a bare `unreachable`: the cause is lost unless it is kept here.
            let cause = Cause::OutOfMemory(self.limits.memory >> 20);
            self.stopped = Some(cause.clone());
            return Err(wasmtime::Error::new(cause));
        }
        self.memory = total;
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= 100_000 && maximum.is_none_or(|maximum| desired <= maximum))
    }
}

type Context<'call> = StoreContextMut<'call, Call>;

/// Defines every import of the contract.
pub fn add_to_linker(linker: &mut Linker<Call>) -> wasmtime::Result<()> {
    // Interfaces that hold only types are imported as well.
    linker.instance(&interface("types"))?;
    session(linker.instance(&interface("session"))?)?;
    llm(linker.instance(&interface("llm"))?)?;
    conversation(linker.instance(&interface("conversation"))?)?;
    ui(linker.instance(&interface("ui"))?)?;
    files(linker.instance(&interface("files"))?)?;
    state(linker.instance(&interface("state"))?)?;
    timers(linker.instance(&interface("timers"))?)?;
    report(linker.instance(&interface("report"))?)?;
    traces(linker.instance(&interface("traces"))?)?;
    log(linker.instance(&interface("log"))?)
}

fn session(mut session: LinkerInstance<Call>) -> wasmtime::Result<()> {
    session.func_wrap("current", |cx: Context, ()| Ok((cx.data().input.snapshot.clone(),)))?;
    session.func_wrap("entries-before", |cx: Context, (before, limit): (Option<String>, u32)| {
        Ok((cx.data().input.branch.entries_before(before.as_deref(), limit),))
    })?;
    session.func_wrap("entries-since-user", |cx: Context, (include_user, limit): (bool, u32)| {
        Ok((cx.data().input.branch.entries_since_user(include_user, limit),))
    })
}

fn llm(mut llm: LinkerInstance<Call>) -> wasmtime::Result<()> {
    llm.func_wrap("complete", |mut cx: Context, (request,): (CompletionRequest,)| {
        let bytes = request.system.as_ref().map_or(0, String::len)
            + request.messages.iter().map(|message| message.text.len()).sum::<usize>();
        cx.data_mut().request(bytes, |id| Effect::Complete(CompleteEffect { id, request }))
    })?;
    llm.func_wrap("cancel", |mut cx: Context, (id,): (RequestId,)| cx.data_mut().perform(0, Effect::Cancel { id }))?;
    llm.func_wrap("models", |cx: Context, ()| Ok((Vec::from(&*cx.data().input.models),)))
}

fn conversation(mut conversation: LinkerInstance<Call>) -> wasmtime::Result<()> {
    conversation.func_wrap("inject", |mut cx: Context, (message,): (Injection,)| {
        let bytes = message.content.len() + message.details.as_ref().map_or(0, String::len);
        cx.data_mut().perform(bytes, Effect::Inject(message))
    })?;
    conversation.func_wrap("release", |mut cx: Context, (call_id, refusal): (String, Option<String>)| {
        let bytes = call_id.len() + refusal.as_ref().map_or(0, String::len);
        cx.data_mut().perform(bytes, Effect::Release { call_id, refusal })
    })?;
    conversation.func_wrap("abort", |mut cx: Context, ()| cx.data_mut().perform(0, Effect::Abort))
}

fn ui(mut ui: LinkerInstance<Call>) -> wasmtime::Result<()> {
    ui.func_wrap("notify", |mut cx: Context, (text, tone): (String, Tone)| {
        cx.data_mut().perform(text.len(), Effect::Notify { text, tone })
    })?;
    ui.func_wrap("set-status", |mut cx: Context, (text,): (Option<Line>,)| {
        cx.data_mut().perform(lines_bytes(text.as_slice()), Effect::SetStatus { text })
    })?;
    ui.func_wrap("set-widget", |mut cx: Context, (lines,): (Vec<Line>,)| {
        cx.data_mut().perform(lines_bytes(&lines), Effect::SetWidget { lines })
    })?;
    ui.func_wrap("show", |mut cx: Context, (notice,): (Notice,)| {
        let bytes = lines_bytes(&notice.details) + notice.data.as_ref().map_or(0, String::len);
        cx.data_mut().perform(bytes, Effect::Show(notice))
    })?;
    ui.func_wrap("ask", |mut cx: Context, (prompt,): (Prompt,)| {
        cx.data_mut().request(prompt_bytes(&prompt), |id| Effect::Ask { id, prompt })
    })
}

fn files(mut files: LinkerInstance<Call>) -> wasmtime::Result<()> {
    files.func_wrap("entries", |mut cx: Context, (folder,): (Location,)| {
        let call = cx.data_mut();
        let answer = call.input.files.entries(&folder);
        call.reads.push(FileRead::Entries { folder, answer: answer.clone() });
        Ok((answer,))
    })?;
    files.func_wrap("read", |mut cx: Context, (file,): (Location,)| {
        let call = cx.data_mut();
        let answer = call.input.files.read(&file);
        call.reads.push(FileRead::Read { file, answer: answer.clone() });
        Ok((answer,))
    })?;
    files.func_wrap("refresh", |mut cx: Context, (file,): (Location,)| {
        cx.data_mut().request(0, |id| Effect::Refresh { id, file })
    })?;
    files.func_wrap("write", |mut cx: Context, (file, text, only_if_absent): (Location, String, bool)| {
        cx.data_mut().request(text.len(), |id| Effect::Write { id, file, text, only_if_absent })
    })?;
    files.func_wrap("patch", |mut cx: Context, (file, initial, patch): (Location, Json, Json)| {
        cx.data_mut().request(initial.len() + patch.len(), |id| Effect::Patch { id, file, initial, patch })
    })
}

fn state(mut state: LinkerInstance<Call>) -> wasmtime::Result<()> {
    state.func_wrap("get", |cx: Context, (scope,): (Scope,)| -> wasmtime::Result<(Option<Arc<[u8]>>,)> {
        Ok((cx.data().input.state.get(scope).cloned(),))
    })?;
    state.func_wrap("set", |mut cx: Context, (scope, value): (Scope, Vec<u8>)| {
        cx.data_mut().perform(value.len(), Effect::Set { scope, value })
    })
}

fn timers(mut timers: LinkerInstance<Call>) -> wasmtime::Result<()> {
    timers.func_wrap("arm", |mut cx: Context, (milliseconds,): (u64,)| {
        cx.data_mut().request(0, |id| Effect::Arm { id, milliseconds })
    })?;
    timers.func_wrap("disarm", |mut cx: Context, (id,): (RequestId,)| cx.data_mut().perform(0, Effect::Disarm { id }))
}

fn report(mut report: LinkerInstance<Call>) -> wasmtime::Result<()> {
    report.func_wrap("judged", |mut cx: Context, (judgement,): (Judgement,)| {
        cx.data_mut().perform(judgement.description.as_ref().map_or(0, String::len), Effect::Judged(judgement))
    })?;
    report.func_wrap("spared", |mut cx: Context, (sparing,): (Sparing,)| {
        cx.data_mut().perform(sparing.reason.len(), Effect::Spared(sparing))
    })?;
    report.func_wrap("found", |mut cx: Context, (finding,): (Finding,)| {
        cx.data_mut().perform(finding.description.len(), Effect::Found(finding))
    })
}

fn traces(mut traces: LinkerInstance<Call>) -> wasmtime::Result<()> {
    traces.func_wrap("read", |mut cx: Context, (query,): (TraceQuery,)| {
        let call = cx.data_mut();
        let answer = call.input.traces.read(&query);
        call.traces.push(TraceRead::Read { query, answer: answer.clone() });
        Ok((answer,))
    })?;
    traces.func_wrap("accounts", |mut cx: Context, (whole_project,): (bool,)| {
        let call = cx.data_mut();
        let answer = call.input.traces.accounts(whole_project);
        call.traces.push(TraceRead::Accounts { whole_project, answer: answer.clone() });
        Ok((answer,))
    })?;
    traces.func_wrap("decided", |mut cx: Context, (decision,): (Decision,)| {
        cx.data_mut().perform(decision.detail.as_ref().map_or(0, String::len), Effect::Decided(decision))
    })
}

fn log(mut log: LinkerInstance<Call>) -> wasmtime::Result<()> {
    log.func_wrap("log", |mut cx: Context, (level, message): (Level, String)| {
        cx.data_mut().perform(message.len(), Effect::Log { level, message })
    })
}

fn lines_bytes(lines: &[Line]) -> usize {
    lines.iter().flatten().map(|span| span.text.len()).sum()
}

fn prompt_bytes(prompt: &Prompt) -> usize {
    match prompt {
        Prompt::Confirm((title, body)) | Prompt::Input((title, body)) => title.len() + body.len(),
        Prompt::Select((title, choices)) => {
            title.len() + choices.iter().map(|choice| choice.label.len() + choice.value.len()).sum::<usize>()
        }
        Prompt::Settings((title, settings)) => {
            title.len() + settings.iter().map(|setting| setting.label.len() + setting.value.len()).sum::<usize>()
        }
    }
}
