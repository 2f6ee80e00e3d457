//! The name that was probably meant.

/// The known name that takes the fewest changed, added, dropped or swapped letters to get from `name`; none where all
/// are too far away to have been meant.
pub(super) fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let plain = |name: &str| name.to_lowercase().replace('-', "_");
    let meant = plain(name);
    let distances = known.iter().map(|known| (distance(&meant, &plain(known)), *known));
    let (distance, nearest) = distances.min()?;
    (distance <= meant.chars().count().max(3) / 3).then_some(nearest)
}

/// The edit distance in which a swap of neighbours counts once.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = changed.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_finger_are_recognised() {
        let known = ["hook_ms", "memory_mib", "quarantine_after"];
        assert_eq!(nearest("hook_sm", &known), Some("hook_ms"));
        assert_eq!(nearest("hookms", &known), Some("hook_ms"));
        assert_eq!(nearest("Memory-MiB", &known), Some("memory_mib"));
        assert_eq!(nearest("memory_mb", &known), Some("memory_mib"));
    }

    #[test]
    fn a_name_that_resembles_none_has_no_nearest() {
        assert_eq!(nearest("colour", &["hook_ms", "memory_mib"]), None);
        assert_eq!(nearest("x", &[]), None);
    }
}
