//! What entries say, and which of them is meant by what an event has told.

use chaperone_contract::{AssistantMessage, Content, Entry, EntryBody};

use crate::session::BranchEntry;

/// So many answers, counted from the newest, may be part of joined last words.
const MAX_JOINED: usize = 64;

pub(super) fn ends_run(entry: &Entry) -> bool {
    matches!(&entry.body, EntryBody::Assistant(message) if !calls_tools(message))
}

pub(super) fn calls_tools(message: &AssistantMessage) -> bool {
    message.content.iter().any(|part| matches!(part, Content::ToolCall(_)))
}

/// What the agent does on its way to an answer.
pub(super) fn is_work(entry: &Entry) -> bool {
    match &entry.body {
        EntryBody::ToolResult(_) => true,
        EntryBody::Assistant(message) => calls_tools(message),
        _ => false,
    }
}

/// Which of the entries is the one that was told early: the first prompt; or, before anybody else speaks, the answer
/// with its text, else the one that called no tool.
pub(super) fn find(line: &[BranchEntry], early: &Entry) -> Option<usize> {
    let prompt = line.iter().position(|entry| matches!(entry.entry.body, EntryBody::User(_)));
    if matches!(early.body, EntryBody::User(_)) {
        return prompt;
    }
    let run = &line[..prompt.unwrap_or(line.len())];
    let text = text_of(early);
    run.iter()
        .position(|entry| is_answer_like(&entry.entry, &text))
        .or_else(|| run.iter().position(|entry| ends_run(&entry.entry)))
}

/// Whether an entry is an answer with this text, whatever the white space; the text may have more before it.
pub(super) fn is_answer_like(entry: &Entry, text: &str) -> bool {
    if !matches!(entry.body, EntryBody::Assistant(_)) {
        return false;
    }
    let dense = |text: &str| text.split_whitespace().collect::<String>();
    let (said, text) = (dense(&text_of(entry)), dense(text));
    !said.is_empty() && (text.ends_with(&said) || (!text.is_empty() && said.ends_with(&text)))
}

pub(super) fn says(entry: &Entry, text: &str) -> bool {
    text_of(entry).trim() == text.trim()
}

pub(super) fn text_of(entry: &Entry) -> String {
    let content = match &entry.body {
        EntryBody::User(content) => content,
        EntryBody::Assistant(message) => &message.content,
        _ => return String::new(),
    };
    let texts = content.iter().filter_map(|part| match part {
        Content::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// What is left of joined answers without those that are on the branch.
pub(super) fn without_known<'t>(joined: &'t str, line: &[BranchEntry]) -> &'t str {
    let is_answer = |entry: &&BranchEntry| matches!(entry.entry.body, EntryBody::Assistant(_));
    let mut known: Vec<_> = line.iter().rev().filter(is_answer).take(MAX_JOINED).collect();
    known.reverse();
    let mut left = joined;
    for entry in known {
        match left.trim_start().strip_prefix(text_of(&entry.entry).trim()) {
            // The very last answer is what is looked for, whether it is known or not.
            Some(rest) if !rest.trim().is_empty() => left = rest,
            _ => {}
        }
    }
    left
}
