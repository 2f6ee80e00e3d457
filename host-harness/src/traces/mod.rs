//! How much is kept of judgements, and for how long.

mod redact;

use std::borrow::Cow;
use std::time::Duration;

pub use redact::redact;

/// What is kept of judgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How old a trace becomes.
    pub keep: Duration,
    /// How large the texts of all traces become together, in bytes.
    pub max_bytes: u64,
    /// What is kept of the texts.
    pub content: Content,
}

impl Default for Policy {
    /// 30 days, 64 MiB, without secrets.
    fn default() -> Self {
        Self { keep: Duration::from_secs(30 * 24 * 60 * 60), max_bytes: 64 << 20, content: Content::Redacted }
    }
}

/// What is kept of questions, answers and descriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// All of it, as it was.
    Full,
    /// All of it but what looks like a secret.
    Redacted,
    /// Nothing: only who judged when, the verdict, and what it cost.
    None,
}

impl Content {
    /// What is kept of a text.
    pub fn of<'t>(self, text: &'t str) -> Option<Cow<'t, str>> {
        match self {
            Self::Full => Some(Cow::Borrowed(text)),
            Self::Redacted => Some(redact(text)),
            Self::None => None,
        }
    }
}
