//! `interface llm`: questions to language models.

use crate::types::{Json, ModelId, StopReason, Usage};

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
