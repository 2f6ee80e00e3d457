//! What a hook sees and does.

use chaperone_contract::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::host::{Host, Unanswered};
use crate::state::{self, Loaded, Stored};

/// A hook's window on the session, and its way to have effects.
///
/// Reads answer from a snapshot taken when the hook was entered. Effects are carried out after the hook has returned, or
/// not at all if it fails.
pub struct Context<'host> {
    host: &'host mut dyn Host,
    /// By scope: values that no longer parsed, to be stored beside their successors.
    set_aside: [Option<String>; 3],
}

impl<'host> Context<'host> {
    /// A context on any host.
    pub fn new(host: &'host mut dyn Host) -> Self {
        Self { host, set_aside: [const { None }; 3] }
    }
}

/// Reads.
impl Context<'_> {
    /// The session as it is now.
    pub fn session(&self) -> Snapshot {
        self.host.snapshot()
    }

    /// Up to `limit` entries of the branch older than `before` (none: from the leaf), newest first.
    pub fn entries_before(&self, before: Option<&str>, limit: u32) -> Vec<Entry> {
        self.host.entries_before(before, limit)
    }

    /// The entries after the latest user entry, oldest first; with it, if asked. At most `limit`, the newest ones.
    pub fn entries_since_user(&self, include_user: bool, limit: u32) -> Vec<Entry> {
        self.host.entries_since_user(include_user, limit)
    }

    /// The models that may be named in a request.
    pub fn models(&self) -> Vec<ModelInfo> {
        self.host.models()
    }

    /// Names directly inside a folder, sorted; folders end in `/`.
    ///
    /// # Errors
    /// As [`FileError`] says.
    pub fn list(&self, mount: &str, path: &str) -> Result<Vec<String>, FileError> {
        self.host.list(&location(mount, path))
    }

    /// The whole of a file.
    ///
    /// # Errors
    /// As [`FileError`] says.
    pub fn read(&self, mount: &str, path: &str) -> Result<String, FileError> {
        self.host.read(&location(mount, path))
    }

    /// What the host has kept of judgements, oldest first. A host that keeps nothing has none.
    pub fn traces(&self, query: &TraceQuery) -> Vec<Trace> {
        self.host.traces(query)
    }

    /// What each watcher has cost: in this session, or in the whole project.
    pub fn accounts(&self, whole_project: bool) -> Vec<Account> {
        self.host.accounts(whole_project)
    }
}

/// State.
impl Context<'_> {
    /// The value of a scope, or its default where there is none.
    ///
    /// A value that does not parse as `T` is kept aside with its successor and reported in the log; the watcher starts
    /// from the default.
    pub fn state<T: Serialize + DeserializeOwned + Default>(&mut self, scope: Scope) -> T {
        match state::load::<T>(self.host.state(scope)) {
            Loaded::Absent => T::default(),
            Loaded::Fresh(stored) => {
                self.set_aside[scope as usize] = stored.set_aside;
                stored.value
            }
            Loaded::Unreadable { raw, reason } => {
                self.log(
                    Level::Error,
                    format!("the {} state could not be read, and is kept aside: {reason}", scope.name()),
                );
                self.set_aside[scope as usize] = Some(raw);
                let value = T::default();
                self.set_state(scope, &value);
                value
            }
        }
    }

    /// Effect. Replaces the value of a scope. Read the scope with [`state`](Self::state) first.
    pub fn set_state<T: Serialize>(&mut self, scope: Scope, value: &T) {
        let stored = Stored { value, set_aside: self.set_aside[scope as usize].clone() };
        match serde_json::to_vec(&stored) {
            Ok(bytes) => self.host.perform(Unanswered::Set(scope, bytes)),
            Err(error) => self.log(Level::Error, format!("the {} state cannot be written: {error}", scope.name())),
        }
    }
}

/// Effects.
impl Context<'_> {
    /// Starts a call of a language model; [`Plugin::llm_completed`](crate::Plugin::llm_completed) brings its outcome.
    pub fn complete(&mut self, request: CompletionRequest) -> RequestId {
        self.host.complete(request)
    }

    /// Ends a call early: its outcome is [`LlmError::Cancelled`].
    pub fn cancel(&mut self, id: RequestId) {
        self.host.perform(Unanswered::Cancel(id));
    }

    /// Puts a message before the agent, never in the user's name.
    pub fn inject(&mut self, message: Injection) {
        self.host.perform(Unanswered::Inject(message));
    }

    /// Puts a message before the agent ahead of its next model call, starts it if it is idle, and shows the message to
    /// the user.
    pub fn steer(&mut self, custom_type: &str, content: impl Into<String>) {
        self.inject(Injection {
            custom_type: custom_type.into(),
            content: content.into(),
            display: true,
            details: None,
            delivery: Delivery::Steer,
            trigger_turn: true,
        });
    }

    /// Lets a held tool call run, or refuses it with a reason.
    pub fn release(&mut self, call_id: impl Into<String>, refusal: Option<String>) {
        self.host.perform(Unanswered::Release(call_id.into(), refusal));
    }

    /// Stops the agent's current turn.
    pub fn abort(&mut self) {
        self.host.perform(Unanswered::Abort);
    }

    /// Shows a passing message to the user.
    pub fn notify(&mut self, text: impl Into<String>, tone: Tone) {
        self.host.perform(Unanswered::Notify(text.into(), tone));
    }

    /// Sets or clears the watcher's segment of the status bar.
    pub fn set_status(&mut self, text: Option<Line>) {
        self.host.perform(Unanswered::SetStatus(text));
    }

    /// Sets the watcher's widget; no lines clears it.
    pub fn set_widget(&mut self, lines: Vec<Line>) {
        self.host.perform(Unanswered::SetWidget(lines));
    }

    /// Adds a block to the transcript that never enters the model's context.
    pub fn show(&mut self, notice: Notice) {
        self.host.perform(Unanswered::Show(notice));
    }

    /// Opens a dialog; [`Plugin::answered`](crate::Plugin::answered) brings the answer.
    pub fn ask(&mut self, prompt: Prompt) -> RequestId {
        self.host.ask(prompt)
    }

    /// Has the host make a file anew, such as `status` in the mount `git`; [`Plugin::stored`](crate::Plugin::stored)
    /// brings the outcome, and [`read`](Self::read) the text.
    pub fn refresh(&mut self, mount: &str, path: &str) -> RequestId {
        self.host.refresh(location(mount, path))
    }

    /// Writes a whole file; [`Plugin::stored`](crate::Plugin::stored) brings the outcome.
    pub fn write(&mut self, mount: &str, path: &str, text: impl Into<String>, only_if_absent: bool) -> RequestId {
        self.host.write(location(mount, path), text.into(), only_if_absent)
    }

    /// Applies a JSON Patch (RFC 6902) to a file's document, which starts as `initial` where the file is missing;
    /// [`Plugin::stored`](crate::Plugin::stored) brings the outcome.
    pub fn patch(&mut self, mount: &str, path: &str, initial: impl Into<Json>, patch: impl Into<Json>) -> RequestId {
        self.host.patch(location(mount, path), initial.into(), patch.into())
    }

    /// Asks to be called again through [`Plugin::timer_fired`](crate::Plugin::timer_fired), no sooner than this.
    pub fn arm(&mut self, milliseconds: u64) -> RequestId {
        self.host.arm(milliseconds)
    }

    /// Forgets a timer that has not fired.
    pub fn disarm(&mut self, id: RequestId) {
        self.host.perform(Unanswered::Disarm(id));
    }

    /// Reports what a judge said, or that it failed to.
    pub fn judged(&mut self, judgement: Judgement) {
        self.host.perform(Unanswered::Judged(judgement));
    }

    /// Reports that no judge was asked, and why not.
    pub fn spared(&mut self, sparing: Sparing) {
        self.host.perform(Unanswered::Spared(sparing));
    }

    /// Reports a finding that stands in its file.
    pub fn found(&mut self, finding: Finding) {
        self.host.perform(Unanswered::Found(finding));
    }

    /// Keeps what became of a judgement with its trace.
    pub fn decided(&mut self, decision: Decision) {
        self.host.perform(Unanswered::Decided(decision));
    }

    /// Writes one line to the log. Kept even where the hook fails.
    pub fn log(&mut self, level: Level, message: impl Into<String>) {
        self.host.perform(Unanswered::Log(level, message.into()));
    }
}

fn location(mount: &str, path: &str) -> Location {
    Location { mount: mount.into(), path: path.into() }
}
