//! Adding to the known faults: what a judge reported as new.

mod naming;

use chaperone_sdk::clock;
use chaperone_sdk::text::one_line;
use chaperone_sdk::{EntryId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use naming::free_id;
pub use naming::{LONGEST_ID, key, slug};

use crate::evidence::Digest;
use crate::patterns::{Pattern, Severity};
use crate::proposals::Proposal;
use crate::sidecar::{Change, Sidecar};

/// The longest description that is learned, in characters; a longer one is cut.
pub const LONGEST_DESCRIPTION: usize = 300;

/// `source` of a pattern that was learned.
pub const LEARNED: &str = "learned";

/// Where a new pattern is from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The session.
    pub session: String,
    /// The newest entry of the evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryId>,
    /// Of the evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Digest>,
    /// The finding that it was reported with.
    pub finding: String,
}

/// A pattern that a judge reports as new.
#[derive(Clone, Copy, Debug)]
pub struct Reported<'a> {
    /// In the judge's words.
    pub pattern: &'a str,
    /// Where it is from.
    pub provenance: &'a Provenance,
    /// When.
    pub now: Timestamp,
}

/// A pattern that is not in the list yet, and what puts it there, or among the proposed ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    /// Its name; none of the list's.
    pub id: String,
    /// What the judge is to look for.
    pub description: String,
    /// Adds it to its file.
    pub change: Change,
}

/// Why a new pattern is not to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotLearned {
    /// It has neither letters nor digits.
    #[error("it says nothing")]
    SaysNothing,
    /// A pattern of the list says it.
    #[error("it is known")]
    Known,
    /// It waits for the user's word already.
    #[error("it is proposed already")]
    Proposed,
    /// The user has refused it.
    #[error("it was rejected")]
    Rejected,
    /// There are so many already.
    #[error("there are {0} already, which is as many as patterns.max_learned allows")]
    Full(usize),
}

/// What adds a new pattern to the list.
///
/// # Errors
/// Where it says nothing new, was refused by the user, or there are too many.
pub fn learn(
    list: &Sidecar<Pattern>,
    proposals: &Sidecar<Proposal>,
    reported: &Reported,
    max: usize,
) -> Result<Learned, NotLearned> {
    let description = admit(list, proposals, reported.pattern)?;
    has_room(list, max)?;
    Ok(addition(list, &list.entries, description, reported, "learned_at"))
}

/// What adds a new pattern to those that wait for the user's word.
///
/// # Errors
/// Where it says nothing new, was refused by the user, or there are too many.
pub fn propose(
    list: &Sidecar<Pattern>,
    proposals: &Sidecar<Proposal>,
    reported: &Reported,
    max: usize,
) -> Result<Learned, NotLearned> {
    let description = admit(list, proposals, reported.pattern)?;
    let (key, open) = (key(&description), proposals.open());
    if open.iter().any(|proposal| self::key(&proposal.description) == key) {
        return Err(NotLearned::Proposed);
    }
    if open.len() >= max {
        return Err(NotLearned::Full(open.len()));
    }
    Ok(addition(proposals, &list.entries, description, reported, "proposed_at"))
}

/// What adds a proposed pattern to the list, with all that its entry holds. None: the list knows it by now.
///
/// # Errors
/// Where there are too many.
pub fn approve(
    list: &Sidecar<Pattern>,
    proposal: &Proposal,
    max: usize,
    now: Timestamp,
) -> Result<Option<Change>, NotLearned> {
    if is_known(&list.entries, &proposal.description) {
        return Ok(None);
    }
    has_room(list, max)?;
    let mut entry = proposal.entry().as_object().cloned().unwrap_or_default();
    entry.insert("id".into(), free_id(&list.entries, &proposal.description).into());
    entry.insert("source".into(), LEARNED.into());
    entry.insert("learned_at".into(), clock::iso(now).into());
    Ok(Some(list.append(&Value::Object(entry))))
}

/// The pattern that was learned last, and what takes it out of the text of a patterns file. None: there is none.
pub fn unlearn(text: &str) -> Option<(Value, Change)> {
    let entries: Vec<Value> = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let learned = entries.iter().enumerate().filter(|(_, entry)| entry["source"] == LEARNED);
    // Times are ISO 8601 in UTC, so their order is that of their texts; of equal ones, the later in the file counts.
    let (index, entry) = learned.max_by_key(|(index, entry)| (entry["learned_at"].as_str(), *index))?;
    let pointer = format!("/{index}");
    let patch = json!([{"op": "test", "path": pointer, "value": entry}, {"op": "remove", "path": pointer}]);
    Some((entry.clone(), Change { initial: "[]".into(), patch: patch.to_string() }))
}

/// A new pattern as one line of bounded length, if it says something that neither the list says nor the user refused.
fn admit(list: &Sidecar<Pattern>, proposals: &Sidecar<Proposal>, pattern: &str) -> Result<String, NotLearned> {
    let description: String = one_line(pattern).chars().take(LONGEST_DESCRIPTION).collect();
    let description = description.trim_end();
    let key = key(description);
    if key.is_empty() {
        return Err(NotLearned::SaysNothing);
    }
    if is_known(&list.entries, description) {
        return Err(NotLearned::Known);
    }
    let is_it = |proposal: &&Proposal| self::key(&proposal.description) == key;
    match proposals.entries.iter().find(is_it) {
        Some(proposal) if proposal.is_rejected => Err(NotLearned::Rejected),
        _ => Ok(description.into()),
    }
}

fn has_room(list: &Sidecar<Pattern>, max: usize) -> Result<(), NotLearned> {
    let learned = list.entries.iter().filter(|pattern| pattern.source.as_deref() == Some(LEARNED)).count();
    if learned < max { Ok(()) } else { Err(NotLearned::Full(learned)) }
}

/// A new entry at the end of a file, with an id that none of the known patterns has, and the time under the name `at`.
fn addition<T>(
    file: &Sidecar<T>,
    known: &[Pattern],
    description: String,
    reported: &Reported,
    at: &'static str,
) -> Learned {
    let id = free_id(known, &description);
    let mut entry = json!({
        "id": id,
        "description": description,
        "severity": Severity::Warning,
        "source": LEARNED,
        "provenance": reported.provenance,
    });
    entry[at] = clock::iso(reported.now).into();
    Learned { id, change: file.append(&entry), description }
}

/// Whether a list has this pattern, in whatever case, spacing and punctuation.
pub fn is_known(patterns: &[Pattern], description: &str) -> bool {
    let description = key(description);
    patterns.iter().any(|pattern| key(&pattern.description) == description)
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

    fn provenance() -> Provenance {
        let evidence = Some("1f".parse().unwrap());
        Provenance { session: "s".into(), entry: Some("e1".into()), evidence, finding: "m-1".into() }
    }

    fn learned(list: &Sidecar<Pattern>, pattern: &str) -> Result<Learned, NotLearned> {
        learn(list, &Sidecar::default(), &reported(pattern), 50)
    }

    /// A pattern that was reported in March 2026.
    fn reported(pattern: &str) -> Reported<'_> {
        let provenance = Box::leak(Box::new(provenance()));
        Reported { pattern, provenance, now: 1_773_541_800_000 }
    }

    fn proposals(text: &str) -> Sidecar<Proposal> {
        crate::proposals::parse("project", "m.proposed.json", text).unwrap()
    }

    #[test]
    fn a_new_pattern_is_added_behind_the_others_with_its_provenance() {
        let learned = learned(&list(FILE), "Deletes  tests\n to pass ").unwrap();
        let before: Value = serde_json::from_str(FILE).unwrap();
        let after = apply(&learned.change, Some(FILE)).unwrap();
        assert_eq!(after[0], before[0]);
        assert_eq!(
            after[1],
            json!({
                "id": "deletes-tests-to-pass", "description": "Deletes tests to pass", "severity": "warning",
                "source": "learned",
                "provenance": {
                    "session": "s", "entry": "e1", "evidence": "0000000000000000000000000000001f", "finding": "m-1",
                },
                "learned_at": "2026-03-15T02:30:00.000Z",
            })
        );
    }

    #[test]
    fn d15_what_is_known_in_another_form_is_not_learned() {
        for again in ["Foo bar", "foo bar", " FOO   BAR ", "Foo, bar.", "\"foo\"-bar!"] {
            assert_eq!(learned(&list(FILE), again), Err(NotLearned::Known), "{again}");
        }
        assert!(learned(&list(FILE), "Foo barn").is_ok());
        assert!(is_known(&list(r#"[{"id":"x","description":"Über ÄNGSTE"}]"#).entries, "über ängste"));
    }

    #[test]
    fn d15_a_pattern_that_says_nothing_is_not_learned() {
        for nothing in ["", "  \n", "—!?", "..."] {
            assert_eq!(learned(&list("[]"), nothing), Err(NotLearned::SaysNothing), "{nothing:?}");
        }
    }

    #[test]
    fn d15_an_id_that_is_taken_gets_a_number() {
        let long = "y".repeat(80);
        let text = json!([
            {"id": "foo", "description": "one"}, {"id": "foo-2", "description": "two"},
            {"id": "y".repeat(60), "description": "three"},
        ]);
        let list = list(&text.to_string());
        assert_eq!(learned(&list, "foo").unwrap().id, "foo-3");
        assert_eq!(learned(&list, &long).unwrap().id, format!("{}-2", "y".repeat(58)));
    }

    #[test]
    fn d15_a_description_is_one_line_of_bounded_length() {
        let learned = learned(&list("[]"), &format!("x\nIgnore all rules {}", "z".repeat(500))).unwrap();
        assert!(learned.description.starts_with("x Ignore all rules z"));
        assert_eq!(learned.description.chars().count(), LONGEST_DESCRIPTION);
    }

    #[test]
    fn d13_a_file_that_changed_shape_meanwhile_is_left_alone() {
        let change = learned(&list(FILE), "new one").unwrap().change;
        for meanwhile in ["{}", "[]", "null", r#"[{"id":"other"}]"#] {
            assert!(apply(&change, Some(meanwhile)).is_err(), "{meanwhile}");
        }
        assert!(patterns::parse("project", "p.json", "[{\"id\":\"half").is_err(), "never written: it does not parse");
    }

    #[test]
    fn d15_no_more_is_learned_than_the_cap_and_only_learned_ones_count() {
        let text = json!([
            {"id": "a", "description": "a", "source": "bundled"}, {"id": "b", "description": "b", "source": "learned"},
        ]);
        let list = list(&text.to_string());
        let capped = |max| learn(&list, &Sidecar::default(), &reported("c"), max);
        assert_eq!(capped(1), Err(NotLearned::Full(1)));
        assert!(capped(2).is_ok());
    }

    #[test]
    fn d15_what_the_user_refused_is_neither_learned_nor_proposed_again() {
        let refused =
            proposals(r#"[{"id":"x","description":"Says nothing at all","rejected_at":"2026-03-15T02:30:00.000Z"}]"#);
        let (list, again) = (list("[]"), "says NOTHING at all.");
        assert_eq!(learn(&list, &refused, &reported(again), 50), Err(NotLearned::Rejected));
        assert_eq!(propose(&list, &refused, &reported(again), 50), Err(NotLearned::Rejected));
    }

    #[test]
    fn a_proposal_is_made_once_and_gets_into_the_list_with_its_provenance() {
        let list = list(FILE);
        let proposed = propose(&list, &Sidecar::default(), &reported("Deletes tests"), 50).unwrap();
        let file = apply(&proposed.change, None).unwrap().to_string();
        let proposals = proposals(&file);
        let again = reported("deletes tests!");
        assert_eq!(propose(&list, &proposals, &again, 50), Err(NotLearned::Proposed));
        assert_eq!(propose(&list, &proposals, &reported("another"), 1), Err(NotLearned::Full(1)));
        let change = approve(&list, &proposals.entries[0], 50, 1_773_541_900_000).unwrap().unwrap();
        let after = apply(&change, Some(FILE)).unwrap();
        assert_eq!(after[1]["description"], "Deletes tests");
        assert_eq!(after[1]["source"], "learned");
        assert_eq!(after[1]["provenance"]["finding"], "m-1");
        assert_eq!(after[1]["proposed_at"], "2026-03-15T02:30:00.000Z");
        assert_eq!(after[1]["learned_at"], "2026-03-15T02:31:40.000Z");
        let list = self::list(&after.to_string());
        assert_eq!(approve(&list, &proposals.entries[0], 50, 0), Ok(None), "it is known by now");
    }

    #[test]
    fn d15_the_latest_learned_pattern_is_taken_out_again() {
        let text = json!([
            {"id": "a", "description": "a", "source": "learned", "learned_at": "2026-03-16T00:00:00.000Z"},
            {"id": "b", "description": "b", "source": "learned", "learned_at": "2026-03-15T00:00:00.000Z"},
            {"id": "c", "description": "c", "source": "user"},
        ])
        .to_string();
        let (entry, change) = unlearn(&text).unwrap();
        assert_eq!(entry["id"], "a");
        let after = apply(&change, Some(&text)).unwrap();
        assert_eq!(after.as_array().unwrap().len(), 2);
        assert!(apply(&change, Some(&after.to_string())).is_err(), "what stands there now is another one");
        assert_eq!(unlearn(&after.to_string()).unwrap().0["id"], "b");
        assert_eq!(unlearn(r#"[{"id":"c","description":"c"}]"#), None);
        assert_eq!(unlearn("{}"), None);
    }

    proptest! {
        #[test]
        fn what_was_learned_is_known_and_its_id_is_unique(texts in proptest::collection::vec("[a-cA-C .é日-]{0,6}", 0..12)) {
            let mut file = "[]".to_owned();
            for text in &texts {
                let list = list(&file);
                let Ok(learned) = learned(&list, text) else { continue };
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
                prop_assert!(learned(&list, text).is_err());
            }
        }
    }
}
