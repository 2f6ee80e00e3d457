//! The collector `conversation_history`: what was asked and done before the user's latest message.

use std::fmt::Write;

use chaperone_sdk::text::cut;
use chaperone_sdk::{Content, Entry, EntryBody};

use super::selection::Limit;
use crate::phrases::Words;

/// How many exchanges are shown where the user's message does not refer back.
const USUAL: usize = 1;

/// How many characters of the user's words and of the agent's last ones are shown of each exchange.
const QUOTED: usize = 200;

/// What refers to something earlier.
const REFERENCES: &[&str] = &[
    "again|still|earlier|previously|previous|before|above|already",
    "^ continue|resume|yes|no|ok|okay|and|also|same|now|then",
    "same|other|first|second|last|next one|way|thing|problem|error|file|approach|time",
    "as|like|what you|we|i said|did|discussed|agreed|mentioned|suggested|wrote|made|told",
    "go on|ahead",
    "that|this|these|those !is|are",
    "you said|did|told|mentioned|suggested|wrote|forgot",
    "noch|wieder|vorhin|weiter|nochmal|immer",
    "encore|continue|précédent*|avant",
    "otra vez|sigue|antes|anterior",
];

const REFERENCES_WITHOUT_BLANKS: &[&str] =
    &["继续", "刚才", "之前", "还是", "上面", "再", "続け", "さっき", "前の", "まだ", "もう一度"];

/// Whether a message refers to something before it.
pub fn refers_back(message: &str) -> bool {
    Words::of(message).match_any(REFERENCES) || REFERENCES_WITHOUT_BLANKS.iter().any(|word| message.contains(word))
}

/// The latest exchanges among entries that stand before the user's message `latest`, oldest first: one, or as many as the
/// limit says where the message refers back.
pub fn text(earlier: &[Entry], latest: &str, limit: Limit) -> String {
    let wanted = if refers_back(latest) { limit.items as usize } else { USUAL.min(limit.items as usize) };
    let users = earlier.iter().enumerate().filter(|(_, entry)| matches!(entry.body, EntryBody::User(_)));
    let starts: Vec<usize> = users.map(|(at, _)| at).collect();
    let shown = &starts[starts.len().saturating_sub(wanted)..];
    let mut exchanges = Vec::with_capacity(shown.len());
    for (position, &start) in shown.iter().enumerate() {
        let end = shown.get(position + 1).copied().unwrap_or(earlier.len());
        exchanges.push(exchange(&earlier[start..end]));
    }
    cut(&exchanges.join("\n"), limit.characters as usize).into_owned()
}

fn exchange(entries: &[Entry]) -> String {
    let mut user = String::new();
    let mut answer = String::new();
    // In the order in which they were first used.
    let mut tools: Vec<(&str, u32, u32)> = Vec::new();
    for entry in entries {
        match &entry.body {
            EntryBody::User(content) => user = words(content),
            EntryBody::Assistant(message) => {
                let text = words(&message.content);
                if !text.trim().is_empty() {
                    answer = text;
                }
            }
            EntryBody::ToolResult(result) => {
                let position = tools.iter().position(|(name, ..)| *name == result.tool_name).unwrap_or_else(|| {
                    tools.push((&result.tool_name, 0, 0));
                    tools.len() - 1
                });
                tools[position].1 += 1;
                tools[position].2 += u32::from(result.is_error);
            }
            EntryBody::Custom(_) | EntryBody::Compaction(_) | EntryBody::Other(_) => {}
        }
    }
    let mut text = format!("[user] {}", cut(user.trim(), QUOTED));
    if !tools.is_empty() {
        let tools = tools.iter().map(|(name, calls, errors)| match errors {
            0 => format!("{name} ×{calls}"),
            errors => format!("{name} ×{calls} ({errors} failed)"),
        });
        write!(text, "\n[tools] {}", tools.collect::<Vec<_>>().join(", ")).expect("a String takes everything");
    }
    if !answer.is_empty() {
        write!(text, "\n[agent] {}", cut(answer.trim(), QUOTED)).expect("a String takes everything");
    }
    text
}

fn words(content: &[Content]) -> String {
    let texts = content.iter().filter_map(|part| match part {
        Content::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Collector;
    use crate::samples::*;

    fn earlier() -> Vec<Entry> {
        branch([
            user("one"),
            assistant("first", &[]),
            user("two"),
            assistant("", &[("1", "bash", "{}"), ("2", "bash", "{}"), ("3", "read", "{}")]),
            result("1", "bash", "ok"),
            failure("2", "bash", "exit 1"),
            result("3", "read", "x"),
            assistant("second", &[]),
        ])
    }

    fn shown(latest: &str) -> String {
        text(&earlier(), latest, Limit::of(Collector::ConversationHistory))
    }

    #[test]
    fn one_exchange_is_shown_with_its_tools_and_errors() {
        assert_eq!(shown("Rename x."), "[user] two\n[tools] bash ×2 (1 failed), read ×1\n[agent] second");
    }

    #[test]
    fn a_message_that_refers_back_shows_more() {
        for message in ["Try again", "Do it the same way", "and the tests?", "As you said.", "继续", "nochmal bitte"]
        {
            assert!(refers_back(message), "{message}");
        }
        assert!(!refers_back("Rename x to y in cart.py."));
        assert!(shown("Try again").starts_with("[user] one\n[agent] first\n[user] two\n"));
    }

    #[test]
    fn each_part_and_the_whole_are_bounded() {
        let long = "é".repeat(5_000);
        let bodies = (0..3).flat_map(|_| [user(&long), assistant(&long, &[])]);
        let entries = branch(bodies);
        let one = text(&entries, "x", Limit::of(Collector::ConversationHistory));
        assert!(one.chars().count() < 2 * (QUOTED + 60), "{}", one.chars().count());
        let all = text(&entries, "again", Limit { items: 3, characters: 300 });
        assert!(all.chars().count() < 360);
        assert_eq!(text(&[], "again", Limit { items: 3, characters: 300 }), "");
    }
}
