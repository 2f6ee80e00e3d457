//! The part of the branch that monitors look at: the user's latest message and what followed.

use chaperone_sdk::{AssistantMessage, Content, Context, Entry, EntryBody, StopReason};

use crate::memory::Prompt;

/// The most entries that are read behind the user's message, the newest ones.
const LIMIT: usize = 512;

/// How many entries are read at once.
const STRIDE: u32 = 64;

/// How many bytes of text are read behind the user's message, beyond which no older entry is.
const BYTES: usize = 4 << 20;

/// How many entries are gone back, at most, in search of a user's message: a run this long has lost sight of it.
const FARTHEST: usize = 4096;

/// How many exchanges before the user's message are read.
const EXCHANGES: usize = 3;

/// The user's latest message, where there is one, and then the newest entries after it, oldest first.
pub fn since_user(cx: &Context) -> Vec<Entry> {
    let latest = cx.entries_since_user(true, STRIDE);
    let is_whole = latest.len() < STRIDE as usize || latest.first().is_some_and(is_user);
    if is_whole && latest.iter().map(size).sum::<usize>() < BYTES {
        return latest;
    }
    let mut newest_first = Vec::new();
    let mut bytes = 0;
    let user = go_back(cx, None, |entry| {
        let is_within = newest_first.len() < LIMIT && bytes < BYTES;
        bytes += size(&entry);
        match is_user(&entry) {
            true => Some(entry),
            false => {
                if is_within {
                    newest_first.push(entry);
                }
                None
            }
        }
    });
    newest_first.extend(user);
    newest_first.reverse();
    newest_first
}

/// What stands before the first of these entries, oldest first: the latest exchanges, each from a message of the user on.
pub fn earlier(cx: &Context, entries: &[Entry]) -> Vec<Entry> {
    let Some(first) = entries.first().filter(|entry| is_user(entry)) else { return Vec::new() };
    let mut newest_first = Vec::new();
    let (mut bytes, mut exchanges) = (0, 0);
    go_back(cx, Some(first.id.clone()), |entry| {
        bytes += size(&entry);
        exchanges += usize::from(is_user(&entry));
        newest_first.push(entry);
        (exchanges == EXCHANGES || newest_first.len() >= LIMIT || bytes > BYTES).then_some(())
    });
    newest_first.reverse();
    newest_first
}

/// Shows one entry after another, from the newest before `before` on, until something is found.
fn go_back<T>(cx: &Context, mut before: Option<String>, mut find: impl FnMut(Entry) -> Option<T>) -> Option<T> {
    for _ in 0..FARTHEST / STRIDE as usize {
        let older = cx.entries_before(before.as_deref(), STRIDE);
        before = Some(older.last()?.id.clone());
        if let Some(found) = older.into_iter().find_map(&mut find) {
            return Some(found);
        }
    }
    None
}

/// How many bytes of text an entry holds.
fn size(entry: &Entry) -> usize {
    let parts = |content: &[Content]| -> usize {
        let sizes = content.iter().map(|part| match part {
            Content::Text(text) | Content::Thinking(text) => text.len(),
            Content::ToolCall(call) => call.arguments.len(),
            Content::Image(_) => 0,
        });
        sizes.sum()
    };
    match &entry.body {
        EntryBody::User(content) => parts(content),
        EntryBody::Assistant(message) => parts(&message.content),
        EntryBody::ToolResult(result) => parts(&result.content) + result.details.as_ref().map_or(0, String::len),
        EntryBody::Custom(message) => message.content.len() + message.details.as_ref().map_or(0, String::len),
        EntryBody::Compaction(summary) => summary.len(),
        EntryBody::Other(_) => 0,
    }
}

/// Which message of the user such entries begin with.
pub fn prompt(entries: &[Entry]) -> Prompt {
    match entries.first() {
        Some(entry) if is_user(entry) => Prompt::Entry(entry.id.clone()),
        _ => Prompt::None,
    }
}

/// The agent's latest message.
pub fn last_message(entries: &[Entry]) -> Option<&AssistantMessage> {
    entries.iter().rev().find_map(|entry| match &entry.body {
        EntryBody::Assistant(message) => Some(message),
        _ => None,
    })
}

/// How a message of the agent leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It has finished, or reached the limit of its output.
    AtRest,
    /// It goes on with tools.
    GoesOn,
    /// The user or a failure broke it off; nothing of it is judged.
    BrokenOff,
}

/// How a message ends.
pub fn ending(message: &AssistantMessage) -> Ending {
    let calls_tools = message.content.iter().any(|part| matches!(part, Content::ToolCall(_)));
    match message.stop_reason {
        StopReason::Aborted | StopReason::Error => Ending::BrokenOff,
        StopReason::ToolUse => Ending::GoesOn,
        StopReason::Stop | StopReason::Length if calls_tools => Ending::GoesOn,
        StopReason::Stop | StopReason::Length => Ending::AtRest,
    }
}

fn is_user(entry: &Entry) -> bool {
    matches!(entry.body, EntryBody::User(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chaperone_sdk::fake::FakeHost;
    use chaperone_sdk::{Description, Event, Hook, Level, Plugin, ToolCall};

    fn message(stop_reason: StopReason, content: Vec<Content>) -> AssistantMessage {
        AssistantMessage { content, stop_reason, usage: None, model: None, error: None }
    }

    #[test]
    fn only_a_message_that_ends_by_itself_and_calls_no_tool_is_at_rest() {
        let text = || vec![Content::Text("x".into())];
        let call = || vec![Content::ToolCall(ToolCall { id: "1".into(), name: "bash".into(), arguments: "{}".into() })];
        assert_eq!(ending(&message(StopReason::Stop, text())), Ending::AtRest);
        assert_eq!(ending(&message(StopReason::Length, text())), Ending::AtRest);
        assert_eq!(ending(&message(StopReason::ToolUse, call())), Ending::GoesOn);
        assert_eq!(ending(&message(StopReason::Stop, call())), Ending::GoesOn);
        assert_eq!(ending(&message(StopReason::Aborted, text())), Ending::BrokenOff);
        assert_eq!(ending(&message(StopReason::Error, call())), Ending::BrokenOff);
    }

    /// Writes the ids of what it reads to the log.
    struct Reader;

    impl Plugin for Reader {
        fn describe(_: &mut Context) -> Description {
            chaperone_sdk::describe("reader", "1", "Reads", [Hook::AgentEnd])
        }
        fn agent_end(cx: &mut Context) {
            let entries = since_user(cx);
            let ids: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
            cx.log(Level::Info, format!("{} {:?} {:?}", ids.len(), ids.first(), prompt(&entries)));
        }
    }

    fn read(before: usize, after: usize, with_user: bool) -> String {
        read_of(before, after, with_user, EntryBody::Other("x".into()))
    }

    fn read_of(before: usize, after: usize, with_user: bool, other: EntryBody) -> String {
        let mut host = FakeHost::<Reader>::default();
        let other = || other.clone();
        (0..before).for_each(|_| drop(host.append(other())));
        if with_user {
            host.append(EntryBody::User(Vec::new()));
        }
        (0..after).for_each(|_| drop(host.append(other())));
        match host.call(Event::AgentEnd).effects.remove(0) {
            chaperone_sdk::Effect::Log { message, .. } => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_users_message_comes_first_however_far_back_it_is() {
        assert_eq!(read(2, 3, true), r#"4 Some("e3") Entry("e3")"#);
        assert_eq!(read(2, 511, true), r#"512 Some("e3") Entry("e3")"#);
        assert_eq!(read(2, 63, true), r#"64 Some("e3") Entry("e3")"#);
        assert_eq!(read(2, 512, true), r#"513 Some("e3") Entry("e3")"#);
        assert_eq!(read(2, 2000, true), r#"513 Some("e3") Entry("e3")"#);
    }

    #[test]
    fn a_branch_without_a_users_message_has_no_prompt() {
        assert_eq!(read(0, 0, false), "0 None None");
        assert_eq!(read(0, 600, false), r#"512 Some("e89") None"#);
    }

    #[test]
    fn entries_too_large_to_be_held_are_left_out_from_the_oldest_on() {
        let large = || EntryBody::Compaction("x".repeat(BYTES / 4));
        assert_eq!(read_of(0, 10, true, large()), r#"5 Some("e1") Entry("e1")"#);
    }
}
