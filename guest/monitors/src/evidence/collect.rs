//! The collectors of what happened since the user's message. Each gets those entries, oldest first.

use std::borrow::Cow;
use std::fmt::Write;

use chaperone_sdk::text::{compact, cut};
use chaperone_sdk::{Content, Entry, EntryBody, ToolCall, ToolResult};

use super::selection::Limit;
use crate::definition::Collector;

/// What a collector collects; empty where there is nothing, or nothing to collect from entries.
pub fn text(entries: &[Entry], collector: Collector, limit: Limit) -> String {
    let (items, characters) = (limit.items as usize, limit.characters as usize);
    match collector {
        Collector::UserText => user_text(entries, characters),
        Collector::AssistantText => assistant_text(entries, characters),
        Collector::ToolResults => tool_results(entries, items, characters),
        Collector::ToolCalls => tool_calls(entries, items, characters),
        Collector::CustomMessages => custom_messages(entries, characters),
        Collector::ToolCall | Collector::ConversationHistory | Collector::GitStatus => String::new(),
    }
}

/// The call that waits: its tool, and its arguments.
pub fn pending(call: &ToolCall, limit: Limit) -> String {
    format!("[call {}] {}", call.name, cut(&compact(&call.arguments), limit.characters as usize))
}

/// The text of the latest user message.
fn user_text(entries: &[Entry], characters: usize) -> String {
    let user = entries.iter().rev().find_map(|entry| match &entry.body {
        EntryBody::User(content) => Some(text_parts(content)),
        _ => None,
    });
    cut(&user.unwrap_or_default(), characters).into_owned()
}

/// The text of the latest assistant message that has one: the very last may be nothing but tool calls.
fn assistant_text(entries: &[Entry], characters: usize) -> String {
    let assistant = entries.iter().rev().find_map(|entry| match &entry.body {
        EntryBody::Assistant(message) => {
            let text = text_parts(&message.content);
            (!text.trim().is_empty()).then_some(text)
        }
        _ => None,
    });
    cut(&assistant.unwrap_or_default(), characters).into_owned()
}

/// The latest results that say something, each between lines of hyphens.
fn tool_results(entries: &[Entry], count: usize, characters: usize) -> String {
    let mut latest: Vec<(&ToolResult, Cow<str>)> = entries
        .iter()
        .rev()
        .filter_map(|entry| match &entry.body {
            EntryBody::ToolResult(result) => Some((result, result_text(&result.content))),
            _ => None,
        })
        .filter(|(result, text)| result.is_error || !text.trim().is_empty())
        .take(count)
        .collect();
    latest.reverse();
    let results = latest.iter().map(|(result, text)| {
        let error = if result.is_error { " ERROR" } else { "" };
        format!("---\n[{}{error}] {}\n---", result.tool_name, cut(text, characters))
    });
    results.collect::<Vec<_>>().join("\n")
}

/// One call or result.
enum Item<'e> {
    Call(&'e ToolCall),
    Result(&'e ToolResult),
}

/// The latest calls and results in the order in which they happened, one each line, below a line that tells how many
/// came before them.
fn tool_calls(entries: &[Entry], count: usize, characters: usize) -> String {
    let items: Vec<Item> = entries.iter().flat_map(items).collect();
    let left_out = items.len().saturating_sub(count);
    let mut text = String::new();
    if left_out > 0 {
        write!(text, "[… {left_out} earlier calls and results left out …]").expect("a String takes everything");
    }
    for item in &items[left_out..] {
        if !text.is_empty() {
            text.push('\n');
        }
        match item {
            Item::Call(call) => {
                let arguments = compact(&call.arguments);
                write!(text, "[call {}] {}", call.name, cut(&arguments, characters))
            }
            Item::Result(result) => {
                let error = if result.is_error { " ERROR" } else { "" };
                let content = result_text(&result.content);
                write!(text, "[result {}{error}] {}", result.tool_name, cut(&content, characters))
            }
        }
        .expect("a String takes everything");
    }
    text
}

fn items(entry: &Entry) -> Vec<Item<'_>> {
    match &entry.body {
        EntryBody::ToolResult(result) => vec![Item::Result(result)],
        EntryBody::Assistant(message) => {
            let calls = message.content.iter().filter_map(|part| match part {
                Content::ToolCall(call) => Some(Item::Call(call)),
                _ => None,
            });
            calls.collect()
        }
        _ => Vec::new(),
    }
}

/// The messages that extensions put into the conversation since the user's message, one each line.
fn custom_messages(entries: &[Entry], characters: usize) -> String {
    let messages = entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::Custom(message) => Some(format!("[{}] {}", message.custom_type, message.content)),
        _ => None,
    });
    let messages = messages.collect::<Vec<_>>().join("\n");
    cut(&messages, characters).into_owned()
}

/// The text parts of a message.
fn text_parts(content: &[Content]) -> String {
    content
        .iter()
        .filter_map(|part| match part {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// What a tool answered. Of an image, the judge learns that it was there.
fn result_text(content: &[Content]) -> Cow<'_, str> {
    match content {
        [Content::Text(text)] => text.into(),
        parts => {
            let parts = parts.iter().map(|part| match part {
                Content::Text(text) => Cow::Borrowed(text.as_str()),
                Content::Image(media_type) => format!("[image: {media_type}]").into(),
                Content::Thinking(_) | Content::ToolCall(_) => "".into(),
            });
            parts.collect::<String>().into()
        }
    }
}
