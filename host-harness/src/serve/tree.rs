//! The entries of a session, on all of its branches that the client has told of.

use std::collections::HashMap;
use std::sync::Arc;

use chaperone_contract::{Branch, Entry, EntryId};

/// Entries by id, each with the one before it.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: HashMap<EntryId, Node>,
}

#[derive(Debug)]
struct Node {
    entry: Arc<Entry>,
    /// None: it is the first one.
    parent: Option<EntryId>,
}

/// Why entries cannot stand where they are told to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misplaced {
    /// Another entry has this id.
    #[error("entry `{0}` is known with other content; to tell the branch anew, send `entries` with `session/branch`")]
    Differs(EntryId),
    /// The entry is not where the leaf leads to.
    #[error("entry `{0}` is on another branch; go there with `session/branch`")]
    OnAnotherBranch(EntryId),
    /// One branch has an entry twice.
    #[error("entry `{0}` is there twice")]
    Twice(EntryId),
    /// Nobody told of this entry.
    #[error("there is no entry `{0}`; send the whole branch as `entries`")]
    Unknown(EntryId),
}

impl Tree {
    /// Puts entries behind the leaf of `branch`; nothing happens where one of them cannot stand there. Returns those
    /// that are new to the branch, in order. One that is on it already is passed over.
    ///
    /// # Errors
    /// As [`Misplaced`] says.
    pub fn extend(&mut self, branch: &Branch, entries: Vec<Entry>) -> Result<Vec<Arc<Entry>>, Misplaced> {
        let mut leaf = branch.leaf().map(|leaf| leaf.id.clone());
        let mut joining: Vec<(Arc<Entry>, Option<EntryId>)> = Vec::new();
        let mut places: HashMap<EntryId, usize> = HashMap::new();
        for entry in entries {
            if let Some(&place) = places.get(&entry.id) {
                match *joining[place].0 == entry {
                    true => continue,
                    false => return Err(Misplaced::Differs(entry.id)),
                }
            }
            let entry = match self.nodes.get(&entry.id) {
                Some(known) if *known.entry != entry => return Err(Misplaced::Differs(entry.id)),
                Some(_) if branch.contains(&entry.id) => continue,
                // The user went back, and forward again.
                Some(known) if known.parent == leaf => known.entry.clone(),
                Some(_) => return Err(Misplaced::OnAnotherBranch(entry.id)),
                None => Arc::new(entry),
            };
            places.insert(entry.id.clone(), joining.len());
            let parent = leaf.replace(entry.id.clone());
            joining.push((entry, parent));
        }
        for (entry, parent) in &joining {
            self.nodes.insert(entry.id.clone(), Node { entry: entry.clone(), parent: parent.clone() });
        }
        Ok(joining.into_iter().map(|(entry, _)| entry).collect())
    }

    /// The branch that ends at an entry; none: the empty one.
    ///
    /// # Errors
    /// Where the entry is unknown.
    pub fn branch(&self, leaf: Option<&EntryId>) -> Result<Branch, Misplaced> {
        let mut entries = Vec::new();
        let mut next = leaf;
        while let Some(id) = next {
            let node = self.nodes.get(id).ok_or_else(|| Misplaced::Unknown(id.clone()))?;
            entries.push(node.entry.clone());
            next = node.parent.as_ref();
        }
        Ok(entries.into_iter().rev().collect())
    }

    /// Takes a whole branch, oldest first, as the truth: also where the tree had something else under these ids.
    ///
    /// # Errors
    /// Where an entry is there twice; the tree is as it was then.
    pub fn retell(&mut self, entries: Vec<Entry>) -> Result<Branch, Misplaced> {
        let mut ids = std::collections::HashSet::new();
        if let Some(twice) = entries.iter().find(|entry| !ids.insert(entry.id.as_str())) {
            return Err(Misplaced::Twice(twice.id.clone()));
        }
        let mut parent = None;
        let entries: Vec<_> = entries.into_iter().map(Arc::new).collect();
        for entry in &entries {
            let parent = parent.replace(entry.id.clone());
            self.nodes.insert(entry.id.clone(), Node { entry: entry.clone(), parent });
        }
        Ok(entries.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use chaperone_contract::EntryBody;
    use proptest::prelude::*;

    use super::*;

    fn entry(id: &str) -> Entry {
        Entry { id: id.into(), timestamp: 0, body: EntryBody::Other("x".into()) }
    }

    fn entries(ids: &str) -> Vec<Entry> {
        ids.chars().map(|id| entry(&id.to_string())).collect()
    }

    fn ids(branch: &Branch) -> String {
        branch.entries().iter().map(|entry| entry.id.as_str()).collect()
    }

    /// A tree with one branch, and the branch.
    fn told(text: &str) -> (Tree, Branch) {
        let mut tree = Tree::default();
        let branch = tree.retell(entries(text)).unwrap();
        (tree, branch)
    }

    fn id(text: &str) -> EntryId {
        text.into()
    }

    #[test]
    fn what_is_on_the_branch_already_changes_nothing() {
        let (mut tree, branch) = told("ab");
        let joined = tree.extend(&branch, entries("abcc")).unwrap();
        assert_eq!(joined, [Arc::new(entry("c"))]);
        assert_eq!(ids(&tree.branch(Some(&id("c"))).unwrap()), "abc");
    }

    #[test]
    fn an_id_with_other_content_is_refused_and_nothing_of_its_list_is_taken() {
        let (mut tree, branch) = told("ab");
        let other = Entry { timestamp: 7, ..entry("b") };
        assert_eq!(tree.extend(&branch, vec![entry("c"), other.clone()]), Err(Misplaced::Differs(id("b"))));
        assert_eq!(
            tree.extend(&branch, vec![entry("d"), Entry { timestamp: 7, ..entry("d") }]),
            Err(Misplaced::Differs(id("d")))
        );
        assert_eq!(tree.branch(Some(&id("c"))).unwrap_err(), Misplaced::Unknown(id("c")));
    }

    #[test]
    fn branches_part_where_the_user_went_back_and_all_of_them_stay_known() {
        let (mut tree, _) = told("abc");
        let back = tree.branch(Some(&id("a"))).unwrap();
        tree.extend(&back, entries("xy")).unwrap();
        assert_eq!(ids(&tree.branch(Some(&id("y"))).unwrap()), "axy");
        assert_eq!(ids(&tree.branch(Some(&id("c"))).unwrap()), "abc");
        assert_eq!(ids(&tree.branch(None).unwrap()), "");
    }

    #[test]
    fn an_entry_behind_the_leaf_may_be_told_again_and_one_elsewhere_may_not() {
        let (mut tree, _) = told("abc");
        let back = tree.branch(Some(&id("a"))).unwrap();
        assert_eq!(tree.extend(&back, entries("bc")).unwrap().len(), 2);
        assert_eq!(tree.extend(&back, entries("c")), Err(Misplaced::OnAnotherBranch(id("c"))));
    }

    #[test]
    fn a_branch_told_anew_replaces_what_was_known() {
        let (mut tree, _) = told("abc");
        assert_eq!(ids(&tree.retell(entries("xac")).unwrap()), "xac");
        assert_eq!(ids(&tree.branch(Some(&id("b"))).unwrap()), "xab");
        assert_eq!(tree.retell(entries("aba")).unwrap_err(), Misplaced::Twice(id("a")));
        assert_eq!(ids(&tree.branch(Some(&id("b"))).unwrap()), "xab");
    }

    proptest! {
        #[test]
        fn whatever_is_told_every_branch_ends_at_its_root(
            steps in prop::collection::vec((0..3u8, "[a-f]{0,5}"), 0..30)
        ) {
            let mut tree = Tree::default();
            let mut branch = Branch::default();
            for (what, text) in steps {
                match what {
                    0 => {
                        if let Ok(joined) = tree.extend(&branch, entries(&text)) {
                            joined.into_iter().for_each(|entry| branch.push(entry));
                        }
                    }
                    1 => branch = tree.branch(text.get(..1).map(id).as_ref()).unwrap_or(branch),
                    _ => branch = tree.retell(entries(&text)).unwrap_or(branch),
                }
                let leaf = branch.leaf().map(|leaf| leaf.id.clone());
                prop_assert_eq!(ids(&tree.branch(leaf.as_ref()).unwrap()), ids(&branch));
                for one in tree.nodes.keys() {
                    let whole = tree.branch(Some(one)).unwrap();
                    prop_assert!(whole.entries().len() <= tree.nodes.len());
                }
            }
        }
    }
}
