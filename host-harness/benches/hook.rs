//! What a hook costs the agent that runs it: from the start of the process to its answer, without a model call, with
//! compiled components in the cache. Each run of the program is paired with one of `node -e 0`, which is what hooks that
//! are scripts pay before they begin; without a `node`, that column stays empty.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot be set up is to end")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const ROUNDS: usize = 40;

/// What a hook may take at the median, with a transcript of usual length.
const WANTED: Duration = Duration::from_millis(30);

fn main() {
    let rounds = if std::env::args().any(|argument| argument == "--test") { 1 } else { ROUNDS };
    let place = Place::new();
    let short = place.transcript("short.jsonl", 200 << 10);
    let long = place.transcript("long.jsonl", 10 << 20);
    println!("{:<44} {:>9} {:>9} {:>6}", "from start to answer, median", "chaperone", "node -e 0", "ratio");
    for (name, transcript, event) in [
        ("a session begins", &short, json!({"hook_event_name": "SessionStart", "source": "startup"})),
        ("a prompt", &short, json!({"hook_event_name": "UserPromptSubmit", "prompt": "Go on."})),
        ("before a tool, which no watcher looks at", &short, tool("PreToolUse")),
        ("after a tool", &short, tool("PostToolUse")),
        ("the agent stops, as was judged before", &short, stop()),
        ("after a tool, transcript of 10 MB", &long, tool("PostToolUse")),
        ("the agent stops, transcript of 10 MB", &long, stop()),
    ] {
        let event = place.event(transcript, event);
        place.hook(&event);
        let (ours, node): (Vec<_>, Vec<_>) = (0..rounds).map(|_| (place.hook(&event), node())).unzip();
        let ours = median(ours);
        let (node, ratio) = match node.into_iter().collect::<Option<Vec<_>>>().map(median) {
            Some(node) => (milliseconds(node), format!("{:.2}", ours.as_secs_f64() / node.as_secs_f64())),
            None => (String::new(), String::new()),
        };
        let verdict = if transcript == &short && ours > WANTED { "  more than is wanted" } else { "" };
        println!("{name:<44} {:>9} {node:>9} {ratio:>6}{verdict}", milliseconds(ours));
    }
}

fn tool(name: &str) -> Value {
    json!({
        "hook_event_name": name, "tool_name": "Bash", "tool_use_id": "toolu_last",
        "tool_input": {"command": "make test"}, "tool_response": "ok",
    })
}

fn stop() -> Value {
    json!({"hook_event_name": "Stop", "stop_hook_active": false, "last_assistant_message": "All is done."})
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// How long `node -e 0` takes; none where there is no node.
fn node() -> Option<Duration> {
    let started = Instant::now();
    let status = Command::new("node").args(["-e", "0"]).stdin(Stdio::null()).status().ok()?;
    status.success().then(|| started.elapsed())
}

/// A project with the bundled monitors and a judge that finds nothing, and an empty home.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(place.project().join(".git")).unwrap();
        std::fs::write(place.project().join("judge.yaml"), "rules:\n  - answer: CLEAN\n").unwrap();
        let config = "[llm]\nprovider = \"script\"\n[providers.script]\nscript = \"judge.yaml\"\n";
        std::fs::write(place.project().join("chaperone.toml"), config).unwrap();
        let made = place.chaperone(&["monitors", "init"]).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(made.success());
        place
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn chaperone(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chaperone"));
        command.args(arguments).current_dir(self.project()).env_clear().env("HOME", self.folder.path());
        command
    }

    fn event(&self, transcript: &Path, mut event: Value) -> String {
        event["session_id"] = transcript.display().to_string().into();
        event["transcript_path"] = event["session_id"].clone();
        event["cwd"] = self.project().display().to_string().into();
        event.to_string()
    }

    /// Runs a hook; how long it took.
    fn hook(&self, event: &str) -> Duration {
        let started = Instant::now();
        let mut child = self
            .chaperone(&["hook", "claude-code"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(event.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let took = started.elapsed();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        took
    }

    /// Writes a transcript of about this many bytes: prompts, answers, and tools that print 3 KB each.
    fn transcript(&self, name: &str, bytes: usize) -> PathBuf {
        let path = self.folder.path().join(name);
        let output = "test shelf::reserve_more_than_there_is ... ok\n".repeat(64);
        let mut lines = String::with_capacity(bytes + (8 << 10));
        let mut newest: Option<String> = None;
        let mut count = 0;
        let mut line = |lines: &mut String, kind: &str, message: Value| {
            let uuid = format!("entry-{count}");
            let line = json!({
                "parentUuid": newest, "isSidechain": false, "type": kind, "uuid": uuid, "sessionId": name,
                "timestamp": "2026-11-30T08:00:00.000Z", "cwd": "/home/dev/shop", "version": "2.1.292", "message": message,
            });
            lines.push_str(&format!("{line}\n"));
            newest = Some(uuid);
            count += 1;
            count
        };
        while lines.len() < bytes {
            line(&mut lines, "user", json!({"role": "user", "content": "Make the next test pass, please."}));
            for _ in 0..8 {
                let call =
                    json!({"type": "tool_use", "id": "toolu", "name": "Bash", "input": {"command": "make test"}});
                let number = line(&mut lines, "assistant", json!({"role": "assistant", "content": [call]}));
                let id = format!("toolu_{number}");
                let result = json!({"type": "tool_result", "tool_use_id": id, "content": output});
                line(&mut lines, "user", json!({"role": "user", "content": [result]}));
            }
            let text = json!({"type": "text", "text": "All is done."});
            line(&mut lines, "assistant", json!({"role": "assistant", "content": [text]}));
        }
        std::fs::write(&path, lines).unwrap();
        path
    }
}
