use std::path::{Path, PathBuf};

use chaperone_contract::{
    AssistantMessage, Content, CustomMessage, SettledReason, StartReason, StopReason, ToolCall, ToolResult,
};
use proptest::prelude::*;

use super::*;
use crate::session::{Leaf, read};

/// One line for each step: at rest or busy, the entry, what happens.
fn told(steps: &[TimedStep]) -> String {
    steps
        .iter()
        .map(|step| {
            let idle = if step.idle { "rest" } else { "busy" };
            let entry = step.entry.as_deref().unwrap_or("-");
            format!("{idle} {entry:8} {}\n", name(&step.step))
        })
        .collect()
}

fn name(step: &Step) -> String {
    match step {
        Step::Append(entry) => format!("append {}", kind(entry)),
        Step::Model(model) => format!("model {}/{}", model.provider, model.model),
        Step::Event(event) => {
            let detail = match event {
                Event::SessionStart { reason } => reason.name().into(),
                Event::TurnStart { index } => index.to_string(),
                Event::TurnEnd { turn } => format!("{} with {} results", turn.index, turn.tool_results.len()),
                Event::MessageEnd { message } => kind(message).into(),
                Event::ToolStart { call } => format!("{} {}", call.name, call.id),
                Event::ToolEnd { outcome } => format!("{} {}", outcome.tool_name, outcome.call_id),
                Event::AgentSettled { reason } => reason.name().into(),
                _ => String::new(),
            };
            format!("{} {detail}", event.name()).trim_end().into()
        }
    }
}

fn kind(entry: &Entry) -> &str {
    match &entry.body {
        EntryBody::User(_) => "user",
        EntryBody::Assistant(_) => "assistant",
        EntryBody::ToolResult(_) => "result",
        EntryBody::Custom(_) => "custom",
        EntryBody::Compaction(_) => "compaction",
        EntryBody::Other(other) => other,
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/session/steps/snapshots")
}

fn recording(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../monitors-examples/sessions/{name}.jsonl"))
}

/// Compares with `snapshots/NAME.txt`; `SNAPSHOTS=overwrite` writes it anew.
fn assert_told(session: &str, leaf: Leaf, snapshot: &str) {
    let recorded = read(&recording(session)).unwrap();
    assert!(recorded.report.is_clean(), "{}", recorded.report);
    let steps = steps(&recorded.branch(&leaf).unwrap());
    let expected = snapbox::Data::read_from(&folder().join(format!("{snapshot}.txt")), None);
    snapbox::assert_data_eq!(told(&steps), expected.raw());
}

macro_rules! recordings {
    ($($test:ident: $name:literal,)*) => {
        $(#[test] fn $test() { assert_told($name, Leaf::Newest, $name); })*

        #[test]
        fn every_recording_is_told() {
            let known = [$($name),*];
            let all: Vec<String> = std::fs::read_dir(recording("x").parent().unwrap())
                .unwrap()
                .filter_map(|file| Some(file.unwrap().file_name().to_str()?.strip_suffix(".jsonl")?.to_owned()))
                .collect();
            assert_eq!(all.len(), known.len(), "{all:?}");
        }
    };
}

recordings! {
    asks_permission_is_told: "asks-permission",
    bends_the_test_is_told: "bends-the-test",
    blind_edits_is_told: "blind-edits",
    clean_fix_is_told: "clean-fix",
    interrupted_is_told: "interrupted",
    leaves_failing_test_is_told: "leaves-failing-test",
    reports_only_is_told: "reports-only",
    silent_fallback_is_told: "silent-fallback",
    two_branches_is_told: "two-branches",
}

#[test]
fn a_branch_left_behind_is_told_by_its_leaf() {
    assert_told("two-branches", Leaf::Id("4df2b256".into()), "two-branches-left");
}

#[test]
fn a_branch_that_ends_in_the_middle_of_a_turn_only_tells_what_ended() {
    assert_told("clean-fix", Leaf::Id("8bc7fd9f".into()), "clean-fix-cut");
}

use Made::{Answer, Custom, Other, User};

/// What an entry of a made-up branch is.
#[derive(Clone, Debug)]
enum Made {
    User,
    Answer(StopReason, Vec<&'static str>),
    Result(&'static str),
    Custom,
    Other,
}

fn branch(made: &[Made]) -> Vec<BranchEntry> {
    made.iter()
        .zip(1..)
        .map(|(made, number)| {
            let body = match made {
                Made::User => EntryBody::User(vec![Content::Text("go".into())]),
                Made::Answer(stop_reason, calls) => {
                    let call = |id: &&str| {
                        Content::ToolCall(ToolCall { id: (*id).into(), name: "bash".into(), arguments: "{}".into() })
                    };
                    EntryBody::Assistant(AssistantMessage {
                        content: calls.iter().map(call).collect(),
                        stop_reason: *stop_reason,
                        usage: None,
                        model: None,
                        error: None,
                    })
                }
                Made::Result(call) => EntryBody::ToolResult(ToolResult {
                    call_id: (*call).into(),
                    tool_name: "bash".into(),
                    content: vec![],
                    is_error: false,
                    details: None,
                }),
                Made::Custom => EntryBody::Custom(CustomMessage {
                    custom_type: "note".into(),
                    content: "look".into(),
                    display: true,
                    details: None,
                }),
                Made::Other => EntryBody::Other("label".into()),
            };
            let id = format!("e{number}");
            BranchEntry { entry: Arc::new(Entry { id, timestamp: number * 1000, body }), model: None }
        })
        .collect()
}

/// The names of the steps, without those that frame the session.
fn names(made: &[Made]) -> Vec<String> {
    let names = steps(&branch(made)).iter().map(|step| name(&step.step)).collect::<Vec<_>>();
    names.into_iter().filter(|name| !name.starts_with("session_")).collect()
}

const STOP: StopReason = StopReason::Stop;
const TOOLS: StopReason = StopReason::ToolUse;

#[test]
fn a_failed_answer_that_is_tried_again_settles_once() {
    let names = names(&[User, Answer(StopReason::Error, vec![]), Other, Answer(STOP, vec![])]);
    assert_eq!(
        names,
        [
            "input",
            "agent_start",
            "turn_start 0",
            "append user",
            "message_end user",
            "append assistant",
            "message_end assistant",
            "turn_end 0 with 0 results",
            "agent_end",
            "append label",
            "agent_start",
            "turn_start 0",
            "append assistant",
            "message_end assistant",
            "turn_end 0 with 0 results",
            "agent_end",
            "agent_settled finished",
        ]
    );
}

#[test]
fn a_failure_for_good_settles_as_failed() {
    let names = names(&[User, Answer(StopReason::Error, vec!["a"]), User]);
    assert!(names.contains(&"agent_settled failed".into()), "{names:?}");
    assert!(!names.contains(&"tool_start bash a".into()), "tools of a broken message are not run: {names:?}");
}

#[test]
fn an_interrupted_agent_settles_even_where_it_speaks_next() {
    let names = names(&[User, Answer(StopReason::Aborted, vec![]), Answer(STOP, vec![])]);
    assert_eq!(names.iter().filter(|name| name.starts_with("agent_settled")).count(), 2, "{names:?}");
    assert!(names.contains(&"agent_settled interrupted".into()), "{names:?}");
}

#[test]
fn a_user_who_speaks_while_the_agent_works_steers_the_same_run() {
    let names = names(&[User, Answer(TOOLS, vec!["a"]), Made::Result("a"), User, Answer(STOP, vec![])]);
    assert_eq!(
        names[5..],
        [
            "append assistant",
            "message_end assistant",
            "tool_start bash a",
            "tool_end bash a",
            "append result",
            "message_end result",
            "turn_end 0 with 1 results",
            "input",
            "turn_start 1",
            "append user",
            "message_end user",
            "append assistant",
            "message_end assistant",
            "turn_end 1 with 0 results",
            "agent_end",
            "agent_settled finished",
        ]
    );
}

#[test]
fn a_user_entry_between_results_leaves_the_turn_open() {
    let names = names(&[User, Answer(TOOLS, vec!["a", "b"]), Made::Result("a"), User, Made::Result("b")]);
    assert_eq!(
        names[9..],
        [
            "tool_end bash a",
            "append result",
            "message_end result",
            "input",
            "append user",
            "message_end user",
            "tool_end bash b",
            "append result",
            "message_end result",
            "turn_end 0 with 2 results",
        ]
    );
}

#[test]
fn a_turn_without_all_results_ends_where_the_next_answer_stands() {
    let names = names(&[User, Answer(TOOLS, vec!["a", "b"]), Made::Result("b"), Answer(STOP, vec![])]);
    assert_eq!(names[12..14], ["turn_end 0 with 1 results", "turn_start 1"]);
}

#[test]
fn an_extension_starts_a_run_only_where_the_agent_answers() {
    let started = names(&[Custom, Custom, Answer(STOP, vec![])]);
    assert_eq!(
        started[..6],
        ["agent_start", "turn_start 0", "append custom", "message_end custom", "append custom", "message_end custom"]
    );
    assert_eq!(names(&[Custom, Other]), ["append custom", "append label"]);
    assert_eq!(names(&[Custom, User])[..3], ["append custom", "input", "agent_start"]);
}

#[test]
fn a_result_that_nobody_waits_for_is_only_appended() {
    assert_eq!(names(&[Made::Result("a")]), ["append result"]);
    let names = names(&[User, Answer(TOOLS, vec!["a"]), Made::Result("a"), Made::Result("a")]);
    assert_eq!(names[11..], ["turn_end 0 with 1 results", "append result"]);
}

#[test]
fn the_session_starts_after_its_set_up_and_ends_last() {
    let all = |made: &[Made]| steps(&branch(made)).iter().map(|step| name(&step.step)).collect::<Vec<_>>();
    assert_eq!(all(&[]), ["session_start new", "session_end"]);
    assert_eq!(all(&[Other]), ["append label", "session_start new", "session_end"]);
    assert_eq!(all(&[Other, User])[..3], ["append label", "session_start new", "input"]);
}

#[test]
fn a_turn_begins_when_the_one_before_it_ends() {
    let steps = steps(&branch(&[User, Answer(TOOLS, vec!["a"]), Made::Result("a"), Answer(STOP, vec![])]));
    let begins = steps.iter().find(|step| step.step == Step::Event(Event::TurnStart { index: 1 })).unwrap();
    assert_eq!((begins.at, begins.entry.as_deref()), (3000, Some("e4")));
}

#[test]
fn a_clock_that_was_set_back_stands_still() {
    let mut branch = branch(&[User, Answer(STOP, vec![])]);
    Arc::make_mut(&mut branch[1].entry).timestamp = 5;
    assert!(
        steps(&branch)
            .iter()
            .all(|step| step.at == 1000 || step.step == Step::Event(Event::SessionStart { reason: StartReason::New }))
    );
}

#[test]
fn a_model_is_told_when_it_changes() {
    let model = |name: &str| ModelId { provider: "p".into(), model: name.into() };
    let mut branch = branch(&[Other, Other, User, Answer(STOP, vec![]), User, Answer(STOP, vec![])]);
    branch[0].model = Some(model("one"));
    branch[1].model = Some(model("one"));
    for (entry, name) in [(3, "one"), (5, "two")] {
        let EntryBody::Assistant(message) = &mut Arc::make_mut(&mut branch[entry].entry).body else { panic!() };
        message.model = Some(model(name));
    }
    let models: Vec<_> = steps(&branch)
        .into_iter()
        .filter_map(|step| matches!(step.step, Step::Model(_)).then(|| (step.entry.unwrap(), name(&step.step))))
        .collect();
    assert_eq!(models, [("e1".into(), "model p/one".into()), ("e6".into(), "model p/two".into())]);
}

fn made() -> impl Strategy<Value = Made> {
    let calls = || prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 0..3);
    prop_oneof![
        Just(User),
        (prop::sample::select(StopReason::ALL), calls()).prop_map(|(reason, calls)| Answer(reason, calls)),
        prop::sample::select(vec!["a", "b", "c"]).prop_map(Made::Result),
        Just(Custom),
        Just(Other),
    ]
}

proptest! {
    #[test]
    fn runs_and_turns_nest_and_every_entry_is_appended_once(made in prop::collection::vec(made(), 0..40)) {
        let branch = branch(&made);
        let steps = steps(&branch);
        let (mut started, mut running, mut turn, mut next_turn, mut ended_before) = (false, false, None, 0, false);
        let mut appended: Vec<Arc<Entry>> = Vec::new();
        let mut results = 0;
        for (step, next) in steps.iter().zip(steps.iter().skip(1).map(Some).chain([None])) {
            if let Some(next) = next {
                prop_assert!(step.at <= next.at);
            }
            let mut ended = false;
            match &step.step {
                Step::Append(entry) => appended.push(entry.clone()),
                Step::Model(_) => {}
                Step::Event(event) => match event {
                    Event::SessionStart { .. } => {
                        prop_assert!(!started && !running);
                        started = true;
                    }
                    Event::SessionEnd => prop_assert!(next.is_none()),
                    Event::Input { .. } => prop_assert!(started),
                    Event::AgentStart => {
                        prop_assert!(started && !running);
                        (running, next_turn) = (true, 0);
                    }
                    Event::TurnStart { index } => {
                        prop_assert!(running && turn.is_none() && *index == next_turn);
                        (turn, results) = (Some(*index), 0);
                    }
                    Event::MessageEnd { message } => prop_assert_eq!(message, &**appended.last().unwrap()),
                    Event::ToolStart { .. } => prop_assert!(turn.is_some()),
                    Event::ToolEnd { .. } => {
                        prop_assert!(turn.is_some());
                        results += 1;
                    }
                    Event::TurnEnd { turn: over } => {
                        prop_assert_eq!(turn, Some(over.index));
                        prop_assert_eq!(over.tool_results.len(), results);
                        (turn, next_turn) = (None, over.index + 1);
                    }
                    Event::AgentEnd => {
                        prop_assert!(running && turn.is_none() && next_turn > 0);
                        (running, ended) = (false, true);
                    }
                    Event::AgentSettled { reason } => {
                        prop_assert!(ended_before && SettledReason::ALL.contains(reason));
                    }
                    other => prop_assert!(false, "{other:?}"),
                },
            }
            ended_before = ended;
            prop_assert!(!(running && step.idle));
        }
        prop_assert!(started);
        prop_assert_eq!(appended, branch.iter().map(|entry| entry.entry.clone()).collect::<Vec<_>>());
    }
}
