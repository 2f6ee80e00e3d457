//! What a measured hook finds.

use std::collections::BTreeMap;
use std::sync::Arc;

use chaperone::transaction::{Input, NoTraces, Outcome, ReadFiles, States};
use chaperone_contract::*;
use chaperone_monitors::Monitors;
use chaperone_sdk::fake::FakeHost;
use chaperone_tests::stage::{self, EXAMPLES, Judge, Seen, Stage};

/// Monitors in the scene.
const MONITORS: usize = 10;
/// Tool results since the user's message.
const RESULTS: usize = 10;
/// The size of each, in bytes.
const RESULT_BYTES: usize = 2048;

/// A finished message of the agent that ten monitors look at, none of which has to ask its judge: what they would show
/// it has been judged already.
pub struct Scene {
    /// The hook.
    pub event: Event,
    branch: Arc<Branch>,
    state: States,
    files: Arc<Files>,
}

impl Scene {
    /// The scene at the end of a branch with that many entries.
    pub fn new(length: usize) -> Self {
        let recent = recent();
        let older = (0..length - recent.len()).map(|number| entry(format!("old-{number}"), older(number)));
        let branch: Branch = older.chain(recent.clone()).collect();
        let event = Event::MessageEnd { message: branch.leaf().unwrap().as_ref().clone() };
        Self { branch: Arc::new(branch), state: judged(&recent, &event), files: Arc::new(Files::of_monitors()), event }
    }

    /// What the host gives the hook.
    pub fn input(&self) -> Input {
        Input {
            snapshot: Snapshot {
                leaf: self.branch.leaf().map(|leaf| leaf.id.clone()),
                branch_length: self.branch.entries().len() as u32,
                ..stage::snapshot()
            },
            branch: self.branch.clone(),
            state: self.state.clone(),
            models: Arc::new([]),
            files: self.files.clone(),
            traces: Arc::new(NoTraces),
            next_request: 100,
        }
    }

    /// A native host with the same things in it.
    pub fn native(&self) -> FakeHost<Monitors> {
        let mut host = FakeHost::default();
        host.session = stage::snapshot();
        host.branch = self.branch.as_ref().clone();
        host.files = self.files.0.clone();
        for scope in Scope::ALL {
            if let Some(value) = self.state.get(*scope) {
                host.set_state(*scope, &**value);
            }
        }
        host
    }

    /// Whether each monitor has spared its judge, and nothing else came of the hook, as it is meant to.
    pub fn is_spared(outcome: &Outcome) -> bool {
        outcome.result.as_ref().is_ok_and(|committed| {
            committed.effects.len() == MONITORS
                && committed.effects.iter().all(|effect| matches!(effect, Effect::Spared(_)))
        })
    }
}

/// The user's message, the agent's with its tool calls, their results, and the agent's last message.
fn recent() -> Vec<Entry> {
    let assistant = |content, stop_reason| {
        EntryBody::Assistant(AssistantMessage { content, stop_reason, usage: None, model: None, error: None })
    };
    let calls = (0..RESULTS).map(|number| {
        Content::ToolCall(ToolCall {
            id: format!("call-{number}"),
            name: "bash".into(),
            arguments: format!(r#"{{"command": "python3 -m unittest tests.test_{number}"}}"#),
        })
    });
    let results = (0..RESULTS).map(|number| {
        let line = format!("test_{number} (tests.test_stock.Stock) ... ok\n");
        EntryBody::ToolResult(ToolResult {
            call_id: format!("call-{number}"),
            tool_name: "bash".into(),
            content: vec![Content::Text(line.repeat(RESULT_BYTES / line.len() + 1)[..RESULT_BYTES].into())],
            is_error: false,
            details: None,
        })
    });
    let bodies = [EntryBody::User(vec![Content::Text("Run every test, one after another.".into())])]
        .into_iter()
        .chain([assistant(calls.collect(), StopReason::ToolUse)])
        .chain(results)
        .chain([assistant(vec![Content::Text("All ten pass.".into())], StopReason::Stop)]);
    bodies.enumerate().map(|(number, body)| entry(format!("new-{number}"), body)).collect()
}

/// Entries of earlier prompts.
fn older(number: usize) -> EntryBody {
    let text = vec![Content::Text("The order of the warehouse was looked at, and nothing was found. ".repeat(8))];
    match number % 20 {
        0 => EntryBody::User(text),
        _ => EntryBody::ToolResult(ToolResult {
            call_id: number.to_string(),
            tool_name: "read".into(),
            content: text,
            is_error: false,
            details: None,
        }),
    }
}

fn entry(id: String, body: EntryBody) -> Entry {
    Entry { id, timestamp: stage::snapshot().now, body }
}

/// What the monitors remember after a real judge has called all of them clean.
fn judged(recent: &[Entry], event: &Event) -> States {
    let stage = Stage::bare();
    for ((_, path), text) in &Files::of_monitors().0 {
        stage.put(&format!(".pi/{path}"), text);
    }
    let mut seen = Seen::default();
    let plugin = stage.plugin("monitors", stage::monitors(), stage.dry());
    let mut session = stage.session(vec![plugin], Arc::new(Judge("CLEAN")), &mut seen);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        session.event(&Event::SessionStart { reason: StartReason::New }, &mut seen).unwrap();
        assert!(session.command("monitors", "trust all", &mut seen).unwrap());
        for entry in recent {
            session.append(Arc::new(entry.clone())).unwrap();
        }
        session.event(event, &mut seen).unwrap();
        session.quiet(&mut seen).await.unwrap();
    });
    assert_eq!(seen.judgements().len(), MONITORS);
    session.plugins()[0].history.current().clone()
}

/// Files in memory, so that no disk is measured.
struct Files(BTreeMap<(String, String), String>);

impl Files {
    /// Copies of the bundled monitor `fragility`, under names of their own, without the rules that would settle this
    /// scene before a judge is asked.
    fn of_monitors() -> Self {
        let bundled = |kind: &str| std::fs::read_to_string(format!("{EXAMPLES}/fragility.{kind}.json")).unwrap();
        let [monitor, patterns, instructions] = ["monitor", "patterns", "instructions"].map(bundled);
        let mut monitor: serde_json::Value = serde_json::from_str(&monitor).unwrap();
        monitor["classify"].as_object_mut().unwrap().remove("precheck").unwrap();
        let monitor = monitor.to_string();
        let mut files = BTreeMap::new();
        for number in 0..MONITORS {
            let name = format!("fragility-{number}");
            let mut put = |kind: &str, text: &str| {
                files.insert(("project".into(), format!("monitors/{name}.{kind}.json")), text.to_owned());
            };
            put("monitor", &monitor.replace("\"fragility", &format!("\"{name}")));
            put("patterns", &patterns);
            put("instructions", &instructions);
        }
        Self(files)
    }
}

impl ReadFiles for Files {
    fn read(&self, file: &Location) -> Result<String, FileError> {
        self.0.get(&(file.mount.clone(), file.path.clone())).cloned().ok_or(FileError::NotFound)
    }

    fn entries(&self, folder: &Location) -> Result<Vec<String>, FileError> {
        let prefix = format!("{}/", folder.path);
        let inside = |((mount, path), _): (&(String, String), _)| {
            path.strip_prefix(&prefix).filter(|_| *mount == folder.mount).map(str::to_owned)
        };
        let names: Vec<String> = self.0.iter().filter_map(inside).collect();
        if names.is_empty() { Err(FileError::NotFound) } else { Ok(names) }
    }
}
