//! What happened since the user's latest message: the part of the branch that a stop is judged by.
//!
//! It is read from the newest entry back, and of each entry only what counts is kept: a round may hold hundreds of tool
//! results, and none of them is needed.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};

use chaperone_sdk::text::{compact, short_line};
use chaperone_sdk::{Content, Context, Entry, EntryBody, EntryId, StopReason, ToolCall};

/// The tool whose results are the user's answers.
pub const QUESTION_TOOL: &str = "ask_user_question";

/// How long one line of the tool trace is, in characters.
pub const TRACE_LINE: usize = 200;

/// How many entries are read at once.
const STRIDE: u32 = 32;

/// How many entries are read in search of the user's message.
pub const FURTHEST: usize = 4_096;

/// A round as far as it has been read, from the newest entry back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// The user's message that began it. None: none was found.
    pub user: Option<Message>,
    /// The newest entry that takes part in the conversation.
    pub newest: Option<EntryId>,
    /// How the agent's latest message ended. None: it has not written any.
    pub ending: Option<StopReason>,
    /// The latest text of the agent; empty where it wrote none.
    pub output: String,
    /// What the user answered to the agent's questions, oldest first.
    pub answers: VecDeque<String>,
    /// The latest tool calls on a line each, oldest first.
    pub trace: VecDeque<String>,
    /// How many calls came before them.
    pub untraced: usize,
}

/// A message of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its entry.
    pub id: EntryId,
    /// What it says, with a word for each image.
    pub text: String,
}

/// Reads the round up to now, with at most `traced` tool calls.
pub fn read(cx: &Context, traced: usize) -> Round {
    let mut reader = Reader { traced, ..Reader::default() };
    let mut before: Option<EntryId> = None;
    for _ in 0..FURTHEST / STRIDE as usize {
        let entries = cx.entries_before(before.as_deref(), STRIDE);
        before = entries.last().map(|entry| entry.id.clone());
        let is_whole = entries.iter().any(|entry| reader.take(entry));
        if is_whole || entries.len() < STRIDE as usize {
            break;
        }
    }
    reader.round
}

/// The newest entry that takes part in the conversation: notices and labels do not. None where none is near.
pub fn newest(cx: &Context) -> Option<EntryId> {
    cx.entries_before(None, STRIDE).into_iter().find(takes_part).map(|entry| entry.id)
}

fn takes_part(entry: &Entry) -> bool {
    !matches!(entry.body, EntryBody::Other(_))
}

/// Reads entries from the newest back.
#[derive(Default)]
struct Reader {
    round: Round,
    traced: usize,
    /// By call, whether its tool failed.
    results: HashMap<String, bool>,
}

impl Reader {
    /// Takes the next older entry. True: it is the user's message, and the round is whole.
    fn take(&mut self, entry: &Entry) -> bool {
        if self.round.newest.is_none() && takes_part(entry) {
            self.round.newest = Some(entry.id.clone());
        }
        match &entry.body {
            EntryBody::User(content) => {
                self.round.user = Some(Message { id: entry.id.clone(), text: said(content) });
                return true;
            }
            EntryBody::Assistant(message) => {
                self.round.ending.get_or_insert(message.stop_reason);
                if self.round.output.is_empty() {
                    self.round.output = texts(&message.content);
                }
                for part in message.content.iter().rev() {
                    if let Content::ToolCall(call) = part {
                        self.trace(call);
                    }
                }
            }
            EntryBody::ToolResult(result) => {
                if self.traced > 0 {
                    self.results.insert(result.call_id.clone(), result.is_error);
                }
                if result.tool_name == QUESTION_TOOL && !result.is_error {
                    let answer = texts(&result.content);
                    if !answer.is_empty() {
                        self.round.answers.push_front(answer);
                    }
                }
            }
            EntryBody::Custom(_) | EntryBody::Compaction(_) | EntryBody::Other(_) => {}
        }
        false
    }

    fn trace(&mut self, call: &ToolCall) {
        if self.round.trace.len() == self.traced {
            self.round.untraced += 1;
            return;
        }
        let outcome = match self.results.get(&call.id) {
            Some(false) => "",
            Some(true) => " -> failed",
            None => " -> no result",
        };
        let line = short_line(&format!("{} {}", call.name, compact(&call.arguments)), TRACE_LINE);
        self.round.trace.push_front(line + outcome);
    }
}

/// The text parts of a message, without the blanks around them.
fn texts(content: &[Content]) -> String {
    let texts = content.iter().filter_map(|part| match part {
        Content::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<String>().trim().to_owned()
}

/// What the user said. Of an image, the judge learns that it was there.
fn said(content: &[Content]) -> String {
    let mut said = texts(content);
    for part in content {
        if let Content::Image(media_type) = part {
            said.extend([if said.is_empty() { "" } else { "\n" }, "[image: ", media_type, "]"]);
        }
    }
    said
}
