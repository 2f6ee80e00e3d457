//! Reading a judge's answer.
//!
//! A judge is asked for one line: `CLEAN`, `FLAG:<description>` or `NEW:<pattern>|<description>`. Models decorate that
//! line, so the reading is tolerant of form: case, Markdown, quotes, list markers, code fences, dashes for the colon, a
//! reasoning before the verdict, or a JSON object with the same content. It is strict in substance: an answer counts as
//! clean only if it says so and says nothing else. Of several findings the last one counts: a judge that thinks aloud ends
//! with what it means. Whatever is empty, contradictory, without a verdict, or a flag without
//! a description, is [`Verdict::Unknown`].

pub mod form;
mod json;
mod line;
#[cfg(test)]
mod tests;

use std::fmt;

use chaperone_sdk::judge::without_thinking;
use chaperone_sdk::text::{beginning, short_line};
use serde::{Deserialize, Serialize};

/// What a judge said. Descriptions and patterns are one trimmed line, and never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing is wrong.
    Clean,
    /// Something known is wrong.
    Flag {
        /// What.
        description: String,
        /// The pattern that fits, where the judge named it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern_id: Option<String>,
    },
    /// Something is wrong that no pattern describes.
    New {
        /// The pattern that would describe it.
        pattern: String,
        /// What.
        description: String,
    },
    /// The answer is no verdict.
    Unknown {
        /// Why not.
        reason: String,
    },
}

impl Verdict {
    /// Reads an answer.
    pub fn parse(answer: &str) -> Self {
        let answer = without_thinking(answer.trim_start_matches('\u{feff}'));
        let lines: Vec<&str> =
            answer.lines().map(str::trim).filter(|line| !line.is_empty() && !is_fence(line)).collect();
        if lines.is_empty() {
            return Self::unknown("the answer is empty");
        }
        if let Some(verdict) = Self::from_object(&lines.join("\n")) {
            return verdict;
        }
        let stated = stated_by(&lines);
        let says_clean = stated.contains(&Stated::Clean);
        let says_fault = stated.iter().any(|stated| *stated != Stated::Clean);
        match stated.into_iter().next_back() {
            _ if says_clean && says_fault => Self::unknown("the answer says both that it is clean and that it is not"),
            Some(stated) => stated.into_verdict(),
            None => Self::unknown(format!("the answer holds no verdict: {}", beginning(lines[0], LONGEST_EXCERPT))),
        }
    }

    /// Reads an answer that is a JSON object, with no other verdict around it.
    fn from_object(answer: &str) -> Option<Self> {
        let (before, object, behind) = json::split(answer)?;
        let around: Vec<&str> = before.lines().chain(behind.lines()).collect();
        if stated_by(&around).is_empty() { json::verdict(&object) } else { None }
    }

    /// No verdict, for that reason.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self::Unknown { reason: reason.into() }
    }

    /// What is wrong, or why there is no verdict.
    pub fn description(&self) -> Option<&str> {
        match self {
            Self::Clean => None,
            Self::Flag { description, .. } | Self::New { description, .. } => Some(description),
            Self::Unknown { reason } => Some(reason),
        }
    }

    /// The same verdict, as it is reported to the host.
    pub fn kind(&self) -> chaperone_sdk::Verdict {
        match self {
            Self::Clean => chaperone_sdk::Verdict::Clean,
            Self::Flag { .. } => chaperone_sdk::Verdict::Flag,
            Self::New { .. } => chaperone_sdk::Verdict::New,
            Self::Unknown { .. } => chaperone_sdk::Verdict::Unknown,
        }
    }
}

/// As a judge is asked to write it; an unknown one as its reason.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clean => f.write_str("CLEAN"),
            Self::Flag { description, .. } => write!(f, "FLAG:{description}"),
            Self::New { pattern, description } => write!(f, "NEW:{pattern}|{description}"),
            Self::Unknown { reason } => f.write_str(reason),
        }
    }
}

/// The most characters of what a judge says that are kept: it goes to the agent and into files.
const LONGEST_TEXT: usize = 1_000;

/// The most characters of an answer that is not understood that are quoted.
const LONGEST_EXCERPT: usize = 80;

/// What one line, or one object, states; the texts as they stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stated {
    Clean,
    Flag(String),
    New(String, String),
}

impl Stated {
    /// Of a new pattern and its description, one that is missing is the same as the other.
    fn into_verdict(self) -> Verdict {
        match self {
            Self::Clean => Verdict::Clean,
            Self::Flag(description) => match short_line(&description, LONGEST_TEXT) {
                description if description.is_empty() => {
                    Verdict::unknown("the answer flags something, and does not say what")
                }
                description => Verdict::Flag { description, pattern_id: None },
            },
            Self::New(pattern, description) => {
                match (short_line(&pattern, LONGEST_TEXT), short_line(&description, LONGEST_TEXT)) {
                    (pattern, description) if pattern.is_empty() && description.is_empty() => {
                        Verdict::unknown("the answer reports something new, and does not say what")
                    }
                    (pattern, description) if pattern.is_empty() => {
                        Verdict::New { pattern: description.clone(), description }
                    }
                    (pattern, description) if description.is_empty() => {
                        Verdict::New { description: pattern.clone(), pattern }
                    }
                    (pattern, description) => Verdict::New { pattern, description },
                }
            }
        }
    }
}

/// What the lines state, in their order.
fn stated_by(lines: &[&str]) -> Vec<Stated> {
    lines.iter().enumerate().flat_map(|(at, line)| line::read(line, &lines[at + 1..])).collect()
}

fn is_fence(line: &str) -> bool {
    let marker = |mark| line.strip_prefix(mark).is_some_and(|word: &str| word.chars().all(char::is_alphanumeric));
    marker("```") || marker("~~~")
}
