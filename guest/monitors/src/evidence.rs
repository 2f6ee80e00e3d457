//! What a judge is shown: the conversation since the user's latest message, and more where a monitor asks for it, all of
//! it bounded in size.

mod collect;
pub mod git;
mod history;
pub mod selection;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;
use std::hash::Hasher;
use std::str::FromStr;

use chaperone_sdk::text::cut;
use chaperone_sdk::{Entry, EntryBody, ToolCall};
use serde::{Deserialize, Serialize};
use siphasher::sip128::{Hasher128, SipHasher13};

use self::selection::{Limit, Selection, shares};
use crate::definition::Collector;
use crate::transcript::Transcript;

/// What a moment offers as evidence. Monitors that look at the same moment share one: each part is collected once in its
/// usual size, when it is first asked for.
pub struct Window<'e> {
    entries: &'e [Entry],
    earlier: &'e [Entry],
    pending: Option<&'e ToolCall>,
    git_status: Option<&'e str>,
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
        let entries = &entries[user.unwrap_or(0)..];
        Self { entries, earlier: &[], pending: None, git_status: None, collected: Default::default() }
    }

    /// The same, with what stands before those entries, oldest first.
    pub fn after(self, earlier: &'e [Entry]) -> Self {
        Self { earlier, ..self }
    }

    /// The same, while this call waits.
    pub fn before(self, pending: &'e ToolCall) -> Self {
        Self { pending: Some(pending), ..self }
    }

    /// The same, with the state of the repository.
    pub fn with_git_status(self, status: &'e str) -> Self {
        Self { git_status: Some(status), ..self }
    }

    /// Whether all is here that a judge is to see: the state of the repository has to be looked up first.
    pub fn is_whole(&self, selection: &Selection) -> bool {
        self.git_status.is_some() || !selection.shows(Collector::GitStatus)
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

    /// The tool call that waits.
    pub fn pending(&self) -> Option<&'e ToolCall> {
        self.pending
    }

    /// The same as conditions see it.
    pub fn transcript(&self) -> Transcript<'e> {
        let transcript = Transcript::new(self.entries);
        match self.pending {
            Some(pending) => transcript.before(pending),
            None => transcript,
        }
    }

    /// What one collector collects, in its usual size.
    pub fn text(&self, collector: Collector) -> &str {
        &self.collected(collector).text
    }

    /// What a judge is shown: one block for each collector, in that order, within the limits and the budget.
    pub fn evidence(&self, selection: &Selection) -> Evidence<'_> {
        let parts = selection.collectors.iter().map(|&collector| {
            let limit = selection.limit(collector);
            let (text, digest) = match limit == Limit::of(collector) {
                true => {
                    let Collected { text, digest } = self.collected(collector);
                    (Cow::Borrowed(text.as_str()), *digest)
                }
                false => {
                    let text = self.collect(collector, limit);
                    let digest = digest_of(&text);
                    (Cow::Owned(text), digest)
                }
            };
            (collector, text, digest)
        });
        let mut hasher = SipHasher13::new();
        let mut blocks = Vec::with_capacity(selection.collectors.len());
        for (collector, text, digest) in parts {
            // What others do to the repository is nothing that the agent did, and no reason to judge it again.
            if collector != Collector::GitStatus {
                hash_part(&mut hasher, collector.word().as_bytes());
                hash_part(&mut hasher, &digest.0.to_le_bytes());
            }
            blocks.push((collector, text));
        }
        keep_to(selection.budget as usize, &mut blocks);
        Evidence { blocks, digest: Digest(hasher.finish128().as_u128()) }
    }

    fn collected(&self, collector: Collector) -> &Collected {
        self.collected[collector as usize].get_or_init(|| {
            let text = self.collect(collector, Limit::of(collector));
            Collected { digest: digest_of(&text), text }
        })
    }

    fn collect(&self, collector: Collector, limit: Limit) -> String {
        match collector {
            Collector::ToolCall => self.pending.map(|call| collect::pending(call, limit)).unwrap_or_default(),
            Collector::GitStatus => git::text(self.git_status.unwrap_or(git::UNKNOWN), limit),
            Collector::ConversationHistory => history::text(self.earlier, self.text(Collector::UserText), limit),
            collector => collect::text(self.entries, collector, limit),
        }
    }
}

/// Cuts what is too large for all parts together.
fn keep_to(budget: usize, blocks: &mut [(Collector, Cow<'_, str>)]) {
    // No text has more characters than bytes, and bytes need no counting.
    if blocks.iter().map(|(_, text)| text.len()).sum::<usize>() <= budget {
        return;
    }
    let sizes: Vec<usize> = blocks.iter().map(|(_, text)| text.chars().count()).collect();
    for ((_, text), (share, size)) in blocks.iter_mut().zip(shares(&sizes, budget).into_iter().zip(sizes)) {
        if share < size {
            *text = Cow::Owned(cut(text, share).into_owned());
        }
    }
}

fn digest_of(text: &str) -> Digest {
    let mut hasher = SipHasher13::new();
    hash_part(&mut hasher, text.as_bytes());
    Digest(hasher.finish128().as_u128())
}

/// What one judge is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence<'w> {
    blocks: Vec<(Collector, Cow<'w, str>)>,
    digest: Digest,
}

impl<'w> Evidence<'w> {
    /// The parts in their order. A part may be empty.
    pub fn blocks(&self) -> &[(Collector, Cow<'w, str>)] {
        &self.blocks
    }

    /// Equal for equal evidence, on every machine and in every session. The state of the repository plays no part in it.
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

/// 128 bits that stand for a text. In JSON, 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(u128);

impl Digest {
    /// Of the same evidence about this call.
    pub fn about(self, call: &ToolCall) -> Self {
        let mut hasher = SipHasher13::new();
        hash_part(&mut hasher, &self.0.to_le_bytes());
        hash_part(&mut hasher, call.name.as_bytes());
        hash_part(&mut hasher, call.arguments.as_bytes());
        Self(hasher.finish128().as_u128())
    }
}

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
