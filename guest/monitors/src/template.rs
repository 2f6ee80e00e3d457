//! Putting values into texts with placeholders, and the prompt that a judge gets.

#[cfg(test)]
mod tests;

use chaperone_sdk::judge;

use crate::definition::{Classify, Collector};
use crate::evidence::Evidence;
use crate::patterns::{self, Pattern};
use crate::rules::{self, Rule};

/// The placeholders of a prompt that stand for no collector.
pub const BUILT_IN: [&str; 3] = ["patterns", "instructions", "iteration"];

/// The words that stand in braces in a text, in order: letters, digits and underscores only.
pub fn placeholders(template: &str) -> impl Iterator<Item = &str> {
    Pieces(template).filter_map(|piece| match piece {
        Piece::Placeholder(word) => Some(word),
        Piece::Literal(_) => None,
    })
}

/// Puts a value in the place of each placeholder that has one, in one pass: what is put in is not looked at again, and
/// a placeholder without a value stays as it is.
pub fn fill<'v>(template: &str, mut value: impl FnMut(&str) -> Option<&'v str>) -> String {
    let mut filled = String::with_capacity(template.len());
    for piece in Pieces(template) {
        match piece {
            Piece::Literal(text) => filled.push_str(text),
            Piece::Placeholder(word) => match value(word) {
                Some(value) => filled.push_str(value),
                None => filled.extend(["{", word, "}"]),
            },
        }
    }
    filled
}

/// What a judge is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// The instructions: whatever the monitor's author and the user wrote.
    pub system: String,
    /// The evidence: whatever came out of the conversation, fenced off.
    pub user: String,
}

/// Stands before every monitor's own instructions.
const PREAMBLE: &str = "\
You are a judge beside a coding agent. You take no part in its conversation: you look at evidence from it and give the \
verdict that the instructions below ask for, in the form that they ask for, and nothing else.";

impl Prompt {
    /// Puts together what a judge is asked.
    ///
    /// `iteration` counts the monitor's steers in a row so far, from 0. Evidence is never put among the instructions: a
    /// collector's placeholder becomes a reference to its block.
    pub fn new(classify: &Classify, evidence: &Evidence, patterns: &[Pattern], rules: &[Rule], iteration: u32) -> Self {
        let patterns = patterns::list(patterns);
        let rules = rules::list(rules);
        let iteration = iteration.to_string();
        let instructions = fill(&classify.prompt, |word| match word {
            "patterns" => Some(patterns.as_str()),
            "instructions" => Some(&rules),
            "iteration" => Some(&iteration),
            word => {
                let collector = Collector::from_word(word)?;
                classify.shows.collectors.contains(&collector).then(|| reference(collector))
            }
        });
        let mut user = String::new();
        for (collector, text) in evidence.blocks() {
            user.push_str(&judge::evidence(collector.word(), text));
        }
        Self { system: format!("{PREAMBLE}\n\n{}\n\n{instructions}", judge::ABOUT_EVIDENCE), user }
    }
}

/// Says in the instructions where a collector's block is.
const fn reference(collector: Collector) -> &'static str {
    match collector {
        Collector::UserText => "(see evidence \"user_text\")",
        Collector::AssistantText => "(see evidence \"assistant_text\")",
        Collector::ToolResults => "(see evidence \"tool_results\")",
        Collector::ToolCalls => "(see evidence \"tool_calls\")",
        Collector::CustomMessages => "(see evidence \"custom_messages\")",
        Collector::ToolCall => "(see evidence \"tool_call\")",
        Collector::ConversationHistory => "(see evidence \"conversation_history\")",
        Collector::GitStatus => "(see evidence \"git_status\")",
    }
}

enum Piece<'t> {
    Literal(&'t str),
    Placeholder(&'t str),
}

/// What is left of a template.
struct Pieces<'t>(&'t str);

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        if self.0.is_empty() {
            return None;
        }
        if let Some((word, rest)) = leading_placeholder(self.0) {
            self.0 = rest;
            return Some(Piece::Placeholder(word));
        }
        // The first byte is no placeholder's brace, or is a brace of its own.
        let literal =
            self.0.bytes().enumerate().skip(1).find(|&(_, byte)| byte == b'{').map_or(self.0.len(), |(at, _)| at);
        let (literal, rest) = self.0.split_at(literal);
        self.0 = rest;
        Some(Piece::Literal(literal))
    }
}

fn leading_placeholder(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('{')?;
    let end = inside.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_'))?;
    let rest = inside[end..].strip_prefix('}')?;
    (end > 0).then(|| (&inside[..end], rest))
}
