//! The stop guard in the real host: simulated agents that stop too early, judges that fail, and the bundled sessions.

use std::path::Path;
use std::sync::Arc;

use chaperone::drive::{Memory, Session, Setup};
use chaperone::files::Storage;
use chaperone::llm::Provider;
use chaperone::llm::script::Script;
use chaperone::record::Recorder;
use chaperone::replay::replay;
use chaperone::session::{self, Step};
use chaperone::store::{Owner, Store};
use chaperone_contract::*;
use chaperone_tests::stage::{self, EXAMPLES, Judge, Seen, Silence, Stage};

use crate::sessions::{End, leaf, read};
use crate::tape::Tape;

const CONFIG: &str = "extensions/pi-auto-goal/config.json";
const GO_ON: &str = r#"{"reason": "the tests were not run", "verdict": "continue", "confidence": 0.9}"#;

/// An agent that stops halfway whenever it works, beside the stop guard.
struct Agent {
    session: Session,
    seen: Seen,
    branch: Branch,
}

impl Agent {
    fn new(stage: &Stage, storage: Storage, provider: Arc<dyn Provider>) -> Self {
        let mut seen = Seen::default();
        let guard = stage.plugin("stop-guard", stage::stop_guard(), storage);
        let mut session = stage.session(vec![guard], provider, &mut seen);
        session.event(&Event::SessionStart { reason: StartReason::New }, &mut seen).unwrap();
        Self { session, seen, branch: Branch::default() }
    }

    fn append(&mut self, body: EntryBody) {
        let id = format!("e{}", self.branch.entries().len());
        let entry = Arc::new(Entry { id, timestamp: 0, body });
        self.branch.push(entry.clone());
        self.session.append(entry.clone()).unwrap();
        self.event(&Event::MessageEnd { message: (*entry).clone() });
    }

    fn event(&mut self, event: &Event) {
        self.session.event(event, &mut self.seen).unwrap();
    }

    /// The user asks for something, and the agent stops halfway.
    fn user(&mut self, text: &str) {
        let content = vec![Content::Text(text.into())];
        self.event(&Event::Input { content: content.clone() });
        self.event(&Event::AgentStart);
        self.append(EntryBody::User(content));
        self.stop();
    }

    /// The agent writes its last message, and comes to rest.
    fn stop(&mut self) {
        self.append(EntryBody::Assistant(AssistantMessage {
            content: vec![Content::Text("I have done the first half.".into())],
            stop_reason: StopReason::Stop,
            usage: None,
            model: None,
            error: None,
        }));
        self.event(&Event::AgentEnd);
        self.event(&Event::AgentSettled { reason: SettledReason::Finished });
    }

    async fn judged(&mut self) {
        self.session.quiet(&mut self.seen).await.unwrap();
    }

    /// Goes on whenever it is told to. Returns how often that was.
    async fn settle(&mut self) -> usize {
        let mut continuations = 0;
        loop {
            self.judged().await;
            let Some(message) = self.seen.injections().get(continuations).map(|message| (*message).clone()) else {
                return continuations;
            };
            assert!(message.trigger_turn);
            continuations += 1;
            assert!(continuations < 50, "it never ends");
            self.event(&Event::AgentStart);
            let Injection { custom_type, content, display, details, .. } = message;
            self.append(EntryBody::Custom(CustomMessage { custom_type, content, display, details }));
            self.stop();
        }
    }

    /// The verdict blocks, without their name.
    fn lines(&self) -> Vec<&str> {
        let notices = self.seen.effects().filter_map(|effect| match effect {
            Effect::Show(notice) => Some(notice.title[1].text.as_str()),
            _ => None,
        });
        notices.collect()
    }

    fn verdicts(&self) -> Vec<Verdict> {
        self.seen.judgements().into_iter().map(|judgement| judgement.verdict).collect()
    }

    /// The verdict came to nothing, and nobody heard of it.
    fn assert_quiet(&self) {
        assert_eq!((self.seen.injections().len(), self.lines(), self.verdicts()), (0, vec![], vec![]));
    }
}

fn script(rules: &str) -> Arc<Script> {
    Arc::new(Script::parse("judge.yaml", rules).unwrap())
}

// How often

#[tokio::test]
async fn an_agent_that_keeps_stopping_goes_on_exactly_as_often_as_allowed() {
    for (config, allowed) in
        [(None, 2), (Some(r#"{"maxAutoContinues": 1}"#), 1), (Some(r#"{"maxAutoContinues": 5}"#), 5)]
    {
        let stage = Stage::bare();
        if let Some(config) = config {
            stage.put_of_user(CONFIG, config);
        }
        let mut agent = Agent::new(&stage, stage.dry(), Arc::new(Judge(GO_ON)));
        agent.user("Do it all.");
        assert_eq!(agent.settle().await, allowed);
        assert_eq!(agent.verdicts(), vec![Verdict::Flag; allowed + 1]);
        let last = format!("⚖️ continuation limit reached ({allowed}/{allowed}) · no further intervention");
        assert_eq!(agent.lines().last().unwrap(), &last);
        assert_eq!(agent.seen.failures().len(), 0);

        agent.seen.clear();
        agent.user("Do something else.");
        assert_eq!(agent.settle().await, allowed, "another request");
    }
}

#[tokio::test]
async fn without_a_limit_the_allowance_of_calls_is_one() {
    let stage = Stage::bare();
    stage.put_of_user(CONFIG, r#"{"maxAutoContinues": 0}"#);
    let mut agent = Agent::new(&stage, stage.dry(), Arc::new(Judge(GO_ON)));
    agent.user("Do it all.");
    assert_eq!(agent.settle().await, 32);
    assert_eq!(agent.lines().last(), Some(&"⚖️ judge failed"));
}

#[tokio::test]
async fn a_session_that_is_taken_up_again_goes_on_counting() {
    let stage = Stage::bare();
    let store = Arc::new(Store::in_memory().unwrap());
    let begin = || {
        let guard = stage.plugin("stop-guard", stage::stop_guard(), stage.dry());
        let memory = Memory::new(store.clone(), "p");
        let setup =
            Setup { memory: Some(memory), ..Setup::new(stage::snapshot(), vec![guard], Arc::new(Judge(GO_ON))) };
        let mut seen = Seen::default();
        let session = Session::new(setup, &mut seen).unwrap();
        Agent { session, seen, branch: Branch::default() }
    };
    let mut agent = begin();
    agent.user("Do it all.");
    agent.judged().await;
    assert_eq!(agent.lines(), ["⚖️ judged premature · continuation 1/2"]);
    let Agent { branch, session, .. } = agent;
    session.finish().unwrap();

    let mut again = begin();
    again.branch = branch.clone();
    again.session.go_to(branch, &mut again.seen).unwrap();
    again.event(&Event::SessionStart { reason: StartReason::Resume });
    again.event(&Event::AgentStart);
    again.stop();
    assert_eq!(again.settle().await, 1);
    let lines =
        ["⚖️ judged premature · continuation 2/2", "⚖️ continuation limit reached (2/2) · no further intervention"];
    assert_eq!(again.lines(), lines);
}

#[tokio::test]
async fn going_back_gives_back_what_was_spent_after_that_entry() {
    let stage = Stage::bare();
    let mut agent = Agent::new(&stage, stage.dry(), Arc::new(Judge(GO_ON)));
    agent.user("Do it all.");
    assert_eq!(agent.settle().await, 2);
    let first_stop = agent.branch.entries()[1].id.clone();
    assert!(agent.branch.cut_after(&first_stop));
    agent.session.go_to(agent.branch.clone(), &mut agent.seen).unwrap();
    agent.seen.clear();
    agent.event(&Event::AgentStart);
    agent.stop();
    agent.judged().await;
    assert_eq!(agent.lines(), ["⚖️ judged premature · continuation 2/2"], "one was spent by then");
}

// Judges that fail

#[tokio::test(start_paused = true)]
async fn a_judge_that_fails_neither_causes_nor_hides_a_continuation() {
    let quoted = GO_ON.replace('"', "\\\"");
    let failures = [
        format!("rules:\n  - answer: \"{quoted}\"\n    delay_ms: 30001\n"),
        "rules:\n  - error: timed-out\n".into(),
        "rules:\n  - error: authentication\n    message: no key\n".into(),
        "rules:\n  - error: rate-limited\n".into(),
        "rules:\n  - answer: I can't help with that.\n".into(),
        "rules:\n  - answer: \"\"\n".into(),
        "rules:\n  - answer: \"\"\n    stop: length\n".into(),
        "rules:\n  - answer: '{\"verdict\": \"continue\", \"confidence\": 0.9, \"rea'\n".into(),
        "rules:\n  - answer: '{\"verdict\": \"continue\", \"confidence\": 9, \"reason\": \"x\"}'\n".into(),
        format!("rules:\n  - answer: \"{quoted} {quoted} {}\"\n", quoted.replace("continue", "stop")),
        format!("rules:\n  - answer: \"{quoted}\"\n    stop: length\n"),
        format!("rules:\n  - answer: \"{quoted}\"\n    stop: error\n"),
        "rules: []\n".into(),
    ];
    for rules in failures {
        let stage = Stage::bare();
        let mut agent = Agent::new(&stage, stage.dry(), script(&rules));
        agent.user("Do it all.");
        assert_eq!(agent.settle().await, 0, "{rules}");
        assert_eq!((agent.lines(), agent.verdicts()), (vec!["⚖️ judge failed"], vec![Verdict::Unknown]), "{rules}");
    }
}

#[tokio::test]
async fn an_answer_used_up_by_thinking_is_asked_for_once_more() {
    let stage = Stage::bare();
    let mut agent = Agent::new(&stage, stage.dry(), script("rules:\n  - answer: \"\"\n    stop: length\n"));
    agent.user("Do it all.");
    agent.judged().await;
    let budgets: Vec<_> = agent
        .seen
        .effects()
        .filter_map(|effect| match effect {
            Effect::Complete(call) => call.request.max_output_tokens,
            _ => None,
        })
        .collect();
    assert_eq!(budgets, [2_000, 4_000]);
}

#[tokio::test]
async fn a_judge_that_never_answers_holds_nothing_up() {
    let stage = Stage::bare();
    let mut agent = Agent::new(&stage, stage.dry(), Arc::new(Silence));
    agent.user("Do it all.");
    agent.user("Never mind, do this.");
    agent.assert_quiet();
    assert_eq!(agent.seen.asked(), ["stop-guard", "stop-guard"]);
}

// Too late

#[tokio::test]
async fn a_verdict_is_discarded_if_anything_happened_while_the_judge_was_thinking() {
    type Happens = fn(&mut Agent);
    let happens: [Happens; 4] = [
        |agent| agent.event(&Event::AgentStart),
        |agent| agent.event(&Event::Input { content: vec![Content::Text("wait".into())] }),
        |agent| {
            agent
                .session
                .append(Arc::new(Entry { id: "x".into(), timestamp: 0, body: EntryBody::User(vec![]) }))
                .unwrap()
        },
        |agent| {
            let user = agent.branch.entries()[0].clone();
            agent.session.go_to([user].into_iter().collect(), &mut agent.seen).unwrap();
        },
    ];
    for happens in happens {
        let stage = Stage::bare();
        let mut agent = Agent::new(&stage, stage.dry(), Arc::new(Judge(GO_ON)));
        agent.user("Do it all.");
        assert_eq!(agent.seen.asked(), ["stop-guard"]);
        happens(&mut agent);
        agent.judged().await;
        agent.assert_quiet();
    }
}

#[tokio::test]
async fn a_call_whose_verdict_is_discarded_is_kept_with_the_reason() {
    type Happens = fn(&mut Agent);
    let happens: [(Happens, bool, &str); 2] = [
        (|agent| agent.event(&Event::AgentStart), false, "the agent or the user went on before the judge had spoken"),
        (
            |agent| {
                let entry = Entry { id: "x".into(), timestamp: 0, body: EntryBody::User(vec![]) };
                agent.session.append(Arc::new(entry)).unwrap();
            },
            true,
            "the conversation has gone on, or elsewhere",
        ),
    ];
    for (happens, is_answered, reason) in happens {
        let stage = Stage::bare();
        let store = Arc::new(Store::in_memory().unwrap());
        let guard = stage.plugin("stop-guard", stage::stop_guard(), stage.dry());
        let memory = Some(Memory::new(store.clone(), "p"));
        let snapshot = stage::snapshot();
        let owner = Owner { plugin: "stop-guard".into(), session: snapshot.session_id.clone(), project: "p".into() };
        let mut seen = Seen::default();
        let setup = Setup { memory, ..Setup::new(snapshot, vec![guard], Arc::new(Judge(GO_ON))) };
        let session = Session::new(setup, &mut seen).unwrap();
        let mut agent = Agent { session, seen, branch: Branch::default() };
        agent.user("Do it all.");
        happens(&mut agent);
        agent.judged().await;
        let query = TraceQuery { selection: Selection::Session, watcher: None, limit: 9, texts: true };
        let kept = store.traces(&owner, &query).unwrap();
        assert_eq!(kept.len(), 1);
        assert_eq!((kept[0].answer.is_some(), kept[0].verdict), (is_answered, None));
        let became = &kept[0].consequences[0];
        assert_eq!((became.outcome.as_str(), became.detail.as_deref()), ("discarded", Some(reason)));
    }
}

#[tokio::test]
async fn nothing_is_judged_while_the_user_is_typing_or_where_nobody_could_go_on() {
    for snapshot in
        [Snapshot { input_pending: true, ..stage::snapshot() }, Snapshot { mode: Mode::OneShot, ..stage::snapshot() }]
    {
        let stage = Stage::bare();
        let guard = stage.plugin("stop-guard", stage::stop_guard(), stage.dry());
        let mut seen = Seen::default();
        let setup = Setup::new(snapshot, vec![guard], Arc::new(Judge(GO_ON)));
        let session = Session::new(setup, &mut seen).unwrap();
        let mut agent = Agent { session, seen, branch: Branch::default() };
        agent.user("Do it all.");
        agent.judged().await;
        agent.assert_quiet();
        assert_eq!(agent.seen.asked(), [""; 0]);
    }
}

// Its file

#[tokio::test]
async fn a_command_changes_the_file_in_place_and_holds_at_once() {
    let stage = Stage::bare();
    let text = "{\n    \"timeoutSeconds\": 12.50,\n    \"enabled\": true,\n    \"maxAutoContinues\": 3\n}\n";
    stage.put_of_user(CONFIG, text);
    let mut agent = Agent::new(&stage, stage.disk(), Arc::new(Judge(GO_ON)));
    assert!(agent.session.command("auto-goal", "disable", &mut agent.seen).unwrap());
    let written = std::fs::read_to_string(stage.user_folder().join(CONFIG)).unwrap();
    assert_eq!(written, text.replace("true", "false"));
    agent.user("Do it all.");
    agent.judged().await;
    agent.assert_quiet();
}

#[tokio::test]
async fn a_file_that_is_wrong_is_left_as_it_is_and_nothing_is_judged() {
    let stage = Stage::bare();
    let broken = "{\"enabled\": true, // mine\n}";
    stage.put_of_user(CONFIG, broken);
    let mut agent = Agent::new(&stage, stage.disk(), Arc::new(Judge(GO_ON)));
    assert!(agent.session.command("config:auto-goal", "disable", &mut agent.seen).unwrap());
    assert!(agent.seen.notices()[0].contains("was left as it is"), "{:?}", agent.seen.notices());
    agent.user("Do it all.");
    assert_eq!(agent.settle().await, 0);
    assert_eq!(agent.lines(), ["⚖️ configuration rejected · not judged"]);
    assert_eq!(agent.seen.asked(), [""; 0]);
    assert_eq!(std::fs::read_to_string(stage.user_folder().join(CONFIG)).unwrap(), broken);
}

#[test]
fn without_a_way_to_its_file_nothing_is_judged() {
    let stage = Stage::bare();
    let mut seen = Seen::default();
    let bare = stage.plugin("stop-guard", stage::stop_guard(), stage.dry());
    let mounts = chaperone::files::Mounts::new(stage.dry());
    let mut blind = chaperone::drive::Running::new("stop-guard", "stage", bare.component.clone(), mounts);
    blind.grants = bare.grants.clone();
    let session = stage.session(vec![blind], Arc::new(Silence), &mut seen);
    let mut agent = Agent { session, seen, branch: Branch::default() };
    agent.user("Do it all.");
    assert_eq!(agent.lines(), ["⚖️ configuration rejected · not judged"]);
    assert_eq!(agent.seen.asked(), [""; 0]);
}

// The bundled sessions

/// What the stop guard says each time the agent comes to rest. None: it is not judged.
const EXPECTED: &[(&str, End, &[Option<Verdict>])] = &[
    ("asks-permission", End::Newest, &[FLAG, CLEAN, CLEAN]),
    ("bends-the-test", End::Newest, &[CLEAN, CLEAN]),
    ("blind-edits", End::Newest, &[CLEAN, CLEAN]),
    ("clean-fix", End::Newest, &[CLEAN, CLEAN]),
    ("interrupted", End::Newest, &[None, None, CLEAN]),
    ("leaves-failing-test", End::Newest, &[FLAG, CLEAN, CLEAN]),
    ("reports-only", End::Newest, &[CLEAN, CLEAN]),
    ("silent-fallback", End::Newest, &[CLEAN, CLEAN, CLEAN]),
    ("two-branches", End::Saying("I put a TODO above that line"), &[CLEAN, FLAG]),
    ("two-branches", End::Newest, &[CLEAN, CLEAN]),
];

const CLEAN: Option<Verdict> = Some(Verdict::Clean);
const FLAG: Option<Verdict> = Some(Verdict::Flag);

#[test]
fn every_bundled_session_is_judged_as_its_table_says_beside_the_monitors_and_again_from_its_recording() {
    let judge = Arc::new(Script::read(&Path::new(EXAMPLES).join("sessions/demo.script.yaml")).unwrap());
    for (name, end, expected) in EXPECTED {
        let recorded = read(name);
        let steps = session::steps(&recorded.branch(&leaf(&recorded, end)).unwrap());
        let stage = Stage::with_bundled_monitors();
        let plugins = vec![
            stage.plugin("monitors", stage::monitors(), stage.dry()),
            stage.plugin("stop-guard", stage::stop_guard(), stage.dry()),
        ];
        let (tape, mut seen, mut said) = (Tape::default(), Seen::default(), Vec::new());
        let recorder = Recorder::new(Box::new(tape.clone())).unwrap();
        let mut session = stage.recorded_session(plugins, judge.clone(), Some(recorder), &mut seen);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            for step in &steps {
                session.feed(step, &mut seen).await.unwrap();
                if matches!(step.step, Step::Event(Event::AgentSettled { .. })) {
                    let judgements = seen.judgements().into_iter().filter(|judged| judged.watcher == "stop-guard");
                    let verdicts: Vec<Verdict> = judgements.map(|judged| judged.verdict).collect();
                    assert!(verdicts.len() <= 1, "{name}: {verdicts:?}");
                    said.push(verdicts.first().copied());
                    assert_eq!(seen.failures().len(), 0, "{name}");
                    seen.clear();
                }
            }
        });
        session.finish().unwrap();
        assert_eq!(said, *expected, "{name}");

        let component = |plugin: &chaperone::record::RecordedPlugin| {
            Ok(if plugin.name == "monitors" { stage::monitors() } else { stage::stop_guard() })
        };
        let report = replay(&tape.content()[..], component).unwrap();
        assert!(report.difference.is_none(), "{name}: {:?}", report.difference);
    }
}
