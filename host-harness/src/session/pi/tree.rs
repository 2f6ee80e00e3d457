//! The tree of a session's entries.

use std::collections::HashMap;

use chaperone_contract::EntryId;

use super::report::{Mend, Report};
use super::{BranchEntry, SessionError};

/// All entries of a session. Ids are unique, and every way up ends at a root.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    nodes: Vec<Node>,
    positions: HashMap<EntryId, usize>,
}

/// An entry and its place in the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The entry.
    pub content: BranchEntry,
    /// Its parent's index in [`Tree::nodes`]; none for a root. A tree may have several roots.
    pub parent: Option<usize>,
    /// The line of the file that it stands on, from 1.
    pub line: usize,
}

/// Where a branch ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Leaf {
    /// At the entry that was written last; pi goes on from there when it takes up a session.
    #[default]
    Newest,
    /// At the entry of this id.
    Id(EntryId),
}

/// An entry whose parent has yet to be found.
pub(super) struct Draft {
    pub line: usize,
    pub parent: Option<EntryId>,
    pub content: BranchEntry,
}

/// How many similar ids an error names, and how alike they must be, from 0 to 1.
const NEAR_IDS: usize = 5;
const NEAR_ENOUGH: f32 = 0.6;

impl Tree {
    /// Ties entries to their parents. Of entries with the same id the last one counts, as in pi; where a parent is
    /// missing, or is a descendant, the entry becomes a root.
    pub(super) fn grow(drafts: Vec<Draft>, report: &mut Report) -> Self {
        let drafts = last_of_each_id(drafts, report);
        let positions: HashMap<EntryId, usize> =
            drafts.iter().enumerate().map(|(position, draft)| (draft.content.entry.id.clone(), position)).collect();
        let mut parents: Vec<Option<usize>> = drafts
            .iter()
            .map(|draft| {
                let id = draft.parent.as_ref()?;
                let parent = positions.get(id).copied();
                if parent.is_none() {
                    report.mend(draft.line, Mend::MissingParent(id.clone()));
                }
                parent
            })
            .collect();
        for entry in cut_cycles(&mut parents) {
            let Draft { line, parent, .. } = &drafts[entry];
            let parent = parent.clone().expect("every entry of a cycle has a parent");
            report.mend(*line, Mend::Cycle(parent));
        }
        report.sort();
        let nodes = drafts
            .into_iter()
            .zip(parents)
            .map(|(Draft { line, content, .. }, parent)| Node { content, parent, line })
            .collect();
        Self { nodes, positions }
    }

    /// All entries, in the order of the file.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The entries from the root to the leaf, oldest first. Nothing for the newest leaf of an empty tree.
    pub fn branch(&self, leaf: &Leaf) -> Result<Vec<BranchEntry>, SessionError> {
        let leaf = match leaf {
            Leaf::Newest => self.nodes.len().checked_sub(1),
            Leaf::Id(id) => Some(*self.positions.get(id).ok_or_else(|| self.no_such_entry(id))?),
        };
        let mut branch: Vec<BranchEntry> = std::iter::successors(leaf, |&node| self.nodes[node].parent)
            .map(|node| self.nodes[node].content.clone())
            .collect();
        branch.reverse();
        Ok(branch)
    }

    fn no_such_entry(&self, id: &str) -> SessionError {
        let ids: Vec<&str> = self.nodes.iter().map(|node| node.content.entry.id.as_str()).collect();
        let mut near: Vec<&str> =
            ids.iter().copied().filter(|other| !id.is_empty() && other.starts_with(id)).take(NEAR_IDS).collect();
        if near.is_empty() {
            near = similar::get_close_matches(id, &ids, NEAR_IDS, NEAR_ENOUGH);
        }
        SessionError::NoSuchEntry { id: id.into(), near: near.into_iter().map(String::from).collect() }
    }
}

fn last_of_each_id(drafts: Vec<Draft>, report: &mut Report) -> Vec<Draft> {
    let last: HashMap<EntryId, usize> =
        drafts.iter().map(|draft| (draft.content.entry.id.clone(), draft.line)).collect();
    drafts
        .into_iter()
        .filter(|draft| {
            let id = &draft.content.entry.id;
            let last = last[id];
            if last != draft.line {
                report.pass_over(draft.line, format!("line {last} has the same id `{id}`, and counts"));
            }
            last == draft.line
        })
        .collect()
}

/// Makes a root of the earliest entry of each cycle, since a parent is written before its children. Gives those entries.
fn cut_cycles(parents: &mut [Option<usize>]) -> Vec<usize> {
    let mut walk_of: Vec<Option<usize>> = vec![None; parents.len()];
    let mut cut = Vec::new();
    for walk in 0..parents.len() {
        let mut here = Some(walk);
        while let Some(node) = here {
            if walk_of[node] == Some(walk) {
                let around = std::iter::successors(parents[node], |&next| parents[next].filter(|_| next != node));
                let earliest = around.min().unwrap_or(node);
                parents[earliest] = None;
                cut.push(earliest);
            }
            if walk_of[node].is_some() {
                break;
            }
            walk_of[node] = Some(walk);
            here = parents[node];
        }
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::cut_cycles;
    use proptest::prelude::*;

    #[test]
    fn a_cycle_is_cut_at_its_earliest_entry() {
        let mut parents = [None, Some(3), Some(1), Some(2), Some(3), Some(5)];
        assert_eq!(cut_cycles(&mut parents), [1, 5]);
        assert_eq!(parents, [None, None, Some(1), Some(2), Some(3), None]);
    }

    proptest! {
        #[test]
        fn afterwards_every_way_up_ends(parents in (1usize..40).prop_flat_map(|n| prop::collection::vec(prop::option::of(0..n), n))) {
            let mut cut = parents.clone();
            let roots = cut_cycles(&mut cut);
            for start in 0..cut.len() {
                prop_assert!(std::iter::successors(Some(start), |&node| cut[node]).take(cut.len() + 1).count() <= cut.len());
            }
            for (node, parent) in cut.iter().enumerate() {
                prop_assert_eq!(*parent, if roots.contains(&node) { None } else { parents[node] });
            }
        }
    }
}
