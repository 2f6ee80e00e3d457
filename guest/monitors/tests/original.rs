//! The 52 cases of the test suite that this watcher follows, by their numbers. Where the answer differs on purpose, it says
//! so; `docs/monitors.md` says why.
#![allow(clippy::unwrap_used, reason = "tests may")]

use chaperone_monitors::command::grammar::{Command, Edit, Misspelt, Verb, parse};
use chaperone_monitors::definition::model_id;
use chaperone_monitors::finding;
use chaperone_monitors::verdict::Verdict;

const NAMES: [&str; 3] = ["security", "style", "perf"];

fn read(line: &str) -> Result<Command, Misspelt> {
    parse(line, &NAMES)
}

fn about(name: &str, verb: Verb) -> Result<Command, Misspelt> {
    Ok(Command::Monitor { name: name.into(), verb })
}

fn error(line: &str) -> String {
    read(line).unwrap_err().to_string()
}

#[test]
fn cases_1_to_9_the_first_word() {
    assert_eq!(read(""), Ok(Command::List), "1");
    assert_eq!(read("   "), Ok(Command::List), "2");
    assert_eq!(read("on"), Ok(Command::On), "3");
    assert_eq!(read("off"), Ok(Command::Off), "4");
    assert_eq!(parse("on", &["on"]), about("on", Verb::Inspect), "5");
    assert_eq!(parse("off", &["off"]), about("off", Verb::Inspect), "6");
    assert_eq!(read("security"), about("security", Verb::Inspect), "7");
    assert_eq!(read("  security  "), about("security", Verb::Inspect), "8");
    assert!(error("unknown").contains("unknown") && error("unknown").contains("Available:"), "9");
}

#[test]
fn cases_10_to_22_rules() {
    assert_eq!(read("security rules"), about("security", Verb::Rules(None)), "10");
    let add = Edit::Add("do not allow eval".into());
    assert_eq!(read("security rules add do not allow eval"), about("security", Verb::Rules(Some(add))), "11");
    assert!(error("security rules add").contains("Usage:"), "12");
    assert_eq!(read("security rules remove 3"), about("security", Verb::Rules(Some(Edit::Remove(3)))), "13");
    for (case, line) in [(14, "abc"), (15, "0"), (16, "-1"), (17, "")] {
        assert!(read(&format!("security rules remove {line}")).is_err(), "{case}");
    }
    let replace = Edit::Replace(2, "new rule text here".into());
    let replaced = read("security rules replace 2 new rule text here");
    assert_eq!(replaced, about("security", Verb::Rules(Some(replace))), "18");
    for (case, line) in [(19, "2"), (20, "abc text"), (21, "0 text")] {
        assert!(read(&format!("security rules replace {line}")).is_err(), "{case}");
    }
    assert!(error("security rules foo").contains("foo"), "22");
}

#[test]
fn cases_23_to_30_the_other_words() {
    assert_eq!(read("security patterns"), about("security", Verb::Patterns(None)), "23");
    assert_eq!(read("security dismiss"), about("security", Verb::Dismiss), "24");
    assert_eq!(read("security reset"), about("security", Verb::Reset), "25");
    assert!(error("security foo").contains("foo"), "26");
    assert_eq!(parse("on", &[]), Ok(Command::On), "27");
    assert!(parse("anything", &[]).is_err(), "28");
    assert_eq!(parse("on dismiss", &["on"]), about("on", Verb::Dismiss), "29");
    assert_eq!(parse("off rules", &["off"]), about("off", Verb::Rules(None)), "30");
}

#[test]
fn cases_31_to_43_verdicts() {
    let flag = |description: &str| Verdict::Flag { description: description.into(), pattern_id: None };
    let new =
        |pattern: &str, description: &str| Verdict::New { pattern: pattern.into(), description: description.into() };
    let is_unknown = |answer: &str| matches!(Verdict::parse(answer), Verdict::Unknown { .. });
    assert_eq!(Verdict::parse("CLEAN"), Verdict::Clean, "31");
    assert_eq!(Verdict::parse("CLEAN - nothing to report"), Verdict::Clean, "32");
    assert!(is_unknown("something else"), "33, which was clean");
    assert!(is_unknown(""), "34, which was clean");
    assert_eq!(Verdict::parse("FLAG:it lied"), flag("it lied"), "35");
    assert_eq!(Verdict::parse("FLAG:   it lied  "), flag("it lied"), "36");
    assert_eq!(Verdict::parse("NEW:pattern|description"), new("pattern", "description"), "37");
    assert_eq!(Verdict::parse("NEW:text"), new("text", "text"), "38");
    assert_eq!(Verdict::parse("NEW:  pattern  |  description  "), new("pattern", "description"), "39");
    assert!(is_unknown(" \n\t "), "40, which was clean");
    assert_eq!(Verdict::parse("  CLEAN"), Verdict::Clean, "41");
    assert_eq!(Verdict::parse("  FLAG:x"), flag("x"), "42");
    assert_eq!(Verdict::parse("  NEW:p|d"), new("p", "d"), "43");
}

#[test]
fn cases_44_to_48_models() {
    let model = |text: &str| model_id(text).map(|id| (id.provider, id.model));
    let named = |provider: &str, model: &str| Some((provider.to_owned(), model.to_owned()));
    assert_eq!(model("claude-x"), named("anthropic", "claude-x"), "44");
    assert_eq!(model("openai/gpt-4o"), named("openai", "gpt-4o"), "45");
    assert_eq!(model("openrouter/meta/llama"), named("openrouter", "meta/llama"), "46");
    assert_eq!(model(""), None, "47, which was a model without a name: now the session's own");
    assert_eq!(model("/gpt-4o"), None, "48, which was a provider without a name: now a fault at load");
}

#[test]
fn cases_49_to_52_ids_of_findings() {
    let id = |now: u64, request: u64| finding::id("fragility", now, request, "session");
    assert!(id(1, 1).starts_with("fragility-"), "49");
    let rest = id(1_700_000_000_000, 7).split_once('-').unwrap().1.to_owned();
    assert!(rest.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase()), "50");
    assert_ne!(id(1, 1), id(3, 1), "51");
    assert_ne!(id(1, 1), id(1, 2), "51, also within one millisecond");
    assert!(!id(0, 0).is_empty(), "52");
}
