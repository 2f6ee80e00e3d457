//! The name that was probably meant.

/// The known name that takes the fewest changed, added, dropped or swapped letters to get from `name`; none where all
/// are too far away to have been meant.
pub(super) fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let plain = |name: &str| name.to_lowercase().replace('-', "_");
    let meant = plain(name);
    let distances = known.iter().map(|known| (strsim::osa_distance(&meant, &plain(known)), *known));
    let (distance, nearest) = distances.min()?;
    (distance <= meant.chars().count().max(3) / 3).then_some(nearest)
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
        assert_eq!(nearest("qaurantine_aftre", &known), Some("quarantine_after"), "two swaps");
    }

    #[test]
    fn a_name_that_resembles_none_has_no_nearest() {
        assert_eq!(nearest("colour", &["hook_ms", "memory_mib"]), None);
        assert_eq!(nearest("x", &[]), None);
    }
}
