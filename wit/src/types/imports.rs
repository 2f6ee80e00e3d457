//! What `host.wit` names: the host's side.

use super::{Agent, EntryId, Json, ModelId, RequestId, StopReason, Timestamp, Usage};

/// One line of text.
pub type Line = Vec<Span>;

wit_enum! {
    /// Who is on the other side of the agent.
    Mode {
        /// A person sits at a terminal.
        Interactive = "interactive",
        /// A program drives the agent and can show dialogs.
        Rpc = "rpc",
        /// One prompt, one answer, then the process exits.
        OneShot = "one-shot",
    }
}

record! {
    /// The session at the moment when the hook was entered.
    Snapshot {
        /// Unique among the sessions of the host.
        session_id = "session-id": String,
        /// Absolute path of the agent's working directory, for display only.
        cwd = "cwd": String,
        /// Who is on the other side.
        mode = "mode": Mode,
        /// The agent that the event comes from.
        agent = "agent": Agent,
        /// The model that the agent runs on.
        model = "model": Option<ModelId>,
        /// The newest entry of the current branch; changes whenever it grows or moves.
        leaf = "leaf": Option<EntryId>,
        /// The number of entries of the current branch.
        branch_length = "branch-length": u32,
        /// The agent will not go on by itself.
        idle = "idle": bool,
        /// The user has typed or queued something that the agent has not read yet.
        input_pending = "input-pending": bool,
        /// When the hook was entered.
        now = "now": Timestamp,
    }
}

wit_enum! {
    /// Who speaks in a prompt.
    Role {
        /// The one who asks.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}

record! {
    /// One message of a prompt.
    PromptMessage {
        /// Who speaks.
        role = "role": Role,
        /// What is said.
        text = "text": String,
    }
}

wit_enum! {
    /// How much the model should think before it answers; the host picks the
    /// nearest level that the model has.
    Effort {
        /// Not at all, where the model allows it.
        Lowest = "lowest",
        /// A little.
        Low = "low",
        /// As much as is usual.
        Medium = "medium",
        /// A lot.
        High = "high",
    }
}

record! {
    /// A question to a model.
    CompletionRequest {
        /// What the call is for, such as the name of the monitor that asks; for
        /// accounts and scripted answers, never sent to the model.
        label = "label": String,
        /// None: the session's own model.
        model = "model": Option<ModelId>,
        /// The instructions.
        system = "system": Option<String>,
        /// The conversation, oldest first, ending with the user.
        messages = "messages": Vec<PromptMessage>,
        /// Clamped to the model's own limit.
        max_output_tokens = "max-output-tokens": Option<u32>,
        /// How much to think.
        effort = "effort": Effort,
        /// A JSON Schema that the answer should satisfy, where the provider can hold it to one.
        response_schema = "response-schema": Option<Json>,
        /// None: the host's default.
        timeout_ms = "timeout-ms": Option<u32>,
        /// Also deliver the text as it arrives, through `responses.llm-progress`.
        streamed = "streamed": bool,
        /// Requests with equal keys share a prompt prefix worth caching.
        cache_key = "cache-key": Option<String>,
    }
}

record! {
    /// A model's answer.
    Completion {
        /// All text parts, joined.
        text = "text": String,
        /// Why it ended.
        stop_reason = "stop-reason": StopReason,
        /// What it cost, where the provider tells.
        usage = "usage": Option<Usage>,
        /// Who answered.
        model = "model": ModelId,
        /// Kind and size in characters of each part received, in order, such as
        /// `thinking` 400: what a diagnosis of an empty answer needs.
        parts = "parts": Vec<(String, u32)>,
    }
}

variant! {
    /// Why there is no answer.
    LlmError {
        /// No such model is configured; its name.
        UnknownModel(String) = "unknown-model",
        /// The key is missing or was refused.
        Authentication(String) = "authentication",
        /// The provider refused for now; seconds to wait, where it said.
        RateLimited(Option<u32>) = "rate-limited",
        /// No answer came in time.
        TimedOut = "timed-out",
        /// The call was ended early.
        Cancelled = "cancelled",
        /// The plugin's allowance of calls or tokens is spent; the text says which.
        AllowanceSpent(String) = "allowance-spent",
        /// Anything else that the provider said.
        Provider(String) = "provider",
    }
}

record! {
    /// What is known of a model.
    ModelInfo {
        /// Its name.
        id = "id": ModelId,
        /// How many tokens a prompt may have.
        context_window = "context-window": Option<u32>,
        /// How many tokens an answer may have.
        max_output_tokens = "max-output-tokens": Option<u32>,
        /// Whether it can think before it answers.
        reasons = "reasons": bool,
    }
}

wit_enum! {
    /// When a message reaches the agent.
    Delivery {
        /// Before the agent's next model call.
        Steer = "steer",
        /// Once the agent would otherwise stop.
        FollowUp = "follow-up",
        /// With the user's next input.
        NextTurn = "next-turn",
    }
}

record! {
    /// A message to the agent.
    Injection {
        /// Names the kind of message; comes back as the entry's `custom-type`.
        custom_type = "custom-type": String,
        /// What the agent reads.
        content = "content": String,
        /// Show it to the user as well.
        display = "display": bool,
        /// What programs read.
        details = "details": Option<Json>,
        /// When it reaches the agent.
        delivery = "delivery": Delivery,
        /// Start the agent if it is idle.
        trigger_turn = "trigger-turn": bool,
    }
}

wit_enum! {
    /// How a piece of text is meant; the host picks the colour.
    Tone {
        /// Plain.
        Normal = "normal",
        /// Less important.
        Muted = "muted",
        /// Good news.
        Success = "success",
        /// Worth a look.
        Warning = "warning",
        /// Bad news.
        Error = "error",
    }
}

record! {
    /// A piece of a line.
    Span {
        /// Without line breaks.
        text = "text": String,
        /// How it is meant.
        tone = "tone": Tone,
    }
}

record! {
    /// A block in the transcript that never enters the model's context.
    Notice {
        /// Names the kind of block; chosen by the plugin.
        custom_type = "custom-type": String,
        /// Always shown.
        title = "title": Line,
        /// Shown when the user expands the block.
        details = "details": Vec<Line>,
        /// What programs read.
        data = "data": Option<Json>,
    }
}

record! {
    /// One thing to choose.
    Choice {
        /// What comes back.
        value = "value": String,
        /// What is shown.
        label = "label": String,
        /// A hint beside it.
        description = "description": String,
    }
}

record! {
    /// One line of a settings panel.
    Setting {
        /// What comes back.
        key = "key": String,
        /// What is shown.
        label = "label": String,
        /// What it is now.
        value = "value": String,
        /// A hint beside it.
        description = "description": String,
        /// Empty: free text.
        choices = "choices": Vec<Choice>,
    }
}

variant! {
    /// A question to the user.
    Prompt {
        /// Yes or no. Title and body.
        Confirm((String, String)) = "confirm",
        /// One of several. Title and choices.
        Select((String, Vec<Choice>)) = "select",
        /// Free text. Title and what stands there at first.
        Input((String, String)) = "input",
        /// A panel of settings. Title and lines.
        Settings((String, Vec<Setting>)) = "settings",
    }
}

variant! {
    /// The user's answer.
    Answer {
        /// To `confirm`.
        Confirmed(bool) = "confirmed",
        /// To `select`: the value.
        Selected(String) = "selected",
        /// To `input`: the text.
        Entered(String) = "entered",
        /// To `settings`: key and new value; comes once for each change.
        Changed((String, String)) = "changed",
        /// The user closed the dialog.
        Dismissed = "dismissed",
        /// There is nobody to ask.
        Unavailable = "unavailable",
    }
}

record! {
    /// A file or folder.
    Location {
        /// A mount's name, such as `workspace`, `project` or `user`.
        mount = "mount": String,
        /// Relative to the mount; empty for the mount itself.
        path = "path": String,
    }
}

variant! {
    /// Why a file could not be read or written.
    FileError {
        /// There is no such file or folder.
        NotFound = "not-found",
        /// The manifest does not grant this; the text says what is missing.
        Denied(String) = "denied",
        /// Larger than the host reads at once; its size in bytes.
        TooLarge(u64) = "too-large",
        /// Not UTF-8 text.
        NotUtf8 = "not-utf8",
        /// Not a JSON document; where and why. The file was left as it is.
        NotJson(String) = "not-json",
        /// The patch does not apply, such as a `test` that fails. The file was left as it is.
        Conflict(String) = "conflict",
        /// The operating system's words.
        Io(String) = "io",
    }
}

wit_enum! {
    /// How far a value reaches.
    Scope {
        /// Follows the branch: after the user goes back or forks, the plugin has
        /// what it had at that entry.
        Branch = "branch",
        /// One value for the whole session, whatever branch it is on.
        Session = "session",
        /// One value for the project, across its sessions.
        Project = "project",
    }
}

wit_enum! {
    /// What a judge said of the evidence that it was shown.
    Verdict {
        /// Nothing is wrong.
        Clean = "clean",
        /// Something known is wrong.
        Flag = "flag",
        /// Something is wrong that no pattern describes yet.
        New = "new",
        /// No judgement came about: the judge failed, or was not understood.
        Unknown = "unknown",
    }
}

record! {
    /// One judgement.
    Judgement {
        /// Who judged, such as the name of a monitor.
        watcher = "watcher": String,
        /// What was said.
        verdict = "verdict": Verdict,
        /// What is wrong, or why there is no judgement.
        description = "description": Option<String>,
        /// The model call that it rests on, where there was one.
        request = "request": Option<RequestId>,
        /// The newest entry of the evidence.
        entry = "entry": Option<EntryId>,
    }
}

record! {
    /// A judgement that was not made, since nobody needed it.
    Sparing {
        /// Who would have judged, such as the name of a monitor.
        watcher = "watcher": String,
        /// What made it needless, such as `exempt: waiting_on_user`.
        reason = "reason": String,
        /// The newest entry of what would have been the evidence.
        entry = "entry": Option<EntryId>,
    }
}

record! {
    /// A finding that was written to a file.
    Finding {
        /// Unique among the findings.
        id = "id": String,
        /// Who found it.
        watcher = "watcher": String,
        /// What was found.
        description = "description": String,
        /// Mount and path of the file, as in `workspace:.workflow/gaps.json`.
        file = "file": String,
    }
}

/// Names a trace among all that the host keeps; a newer one has a larger number.
pub type TraceId = u64;

variant! {
    /// What a decision is about.
    Subject {
        /// The judgement of this session that rests on this model call.
        Call(RequestId) = "call",
        /// The judgement of this trace.
        Trace(TraceId) = "trace",
    }
}

record! {
    /// What a watcher made of a judgement, or what was said of it later.
    Decision {
        /// Who judged.
        watcher = "watcher": String,
        /// Which judgement.
        subject = "subject": Subject,
        /// A word for it, such as `steered`, `recorded`, `learned` or `wrong`.
        outcome = "outcome": String,
        /// More about it, such as the file of a record.
        detail = "detail": Option<String>,
        /// The finding's id, where there is a finding.
        finding = "finding": Option<String>,
        /// A digest of the evidence, in the watcher's own form.
        evidence = "evidence": Option<String>,
    }
}

record! {
    /// A decision, as it was kept.
    Consequence {
        /// When.
        at = "at": Timestamp,
        /// A word for it.
        outcome = "outcome": String,
        /// More about it.
        detail = "detail": Option<String>,
        /// The finding's id, where there is a finding.
        finding = "finding": Option<String>,
    }
}

record! {
    /// One judgement: the question, the answer, and what became of it.
    Trace {
        /// Its number.
        id = "id": TraceId,
        /// When it was judged.
        at = "at": Timestamp,
        /// In which session.
        session_id = "session-id": String,
        /// Who judged.
        watcher = "watcher": String,
        /// The newest entry of the evidence.
        entry = "entry": Option<EntryId>,
        /// A digest of the evidence, in the watcher's own form.
        evidence = "evidence": Option<String>,
        /// The model that answered, or was to answer.
        model = "model": Option<ModelId>,
        /// The instructions, as they were sent.
        system = "system": Option<String>,
        /// The conversation, as it was sent.
        messages = "messages": Vec<PromptMessage>,
        /// The model's answer.
        answer = "answer": Option<String>,
        /// Why the model stopped writing.
        stop_reason = "stop-reason": Option<StopReason>,
        /// Why there is no answer.
        error = "error": Option<String>,
        /// What the call cost, where the provider told.
        usage = "usage": Option<Usage>,
        /// How long the call took.
        duration_ms = "duration-ms": Option<u32>,
        /// What the judge said. None: no judgement was reported.
        verdict = "verdict": Option<Verdict>,
        /// What is wrong, or why there is no judgement.
        description = "description": Option<String>,
        /// What became of it, oldest first.
        consequences = "consequences": Vec<Consequence>,
    }
}

variant! {
    /// Which traces are meant.
    Selection {
        /// All of this session.
        Session = "session",
        /// All of the project, across its sessions.
        Project = "project",
        /// The one of that number, whatever session of the project it is of.
        Id(TraceId) = "id",
        /// Those of the project with a finding whose id begins so.
        Finding(String) = "finding",
    }
}

record! {
    /// A question for traces. Only those of the asking plugin are read.
    TraceQuery {
        /// Which ones.
        selection = "selection": Selection,
        /// Only those of this watcher.
        watcher = "watcher": Option<String>,
        /// How many at most, the newest ones; the host may stop at 1000.
        limit = "limit": u32,
        /// With `system`, `messages` and `answer`; else these are left empty.
        texts = "texts": bool,
    }
}

record! {
    /// How often something was decided.
    Tally {
        /// A word for it.
        outcome = "outcome": String,
        /// How often.
        count = "count": u64,
    }
}

record! {
    /// What one watcher has cost, and what came of it.
    Account {
        /// Who.
        watcher = "watcher": String,
        /// The oldest trace that is counted.
        since = "since": Timestamp,
        /// Model calls.
        calls = "calls": u64,
        /// Model calls without an answer.
        failed = "failed": u64,
        /// Judgements without a model call: made by rules, or not needed.
        spared = "spared": u64,
        /// Tokens of all calls, as far as providers told.
        usage = "usage": Usage,
        /// How long all calls took together.
        duration_ms = "duration-ms": u64,
        /// Verdicts that nothing is wrong.
        clean = "clean": u64,
        /// Verdicts that something known is wrong.
        flag = "flag": u64,
        /// Verdicts that something new is wrong.
        new = "new": u64,
        /// Judgements that did not come about.
        unknown = "unknown": u64,
        /// What became of them, by word.
        outcomes = "outcomes": Vec<Tally>,
    }
}

wit_enum! {
    /// How much it matters.
    Level {
        /// For whoever develops the plugin.
        Debug = "debug",
        /// For whoever wonders what it does.
        Info = "info",
        /// Something is wrong; the plugin goes on.
        Warn = "warn",
        /// Something failed.
        Error = "error",
    }
}
