//! From what `genai` received to a completion.

use std::borrow::Cow;
use std::pin::Pin;
use std::time::SystemTime;

use chaperone_contract::{Completion, ModelId, StopReason, Usage};
use futures_core::Stream as _;
use genai::adapter::AdapterKind;
use genai::chat::{self, ChatResponse, ChatStream, ChatStreamEvent, ContentPart};
use serde_json::Value;

use super::failure::Failure;

/// A whole answer.
#[derive(Debug, Default)]
pub(super) struct Received {
    parts: Vec<Part>,
    stop: Option<chat::StopReason>,
    usage: chat::Usage,
}

#[derive(Debug, PartialEq, Eq)]
struct Part {
    kind: Cow<'static, str>,
    content: String,
}

const TEXT: &str = "text";
const THINKING: &str = "thinking";
const REFUSAL: &str = "refusal";
const TOOL_CALL: &str = "tool-call";

impl Received {
    /// An answer that came at once. Fails where it holds an error, or nothing that an answer consists of.
    pub(super) fn whole(response: ChatResponse) -> Result<Self, Failure> {
        let raw = response.captured_raw_body.unwrap_or_default();
        if raw.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Failure::in_body(&raw));
        }
        let choice = raw.pointer("/choices/0/message");
        if response.model_iden.adapter_kind == AdapterKind::OpenAI && choice.is_none() {
            return Err(Failure::lasting(format!("the answer has no message in `choices`; it was: {raw}")));
        }
        let mut received = Self { parts: Vec::new(), stop: response.stop_reason, usage: response.usage };
        if let Some(thinking) = response.reasoning_content
            && !response.content.contains_reasoning_content()
        {
            received.push(THINKING, thinking);
        }
        if let Some(refusal) = choice.and_then(|message| message.get(REFUSAL)).and_then(Value::as_str) {
            received.push(REFUSAL, refusal.to_owned());
        }
        for part in response.content {
            match part {
                ContentPart::Text(text) => received.push(TEXT, text),
                ContentPart::ReasoningContent(thinking) => received.push(THINKING, thinking),
                ContentPart::ToolCall(call) => {
                    received.push(TOOL_CALL, format!("{}{}", call.fn_name, call.fn_arguments))
                }
                ContentPart::Custom(custom) => {
                    let kind = custom.typ().unwrap_or("other").to_owned();
                    received.push(kind, custom.data.to_string());
                }
                // Signs the thinking beside it, and says nothing itself.
                ContentPart::ThoughtSignature(_) => {}
                ContentPart::Binary(_) | ContentPart::ToolResponse(_) => received.push("other", String::new()),
            }
        }
        Ok(received)
    }

    /// An answer that comes bit by bit; `progress` gets each bit of text.
    pub(super) async fn stream(
        mut stream: ChatStream,
        progress: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<Self, Failure> {
        let mut received = Self::default();
        loop {
            let event = std::future::poll_fn(|context| Pin::new(&mut stream).poll_next(context)).await;
            let failure = match event {
                Some(Ok(ChatStreamEvent::Chunk(chunk))) => {
                    progress(&chunk.content);
                    received.grow(TEXT, &chunk.content);
                    continue;
                }
                Some(Ok(ChatStreamEvent::ReasoningChunk(chunk))) => {
                    received.grow(THINKING, &chunk.content);
                    continue;
                }
                Some(Ok(ChatStreamEvent::End(end))) => {
                    received.stop = end.captured_stop_reason;
                    received.usage = end.captured_usage.unwrap_or_default();
                    return Ok(received);
                }
                Some(Ok(ChatStreamEvent::ToolCallChunk(chunk))) => {
                    received.set(TOOL_CALL, format!("{}{}", chunk.tool_call.fn_name, chunk.tool_call.fn_arguments));
                    continue;
                }
                Some(Ok(
                    ChatStreamEvent::Start | ChatStreamEvent::ThoughtSignatureChunk(_) | ChatStreamEvent::Heartbeat,
                )) => continue,
                Some(Err(error)) => Failure::of(&error, SystemTime::now()),
                None => Failure::passing("the stream ended before the answer did"),
            };
            let spoke = received.parts.iter().any(|part| part.kind == TEXT);
            return Err(if spoke { failure.after_progress() } else { failure });
        }
    }

    /// As a plugin gets it, from `model`.
    pub(super) fn completion(self, model: ModelId) -> Completion {
        let size = |text: &str| u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        Completion {
            text: self.parts.iter().filter(|part| part.kind == TEXT).map(|part| part.content.as_str()).collect(),
            stop_reason: stop_reason(self.stop.as_ref()),
            usage: usage(&self.usage),
            model,
            parts: self.parts.iter().map(|part| (part.kind.to_string(), size(&part.content))).collect(),
        }
    }

    fn push(&mut self, kind: impl Into<Cow<'static, str>>, content: String) {
        self.parts.push(Part { kind: kind.into(), content });
    }

    /// Adds to the last part where it is of this kind.
    fn grow(&mut self, kind: &'static str, content: &str) {
        match self.parts.last_mut() {
            Some(last) if last.kind == kind => last.content.push_str(content),
            _ => self.push(kind, content.to_owned()),
        }
    }

    /// Replaces the last part where it is of this kind.
    fn set(&mut self, kind: &'static str, content: String) {
        match self.parts.last_mut() {
            Some(last) if last.kind == kind => last.content = content,
            _ => self.push(kind, content),
        }
    }
}

/// A provider that gives no reason has finished. One that filtered or broke off its answer has failed.
fn stop_reason(stop: Option<&chat::StopReason>) -> StopReason {
    match stop {
        Some(chat::StopReason::MaxTokens(_)) => StopReason::Length,
        Some(chat::StopReason::ToolCall(_)) => StopReason::ToolUse,
        Some(chat::StopReason::ContentFilter(_)) => StopReason::Error,
        Some(chat::StopReason::Other(raw)) if raw == "error" => StopReason::Error,
        Some(chat::StopReason::Completed(_) | chat::StopReason::StopSequence(_) | chat::StopReason::Other(_))
        | None => StopReason::Stop,
    }
}

/// `None` where the provider told nothing. `genai` counts cached tokens as part of the prompt.
fn usage(usage: &chat::Usage) -> Option<Usage> {
    let count = |count: Option<i32>| u64::try_from(count.unwrap_or(0)).unwrap_or(0);
    usage.prompt_tokens.or(usage.completion_tokens).or(usage.total_tokens)?;
    let prompt = count(usage.prompt_tokens);
    let output = count(usage.completion_tokens);
    let details = usage.prompt_tokens_details.as_ref();
    let cache_read = count(details.and_then(|details| details.cached_tokens));
    let cache_write = count(details.and_then(|details| details.cache_creation_tokens));
    Some(Usage {
        input: prompt.saturating_sub(cache_read).saturating_sub(cache_write),
        output,
        cache_read,
        cache_write,
        total: usage.total_tokens.map_or(prompt + output, |total| count(Some(total))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_to_stop_has_its_counterpart() {
        for (raw, expected) in [
            ("stop", StopReason::Stop),
            ("end_turn", StopReason::Stop),
            ("stop_sequence", StopReason::Stop),
            ("eos", StopReason::Stop),
            ("length", StopReason::Length),
            ("max_tokens", StopReason::Length),
            ("tool_calls", StopReason::ToolUse),
            ("refusal", StopReason::Error),
            ("content_filter", StopReason::Error),
            ("error", StopReason::Error),
        ] {
            assert_eq!(stop_reason(Some(&raw.to_owned().into())), expected, "{raw}");
        }
        assert_eq!(stop_reason(None), StopReason::Stop);
    }

    #[test]
    fn no_counts_are_no_usage_and_odd_ones_do_no_harm() {
        assert_eq!(usage(&chat::Usage::default()), None);
        let odd = chat::Usage { prompt_tokens: Some(-5), completion_tokens: Some(3), ..Default::default() };
        assert_eq!(usage(&odd), Some(Usage { input: 0, output: 3, cache_read: 0, cache_write: 0, total: 3 }));
    }
}
