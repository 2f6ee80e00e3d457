//! From a text to a [`Condition`].

use std::num::NonZeroU32;
use std::str::FromStr;

use super::Condition;
use crate::glob::Glob;
use crate::waiting::Waiting;

/// How deep conditions may stand within conditions.
const DEPTH: usize = 16;

/// Why a text is no condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// It is none of the known words.
    #[error("`{0}` is not a known condition")]
    Unknown(String),
    /// What stands in parentheses is not what that word takes.
    #[error("`{word}` needs {needs}")]
    Argument {
        /// The word.
        word: String,
        /// What it takes.
        needs: &'static str,
    },
    /// A parenthesis or quotation mark that does not close, or something behind the end.
    #[error("`{0}` is not well formed: {1}")]
    Form(String, Flaw),
}

/// What is wrong with the form of a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// A parenthesis does not close.
    #[error("a parenthesis is not closed")]
    Parenthesis,
    /// A quotation mark does not close.
    #[error("a quotation mark is not closed")]
    Quote,
    /// This stands where the condition is over.
    #[error("something stands behind its end")]
    Behind(String),
    /// There are too many conditions within conditions.
    #[error("it is nested too deeply")]
    Depth,
}

/// All words that a condition begins with, but for those of [`Waiting`].
pub const WORDS: [&str; 19] = [
    "always",
    "has_tool_results",
    "has_file_writes",
    "has_bash",
    "tool",
    "tool_succeeded",
    "command",
    "command_succeeded",
    "unresolved_failure",
    "repeated_failure",
    "unread_write",
    "untested_write",
    "ends_in_question",
    "claims_success",
    "answer_says",
    "user_says",
    "result_says",
    "any",
    "all",
];

type Result<T> = std::result::Result<T, ConditionError>;

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self> {
        let mut rest = Rest { whole: text, left: text.trim() };
        if rest.left.is_empty() {
            return Err(ConditionError::Unknown(String::new()));
        }
        let condition = rest.condition(0)?;
        rest.expect_end()?;
        Ok(condition)
    }
}

/// A text as an argument: as it is where that is clear, else in quotes.
pub fn argument(text: &str) -> String {
    let is_clear = !text.is_empty() && text == text.trim() && !text.contains(['"', '(', ')', ',']);
    match is_clear {
        true => text.into(),
        false => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

/// What is left to be read.
struct Rest<'t> {
    whole: &'t str,
    left: &'t str,
}

impl<'t> Rest<'t> {
    fn condition(&mut self, depth: usize) -> Result<Condition> {
        if depth == DEPTH {
            return Err(self.malformed(Flaw::Depth));
        }
        let word = self.word();
        if word == "not" {
            return Ok(Condition::Not(Box::new(self.condition(depth + 1)?)));
        }
        let has_arguments = self.take('(');
        let condition = match word {
            "any" | "all" if has_arguments && !self.left.starts_with(')') => {
                let conditions = self.conditions(depth + 1)?;
                if word == "any" { Condition::Any(conditions) } else { Condition::All(conditions) }
            }
            word if has_arguments => {
                let texts = self.texts(takes_several(word))?;
                with_arguments(word, texts).unwrap_or_else(|| Err(self.without_arguments(word)))?
            }
            word => plain(word).unwrap_or_else(|| Err(self.unknown(word)))?,
        };
        if has_arguments && !self.take(')') {
            return Err(self.malformed(Flaw::Parenthesis));
        }
        Ok(condition)
    }

    fn conditions(&mut self, depth: usize) -> Result<Vec<Condition>> {
        let mut conditions = vec![self.condition(depth)?];
        while self.take(',') {
            conditions.push(self.condition(depth)?);
        }
        Ok(conditions)
    }

    /// What stands up to the closing parenthesis: one text, or several with commas between them.
    fn texts(&mut self, several: bool) -> Result<Vec<String>> {
        let mut texts = Vec::new();
        loop {
            texts.push(match self.left.trim_start().strip_prefix('"') {
                Some(quoted) => {
                    self.left = quoted;
                    self.quoted()?
                }
                None => {
                    let end = self.left.find(|c| c == ')' || several && c == ',').unwrap_or(self.left.len());
                    let (text, rest) = self.left.split_at(end);
                    self.left = rest;
                    text.trim().to_owned()
                }
            });
            if !(several && self.take(',')) {
                return Ok(texts);
            }
        }
    }

    /// What stands up to the closing quotation mark.
    fn quoted(&mut self) -> Result<String> {
        let mut text = String::new();
        let mut characters = self.left.char_indices();
        while let Some((at, c)) = characters.next() {
            match c {
                '"' => {
                    self.left = self.left[at + 1..].trim_start();
                    return Ok(text);
                }
                '\\' => match characters.next() {
                    Some((_, escaped @ ('"' | '\\'))) => text.push(escaped),
                    Some((_, other)) => text.extend(['\\', other]),
                    None => break,
                },
                c => text.push(c),
            }
        }
        Err(self.malformed(Flaw::Quote))
    }

    fn word(&mut self) -> &'t str {
        self.left = self.left.trim_start();
        let end = self.left.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(self.left.len());
        let (word, rest) = self.left.split_at(end);
        self.left = rest.trim_start();
        word
    }

    fn take(&mut self, c: char) -> bool {
        let rest = self.left.trim_start().strip_prefix(c);
        if let Some(rest) = rest {
            self.left = rest.trim_start();
        }
        rest.is_some()
    }

    fn expect_end(&self) -> Result<()> {
        match self.left.trim().is_empty() {
            true => Ok(()),
            false => Err(self.malformed(Flaw::Behind(self.left.trim().into()))),
        }
    }

    /// Why a word does not have these arguments.
    fn without_arguments(&self, word: &str) -> ConditionError {
        match needs(word).or(plain(word).map(|_| "nothing in parentheses")) {
            Some(needs) => ConditionError::Argument { word: word.into(), needs },
            None => self.unknown(word),
        }
    }

    fn unknown(&self, word: &str) -> ConditionError {
        let shown = match word {
            "" if self.left.is_empty() => self.whole.trim(),
            "" => self.left,
            word => word,
        };
        ConditionError::Unknown(shown.into())
    }

    fn malformed(&self, flaw: Flaw) -> ConditionError {
        ConditionError::Form(self.whole.trim().into(), flaw)
    }
}

/// A word that stands alone. None: there is no such word.
fn plain(word: &str) -> Option<Result<Condition>> {
    Some(Ok(match word {
        "always" => Condition::Always,
        "has_tool_results" => Condition::HasToolResults,
        "has_file_writes" => Condition::HasFileWrites,
        "has_bash" => Condition::HasBash,
        "unresolved_failure" => Condition::UnresolvedFailure(None),
        "unread_write" => Condition::UnreadWrite,
        "untested_write" => Condition::UntestedWrite(None),
        "ends_in_question" => Condition::EndsInQuestion,
        "claims_success" => Condition::ClaimsSuccess,
        word => match (Waiting::from_word(word), needs(word)) {
            (Some(waiting), _) => Condition::Waiting(waiting),
            (None, Some(needs)) => return Some(Err(ConditionError::Argument { word: word.into(), needs })),
            (None, None) => return None,
        },
    }))
}

/// A word with what stands in its parentheses. None: there is no such word.
fn with_arguments(word: &str, texts: Vec<String>) -> Option<Result<Condition>> {
    let needs = needs(word)?;
    let wrong = || ConditionError::Argument { word: word.into(), needs };
    let glob = || -> Result<Glob> {
        match &texts[..] {
            [text] if !text.is_empty() => text.parse().map_err(|_| wrong()),
            _ => Err(wrong()),
        }
    };
    let several = || match texts.iter().all(|text| text.chars().any(|c| !c.is_whitespace())) {
        true => Ok(texts.clone()),
        false => Err(wrong()),
    };
    Some(match word {
        "tool" => glob().map(Condition::Tool),
        "tool_succeeded" => glob().map(Condition::ToolSucceeded),
        "command" => glob().map(Condition::Command),
        "command_succeeded" => glob().map(Condition::CommandSucceeded),
        "unresolved_failure" => glob().map(|name| Condition::UnresolvedFailure(Some(name))),
        "untested_write" => glob().map(|glob| Condition::UntestedWrite(Some(glob))),
        "repeated_failure" => whole_number(&texts).ok_or_else(wrong).map(Condition::RepeatedFailure),
        "answer_says" => several().map(Condition::AnswerSays),
        "user_says" => several().map(Condition::UserSays),
        "result_says" => several().map(Condition::ResultSays),
        _ => return None,
    })
}

/// What a word takes in parentheses. None: nothing.
fn needs(word: &str) -> Option<&'static str> {
    Some(match word {
        "tool" | "tool_succeeded" => "the name of a tool in parentheses, where * stands for any text",
        "unresolved_failure" => "nothing, or the name of a tool in parentheses",
        "command" | "command_succeeded" => "a command in parentheses, where * stands for any text",
        "untested_write" => "nothing, or a command in parentheses, where * stands for any text",
        "repeated_failure" => "a whole number from 1 in parentheses",
        "answer_says" | "user_says" | "result_says" => "words or phrases in parentheses, with commas between them",
        "any" | "all" => "conditions in parentheses, with commas between them",
        _ => return None,
    })
}

fn takes_several(word: &str) -> bool {
    matches!(word, "answer_says" | "user_says" | "result_says")
}

/// A number of digits alone, from 1.
pub fn whole_number(texts: &[String]) -> Option<NonZeroU32> {
    let [text] = texts else { return None };
    let digits_only = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits_only)
}
