//! Reading a judge's answer.
//!
//! A judge is asked for one JSON object, `{"reason": …, "verdict": "continue" | "stop", "confidence": …}`. The reading is
//! tolerant of what stands around it: code fences, prose, a reasoning before it. It is strict in substance, since an
//! answer that is misread either sends the agent back for nothing or hides that work is missing: two verdicts that
//! differ, a piece of a second one, prose that names the other verdict, a confidence that is no number from 0 to 1, or a
//! `continue` that does not say what is missing, are no verdict at all.

#[cfg(test)]
mod tests;

use chaperone_sdk::judge::without_thinking;
use chaperone_sdk::text::{beginning, short_line};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::confidence::Confidence;

/// The most characters of a judge's reason that are kept: it goes to the agent.
pub const LONGEST_REASON: usize = 1_000;

/// The longest answer that is read, in bytes.
pub const LONGEST_ANSWER: usize = 64 * 1024;

/// How many braces may look like the beginning of a verdict.
const MOST_OBJECTS: usize = 64;

/// The most characters of a value that an error quotes.
const QUOTED: usize = 60;

/// What a judge said.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether work is missing.
    pub decision: Decision,
    /// How sure the judge is of it.
    pub confidence: Confidence,
    /// Why, on one line. Never empty for [`Decision::Continue`].
    pub reason: String,
}

/// What the agent should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Work is still missing.
    Continue,
    /// Stopping here is fine.
    Stop,
}

impl Decision {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Continue, Self::Stop];

    /// As it stands in an answer and in the configuration.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Stop => "stop",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|decision| word.trim().eq_ignore_ascii_case(decision.word()))
    }
}

/// Why an answer is no verdict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misread {
    /// There is none in it.
    #[error("the answer holds no verdict")]
    Nothing,
    /// Whatever it says, nobody wants to read it.
    #[error("the answer is longer than {LONGEST_ANSWER} bytes, or full of braces")]
    Rambling,
    /// Two verdicts, or one and a piece of another, or one and prose that says the opposite.
    #[error("the answer holds more than one verdict, and they differ")]
    Ambiguous,
    /// Neither `continue` nor `stop`.
    #[error("the answer's verdict is {0}, neither \"continue\" nor \"stop\"")]
    Decision(String),
    /// It has none.
    #[error("the answer does not say how confident it is")]
    NoConfidence,
    /// It is no number, or out of range.
    #[error("the answer's confidence is {0}, not a number from 0 to 1")]
    Confidence(String),
    /// It is no text.
    #[error("the answer's reason is {0}, not a text")]
    Reason(String),
    /// The agent could not be told anything.
    #[error("the answer says that work is missing, and does not say what")]
    NoReason,
}

impl Verdict {
    /// Reads an answer.
    ///
    /// # Errors
    /// Why it is no verdict.
    pub fn parse(answer: &str) -> Result<Self, Misread> {
        if answer.len() > LONGEST_ANSWER {
            return Err(Misread::Rambling);
        }
        let answer = without_thinking(answer);
        let (stated, around) = split(&answer)?;
        if around.iter().any(|text| begins_verdict(text)) {
            return Err(if stated.is_empty() { Misread::Nothing } else { Misread::Ambiguous });
        }
        let mut verdicts = stated.into_iter().map(Verdict::try_from);
        let first = verdicts.next().ok_or(Misread::Nothing)??;
        let verdict = verdicts.try_fold(first, |first, next| {
            let next = next?;
            let says_the_same = (first.decision, first.confidence) == (next.decision, next.confidence);
            if says_the_same { Ok(next) } else { Err(Misread::Ambiguous) }
        })?;
        let is_contradicted = around.iter().flat_map(|text| named_in(text)).any(|named| named != verdict.decision);
        if is_contradicted { Err(Misread::Ambiguous) } else { Ok(verdict) }
    }
}

/// An object that has a verdict, as it stands in the answer. A member that is there twice makes it no object.
#[derive(Deserialize)]
struct Stated {
    #[serde(default, deserialize_with = "present")]
    verdict: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    confidence: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    reason: Option<Value>,
}

/// Tells `null` from a member that is not there.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

impl TryFrom<Stated> for Verdict {
    type Error = Misread;

    fn try_from(stated: Stated) -> Result<Self, Misread> {
        let quoted = |value: &Value| beginning(&value.to_string(), QUOTED);
        let verdict = stated.verdict.unwrap_or(Value::Null);
        let decision = verdict.as_str().and_then(Decision::from_word);
        let decision = decision.ok_or_else(|| Misread::Decision(quoted(&verdict)))?;
        let confidence = stated.confidence.ok_or(Misread::NoConfidence)?;
        let number = confidence.as_f64().and_then(Confidence::new);
        let confidence = number.ok_or_else(|| Misread::Confidence(quoted(&confidence)))?;
        let reason = match &stated.reason {
            None => String::new(),
            Some(Value::String(text)) => short_line(text, LONGEST_REASON),
            Some(other) => return Err(Misread::Reason(quoted(other))),
        };
        if decision == Decision::Continue && reason.is_empty() {
            return Err(Misread::NoReason);
        }
        Ok(Self { decision, confidence, reason })
    }
}

/// The objects of an answer that have a verdict, and the texts between them; other objects are text like any other.
fn split(answer: &str) -> Result<(Vec<Stated>, Vec<&str>), Misread> {
    let (mut stated, mut around) = (Vec::new(), Vec::new());
    let (mut start, mut looked) = (0, 0);
    for braces in 0.. {
        let Some(at) = answer[looked..].find('{').map(|found| looked + found) else { break };
        if braces == MOST_OBJECTS {
            return Err(Misread::Rambling);
        }
        let mut objects = serde_json::Deserializer::from_str(&answer[at..]).into_iter::<Stated>();
        looked = at + 1;
        if let Some(Ok(object)) = objects.next() {
            looked = at + objects.byte_offset();
            if object.verdict.is_some() {
                around.push(&answer[start..at]);
                start = looked;
                stated.push(object);
            }
        }
    }
    around.push(&answer[start..]);
    Ok((stated, around))
}

/// Whether a text around the verdicts has a member of that name: a verdict that was cut off, or is written wrongly.
fn begins_verdict(text: &str) -> bool {
    text.match_indices("\"verdict\"").any(|(at, name)| text[at + name.len()..].trim_start().starts_with(':'))
}

/// The verdicts that a text names outside of JSON: `Verdict: **continue**`, `'verdict': 'stop'`.
fn named_in(text: &str) -> Vec<Decision> {
    let lower = text.to_ascii_lowercase();
    let is_ornament = |c: char| c.is_whitespace() || "\"'`*_\\".contains(c);
    let named = lower.match_indices("verdict").filter_map(|(at, name)| {
        let behind = lower[at + name.len()..].trim_start_matches(is_ornament);
        let value = behind.strip_prefix([':', '=', '\u{ff1a}'])?.trim_start_matches(is_ornament);
        let end = value.find(|c: char| !c.is_alphanumeric()).unwrap_or(value.len());
        Decision::from_word(&value[..end])
    });
    named.collect()
}
