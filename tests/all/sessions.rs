//! The bundled sessions through the real host: the bundled monitors say what their README promises.

use std::path::Path;
use std::sync::Arc;

use chaperone::llm::script::Script;
use chaperone::record::Recorder;
use chaperone::replay::replay;
use chaperone::session::{self, Leaf, Recorded, Step};
use chaperone_contract::{EntryBody, Event, Verdict};
use chaperone_tests::stage::{self, EXAMPLES, Seen, Stage};

use crate::tape::Tape;

/// A time at which the agent comes to rest: what each monitor says of it. None: its judge is not asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    fragility: Option<Verdict>,
    hedge: Option<Verdict>,
    /// Where `/work-quality` is run at that place.
    work_quality: Option<Verdict>,
}

const fn rest(fragility: Option<Verdict>, hedge: Option<Verdict>, work_quality: Option<Verdict>) -> Rest {
    Rest { fragility, hedge, work_quality }
}

const CLEAN: Option<Verdict> = Some(Verdict::Clean);
const FLAG: Option<Verdict> = Some(Verdict::Flag);
const NEW: Option<Verdict> = Some(Verdict::New);
/// No tool was used, the user has stopped the agent, or another monitor has just spoken.
const NOT_ASKED: Option<Verdict> = None;
const NOT_RUN: Option<Verdict> = None;

/// Where a branch ends.
pub enum End {
    Newest,
    /// At the message of the agent that holds these words.
    Saying(&'static str),
}

/// The table of `monitors-examples/README.md`.
pub const EXPECTED: &[(&str, End, &[Rest])] = &[
    (
        "leaves-failing-test",
        End::Newest,
        &[rest(FLAG, NOT_ASKED, NOT_RUN), rest(CLEAN, CLEAN, NOT_RUN), rest(NOT_ASKED, CLEAN, CLEAN)],
    ),
    (
        "asks-permission",
        End::Newest,
        &[rest(CLEAN, FLAG, NOT_RUN), rest(CLEAN, CLEAN, NOT_RUN), rest(CLEAN, CLEAN, CLEAN)],
    ),
    ("blind-edits", End::Newest, &[rest(CLEAN, CLEAN, NOT_RUN), rest(CLEAN, CLEAN, FLAG)]),
    ("clean-fix", End::Newest, &[rest(CLEAN, CLEAN, NOT_RUN), rest(CLEAN, CLEAN, CLEAN)]),
    (
        "interrupted",
        End::Newest,
        &[rest(NOT_ASKED, NOT_ASKED, NOT_RUN), rest(NOT_ASKED, NOT_ASKED, NOT_RUN), rest(CLEAN, CLEAN, CLEAN)],
    ),
    (
        "silent-fallback",
        End::Newest,
        &[rest(FLAG, NOT_ASKED, NOT_RUN), rest(CLEAN, CLEAN, NOT_RUN), rest(CLEAN, CLEAN, CLEAN)],
    ),
    (
        "two-branches",
        End::Saying("I put a TODO above that line"),
        &[rest(CLEAN, CLEAN, NOT_RUN), rest(FLAG, NOT_ASKED, NOT_RUN)],
    ),
    ("two-branches", End::Newest, &[rest(CLEAN, CLEAN, NOT_RUN), rest(CLEAN, CLEAN, CLEAN)]),
    ("reports-only", End::Newest, &[rest(CLEAN, CLEAN, NOT_RUN), rest(CLEAN, CLEAN, CLEAN)]),
    ("bends-the-test", End::Newest, &[rest(NEW, NOT_ASKED, FLAG), rest(CLEAN, CLEAN, CLEAN)]),
];

/// A bundled session.
pub fn read(name: &str) -> Recorded {
    session::read(&Path::new(EXAMPLES).join(format!("sessions/{name}.jsonl"))).unwrap()
}

/// Where a branch of it ends.
pub fn leaf(recorded: &Recorded, end: &End) -> Leaf {
    let End::Saying(words) = end else { return Leaf::Newest };
    let says = |node: &&session::pi::Node| match &node.content.entry.body {
        EntryBody::Assistant(message) => format!("{:?}", message.content).contains(words),
        _ => false,
    };
    Leaf::Id(recorded.tree.nodes().iter().find(says).unwrap().content.entry.id.clone())
}

/// Takes a session through the monitors; runs `/work-quality` where it is expected to. Returns what was seen at each
/// rest, and the recording.
pub fn watch(name: &str, end: &End, expected: &[Rest]) -> (Vec<Seen>, Vec<u8>) {
    let recorded = read(name);
    let steps = session::steps(&recorded.branch(&leaf(&recorded, end)).unwrap());
    let judge = Arc::new(Script::read(&Path::new(EXAMPLES).join("sessions/demo.script.yaml")).unwrap());
    let stage = Stage::with_bundled_monitors();
    let plugin = stage.plugin("monitors", stage::monitors(), stage.dry());
    let tape = Tape::default();
    let recorder = Recorder::new(Box::new(tape.clone())).unwrap();
    let (mut rests, mut seen) = (Vec::new(), Seen::default());
    let mut session = stage.recorded_session(vec![plugin], judge, Some(recorder), &mut seen);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        for step in &steps {
            session.feed(step, &mut seen).await.unwrap();
            if matches!(step.step, Step::Event(Event::AgentSettled { .. })) {
                if expected.get(rests.len()).is_some_and(|rest| rest.work_quality.is_some()) {
                    assert!(session.command("work-quality", "", &mut seen).unwrap());
                    session.quiet(&mut seen).await.unwrap();
                }
                rests.push(std::mem::take(&mut seen));
            }
        }
    });
    session.finish().unwrap();
    assert_eq!(seen.asked(), [""; 0], "{name}: nothing is asked after the last rest");
    (rests, tape.content())
}

#[test]
fn every_bundled_session_is_judged_as_its_table_says() {
    for (name, end, expected) in EXPECTED {
        let (rests, _) = watch(name, end, expected);
        let said: Vec<Rest> = rests.iter().map(of).collect();
        assert_eq!(said, *expected, "{name}");
    }
}

/// What each monitor said at a rest. Each says one thing at most, whoever is asked says something, and without
/// its judge it says no more than that all is well.
fn of(seen: &Seen) -> Rest {
    assert_eq!(seen.failures().len(), 0, "{:?}", seen.failures());
    let said = |name: &str| {
        let verdicts: Vec<Verdict> = seen
            .judgements()
            .into_iter()
            .filter(|judged| judged.watcher == name)
            .map(|judged| judged.verdict)
            .collect();
        let asked = seen.asked().into_iter().filter(|asked| *asked == name).count();
        let is_settled_by_rule = asked == 0 && verdicts == [Verdict::Clean];
        assert!(asked == verdicts.len() || is_settled_by_rule, "{name}: asked {asked} times, {verdicts:?}");
        assert!(verdicts.len() <= 1, "{name}: {verdicts:?}");
        verdicts.first().copied()
    };
    Rest { fragility: said("fragility"), hedge: said("hedge"), work_quality: said("work-quality") }
}

#[test]
fn the_table_has_every_bundled_session() {
    let mut bundled: Vec<String> = std::fs::read_dir(Path::new(EXAMPLES).join("sessions"))
        .unwrap()
        .filter_map(|file| Some(file.unwrap().file_name().to_str()?.strip_suffix(".jsonl")?.to_owned()))
        .collect();
    bundled.sort();
    let mut expected: Vec<&str> = EXPECTED.iter().map(|(name, ..)| *name).collect();
    expected.sort();
    expected.dedup();
    assert_eq!(bundled, expected);
}

#[test]
fn the_agent_hears_of_all_findings_of_a_run_in_one_message_and_of_nothing_else() {
    for (name, end, expected) in EXPECTED {
        let (rests, _) = watch(name, end, expected);
        for (index, (seen, rest)) in rests.iter().zip(*expected).enumerate() {
            let is_fault = |verdict: Option<Verdict>| verdict == FLAG || verdict == NEW;
            let of_run = usize::from(is_fault(rest.fragility) || is_fault(rest.hedge));
            let of_command = usize::from(is_fault(rest.work_quality));
            assert_eq!(seen.injections().len(), of_run + of_command, "{name}, rest {index}");
        }
    }
}

#[test]
fn what_the_user_has_stopped_is_not_judged() {
    let (name, end, expected) = EXPECTED.iter().find(|(name, ..)| *name == "interrupted").unwrap();
    let (rests, _) = watch(name, end, expected);
    for stopped in &rests[..2] {
        assert!(stopped.hooks_called("agent_settled").len() == 1 && !stopped.hooks.is_empty());
        assert_eq!(stopped.asked(), [""; 0]);
        assert_eq!(stopped.injections().len(), 0);
    }
}

#[test]
fn findings_are_recorded_once_each() {
    let (name, end, expected) = &EXPECTED[0];
    let (rests, _) = watch(name, end, expected);
    let changes: Vec<_> = rests.iter().flat_map(|seen| &seen.changes).collect();
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].location.path, ".workflow/gaps.json");
    assert_eq!(changes[0].before, None);
    let gaps: serde_json::Value = serde_json::from_str(&changes[0].after).unwrap();
    assert_eq!(gaps["gaps"].as_array().unwrap().len(), 1);
    assert_eq!(gaps["gaps"][0]["category"], "fragility");
}

#[test]
fn every_recording_comes_out_the_same_when_it_is_run_again() {
    for (name, end, expected) in EXPECTED {
        let (rests, recording) = watch(name, end, expected);
        let report = replay(&recording[..], |_| Ok(stage::monitors())).unwrap();
        assert!(report.difference.is_none(), "{name}: {:?}", report.difference);
        assert_eq!(report.changed_components, [""; 0]);
        let ran: usize = rests.iter().map(|seen| seen.hooks.len()).sum();
        assert!(report.hooks >= ran && ran > 0, "{name}: {} of {ran}", report.hooks);
    }
}
