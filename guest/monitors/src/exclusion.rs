//! Who keeps out of whose way: the order that `excludes` asks for, and what follows from it in one run.

/// A monitor's name and the names that it excludes itself for.
pub type Edge<'a> = (&'a str, &'a [String]);

/// Indices of the monitors such that each comes after all that its `excludes` name. Of two that do not depend on each
/// other, the one given first comes first. Names that are not among the monitors are ignored.
///
/// A cycle has no such order; its monitors, and those behind it, come last. (They are never in service: the roster sees
/// to that.)
pub fn order(monitors: &[Edge<'_>]) -> Vec<usize> {
    let mut left: Vec<usize> = (0..monitors.len()).collect();
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let free = |&monitor: &usize| {
            monitors[monitor].1.iter().all(|name| !left.iter().any(|&other| monitors[other].0 == name))
        };
        let next = left.iter().position(free).unwrap_or(0);
        order.push(left.remove(next));
    }
    order
}

/// What a monitor that could be judged does in view of those that it excludes itself for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stand {
    /// None of them stands in its way.
    Goes,
    /// One of them is not decided yet, so neither is this one.
    Waits,
    /// One of them steers in this run: this one keeps out of it.
    KeepsOut,
}

/// Where a monitor stands: `steers` tells of a name whether its steer is about to be delivered at the end of this run,
/// `undecided` whether it is being judged or waits itself.
pub fn stand(excludes: &[String], steers: impl Fn(&str) -> bool, undecided: impl Fn(&str) -> bool) -> Stand {
    if excludes.iter().any(|name| steers(name)) {
        Stand::KeepsOut
    } else if excludes.iter().any(|name| undecided(name)) {
        Stand::Waits
    } else {
        Stand::Goes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_monitor_comes_after_those_it_excludes_whatever_the_order_of_the_files() {
        let (a, b, c) = (names(&["b"]), names(&["c"]), names(&[]));
        assert_eq!(order(&[("a", &a), ("b", &b), ("c", &c)]), [2, 1, 0]);
    }

    #[test]
    fn monitors_that_do_not_depend_on_each_other_keep_their_order() {
        let (none, gone) = (names(&[]), names(&["gone"]));
        assert_eq!(order(&[("b", &gone), ("a", &none)]), [0, 1]);
    }

    #[test]
    fn a_cycle_comes_last_and_ends() {
        let (a, b, c) = (names(&["b"]), names(&["a"]), names(&[]));
        assert_eq!(order(&[("a", &a), ("b", &b), ("c", &c)]), [2, 0, 1]);
    }

    #[test]
    fn a_steer_keeps_others_out_and_an_open_judgement_makes_them_wait() {
        let excludes = names(&["a", "b"]);
        assert_eq!(stand(&excludes, |_| false, |_| false), Stand::Goes);
        assert_eq!(stand(&excludes, |_| false, |name| name == "b"), Stand::Waits);
        assert_eq!(stand(&excludes, |name| name == "b", |name| name == "a"), Stand::KeepsOut);
        assert_eq!(stand(&[], |_| true, |_| true), Stand::Goes);
    }

    proptest! {
        #[test]
        fn each_monitor_is_placed_once_and_behind_what_it_excludes(
            edges in prop::collection::vec(prop::collection::vec(0usize..8, 0..4), 0..8),
        ) {
            let all: Vec<String> = (0..edges.len()).map(|index| index.to_string()).collect();
            // Only towards smaller numbers, so that there is no cycle.
            let excludes: Vec<Vec<String>> = edges
                .iter()
                .enumerate()
                .map(|(from, to)| to.iter().filter(|&&to| to < from).map(usize::to_string).collect())
                .collect();
            let mut monitors: Vec<Edge<'_>> =
                all.iter().map(String::as_str).zip(excludes.iter().map(Vec::as_slice)).collect();
            monitors.reverse();
            let order = order(&monitors);
            let mut together = order.clone();
            together.sort_unstable();
            prop_assert_eq!(together, (0..edges.len()).collect::<Vec<_>>());
            for (place, &monitor) in order.iter().enumerate() {
                let behind = |name: &String| order[place..].iter().any(|&later| monitors[later].0 == name);
                prop_assert!(!monitors[monitor].1.iter().any(behind));
            }
        }
    }
}
