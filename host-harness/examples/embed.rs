//! A Rust program with a watcher beside its agent.

use std::path::Path;
use std::sync::Arc;

use chaperone::config::LlmGrant;
use chaperone::contract::*;
use chaperone::drive::{HookRun, Note, Observer, Running, Session, Setup};
use chaperone::files::{Change, Folder, Grant, Locks, Mounts, Storage};
use chaperone::llm::http::{Http, HttpConfig, Key, Kind};
use chaperone::plugin::{Cache, Plugin};

/// Collects what watchers want the agent to hear.
#[derive(Default)]
struct Steers(Vec<Injection>);

impl Observer for Steers {
    fn hook(&mut self, run: &HookRun<'_>) {
        let effects = run.result.as_ref().map(|committed| committed.effects.as_slice()).unwrap_or_default();
        self.0.extend(effects.iter().filter_map(|effect| match effect {
            Effect::Inject(message) => Some(message.clone()),
            _ => None,
        }));
    }
    fn changed(&mut self, _: &str, _: &Change) {}
    fn note(&mut self, plugin: &str, note: &Note) {
        eprintln!("{plugin}: {note:?}");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let component = Arc::new(Plugin::load(Path::new("watcher.wasm"), &Cache::of_user())?);
    let mut files = Mounts::new(Storage::Disk(Locks::of_user()?));
    files.mount("workspace", Folder::at("."), Grant::READ);
    let mut watcher = Running::new("watcher", "watcher.wasm", component, files);
    watcher.grants.inject = true;
    watcher.grants.llm = Some(LlmGrant::default());

    let mut judge = HttpConfig::new("anthropic", Kind::Anthropic, Key::Env("ANTHROPIC_API_KEY".into()));
    judge.default_model = Some("claude-haiku-4-5".into());
    let snapshot = Snapshot { mode: Mode::OneShot, ..Snapshot::new("session-1", "/home/dev/shop", 1_700_000_000_000) };
    let setup = Setup::new(snapshot, vec![watcher], Arc::new(Http::new(judge)?));
    let mut steers = Steers::default();
    let mut session = Session::new(setup, &mut steers)?;

    session.event(&Event::SessionStart { reason: StartReason::New }, &mut steers)?;
    let content = vec![Content::Text("Make the tests pass.".into())];
    session.advance(1_700_000_001_000, &mut steers)?;
    session.event(&Event::Input { content: content.clone() }, &mut steers)?;
    session.event(&Event::AgentStart, &mut steers)?;
    let entry = Arc::new(Entry { id: "e1".into(), timestamp: 1_700_000_001_000, body: EntryBody::User(content) });
    session.append(entry.clone())?;
    session.event(&Event::MessageEnd { message: (*entry).clone() }, &mut steers)?;
    // … and so on for what the agent writes and its tools answer, to `AgentEnd` and `AgentSettled`.

    session.quiet(&mut steers).await?;
    for message in steers.0.drain(..) {
        println!("before the next model call: {}", message.content);
    }
    session.event(&Event::SessionEnd, &mut steers)?;
    session.finish()?;
    Ok(())
}
