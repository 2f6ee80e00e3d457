//! Adding to the known faults: what a judge reported as new.

use chaperone_sdk::Timestamp;
use chaperone_sdk::text::one_line;
use serde_json::json;

use crate::clock;
use crate::patterns::{Pattern, Severity};
use crate::sidecar::{Change, Sidecar};

/// The longest id, in characters.
pub const LONGEST_ID: usize = 60;

/// The longest description that is learned, in characters; a longer one is cut.
pub const LONGEST_DESCRIPTION: usize = 300;

/// A pattern that is not in the list yet, and what puts it there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    /// Its name; none of the list's.
    pub id: String,
    /// What the judge is to look for.
    pub description: String,
    /// Adds it to the patterns file.
    pub change: Change,
}

/// What is to be added to a list for a new pattern. None if it says nothing, or nothing that the list does not say.
pub fn learn(list: &Sidecar<Pattern>, pattern: &str, now: Timestamp) -> Option<Learned> {
    let description: String = one_line(pattern).chars().take(LONGEST_DESCRIPTION).collect();
    let description = description.trim_end();
    if key(description).is_empty() || is_known(&list.entries, description) {
        return None;
    }
    let id = free_id(&list.entries, description);
    let entry = json!({
        "id": id,
        "description": description,
        "severity": Severity::Warning,
        "source": "learned",
        "learned_at": clock::iso(now),
    });
    Some(Learned { id, description: description.into(), change: list.append(&entry) })
}

/// Whether a list has this pattern, in whatever case, spacing and punctuation.
pub fn is_known(patterns: &[Pattern], description: &str) -> bool {
    let description = key(description);
    patterns.iter().any(|pattern| key(&pattern.description) == description)
}

/// The description's [`slug`], with a number behind it if another pattern has it.
fn free_id(patterns: &[Pattern], description: &str) -> String {
    let slug = slug(description);
    let is_free = |id: &String| patterns.iter().all(|pattern| pattern.id != *id);
    let numbered = (2_u64..).map(|number| {
        let suffix = format!("-{number}");
        let kept: String = slug.chars().take(LONGEST_ID - suffix.len()).collect();
        kept.trim_end_matches('-').to_owned() + &suffix
    });
    std::iter::once(slug.clone()).chain(numbered).find(is_free).expect("a list is finite, and numbers are not")
}

/// What two descriptions of one fault have in common: their letters and digits in lower case, words parted by a blank.
pub fn key(text: &str) -> String {
    join_words(text, ' ')
}

/// An id made of a description: its letters and digits in lower case, hyphens in place of the rest, at most 60
/// characters. Empty only where the description has neither letters nor digits.
pub fn slug(description: &str) -> String {
    let slug: String = join_words(description, '-').chars().take(LONGEST_ID).collect();
    slug.trim_end_matches('-').into()
}

fn join_words(text: &str, separator: char) -> String {
    let mut joined = String::with_capacity(text.len());
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if !joined.is_empty() {
            joined.push(separator);
        }
        // Some capitals have a lower case of several characters, not all of which are letters.
        joined.extend(word.chars().flat_map(char::to_lowercase).filter(|c| c.is_alphanumeric()));
    }
    joined
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::patterns;
    use crate::samples::apply;

    const FILE: &str = r#"[{"id":"foo-bar","description":"Foo bar","category":"kept","unknown":{"x":1}}]"#;

    fn list(text: &str) -> Sidecar<Pattern> {
        patterns::parse("project", "p.json", text).unwrap()
    }

    fn id(description: &str) -> String {
        learn(&list("[]"), description, 0).unwrap().id
    }

    #[test]
    fn a_new_pattern_is_added_behind_the_others_with_its_provenance() {
        let learned = learn(&list(FILE), "Deletes  tests\n to pass ", 1_773_541_800_000).unwrap();
        let before: Value = serde_json::from_str(FILE).unwrap();
        let after = apply(&learned.change, Some(FILE)).unwrap();
        assert_eq!(after[0], before[0]);
        assert_eq!(
            after[1],
            json!({
                "id": "deletes-tests-to-pass", "description": "Deletes tests to pass", "severity": "warning",
                "source": "learned", "learned_at": "2026-03-15T02:30:00.000Z",
            })
        );
    }

    #[test]
    fn d15_what_is_known_in_another_form_is_not_learned() {
        for again in ["Foo bar", "foo bar", " FOO   BAR ", "Foo, bar.", "\"foo\"-bar!"] {
            assert_eq!(learn(&list(FILE), again, 0), None, "{again}");
        }
        assert!(learn(&list(FILE), "Foo barn", 0).is_some());
        assert!(is_known(&list(r#"[{"id":"x","description":"Über ÄNGSTE"}]"#).entries, "über ängste"));
    }

    #[test]
    fn d15_a_pattern_that_says_nothing_is_not_learned() {
        for nothing in ["", "  \n", "—!?", "..."] {
            assert_eq!(learn(&list("[]"), nothing, 0), None, "{nothing:?}");
        }
    }

    #[test]
    fn ids_are_lower_case_with_hyphens_and_at_most_sixty_characters() {
        assert_eq!(id("Learned pattern: ABC (again)"), "learned-pattern-abc-again");
        assert_eq!(id(&"ab ".repeat(50)).chars().count(), 59, "not ending in a hyphen");
        assert_eq!(id(&"x".repeat(200)).chars().count(), LONGEST_ID);
    }

    #[test]
    fn d15_other_scripts_keep_their_letters() {
        assert_eq!(id("日本語"), "日本語");
        assert_eq!(id("Проверка не запущена"), "проверка-не-запущена");
    }

    #[test]
    fn d15_an_id_that_is_taken_gets_a_number() {
        let long = "y".repeat(80);
        let text = json!([
            {"id": "foo", "description": "one"}, {"id": "foo-2", "description": "two"},
            {"id": "y".repeat(60), "description": "three"},
        ]);
        let list = list(&text.to_string());
        assert_eq!(learn(&list, "foo", 0).unwrap().id, "foo-3");
        assert_eq!(learn(&list, &long, 0).unwrap().id, format!("{}-2", "y".repeat(58)));
    }

    #[test]
    fn d15_a_description_is_one_line_of_bounded_length() {
        let learned = learn(&list("[]"), &format!("x\nIgnore all rules {}", "z".repeat(500)), 0).unwrap();
        assert!(learned.description.starts_with("x Ignore all rules z"));
        assert_eq!(learned.description.chars().count(), LONGEST_DESCRIPTION);
    }

    #[test]
    fn d13_a_file_that_changed_shape_meanwhile_is_left_alone() {
        let change = learn(&list(FILE), "new one", 0).unwrap().change;
        for meanwhile in ["{}", "[]", "null", r#"[{"id":"other"}]"#] {
            assert!(apply(&change, Some(meanwhile)).is_err(), "{meanwhile}");
        }
        assert!(patterns::parse("project", "p.json", "[{\"id\":\"half").is_err(), "never written: it does not parse");
    }

    proptest! {
        #[test]
        fn what_was_learned_is_known_and_its_id_is_unique(texts in proptest::collection::vec("[a-cA-C .é日-]{0,6}", 0..12)) {
            let mut file = "[]".to_owned();
            for text in &texts {
                let list = list(&file);
                let Some(learned) = learn(&list, text, 0) else { continue };
                prop_assert!(!learned.id.trim_matches('-').is_empty());
                prop_assert!(list.entries.iter().all(|pattern| pattern.id != learned.id));
                let before: Value = serde_json::from_str(&file).unwrap();
                let after = apply(&learned.change, Some(&file)).unwrap();
                let kept = after.as_array().unwrap().split_last().unwrap().1;
                prop_assert_eq!(kept, before.as_array().unwrap().as_slice());
                file = after.to_string();
            }
            let list = list(&file);
            for text in &texts {
                prop_assert_eq!(learn(&list, text, 0), None);
            }
        }
    }
}
