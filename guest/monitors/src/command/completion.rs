//! How a `/monitors` line can go on.

use chaperone_sdk::CompletionItem;

use super::grammar::{ALL, EDITS, RULINGS, VERBS, WORDS};
use crate::roster::Listed;
use crate::trust::Standing;

/// What could stand next on the line that was typed so far. Each value is the whole line.
pub fn items(prefix: &str, monitors: &[Listed]) -> Vec<CompletionItem> {
    if prefix.starts_with(char::is_whitespace) {
        return Vec::new();
    }
    let mut words: Vec<&str> = prefix.split_whitespace().collect();
    let begun = if prefix.is_empty() || prefix.ends_with(char::is_whitespace) { "" } else { words.pop().unwrap_or("") };
    match words.as_slice() {
        [] => first_words(begun, monitors),
        [name] if is_monitor(name, monitors) => following(&words, begun, &VERBS, verb_hint),
        [name, "rules"] if is_monitor(name, monitors) => following(&words, begun, &EDITS, edit_hint),
        [name, "patterns"] if is_monitor(name, monitors) => following(&words, begun, &RULINGS, ruling_hint),
        [name, "patterns", "approve" | "reject"] if is_monitor(name, monitors) => {
            following(&words, begun, &[ALL], |_| "All that are proposed")
        }
        ["log"] => names(&words, begun, monitors, |_| true),
        ["trust"] => {
            let mut items = names(&words, begun, monitors, |listed| matches!(listed.trust, Standing::Untrusted(_)));
            items.extend(following(&words, begun, &[ALL], |_| "All monitors of the project"));
            items
        }
        ["untrust"] => {
            let mut items = names(&words, begun, monitors, |listed| matches!(listed.trust, Standing::Trusted(_)));
            items.extend(following(&words, begun, &[ALL], |_| "All monitors of the project"));
            items
        }
        _ => Vec::new(),
    }
}

fn first_words(begun: &str, monitors: &[Listed]) -> Vec<CompletionItem> {
    let words = WORDS.iter().map(|&word| item(word, word, word_hint(word).into()));
    let names = monitors.iter().map(|listed| {
        let verbs = VERBS.join("|");
        item(&listed.name, &listed.name, format!("{} → {verbs}", listed.description).trim_start().into())
    });
    words.chain(names).filter(|item| item.label.starts_with(begun)).collect()
}

fn names(words: &[&str], begun: &str, monitors: &[Listed], is_meant: impl Fn(&Listed) -> bool) -> Vec<CompletionItem> {
    let line = words.join(" ");
    let meant = monitors.iter().filter(|listed| is_meant(listed) && listed.name.starts_with(begun));
    meant.map(|listed| item(&format!("{line} {}", listed.name), &listed.name, listed.description.clone())).collect()
}

fn following(words: &[&str], begun: &str, next: &[&str], hint: fn(&str) -> &'static str) -> Vec<CompletionItem> {
    let line = words.join(" ");
    let begun = next.iter().filter(|word| word.starts_with(begun));
    begun.map(|word| item(&format!("{line} {word}"), word, hint(word).into())).collect()
}

fn item(value: &str, label: &str, description: String) -> CompletionItem {
    CompletionItem { value: value.into(), label: label.into(), description }
}

fn is_monitor(word: &str, monitors: &[Listed]) -> bool {
    monitors.iter().any(|listed| listed.name == word)
}

fn word_hint(word: &str) -> &'static str {
    match word {
        "on" => "Watch again",
        "off" => "Pause all monitors for this session",
        "check" => "Say what is wrong with the monitors' files",
        "init" => "Add bundled monitors to this project: init [all|<name>…]",
        "log" => "List the latest judgements: log [name] [number]",
        "why" => "Say how a finding came about: why <finding>",
        "wrong" => "Say that a finding was no fault: wrong <finding>",
        "cost" => "Say what each monitor costs",
        "trust" => "Say what the project's monitors would do, and let them act",
        "untrust" => "Let a monitor act no longer",
        _ => "Say what can be typed here",
    }
}

fn verb_hint(verb: &str) -> &'static str {
    match verb {
        "rules" => "List, add, remove or replace its rules",
        "patterns" => "List its patterns, approve or reject proposed ones",
        "dismiss" => "Silence it for this session",
        _ => "Forget its state and bring it back",
    }
}

fn ruling_hint(ruling: &str) -> &'static str {
    match ruling {
        "approve" => "Let proposed patterns become patterns: approve <number>|all",
        "reject" => "Refuse proposed patterns: reject <number>|all",
        _ => "Take the pattern that was learned last out again",
    }
}

fn edit_hint(edit: &str) -> &'static str {
    match edit {
        "add" => "Add a rule: add <text>",
        "remove" => "Remove a rule: remove <number>",
        _ => "Replace a rule: replace <number> <text>",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::parse;

    fn values(prefix: &str) -> Vec<String> {
        let text =
            r#"{"name":"style","description":"Looks at style","classify":{"prompt":"x"},"patterns":{"path":"p"}}"#;
        let (monitor, _) = parse("project", "monitors/style.monitor.json", text);
        let listed = Listed::new(&monitor.unwrap(), "project", "monitors/style.monitor.json", None);
        items(prefix, &[listed]).into_iter().map(|item| item.value).collect()
    }

    #[test]
    fn the_first_word_is_a_word_of_the_command_or_a_monitor() {
        assert_eq!(
            values(""),
            ["on", "off", "check", "init", "log", "why", "wrong", "cost", "trust", "untrust", "help", "style"]
        );
        assert_eq!(values("o"), ["on", "off"]);
        assert_eq!(values("st"), ["style"]);
    }

    #[test]
    fn the_second_word_is_what_to_do_with_the_monitor_and_the_value_is_the_whole_line() {
        assert_eq!(values("style "), ["style rules", "style patterns", "style dismiss", "style reset"]);
        assert_eq!(values("style  r"), ["style rules", "style reset"]);
    }

    #[test]
    fn the_third_word_is_how_to_change_the_rules() {
        assert_eq!(values("style rules "), ["style rules add", "style rules remove", "style rules replace"]);
        assert_eq!(values("style rules re"), ["style rules remove", "style rules replace"]);
    }

    #[test]
    fn proposed_patterns_are_ruled_on_one_by_one_or_all_together() {
        assert_eq!(
            values("style patterns "),
            ["style patterns approve", "style patterns reject", "style patterns undo"]
        );
        assert_eq!(values("style patterns approve "), ["style patterns approve all"]);
    }

    #[test]
    fn whom_to_trust_is_one_of_those_who_are_not() {
        assert_eq!(values("log s"), ["log style"]);
        assert_eq!(values("trust "), ["trust all"], "the user's own need no trust");
        assert_eq!(values("untrust "), ["untrust all"]);
    }

    #[test]
    fn there_is_nothing_deeper_nothing_for_strangers_and_nothing_behind_a_leading_blank() {
        for prefix in ["style rules add ", "style patterns undo ", "why ", "nope ", "on ", " ", " st"] {
            assert_eq!(values(prefix), [""; 0], "{prefix:?}");
        }
    }
}
