//! What a judge is shown of the conversation: since the user's latest message, and bounded in size.

mod collect;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::fmt;
use std::hash::Hasher;
use std::str::FromStr;

use chaperone_sdk::{Entry, EntryBody};
use serde::{Deserialize, Serialize};
use siphasher::sip128::{Hasher128, SipHasher13};

use crate::definition::Collector;

/// How many tool results `tool_results` shows, the newest ones.
pub const TOOL_RESULTS: usize = 5;

/// How many calls and results together `tool_calls` shows, the newest ones.
pub const TOOL_CALLS: usize = 20;

/// How many characters of one call or result are shown.
pub const TOOL_CHARACTERS: usize = 2000;

/// How many characters are shown of the user's text, of the agent's, and of all messages of extensions.
pub const TEXT_CHARACTERS: usize = 20_000;

/// The entries of one user prompt, and what was collected from them. Monitors that look at the same moment share one:
/// each part is collected once, when it is first asked for.
pub struct Window<'e> {
    entries: &'e [Entry],
    collected: [OnceCell<Collected>; Collector::ALL.len()],
}

struct Collected {
    text: String,
    digest: Digest,
}

impl<'e> Window<'e> {
    /// The window on a part of the branch, oldest entry first: what stands before its latest user entry is left out.
    pub fn new(entries: &'e [Entry]) -> Self {
        let user = entries.iter().rposition(|entry| matches!(entry.body, EntryBody::User(_)));
        Self { entries: &entries[user.unwrap_or(0)..], collected: Default::default() }
    }

    /// The entries, oldest first. The first one is the user's, if that was among them.
    pub fn entries(&self) -> &'e [Entry] {
        self.entries
    }

    /// The user's message.
    pub fn user(&self) -> Option<&'e Entry> {
        self.entries.first().filter(|entry| matches!(entry.body, EntryBody::User(_)))
    }

    /// The newest entry.
    pub fn newest(&self) -> Option<&'e Entry> {
        self.entries.last()
    }

    /// What one collector collects.
    pub fn text(&self, collector: Collector) -> &str {
        &self.collected(collector).text
    }

    /// What a judge is shown: one block for each collector, in that order.
    pub fn evidence(&self, context: &[Collector]) -> Evidence<'_> {
        let mut hasher = SipHasher13::new();
        let blocks = context.iter().map(|&collector| {
            let Collected { text, digest } = self.collected(collector);
            hash_part(&mut hasher, collector.word().as_bytes());
            hash_part(&mut hasher, &digest.0.to_le_bytes());
            (collector, text.as_str())
        });
        Evidence { blocks: blocks.collect(), digest: Digest(hasher.finish128().as_u128()) }
    }

    fn collected(&self, collector: Collector) -> &Collected {
        self.collected[collector as usize].get_or_init(|| {
            let text = collect::text(self.entries, collector);
            let mut hasher = SipHasher13::new();
            hash_part(&mut hasher, text.as_bytes());
            Collected { text, digest: Digest(hasher.finish128().as_u128()) }
        })
    }
}

/// What one judge is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence<'w> {
    blocks: Vec<(Collector, &'w str)>,
    digest: Digest,
}

impl<'w> Evidence<'w> {
    /// The parts in their order. A part may be empty.
    pub fn blocks(&self) -> &[(Collector, &'w str)] {
        &self.blocks
    }

    /// Equal for equal evidence, on every machine and in every session.
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

/// 128 bits that stand for a text. In JSON, 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(u128);

/// 64 bits that stand for a few bytes, the same on every machine.
pub(crate) fn hash64(bytes: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new();
    hash_part(&mut hasher, bytes);
    hasher.finish()
}

/// Hashes a part so that its end cannot be moved into the next one.
fn hash_part(hasher: &mut SipHasher13, bytes: &[u8]) {
    hasher.write(&(bytes.len() as u64).to_le_bytes());
    hasher.write(bytes);
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for Digest {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u128::from_str_radix(text, 16).map(Self)
    }
}

impl TryFrom<String> for Digest {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}
