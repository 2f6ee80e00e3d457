//! What a plugin remembers, as the host keeps it: by scope, and for the branch scope by the entry it was committed at.

use std::collections::HashMap;
use std::sync::Arc;

use chaperone_contract::{Branch, Effect, EntryId, Scope};

use crate::transaction::States;

/// The state of one plugin in one session.
///
/// A value of the branch scope belongs to the entry that was the leaf when it was committed. Going to another entry
/// picks the value of the nearest ancestor that has one.
#[derive(Clone, Debug, Default)]
pub struct History {
    current: States,
    /// Values by the entry at which they were committed; none: before the first entry.
    committed: HashMap<Option<EntryId>, Arc<[u8]>>,
}

impl History {
    /// A history that begins with values from elsewhere: of the session, or of the project.
    pub fn starting_with(session: Option<Arc<[u8]>>, project: Option<Arc<[u8]>>) -> Self {
        let mut history = Self::default();
        history.current.set(Scope::Session, session);
        history.current.set(Scope::Project, project);
        history
    }

    /// As it is, with values of the branch scope by the entry at which they were committed; none: before the first one.
    /// Which of them stands is said by [`follow`](Self::follow).
    #[must_use]
    pub fn with_branches(mut self, committed: HashMap<Option<EntryId>, Arc<[u8]>>) -> Self {
        self.committed = committed;
        self
    }

    /// Every value, with the entry that one of the branch scope belongs to.
    pub fn values(&self) -> impl Iterator<Item = (Scope, Option<&EntryId>, &Arc<[u8]>)> {
        let single = [Scope::Session, Scope::Project].into_iter();
        let single = single.filter_map(|scope| Some((scope, None, self.current.get(scope)?)));
        single.chain(self.committed.iter().map(|(entry, value)| (Scope::Branch, entry.as_ref(), value)))
    }

    /// What the next hook finds.
    pub fn current(&self) -> &States {
        &self.current
    }

    /// Keeps what a hook's effects set, at the branch's leaf. Returns what changed.
    pub fn commit(&mut self, effects: &[Effect], branch: &Branch) -> Vec<(Scope, Arc<[u8]>)> {
        let mut changed = Vec::new();
        for effect in effects {
            let Effect::Set { scope, value } = effect else { continue };
            let value: Arc<[u8]> = value.as_slice().into();
            if *scope == Scope::Branch {
                self.committed.insert(branch.leaf().map(|leaf| leaf.id.clone()), value.clone());
            }
            self.current.set(*scope, Some(value.clone()));
            changed.push((*scope, value));
        }
        changed
    }

    /// The session went to another branch: the branch's value becomes the one that stood there.
    pub fn follow(&mut self, branch: &Branch) {
        let on_branch = branch.entries().iter().rev().find_map(|entry| self.committed.get(&Some(entry.id.clone())));
        let value = on_branch.or_else(|| self.committed.get(&None)).cloned();
        self.current.set(Scope::Branch, value);
    }
}

#[cfg(test)]
mod tests {
    use chaperone_contract::{Entry, EntryBody};

    use super::*;

    fn set(scope: Scope, value: &str) -> Effect {
        Effect::Set { scope, value: value.into() }
    }

    fn branch(ids: &[&str]) -> Branch {
        ids.iter().map(|id| Entry { id: (*id).into(), timestamp: 0, body: EntryBody::Other("x".into()) }).collect()
    }

    fn value(history: &History, scope: Scope) -> Option<&str> {
        history.current().get(scope).map(|value| std::str::from_utf8(value).unwrap())
    }

    #[test]
    fn going_back_brings_back_what_stood_there() {
        let mut history = History::default();
        history.commit(&[set(Scope::Branch, "root")], &branch(&[]));
        history.commit(&[set(Scope::Branch, "b")], &branch(&["a", "b"]));
        history.commit(&[set(Scope::Branch, "d"), set(Scope::Session, "s")], &branch(&["a", "b", "c", "d"]));

        history.follow(&branch(&["a", "b", "c"]));
        assert_eq!(value(&history, Scope::Branch), Some("b"), "c has no value of its own: its ancestor's stands");
        history.follow(&branch(&["a"]));
        assert_eq!(value(&history, Scope::Branch), Some("root"));
        history.follow(&branch(&["a", "b", "c", "d"]));
        assert_eq!(value(&history, Scope::Branch), Some("d"));
        assert_eq!(value(&history, Scope::Session), Some("s"), "the session's value does not follow the branch");
    }

    #[test]
    fn the_last_value_set_at_an_entry_stands() {
        let mut history = History::default();
        let here = branch(&["a"]);
        history.commit(&[set(Scope::Branch, "1"), set(Scope::Branch, "2")], &here);
        history.follow(&here);
        assert_eq!(value(&history, Scope::Branch), Some("2"));
    }
}
