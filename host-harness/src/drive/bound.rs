//! Texts so large that a hook could not hold a branch of them: they are cut in their middle before any plugin sees them.
//! A tool that prints a file of a hundred megabytes must not set the watchers aside.

use std::borrow::Cow;
use std::sync::Arc;

use chaperone_contract::*;
use serde_json::Value;

/// How large a text may be, in bytes, that plugins see: of a message's part, of a tool's argument, of a `details`.
pub const LONGEST_TEXT: usize = 256 << 10;

/// An entry as plugins see it.
pub fn entry(entry: Arc<Entry>) -> Arc<Entry> {
    if !is_body_too_large(&entry.body) {
        return entry;
    }
    let mut bounded = Arc::unwrap_or_clone(entry);
    body(&mut bounded.body);
    Arc::new(bounded)
}

/// An event as plugins see it.
pub fn event(event: &Event) -> Cow<'_, Event> {
    let is_too_large = match event {
        Event::Input { content } => are_parts_too_large(content),
        Event::MessageEnd { message } => is_body_too_large(&message.body),
        Event::ToolStart { call } => is_too_large(&call.arguments),
        Event::ToolEnd { outcome } => is_result_too_large(outcome),
        Event::TurnEnd { turn } => {
            are_parts_too_large(&turn.message.content) || turn.tool_results.iter().any(is_result_too_large)
        }
        _ => false,
    };
    if !is_too_large {
        return Cow::Borrowed(event);
    }
    let mut bounded = event.clone();
    match &mut bounded {
        Event::Input { content } => parts(content),
        Event::MessageEnd { message } => body(&mut message.body),
        Event::ToolStart { call } => json(&mut call.arguments),
        Event::ToolEnd { outcome } => result(outcome),
        Event::TurnEnd { turn } => {
            parts(&mut turn.message.content);
            turn.tool_results.iter_mut().for_each(result);
        }
        _ => {}
    }
    Cow::Owned(bounded)
}

fn is_body_too_large(body: &EntryBody) -> bool {
    match body {
        EntryBody::User(content) => are_parts_too_large(content),
        EntryBody::Assistant(message) => are_parts_too_large(&message.content),
        EntryBody::ToolResult(result) => is_result_too_large(result),
        EntryBody::Custom(message) => {
            is_too_large(&message.content) || message.details.as_deref().is_some_and(is_too_large)
        }
        EntryBody::Compaction(summary) => is_too_large(summary),
        EntryBody::Other(_) => false,
    }
}

fn is_result_too_large(result: &ToolResult) -> bool {
    are_parts_too_large(&result.content) || result.details.as_deref().is_some_and(is_too_large)
}

fn are_parts_too_large(content: &[Content]) -> bool {
    content.iter().any(|part| match part {
        Content::Text(text) | Content::Thinking(text) => is_too_large(text),
        Content::ToolCall(call) => is_too_large(&call.arguments),
        Content::Image(_) => false,
    })
}

fn is_too_large(text: &str) -> bool {
    text.len() > LONGEST_TEXT
}

fn body(body: &mut EntryBody) {
    match body {
        EntryBody::User(content) => parts(content),
        EntryBody::Assistant(message) => parts(&mut message.content),
        EntryBody::ToolResult(outcome) => result(outcome),
        EntryBody::Custom(message) => {
            text(&mut message.content, LONGEST_TEXT);
            message.details.as_mut().into_iter().for_each(json);
        }
        EntryBody::Compaction(summary) => text(summary, LONGEST_TEXT),
        EntryBody::Other(_) => {}
    }
}

fn result(result: &mut ToolResult) {
    parts(&mut result.content);
    result.details.as_mut().into_iter().for_each(json);
}

fn parts(content: &mut [Content]) {
    for part in content {
        match part {
            Content::Text(part) | Content::Thinking(part) => text(part, LONGEST_TEXT),
            Content::ToolCall(call) => json(&mut call.arguments),
            Content::Image(_) => {}
        }
    }
}

/// Cuts the texts in a JSON document until it is small enough; what cannot be made so is `null`.
fn json(document: &mut String) {
    if !is_too_large(document) {
        return;
    }
    let mut value = serde_json::from_str(document).unwrap_or(Value::Null);
    let mut longest = LONGEST_TEXT / 2;
    while is_too_large(document) {
        shorten(&mut value, longest);
        *document = value.to_string();
        longest /= 4;
        if longest == 0 {
            value = Value::Null;
        }
    }
}

fn shorten(value: &mut Value, longest: usize) {
    match value {
        Value::String(part) => text(part, longest),
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, longest)),
        Value::Object(members) => members.values_mut().for_each(|member| shorten(member, longest)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn text(text: &mut String, longest: usize) {
    if text.len() <= longest {
        return;
    }
    let head = text.floor_char_boundary(longest / 2);
    let tail = text.ceil_char_boundary(text.len() - longest / 2);
    let left_out = tail - head;
    *text = format!("{}\n[… {left_out} bytes left out …]\n{}", &text[..head], &text[tail..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str) -> Arc<Entry> {
        let body = EntryBody::User(vec![Content::Text(text.into())]);
        Arc::new(Entry { id: "e".into(), timestamp: 0, body })
    }

    #[test]
    fn what_is_small_is_not_even_copied() {
        let small = says("x");
        assert!(Arc::ptr_eq(&small, &entry(small.clone())));
        assert!(matches!(event(&Event::AgentEnd), Cow::Borrowed(_)));
    }

    #[test]
    fn a_large_text_keeps_its_beginning_and_its_end() {
        let large = says(&format!("first {} last", "é".repeat(LONGEST_TEXT)));
        let EntryBody::User(content) = &entry(large).body else { panic!("it was the user's") };
        let [Content::Text(text)] = &content[..] else { panic!("it was one text") };
        assert!(text.len() < LONGEST_TEXT + 100);
        assert!(text.starts_with("first é") && text.ends_with("é last") && text.contains("bytes left out"));
    }

    #[test]
    fn arguments_stay_the_object_that_they_were() {
        let arguments = serde_json::json!({"path": "a.rs", "content": "x".repeat(3 * LONGEST_TEXT)}).to_string();
        let call = |arguments| Event::ToolStart { call: ToolCall { id: "c".into(), name: "x".into(), arguments } };
        let seen = |arguments| match event(&call(arguments)).into_owned() {
            Event::ToolStart { call } => call.arguments,
            other => panic!("{other:?}"),
        };
        let bounded = seen(arguments);
        assert!(bounded.len() <= LONGEST_TEXT);
        assert_eq!(serde_json::from_str::<Value>(&bounded).unwrap()["path"], "a.rs");
        assert_eq!(seen(Value::Array(vec![Value::from(1); LONGEST_TEXT]).to_string()), "null");
    }
}
