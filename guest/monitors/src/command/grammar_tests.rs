//! The command line's cases, in the order of the parser's rules.

use super::*;
use crate::seeding::Wanted;
use proptest::prelude::*;

const KNOWN: [&str; 3] = ["security", "style", "perf"];

fn read(line: &str) -> Result<Command, Misspelt> {
    parse(line, &KNOWN)
}

fn about(name: &str, verb: Verb) -> Result<Command, Misspelt> {
    Ok(Command::Monitor { name: name.into(), verb })
}

fn said(line: &str) -> String {
    read(line).unwrap_err().to_string()
}

#[test]
fn nothing_or_only_blanks_list_the_monitors() {
    assert_eq!(read(""), Ok(Command::List));
    assert_eq!(read("   \t"), Ok(Command::List));
}

#[test]
fn the_words_of_the_command_mean_themselves() {
    let words = [
        ("on", Command::On),
        ("off", Command::Off),
        ("check", Command::Check),
        ("init", Command::Init(Wanted::Usual)),
        ("init all", Command::Init(Wanted::All)),
        ("init a  b", Command::Init(Wanted::Named(vec!["a".into(), "b".into()]))),
        ("help", Command::Help),
    ];
    for (word, command) in words {
        assert_eq!(read(word), Ok(command.clone()));
        assert_eq!(parse(word, &[]), Ok(command), "also where there is no monitor");
    }
}

#[test]
fn a_monitors_name_beats_the_words_of_the_command() {
    for word in WORDS {
        assert_eq!(parse(word, &[word]), about(word, Verb::Inspect));
    }
    assert_eq!(parse("on dismiss", &["on"]), about("on", Verb::Dismiss));
    assert_eq!(parse("off rules", &["off"]), about("off", Verb::Rules(None)));
}

#[test]
fn a_name_alone_inspects_and_blanks_around_it_are_ignored() {
    assert_eq!(read("security"), about("security", Verb::Inspect));
    assert_eq!(read("  security  "), about("security", Verb::Inspect));
}

#[test]
fn an_unknown_name_is_named_beside_those_there_are() {
    assert_eq!(said("nope"), "Unknown monitor: nope\nAvailable: security, style, perf");
    assert_eq!(parse("nope", &[]).unwrap_err().to_string(), "Unknown monitor: nope\nAvailable: none");
    assert!(read("Security").is_err(), "names are told apart by case");
}

#[test]
fn rules_are_listed_added_removed_and_replaced() {
    assert_eq!(read("security rules"), about("security", Verb::Rules(None)));
    assert_eq!(
        read("security rules add do not allow eval"),
        about("security", Verb::Rules(Some(Edit::Add("do not allow eval".into()))))
    );
    assert_eq!(read("style rules remove 3"), about("style", Verb::Rules(Some(Edit::Remove(3)))));
    assert_eq!(
        read("perf rules replace 2 new rule text here"),
        about("perf", Verb::Rules(Some(Edit::Replace(2, "new rule text here".into()))))
    );
}

#[test]
fn a_rules_text_is_taken_verbatim_but_for_the_blanks_around_it() {
    assert_eq!(
        read("style  rules\tadd   three   spaced\n  lines  "),
        about("style", Verb::Rules(Some(Edit::Add("three   spaced\n  lines".into()))))
    );
    assert_eq!(
        read("style rules replace 1  a  b "),
        about("style", Verb::Rules(Some(Edit::Replace(1, "a  b".into()))))
    );
}

#[test]
fn an_edit_that_lacks_something_says_how_it_is_written() {
    assert_eq!(said("style rules add"), "Usage: /monitors style rules add <text>");
    assert_eq!(said("style rules add   "), "Usage: /monitors style rules add <text>");
    assert_eq!(said("style rules remove"), "Usage: /monitors style rules remove <number>");
    for line in
        ["style rules replace", "style rules replace 2", "style rules replace abc text", "style rules replace 0 x"]
    {
        assert_eq!(said(line), "Usage: /monitors style rules replace <number> <text>");
    }
}

#[test]
fn numbers_are_whole_from_one_and_of_digits_alone() {
    for number in ["abc", "0", "-1", "+1", "2abc", "1.0", "99999999999999999999999"] {
        assert_eq!(said(&format!("style rules remove {number}")), "Usage: /monitors style rules remove <number>");
    }
}

#[test]
fn unknown_words_after_a_name_are_named_beside_those_there_are() {
    assert_eq!(said("style rules paint"), "Unknown rules action: paint\nAvailable: add, remove, replace");
    assert_eq!(said("style paint"), "Unknown subcommand: paint\nAvailable: rules, patterns, dismiss, reset");
}

#[test]
fn patterns_dismiss_and_reset_are_understood_and_surplus_words_ignored() {
    assert_eq!(read("style patterns"), about("style", Verb::Patterns(None)));
    assert_eq!(read("style dismiss please"), about("style", Verb::Dismiss));
    assert_eq!(read("style reset now"), about("style", Verb::Reset));
    assert_eq!(read("style rules remove 3 please"), about("style", Verb::Rules(Some(Edit::Remove(3)))));
    assert_eq!(read("on please"), Ok(Command::On));
}

proptest! {
    #[test]
    fn any_line_is_understood_or_refused(line in ".*") {
        let _ = read(&line);
    }

    #[test]
    fn any_text_that_is_not_blank_becomes_a_rule_as_it_is(text in "\\S(.|\n)*\\S") {
        prop_assume!(text.trim() == text);
        let command = read(&format!("style rules add {text}"));
        prop_assert_eq!(command, about("style", Verb::Rules(Some(Edit::Add(text)))));
    }
}
