//! How a `/monitors` line can go on.

use chaperone_sdk::CompletionItem;

use super::grammar::{EDITS, VERBS, WORDS};
use crate::roster::Listed;

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
        "init" => "Add the bundled monitors to this project",
        _ => "Say what can be typed here",
    }
}

fn verb_hint(verb: &str) -> &'static str {
    match verb {
        "rules" => "List, add, remove or replace its rules",
        "patterns" => "List its patterns",
        "dismiss" => "Silence it for this session",
        _ => "Forget its state and bring it back",
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
        assert_eq!(values(""), ["on", "off", "check", "init", "help", "style"]);
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
    fn there_is_nothing_deeper_nothing_for_strangers_and_nothing_behind_a_leading_blank() {
        for prefix in ["style rules add ", "style patterns ", "nope ", "on ", " ", " st"] {
            assert_eq!(values(prefix), [""; 0], "{prefix:?}");
        }
    }
}
