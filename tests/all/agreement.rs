//! The SDK's fake host and the real one agree: what a watcher does in a native test, it does as a component.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use chaperone::llm::script::Script;
use chaperone::record::{Line, RecordedHook, RecordedPlugin, RecordedResult, Recorder};
use chaperone::state::History;
use chaperone::transaction::FileRead;
use chaperone_contract::*;
use chaperone_hostile::Hostile;
use chaperone_monitors::Monitors;
use chaperone_sdk::Plugin;
use chaperone_sdk::fake::FakeHost;
use chaperone_tests::stage::{self, EXAMPLES, Judge, Seen, Stage};

use crate::sessions::{EXPECTED, watch};
use crate::tape::Tape;

/// Runs every hook of a recording natively, with exactly what the component found, and holds what comes out against
/// what the component did. Returns how many hooks there were.
fn agree<P: Plugin>(recording: &[u8]) -> usize {
    let mut native = Native::default();
    let mut hooks = 0;
    for (index, line) in recording.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).enumerate() {
        match serde_json::from_slice(line).unwrap() {
            Line::Recording { .. } | Line::End {} => {}
            Line::Session { plugins, .. } => native = Native::new(plugins),
            Line::Entry(entry) => native.append(entry),
            Line::Branch(ids) => native.go_to(&ids),
            Line::Hook(hook) => {
                hooks += 1;
                let expected = serde_json::to_value(&hook.result).unwrap();
                let (name, now) = (hook.event.name(), serde_json::to_value(native.run::<P>(*hook)).unwrap());
                assert_eq!(now, expected, "line {}, {name}", index + 1);
            }
        }
    }
    hooks
}

#[derive(Default)]
struct Native {
    branch: Branch,
    entries: HashMap<EntryId, Arc<Entry>>,
    models: Vec<ModelInfo>,
    history: History,
}

impl Native {
    fn new(plugins: Vec<RecordedPlugin>) -> Self {
        let [plugin] = <[RecordedPlugin; 1]>::try_from(plugins).unwrap();
        Self { models: plugin.models, ..Self::default() }
    }

    fn append(&mut self, entry: Arc<Entry>) {
        self.entries.insert(entry.id.clone(), entry.clone());
        self.branch.push(entry);
    }

    fn go_to(&mut self, ids: &[EntryId]) {
        self.branch = ids.iter().map(|id| self.entries[id].clone()).collect();
        self.history.follow(&self.branch);
    }

    fn run<P: Plugin>(&mut self, hook: RecordedHook) -> RecordedResult {
        let mut host = FakeHost::<P>::default();
        host.session = hook.snapshot;
        host.branch = self.branch.clone();
        host.models = self.models.clone();
        host.next_request = hook.next_request;
        for scope in Scope::ALL {
            if let Some(value) = self.history.current().get(*scope) {
                host.set_state(*scope, &**value);
            }
        }
        for read in hook.reads {
            match read {
                FileRead::Read { file, answer } => drop(host.reads.insert((file.mount, file.path), answer)),
                FileRead::Entries { folder, answer } => drop(host.lists.insert((folder.mount, folder.path), answer)),
            }
        }
        let outcome = host.call(hook.event);
        self.history.commit(&outcome.effects, &self.branch);
        RecordedResult::Ok { reply: outcome.reply, effects: outcome.effects }
    }
}

#[test]
fn monitors_do_the_same_natively_in_every_bundled_session() {
    for (name, end, expected) in EXPECTED {
        let (_, recording) = watch(name, end, expected);
        let hooks = agree::<Monitors>(&recording);
        assert!(hooks > 10, "{name}: {hooks}");
    }
}

#[test]
fn monitors_do_the_same_natively_whatever_is_asked_of_them() {
    let judge = Arc::new(Script::read(&Path::new(EXAMPLES).join("sessions/demo.script.yaml")).unwrap());
    let stage = Stage::with_bundled_monitors();
    stage.put(".pi/monitors/broken.monitor.json", r#"{"name": "broken", "event": "agent_emd"}"#);
    let (tape, mut seen) = (Tape::default(), Seen::default());
    let recorder = Recorder::new(Box::new(tape.clone())).unwrap();
    let plugin = stage.plugin("monitors", stage::monitors(), stage.dry());
    let mut session = stage.recorded_session(vec![plugin], judge, Some(recorder), &mut seen);
    session.event(&Event::SessionStart { reason: StartReason::New }, &mut seen).unwrap();
    for line in [
        "",
        "list",
        "fragility",
        "fragility rules",
        "fragility rules add Leave generated files alone",
        "fragility rules add Numbers like 1.50 and “quotes” stay",
        "fragility rules replace 1 Generated files are not yours",
        "fragility rules remove 2",
        "fragility rules remove 9",
        "fragility patterns",
        "fragility dismiss",
        "hedge reset",
        "no-such-monitor",
        "off",
        "on",
        "help",
        "nonsense \u{1f980} ünïcödé",
    ] {
        assert!(session.command("monitors", line, &mut seen).unwrap());
        session.complete_command("monitors", line, &mut seen).unwrap();
    }
    stage.put(".pi/monitors/hedge.monitor.json", "{");
    session.event(&Event::Input { content: vec![Content::Text("go on".into())] }, &mut seen).unwrap();
    session.event(&Event::SessionStart { reason: StartReason::Reload }, &mut seen).unwrap();
    session.finish().unwrap();
    assert!(seen.failures().is_empty(), "{:?}", seen.failures());
    assert!(seen.changes.len() >= 3, "rules were written");
    assert!(agree::<Monitors>(&tape.content()) > 30);
}

#[test]
fn effects_that_a_hook_may_not_have_are_dropped_by_both() {
    let stage = Stage::bare();
    let (tape, mut seen) = (Tape::default(), Seen::default());
    let recorder = Recorder::new(Box::new(tape.clone())).unwrap();
    let plugin = stage.plugin("hostile", stage::hostile(), stage.dry());
    let mut session = stage.recorded_session(vec![plugin], Arc::new(Judge("CLEAN")), Some(recorder), &mut seen);
    session.event(&Event::Context { messages: Vec::new() }, &mut seen).unwrap();
    session.event(&Event::AgentEnd, &mut seen).unwrap();
    session.finish().unwrap();
    let context = seen.hooks_called("context")[0].result.as_ref().unwrap();
    assert_eq!((&context.reply, context.effects.len()), (&Reply::LeaveOut(vec![0]), 0));
    assert_eq!(agree::<Hostile>(&tape.content()), 3);
}
