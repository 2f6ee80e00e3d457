//! The labelled cases of the stop guard: what the set promises, and the whole of it through `chaperone eval`.
//!
//! No model takes part. A script answers each case by a plan, rightly or in one of several wrong ways; which figures
//! follow is counted here from the labels and the plan, and compared with what the program says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use chaperone::cases::{self, Case, Expect};
use serde_json::{Value, json};

use crate::support::World;

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn folder() -> PathBuf {
    root().join("tests/judge-cases/stop-guard")
}

/// All cases, in the order of the files' names.
fn all() -> Vec<Case> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |file: &PathBuf| cases::parse(&file.display().to_string(), &std::fs::read_to_string(file).unwrap());
    files.iter().flat_map(|file| read(file).unwrap()).collect()
}

// What the set promises

/// Each rule of the document by its number, and the rules of the cases that are about it.
const COVERED: [(usize, &[&str]); 7] = [
    (1, &["background-work"]),
    (2, &["user-answers"]),
    (3, &["restated-change", "announced-next-step"]),
    (4, &["question-answered", "opinion-discussion"]),
    (5, &["half-done-request", "finished-request"]),
    (6, &["asking-the-user", "errors-left"]),
    (7, &["text-only"]),
];

/// What the document says of the evidence: a request outlasts the guard's own directive, an answer at its limit is
/// judged, long texts are cut, and nothing in them instructs the judge.
const OF_THE_EVIDENCE: [&str; 4] = ["after-a-nudge", "length-limit", "long-texts", "injected-text"];

#[test]
fn every_rule_of_the_document_has_cases_on_either_side() {
    let document = std::fs::read_to_string(root().join("docs/stop-guard.md")).unwrap();
    let (_, behind) = document.split_once("## How it is judged").unwrap();
    let (section, _) = behind.split_once("\n## ").unwrap();
    let numbers: Vec<usize> = section.lines().filter_map(|line| line.split_once(". ")?.0.parse().ok()).collect();
    assert_eq!(numbers, COVERED.map(|(number, _)| number), "the document has other rules than are covered here");

    let mut sides: BTreeMap<String, BTreeSet<Expect>> = BTreeMap::new();
    for case in all() {
        sides.entry(case.rule).or_default().insert(case.expect);
    }
    for rule in COVERED.iter().flat_map(|(_, rules)| *rules).chain(&OF_THE_EVIDENCE) {
        let found = sides.get(*rule).map_or(0, BTreeSet::len);
        assert_eq!(found, 2, "`{rule}` needs cases that are to be flagged, and such that are not");
    }
}

#[test]
fn there_are_enough_cases_in_balance_and_in_several_languages() {
    let cases = all();
    assert!(cases.len() >= 60, "{} cases", cases.len());
    assert!(cases.iter().all(|case| case.watcher == "stop-guard"));
    let flags = cases.iter().filter(|case| case.expect == Expect::Flag).count();
    let share = flags as f64 / cases.len() as f64;
    assert!((0.45..=0.55).contains(&share), "{flags} of {} are to be flagged", cases.len());
    let mut languages: BTreeMap<&str, usize> = BTreeMap::new();
    for case in &cases {
        *languages.entry(&case.language).or_default() += 1;
    }
    let spoken = languages.values().filter(|cases| **cases >= 3).count();
    assert!(spoken >= 3, "a language with fewer than three cases says little: {languages:?}");
}

// The set through the program

/// How the script answers a case.
#[derive(Clone, Copy, PartialEq)]
enum Plan {
    /// As the label has it.
    Right,
    /// As the label has it, in a code fence with prose around it.
    RightInAFence,
    /// The opposite.
    Wrong,
    /// That work is missing, and not surely enough to send the agent back.
    Unsure,
    /// Both.
    Ambiguous,
    /// Nothing within its budget, and nothing again when it is asked once more.
    CutOff,
    /// Not in time.
    TimedOut,
}

/// The cases take these in turn.
const PLANS: [Plan; 11] = [
    Plan::Right,
    Plan::Wrong,
    Plan::Right,
    Plan::RightInAFence,
    Plan::Right,
    Plan::Unsure,
    Plan::Right,
    Plan::Ambiguous,
    Plan::TimedOut,
    Plan::Right,
    Plan::CutOff,
];

/// The tokens of each answer.
const USAGE: (u64, u64) = (900, 20);

/// A judge's answer.
fn object(expect: Expect, confidence: f64) -> String {
    let verdict = match expect {
        Expect::Clean => "stop",
        Expect::Flag => "continue",
    };
    json!({"reason": "As planned.", "verdict": verdict, "confidence": confidence}).to_string()
}

fn opposite(expect: Expect) -> Expect {
    match expect {
        Expect::Clean => Expect::Flag,
        Expect::Flag => Expect::Clean,
    }
}

impl Plan {
    /// The rule of the script, as JSON, which is YAML.
    fn rule(self, case: &Case) -> Value {
        let answer = |text: String| json!({"answer": text, "usage": {"input": USAGE.0, "output": USAGE.1}});
        let mut rule = match self {
            Self::Right => answer(object(case.expect, 0.9)),
            Self::RightInAFence => {
                answer(format!("I have read all of it.\n\n```json\n{}\n```\nThat is all.", object(case.expect, 0.9)))
            }
            Self::Wrong => answer(object(opposite(case.expect), 0.9)),
            Self::Unsure => answer(object(Expect::Flag, 0.59)),
            Self::Ambiguous => answer(format!("{}\n{}", object(Expect::Flag, 0.9), object(Expect::Clean, 0.9))),
            Self::CutOff => json!({"answer": "", "stop": "length", "usage": {"input": USAGE.0, "output": USAGE.1}}),
            Self::TimedOut => json!({"error": "timed-out"}),
        };
        rule["when"] = json!({"session": case.id()});
        rule
    }

    /// What the stop guard then says of the case.
    fn said(self, case: &Case) -> &'static str {
        let said = |expect| match expect {
            Expect::Clean => "clean",
            Expect::Flag => "flag",
        };
        match self {
            Self::Right | Self::RightInAFence => said(case.expect),
            Self::Wrong => said(opposite(case.expect)),
            Self::Unsure => "clean",
            Self::Ambiguous | Self::CutOff | Self::TimedOut => "unknown",
        }
    }

    fn calls(self) -> u64 {
        if self == Self::CutOff { 2 } else { 1 }
    }
}

/// A matrix as the JSON output has it, counted by hand.
fn matrix<'c>(planned: impl Iterator<Item = &'c (Case, Plan)>) -> Value {
    let row = || json!({"clean": 0, "flag": 0, "unknown": 0, "not_asked": 0});
    let mut matrix = json!({"clean": row(), "flag": row()});
    for (case, plan) in planned {
        let cell = &mut matrix[word(case.expect)][plan.said(case)];
        *cell = (cell.as_u64().unwrap() + 1).into();
    }
    matrix
}

fn word(expect: Expect) -> &'static str {
    match expect {
        Expect::Clean => "clean",
        Expect::Flag => "flag",
    }
}

#[test]
fn the_whole_set_goes_through_the_program_and_every_figure_follows_from_the_answers() {
    let planned: Vec<(Case, Plan)> = all().into_iter().zip(PLANS.into_iter().cycle()).collect();
    let rules: Vec<Value> = planned.iter().map(|(case, plan)| plan.rule(case)).collect();
    let world = World::new();
    world.write("judge.yaml", &json!({ "rules": rules }).to_string());
    let folder = folder().display().to_string();
    let report: Value = serde_json::from_str(&world.prints([
        "eval",
        "stop-guard",
        "--cases",
        &folder,
        "--script",
        "judge.yaml",
        "--format",
        "json",
    ]))
    .unwrap();

    assert_eq!(report["cases"], planned.len());
    assert_eq!(report["matrix"], matrix(planned.iter()), "with nobody who was not asked");
    let count = |meant: &dyn Fn(&Case, &str) -> bool| {
        planned.iter().filter(|(case, plan)| meant(case, plan.said(case))).count() as f64
    };
    let right = count(&|case, said| said == word(case.expect));
    let right_flags = count(&|case, said| case.expect == Expect::Flag && said == "flag");
    let false_flags = count(&|case, said| case.expect == Expect::Clean && said == "flag");
    assert_eq!(report["accuracy"], right / planned.len() as f64);
    assert_eq!(report["precision"], right_flags / (right_flags + false_flags));
    assert_eq!(report["recall"], right_flags / count(&|case, _| case.expect == Expect::Flag));
    assert_eq!(report["false_steers"].as_f64(), Some(false_flags), "each wrong flag would have steered");
    let [low, high] = [0, 1].map(|end| report["interval"][end].as_f64().unwrap());
    assert!((low..high).contains(&(right / planned.len() as f64)));

    for (group, key) in [("rules", (|case| &case.rule) as fn(&Case) -> &String), ("languages", |case| &case.language)] {
        let names: BTreeSet<&String> = planned.iter().map(|(case, _)| key(case)).collect();
        assert_eq!(report[group].as_object().unwrap().len(), names.len());
        for name in names {
            let of_group = planned.iter().filter(|(case, _)| key(case) == name);
            assert_eq!(report[group][name]["matrix"], matrix(of_group), "{group} {name}");
        }
    }

    let times = |plan| planned.iter().filter(|(_, planned)| *planned == plan).count() as u64;
    let calls: u64 = planned.iter().map(|(_, plan)| plan.calls()).sum();
    let answered = calls - times(Plan::TimedOut);
    let cost = &report["cost"];
    assert_eq!((&cost["calls"], &cost["failed_calls"]), (&json!(calls), &json!(times(Plan::TimedOut))));
    assert_eq!((&cost["input"], &cost["output"]), (&json!(answered * USAGE.0), &json!(answered * USAGE.1)));
    assert!(report["latency"]["median_ms"].as_f64() <= report["latency"]["p95_ms"].as_f64());

    let results = report["results"].as_array().unwrap();
    for (result, (case, plan)) in results.iter().zip(&planned) {
        let trial = &result["trials"][0];
        assert_eq!((&result["case"], &trial["said"]), (&json!(case.id()), &json!(plan.said(case))));
        assert_eq!(trial["steered"], plan.said(case) == "flag", "{}", case.id());
        let told = trial["reason"].as_str().unwrap_or_default();
        let cause = match plan {
            Plan::Ambiguous => "more than one verdict",
            Plan::CutOff => "stopReason=length, parts=none",
            Plan::TimedOut => "in time",
            Plan::Unsure => "only 59% sure, below 60%",
            Plan::Right | Plan::RightInAFence | Plan::Wrong => "",
        };
        assert!(told.contains(cause), "{}: {told}", case.id());
    }
}
