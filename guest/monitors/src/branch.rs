//! The part of the branch that monitors look at: the user's latest message and what followed.

use chaperone_sdk::{AssistantMessage, Content, Context, Entry, EntryBody, StopReason};

use crate::memory::Prompt;

/// The most entries that are read behind the user's message, the newest ones.
const LIMIT: u32 = 512;

/// How many entries are read at once in search of a user's message that is further back.
const STRIDE: u32 = 128;

/// How often, at most: a run this long has lost sight of the message that began it.
const STRIDES: usize = 32;

/// The user's latest message, where there is one, and then the newest entries after it, oldest first.
pub fn since_user(cx: &Context) -> Vec<Entry> {
    let mut entries = cx.entries_since_user(true, LIMIT);
    let is_cut = entries.len() == LIMIT as usize && !entries.first().is_some_and(is_user);
    if is_cut && let Some(user) = user_before(cx, entries.first().map(|entry| entry.id.clone())) {
        entries.insert(0, user);
    }
    entries
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

fn user_before(cx: &Context, mut before: Option<String>) -> Option<Entry> {
    for _ in 0..STRIDES {
        before.as_ref()?;
        let older = cx.entries_before(before.as_deref(), STRIDE);
        before = older.last().map(|entry| entry.id.clone());
        if let Some(user) = older.into_iter().find(is_user) {
            return Some(user);
        }
    }
    None
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
        let mut host = FakeHost::<Reader>::default();
        let other = || EntryBody::Other("x".into());
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
        assert_eq!(read(2, 512, true), r#"513 Some("e3") Entry("e3")"#);
        assert_eq!(read(2, 2000, true), r#"513 Some("e3") Entry("e3")"#);
    }

    #[test]
    fn a_branch_without_a_users_message_has_no_prompt() {
        assert_eq!(read(0, 0, false), "0 None None");
        assert_eq!(read(0, 600, false), r#"512 Some("e89") None"#);
    }
}
