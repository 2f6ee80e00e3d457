//! The current branch of a session, and the windows on it that `session` reads.

use std::sync::Arc;

use crate::types::{Entry, EntryBody, EntryId};

/// The entries from the root of the session tree to its current leaf, oldest first.
///
/// Reading a window costs what the window holds, whatever the length of the branch.
#[derive(Clone, Debug, Default)]
pub struct Branch {
    entries: Vec<Arc<Entry>>,
    /// Where the user's messages stand, ascending.
    user_entries: Vec<usize>,
    index: std::collections::HashMap<EntryId, usize>,
}

impl Branch {
    /// Puts an entry behind the leaf, which it becomes.
    pub fn push(&mut self, entry: impl Into<Arc<Entry>>) {
        let entry = entry.into();
        if matches!(entry.body, EntryBody::User(_)) {
            self.user_entries.push(self.entries.len());
        }
        self.index.insert(entry.id.clone(), self.entries.len());
        self.entries.push(entry);
    }

    /// Makes the branch end at entry `id`. False, and nothing changed, where `id` is not on it.
    pub fn cut_after(&mut self, id: &str) -> bool {
        let Some(&position) = self.index.get(id) else { return false };
        for entry in self.entries.drain(position + 1..) {
            self.index.remove(&entry.id);
        }
        self.user_entries.retain(|&user| user <= position);
        true
    }

    /// All entries, oldest first.
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// The newest entry.
    pub fn leaf(&self) -> Option<&Arc<Entry>> {
        self.entries.last()
    }

    /// Whether the entry is on the branch.
    pub fn contains(&self, id: &str) -> bool {
        self.index.contains_key(id)
    }

    /// `session.entries-before`
    pub fn entries_before(&self, before: Option<&str>, limit: u32) -> Vec<Arc<Entry>> {
        let end = match before {
            None => self.entries.len(),
            Some(id) => self.index.get(id).copied().unwrap_or(0),
        };
        let start = end.saturating_sub(limit as usize);
        self.entries[start..end].iter().rev().cloned().collect()
    }

    /// `session.entries-since-user`
    pub fn entries_since_user(&self, include_user: bool, limit: u32) -> Vec<Arc<Entry>> {
        let since = match self.user_entries.last() {
            None => 0,
            Some(&user) => user + usize::from(!include_user),
        };
        let start = since.max(self.entries.len().saturating_sub(limit as usize));
        self.entries[start..].to_vec()
    }
}

impl<E: Into<Arc<Entry>>> FromIterator<E> for Branch {
    fn from_iter<I: IntoIterator<Item = E>>(entries: I) -> Self {
        let mut branch = Self::default();
        entries.into_iter().for_each(|entry| branch.push(entry));
        branch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Content;

    fn entry(id: &str, user: bool) -> Entry {
        let body = match user {
            true => EntryBody::User(vec![Content::Text(id.into())]),
            false => EntryBody::Other("x".into()),
        };
        Entry { id: id.into(), timestamp: 0, body }
    }

    fn ids(entries: &[Arc<Entry>]) -> Vec<&str> {
        entries.iter().map(|entry| entry.id.as_str()).collect()
    }

    fn branch() -> Branch {
        [("a", false), ("u1", true), ("b", false), ("u2", true), ("c", false), ("d", false)]
            .map(|(id, user)| entry(id, user))
            .into_iter()
            .collect()
    }

    #[test]
    fn windows_end_at_the_leaf_and_start_at_the_limit() {
        let branch = branch();
        assert_eq!(ids(&branch.entries_before(None, 2)), ["d", "c"]);
        assert_eq!(ids(&branch.entries_before(Some("c"), 10)), ["u2", "b", "u1", "a"]);
        assert_eq!(ids(&branch.entries_before(Some("nowhere"), 10)), [""; 0]);
        assert_eq!(ids(&branch.entries_since_user(true, 10)), ["u2", "c", "d"]);
        assert_eq!(ids(&branch.entries_since_user(false, 10)), ["c", "d"]);
        assert_eq!(ids(&branch.entries_since_user(true, 1)), ["d"]);
    }

    #[test]
    fn without_a_user_entry_the_window_is_the_whole_branch() {
        let branch: Branch = [entry("a", false), entry("b", false)].into_iter().collect();
        assert_eq!(ids(&branch.entries_since_user(false, 10)), ["a", "b"]);
    }

    #[test]
    fn cutting_forgets_what_came_after() {
        let mut branch = branch();
        assert!(!branch.cut_after("nowhere"));
        assert!(branch.cut_after("b"));
        assert_eq!(ids(branch.entries()), ["a", "u1", "b"]);
        assert_eq!(ids(&branch.entries_since_user(true, 10)), ["u1", "b"]);
        assert!(!branch.contains("c"));
    }
}
