//! `interface traces`: judgements that the host keeps.

use crate::types::{EntryId, ModelId, PromptMessage, RequestId, StopReason, Timestamp, Usage, Verdict};

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
