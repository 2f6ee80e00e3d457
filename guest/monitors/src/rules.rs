//! The user's own rules for a judge: the instructions file of a monitor.

use chaperone_sdk::clock;
use chaperone_sdk::{Context, FileError, Location, Timestamp};
use serde_json::{Value, json};

use crate::fault::{Fault, Report};
use crate::roster::unreadable;
use crate::sidecar::{Change, Sidecar};

/// One rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The rule, word for word. Never blank.
    pub text: String,
    /// Where it stands in the file, from 0.
    index: usize,
    /// Its whole entry.
    entry: Value,
}

/// There is no rule of that number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no rule {number}; there are {count}")]
pub struct NoSuchRule {
    /// What was asked for.
    pub number: usize,
    /// How many rules there are.
    pub count: usize,
}

/// Reads the rules of a monitor; a missing file has none.
///
/// # Errors
/// Where the file cannot be used as a whole; it must not be written then.
pub fn load(cx: &Context, file: &Location) -> Result<Sidecar<Rule>, Fault> {
    match cx.read(&file.mount, &file.path) {
        Ok(text) => parse(&file.mount, &file.path, &text),
        Err(FileError::NotFound) => Ok(Sidecar::default()),
        Err(error) => Err(unreadable(&file.mount, &file.path, &error)),
    }
}

/// Reads the text of an instructions file.
///
/// # Errors
/// Where it cannot be used as a whole; it must not be written then.
pub fn parse(mount: &str, file: &str, text: &str) -> Result<Sidecar<Rule>, Fault> {
    Sidecar::parse(mount, file, text, entry)
}

/// The rules as the judge gets them: nothing where there are none; else a heading and one bullet each, on lines of
/// their own.
pub fn list(rules: &[Rule]) -> String {
    if rules.is_empty() {
        return String::new();
    }
    let mut list = String::from("\nOperating instructions from the user (follow these strictly):\n");
    for rule in rules {
        list.extend(["- ", &rule.text, "\n"]);
    }
    list
}

fn entry(report: &mut Report, index: usize, value: &Value) -> Option<Rule> {
    match value.get("text").and_then(Value::as_str).filter(|text| !text.trim().is_empty()) {
        Some(text) => Some(Rule { text: text.into(), index, entry: value.clone() }),
        None => {
            let mend = "write an object such as {\"text\": \"…\"}";
            report.error(format!("/{index}"), "has no text, and is left out", mend);
            None
        }
    }
}

/// Changes of the rules. Rules have numbers from 1, as they are listed. Each change conflicts where the rule that it is
/// about is no longer what it was.
impl Sidecar<Rule> {
    /// Adds a rule, word for word.
    pub fn add(&self, text: &str, now: Timestamp) -> Change {
        self.append(&json!({"text": text, "added_at": clock::iso(now)}))
    }

    /// Removes a rule.
    ///
    /// # Errors
    /// Where there is none of that number.
    pub fn remove(&self, number: usize) -> Result<Change, NoSuchRule> {
        let rule = self.rule(number)?;
        Ok(rule.change(&[json!({"op": "remove", "path": rule.pointer()})]))
    }

    /// Gives a rule another text, and the time of now. What else its entry holds stays.
    ///
    /// # Errors
    /// Where there is none of that number.
    pub fn replace(&self, number: usize, text: &str, now: Timestamp) -> Result<Change, NoSuchRule> {
        let rule = self.rule(number)?;
        let pointer = rule.pointer();
        Ok(rule.change(&[
            json!({"op": "replace", "path": format!("{pointer}/text"), "value": text}),
            json!({"op": "add", "path": format!("{pointer}/added_at"), "value": clock::iso(now)}),
        ]))
    }

    /// The rule of a number.
    ///
    /// # Errors
    /// Where there is none.
    pub fn rule(&self, number: usize) -> Result<&Rule, NoSuchRule> {
        let rule = number.checked_sub(1).and_then(|index| self.entries.get(index));
        rule.ok_or(NoSuchRule { number, count: self.entries.len() })
    }
}

impl Rule {
    fn pointer(&self) -> String {
        format!("/{}", self.index)
    }

    /// Operations on the rule, provided that it stands where it stood.
    fn change(&self, operations: &[Value]) -> Change {
        let guard = json!({"op": "test", "path": self.pointer(), "value": self.entry});
        let patch: Vec<&Value> = std::iter::once(&guard).chain(operations).collect();
        Change { initial: "[]".into(), patch: json!(patch).to_string() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::samples::apply;

    const NOW: Timestamp = 1_773_541_800_000;
    const FILE: &str = r#"[{"text":"one","added_at":"x","by":"me"},{"note":"no rule"},{"text":"two"}]"#;

    fn rules(text: &str) -> Sidecar<Rule> {
        parse("project", "i.json", text).unwrap()
    }

    fn texts(rules: &Sidecar<Rule>) -> Vec<&str> {
        rules.entries.iter().map(|rule| rule.text.as_str()).collect()
    }

    #[test]
    fn an_entry_without_text_is_a_fault_and_no_rule() {
        let rules = rules(FILE);
        assert_eq!(texts(&rules), ["one", "two"]);
        assert_eq!(rules.faults.len(), 1);
        assert_eq!(&*rules.faults[0].pointer, "/1");
    }

    #[test]
    fn an_empty_list_gives_an_empty_text() {
        assert_eq!(list(&rules("[]").entries), "");
        assert_eq!(list(&Sidecar::<Rule>::default().entries), "");
    }

    #[test]
    fn a_rule_is_added_word_for_word_also_to_a_missing_file() {
        let entry = json!({"text": "three   spaced\tout", "added_at": "2026-03-15T02:30:00.000Z"});
        let missing = Sidecar::<Rule>::default().add("three   spaced\tout", NOW);
        assert_eq!(apply(&missing, None).unwrap(), json!([entry]));
        let after = apply(&rules(FILE).add("three   spaced\tout", NOW), Some(FILE)).unwrap();
        assert_eq!(after.as_array().unwrap().len(), 4);
        assert_eq!(after[3], entry);
    }

    #[test]
    fn a_rule_is_removed_by_its_number_in_the_list() {
        let after = apply(&rules(FILE).remove(2).unwrap(), Some(FILE)).unwrap();
        assert_eq!(after, json!([{"text": "one", "added_at": "x", "by": "me"}, {"note": "no rule"}]));
    }

    #[test]
    fn a_replaced_rule_keeps_what_else_it_holds_and_gets_a_new_time() {
        let after = apply(&rules(FILE).replace(1, "uno", NOW).unwrap(), Some(FILE)).unwrap();
        assert_eq!(after[0], json!({"text": "uno", "added_at": "2026-03-15T02:30:00.000Z", "by": "me"}));
        let after = apply(&rules(FILE).replace(2, "due", NOW).unwrap(), Some(FILE)).unwrap();
        assert_eq!(after[2], json!({"text": "due", "added_at": "2026-03-15T02:30:00.000Z"}));
    }

    #[test]
    fn a_number_without_a_rule_is_an_error_that_tells_how_many_there_are() {
        for number in [0, 3, usize::MAX] {
            assert_eq!(rules(FILE).remove(number).unwrap_err(), NoSuchRule { number, count: 2 });
            assert_eq!(rules(FILE).replace(number, "x", NOW).unwrap_err(), NoSuchRule { number, count: 2 });
        }
    }

    #[test]
    fn d12_a_file_that_is_no_list_gives_its_place_and_nothing_to_write() {
        let fault = parse("project", "i.json", r#"[{"text":"one"},{"text":"two"},]"#).unwrap_err();
        assert!(fault.message.contains("line 1 column 32"), "{fault}");
        assert!(parse("project", "i.json", "{}").is_err());
        assert_eq!(texts(&rules("\u{feff}[{\"text\":\"one\"}]")), ["one"]);
    }

    #[test]
    fn d12_an_edit_of_somebody_else_conflicts_instead_of_being_lost() {
        let rules = rules(FILE);
        let moved = r#"[{"text":"zero"},{"text":"one","added_at":"x","by":"me"},{"note":"no rule"},{"text":"two"}]"#;
        for change in [rules.remove(1).unwrap(), rules.replace(2, "x", NOW).unwrap()] {
            assert!(apply(&change, Some(moved)).is_err());
        }
        assert!(apply(&rules.add("x", NOW), Some("{}")).is_err());
        assert!(apply(&Sidecar::<Rule>::default().add("x", NOW), Some("{}")).is_err());
    }

    fn any_file() -> impl Strategy<Value = Vec<Value>> {
        let entry = prop_oneof![
            "[a-c ]{0,3}".prop_map(|text| json!({"text": text, "keep": [1, null]})),
            "[a-c]{1,3}".prop_map(|text| json!({"text": text})),
            Just(json!(null)),
            Just(json!("text")),
            Just(json!({"text": 5})),
        ];
        proptest::collection::vec(entry, 0..6)
    }

    proptest! {
        #[test]
        fn a_change_touches_one_rule_and_nothing_else(entries in any_file(), number in 1_usize..6) {
            let file = json!(entries).to_string();
            let rules = rules(&file);
            let added = apply(&rules.add("new", NOW), Some(&file)).unwrap();
            prop_assert_eq!(&added.as_array().unwrap()[..entries.len()], &entries[..]);
            let Ok(rule) = rules.rule(number) else { return Ok(()) };

            let removed = apply(&rules.remove(number).unwrap(), Some(&file)).unwrap();
            let mut expected = entries.clone();
            expected.remove(rule.index);
            prop_assert_eq!(removed, json!(expected));

            let replaced = apply(&rules.replace(number, "new", NOW).unwrap(), Some(&file)).unwrap();
            let mut expected = entries;
            expected[rule.index]["text"] = json!("new");
            expected[rule.index]["added_at"] = json!(clock::iso(NOW));
            prop_assert_eq!(replaced, json!(expected));
        }
    }
}
