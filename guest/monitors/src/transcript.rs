//! What happened since the user's latest message, as conditions look at it: calls with their outcomes, commands, and
//! the words of both sides. Nothing here asks anybody; whatever is not in the entries has not been seen.

pub mod shell;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::collections::HashMap;

use chaperone_sdk::{Content, Entry, EntryBody, ToolCall};
use serde_json::Value;

use crate::glob::Glob;

/// The tools that write files.
const WRITERS: [&str; 2] = ["write", "edit"];

/// The arguments that hold a command.
const COMMANDS: [&str; 2] = ["command", "cmd"];

/// The arguments that hold a file's path.
const PATHS: [&str; 4] = ["path", "file_path", "filePath", "filename"];

/// The entries since the user's latest message, and a call that waits to be let through, if one does.
pub struct Transcript<'e> {
    user: Option<&'e Entry>,
    entries: &'e [Entry],
    pending: Option<&'e ToolCall>,
    calls: OnceCell<Vec<Call<'e>>>,
}

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Call<'e> {
    /// What was asked for.
    pub call: &'e ToolCall,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing yet.
    Open,
    /// The tool answered.
    Succeeded,
    /// The tool failed.
    Failed,
}

impl<'e> Transcript<'e> {
    /// Of a part of the branch, oldest entry first: what stands before its latest user entry is left out.
    pub fn new(entries: &'e [Entry]) -> Self {
        let is_user = |entry: &Entry| matches!(entry.body, EntryBody::User(_));
        match entries.iter().rposition(is_user) {
            Some(user) => Self::of(Some(&entries[user]), &entries[user + 1..]),
            None => Self::of(None, entries),
        }
    }

    fn of(user: Option<&'e Entry>, entries: &'e [Entry]) -> Self {
        Self { user, entries, pending: None, calls: OnceCell::new() }
    }

    /// The same, while this call waits.
    pub fn before(self, pending: &'e ToolCall) -> Self {
        Self { pending: Some(pending), ..self }
    }

    /// The call that waits.
    pub fn pending(&self) -> Option<&'e ToolCall> {
        self.pending
    }

    /// Every call, oldest first, but for the one that waits.
    pub fn calls(&self) -> &[Call<'e>] {
        self.calls.get_or_init(|| {
            let mut outcomes: HashMap<&str, Outcome> = HashMap::new();
            for entry in self.entries {
                if let EntryBody::ToolResult(result) = &entry.body {
                    let outcome = if result.is_error { Outcome::Failed } else { Outcome::Succeeded };
                    outcomes.insert(&result.call_id, outcome);
                }
            }
            let calls = self.entries.iter().filter_map(|entry| match &entry.body {
                EntryBody::Assistant(message) => Some(&message.content),
                _ => None,
            });
            let calls = calls.flatten().filter_map(|part| match part {
                Content::ToolCall(call) => Some(call),
                _ => None,
            });
            let waits = |call: &&ToolCall| self.pending.is_some_and(|pending| pending.id == call.id);
            calls
                .filter(|call| !waits(call))
                .map(|call| Call { call, outcome: outcomes.get(call.id.as_str()).copied().unwrap_or(Outcome::Open) })
                .collect()
        })
    }

    /// The call that waits, where one does; else every call.
    pub fn called(&self) -> impl Iterator<Item = &'e ToolCall> {
        let calls = if self.pending.is_some() { &[] } else { self.calls() };
        self.pending.into_iter().chain(calls.iter().map(|call| call.call))
    }

    /// Whether a tool answered.
    pub fn has_results(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry.body, EntryBody::ToolResult(_)))
    }

    /// The user's words.
    pub fn user_text(&self) -> String {
        match self.user.map(|entry| &entry.body) {
            Some(EntryBody::User(content)) => text_of(content),
            _ => String::new(),
        }
    }

    /// The agent's latest words.
    pub fn answer(&self) -> String {
        let texts = self.entries.iter().rev().filter_map(|entry| match &entry.body {
            EntryBody::Assistant(message) => Some(text_of(&message.content)),
            _ => None,
        });
        texts.into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default()
    }

    /// What each tool answered, oldest first.
    pub fn result_texts(&self) -> impl Iterator<Item = String> {
        self.entries.iter().filter_map(|entry| match &entry.body {
            EntryBody::ToolResult(result) => Some(text_of(&result.content)),
            _ => None,
        })
    }
}

impl Call<'_> {
    /// Whether it was a write or edit that did not fail.
    pub fn is_write(&self) -> bool {
        writes(self.call) && self.outcome != Outcome::Failed
    }
}

/// Whether a call writes a file.
pub fn writes(call: &ToolCall) -> bool {
    WRITERS.contains(&call.name.as_str())
}

/// The file that a call is about.
pub fn path(call: &ToolCall) -> Option<String> {
    let arguments = arguments(call);
    let path = PATHS.iter().find_map(|key| arguments.get(*key)?.as_str())?;
    Some(path.strip_prefix("./").unwrap_or(path).to_owned())
}

/// The command that a call runs, whatever the tool is called: a text, or a list of words.
pub fn command(call: &ToolCall) -> Option<String> {
    let arguments = arguments(call);
    COMMANDS.iter().find_map(|key| match arguments.get(*key)? {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            Some(match words[..] {
                // The form in which some agents start a shell.
                [program, flag, script] if shell::takes_script(program, flag) => script.to_owned(),
                _ => words.join(" "),
            })
        }
        _ => None,
    })
}

/// Whether a call runs a command that matches: as a whole, or one of those that it is made of.
pub fn runs(call: &ToolCall, glob: &Glob) -> bool {
    command(call).is_some_and(|command| shell::commands(&command).iter().any(|command| glob.matches(command)))
}

/// Two calls with an equal subject do the same: the same command, the same file, the same arguments.
pub fn subject(call: &ToolCall) -> (String, String) {
    let subject = command(call)
        .map(|command| command.split_whitespace().collect::<Vec<_>>().join(" "))
        .or_else(|| path(call))
        .unwrap_or_else(|| arguments(call).to_string());
    (call.name.clone(), subject)
}

fn arguments(call: &ToolCall) -> Value {
    serde_json::from_str(&call.arguments).unwrap_or(Value::Null)
}

fn text_of(content: &[Content]) -> String {
    let texts = content.iter().filter_map(|part| match part {
        Content::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}
