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
    /// None was found among the entries that are read, and there are more.
    pub goes_further: bool,
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
    let walk = walk_back(cx, |entry| reader.take(&entry).then_some(()));
    Round { goes_further: matches!(walk, Walk::TooFar), ..reader.round }
}

/// The newest entry that takes part in the conversation: notices and labels do not.
pub fn newest(cx: &Context) -> Option<EntryId> {
    match walk_back(cx, |entry| takes_part(&entry).then_some(entry.id)) {
        Walk::Found(newest) => Some(newest),
        Walk::Nowhere | Walk::TooFar => None,
    }
}

/// What came of a walk from the newest entry back.
enum Walk<T> {
    Found(T),
    /// The whole branch was read.
    Nowhere,
    /// There are more entries than are read.
    TooFar,
}

/// Goes from the newest entry back until something is found.
fn walk_back<T>(cx: &Context, mut find: impl FnMut(Entry) -> Option<T>) -> Walk<T> {
    let mut before: Option<EntryId> = None;
    for _ in 0..FURTHEST / STRIDE as usize {
        let entries = cx.entries_before(before.as_deref(), STRIDE);
        let is_last = entries.len() < STRIDE as usize;
        before = entries.last().map(|entry| entry.id.clone());
        if let Some(found) = entries.into_iter().find_map(&mut find) {
            return Walk::Found(found);
        }
        if is_last {
            return Walk::Nowhere;
        }
    }
    Walk::TooFar
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
