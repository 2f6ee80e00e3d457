//! What a context stands on: the component's imports, or a fake host.

use chaperone_contract::*;

/// The imports of the contract. Reads answer from the snapshot at the hook's entry; the rest are effects.
///
/// A watcher never calls this itself: [`Context`](crate::Context) does.
pub trait Host {
    /// `session.current`
    fn snapshot(&self) -> Snapshot;
    /// `session.entries-before`
    fn entries_before(&self, before: Option<&str>, limit: u32) -> Vec<Entry>;
    /// `session.entries-since-user`
    fn entries_since_user(&self, include_user: bool, limit: u32) -> Vec<Entry>;
    /// `llm.models`
    fn models(&self) -> Vec<ModelInfo>;
    /// `files.entries`
    fn list(&self, folder: &Location) -> Result<Vec<String>, FileError>;
    /// `files.read`
    fn read(&self, file: &Location) -> Result<String, FileError>;
    /// `state.get`
    fn state(&self, scope: Scope) -> Option<Vec<u8>>;
    /// `traces.read`
    fn traces(&self, query: &TraceQuery) -> Vec<Trace>;
    /// `traces.accounts`
    fn accounts(&self, whole_project: bool) -> Vec<Account>;

    /// `llm.complete`
    fn complete(&mut self, request: CompletionRequest) -> RequestId;
    /// `ui.ask`
    fn ask(&mut self, prompt: Prompt) -> RequestId;
    /// `files.refresh`
    fn refresh(&mut self, file: Location) -> RequestId;
    /// `files.write`
    fn write(&mut self, file: Location, text: String, only_if_absent: bool) -> RequestId;
    /// `files.patch`
    fn patch(&mut self, file: Location, initial: Json, patch: Json) -> RequestId;
    /// `timers.arm`
    fn arm(&mut self, milliseconds: u64) -> RequestId;
    /// Every effect that has no answer.
    fn perform(&mut self, effect: Unanswered);
}

/// An effect that has no answer.
pub enum Unanswered {
    /// `llm.cancel`
    Cancel(RequestId),
    /// `conversation.inject`
    Inject(Injection),
    /// `conversation.release`
    Release(String, Option<String>),
    /// `conversation.abort`
    Abort,
    /// `ui.notify`
    Notify(String, Tone),
    /// `ui.set-status`
    SetStatus(Option<Line>),
    /// `ui.set-widget`
    SetWidget(Vec<Line>),
    /// `ui.show`
    Show(Notice),
    /// `state.set`
    Set(Scope, Vec<u8>),
    /// `timers.disarm`
    Disarm(RequestId),
    /// `report.judged`
    Judged(Judgement),
    /// `report.spared`
    Spared(Sparing),
    /// `report.found`
    Found(Finding),
    /// `traces.decided`
    Decided(Decision),
    /// `log.log`
    Log(Level, String),
}

impl From<Unanswered> for Effect {
    fn from(effect: Unanswered) -> Self {
        match effect {
            Unanswered::Cancel(id) => Self::Cancel { id },
            Unanswered::Inject(message) => Self::Inject(message),
            Unanswered::Release(call_id, refusal) => Self::Release { call_id, refusal },
            Unanswered::Abort => Self::Abort,
            Unanswered::Notify(text, tone) => Self::Notify { text, tone },
            Unanswered::SetStatus(text) => Self::SetStatus { text },
            Unanswered::SetWidget(lines) => Self::SetWidget { lines },
            Unanswered::Show(notice) => Self::Show(notice),
            Unanswered::Set(scope, value) => Self::Set { scope, value },
            Unanswered::Disarm(id) => Self::Disarm { id },
            Unanswered::Judged(judgement) => Self::Judged(judgement),
            Unanswered::Spared(sparing) => Self::Spared(sparing),
            Unanswered::Found(finding) => Self::Found(finding),
            Unanswered::Decided(decision) => Self::Decided(decision),
            Unanswered::Log(level, message) => Self::Log { level, message },
        }
    }
}
