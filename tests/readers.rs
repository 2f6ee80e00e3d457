//! Everything that reads what others wrote, as functions of bytes: each takes whatever it is given, and panics only
//! where a reader breaks its promise. The fuzz targets in `fuzz/` and the tests with damaged files share them.

mod sidecar;

use std::sync::LazyLock;

use chaperone::cases;
use chaperone::config::Config;
use chaperone::files::{Folder, Grant, Mounts, Overlay, Storage};
use chaperone::hosts::event::{LastWords, Moment};
use chaperone::hosts::told::{News, Told};
use chaperone::hosts::transcript::Whose;
use chaperone::hosts::{self, Host};
use chaperone::llm::script::Script;
use chaperone::replay::{ReplayError, replay};
use chaperone::session::{self, Leaf, Step, TimedStep};
use chaperone_contract::{AssistantMessage, Content, Entry, EntryBody, Event, Location, StopReason, ToolCall};
use chaperone_monitors::condition::Condition;
use chaperone_monitors::learning::{self, Provenance, Reported};
use chaperone_monitors::sidecar::Sidecar;
use chaperone_monitors::transcript::Transcript;
use chaperone_monitors::verdict::Verdict;
use chaperone_monitors::waiting::Waiting;
use chaperone_monitors::{definition, patterns, proposals, rules, waiting};
use chaperone_stop_guard::config::Config as StopConfig;
use chaperone_stop_guard::verdict::{Decision, Verdict as StopVerdict};
use serde_json::json;

pub use sidecar::{conversation, sidecar};

/// A session file of pi: its tree, a few of its branches, and the steps of those.
pub fn session(bytes: &[u8]) {
    let recorded = match session::pi::parse(&text(bytes)) {
        Ok(recorded) => recorded,
        Err(error) => return drop(error.to_string()),
    };
    let _ = recorded.report.to_string();
    let some = recorded.tree.nodes().iter().step_by(7).map(|node| Leaf::Id(node.content.entry.id.clone()));
    for leaf in some.chain([Leaf::Newest]) {
        let branch = recorded.branch(&leaf).expect("every entry of a tree has a way to its root");
        let steps = session::steps(&branch);
        assert!(steps.is_sorted_by_key(|step| step.at), "time does not run backwards");
    }
    let _ = recorded.branch(&Leaf::Id("no-such-entry".into())).map_err(|error| error.to_string());
}

/// A transcript of Claude Code, and what there is to tell of it.
pub fn claude_code(bytes: &[u8]) {
    transcript(Host::ClaudeCode, bytes);
}

/// A rollout of Codex, and what there is to tell of it.
pub fn codex(bytes: &[u8]) {
    transcript(Host::Codex, bytes);
}

/// A chat file of Gemini CLI, and what there is to tell of it.
pub fn gemini_cli(bytes: &[u8]) {
    transcript(Host::GeminiCli, bytes);
}

/// Reads a transcript as it stands, and as it stood when half of it was written. What has joined the branch for the
/// watchers joins it once.
fn transcript(host: Host, bytes: &[u8]) {
    let text = text(bytes);
    let half = text.char_indices().nth(text.chars().count() / 2).map_or("", |(at, _)| &text[..at]);
    let stop = Moment::Stop { words: LastWords::Last("That was all.".into()), sent_back: false };
    let mut told = Told::default();
    for (part, whose) in [(half, Whose::Main), (&text, Whose::Main), (&text, Whose::Subagent)] {
        let read = host.transcript(part, 0, whose);
        let _ = read.report.to_string();
        let news = told.news(read.entries, &stop, 0);
        for step in &news.steps {
            if let Step::Append(entry) = &step.step {
                assert!(!news.known.contains(&entry.id) || has_twins(&news), "an entry joins a branch once");
            }
        }
    }
    let _ = host.event(&text);
}

/// Whether two entries have one id, since whoever wrote the file gave it twice.
fn has_twins(news: &News) -> bool {
    let steps = news.steps.iter().filter_map(|step| match &step.step {
        Step::Append(entry) => Some(entry.id.as_str()),
        _ => None,
    });
    let ids: Vec<&str> = news.known.entries().iter().map(|entry| entry.id.as_str()).chain(steps).collect();
    let once: std::collections::BTreeSet<_> = ids.iter().collect();
    once.len() < ids.len()
}

/// The settings of a host: what was put in can be taken out.
pub fn settings(bytes: &[u8]) {
    let text = text(bytes);
    for host in Host::ALL {
        let command = format!("/opt/chaperone hook {}", host.name());
        let Ok(with) = hosts::settings::install(Some(&text), host, &command) else { continue };
        assert_eq!(hosts::settings::install(Some(&with), host, &command).as_ref(), Ok(&with), "twice is once");
        let without = hosts::settings::uninstall(&with, host).expect("what was written can be read");
        assert!(!without.contains(&command) || text.contains(&command));
    }
}

/// `chaperone.toml`.
pub fn config(bytes: &[u8]) {
    if let Err(error) = Config::parse("chaperone.toml", &text(bytes)) {
        assert!(error.to_string().contains("chaperone.toml"), "an error names its file");
    }
}

/// A script of answers.
pub fn script(bytes: &[u8]) {
    if let Err(error) = Script::parse("script.yaml", &text(bytes)) {
        assert!(error.to_string().starts_with("script.yaml:"), "an error names its place");
    }
}

/// Labelled transcripts, and the hooks that they lead to.
pub fn cases(bytes: &[u8]) {
    match cases::parse("cases.yaml", &text(bytes)) {
        Ok(cases) => {
            for case in cases {
                let steps = case.steps();
                assert!(steps.is_sorted_by_key(|step| step.at), "time does not run backwards");
                let is_rest = |step: &&TimedStep| matches!(step.step, Step::Event(Event::AgentSettled { .. }));
                assert_eq!(steps.iter().filter(is_rest).count(), 1, "the last run is told, which ends at rest");
            }
        }
        Err(error) => assert!(error.to_string().starts_with("cases.yaml:"), "an error names its place"),
    }
}

/// The definition of a monitor.
pub fn monitor(bytes: &[u8]) {
    let (monitor, faults) = definition::parse("project", "monitors/m.monitor.json", &text(bytes));
    faults.iter().for_each(|fault| drop(fault.to_string()));
    assert!(
        monitor.is_some() || faults.iter().any(|fault| fault.is_error()),
        "what is refused is refused for a reason"
    );
}

/// A condition of a monitor, and whether it holds where both sides say the same text, and run it as a command.
pub fn condition(bytes: &[u8]) {
    let text = text(bytes);
    let says = |text: &str| vec![Content::Text(text.into())];
    let call = ToolCall { id: "1".into(), name: "bash".into(), arguments: json!({"command": text}).to_string() };
    let message = AssistantMessage {
        content: vec![Content::Text(text.clone()), Content::ToolCall(call.clone())],
        stop_reason: StopReason::ToolUse,
        usage: None,
        model: None,
        error: None,
    };
    let bodies = [EntryBody::User(says(&text)), EntryBody::Assistant(message)];
    let entries = bodies.map(|body| Entry { id: "e".into(), timestamp: 0, body });
    for state in Waiting::ALL {
        waiting::is_so(*state, &Transcript::new(&entries));
    }
    match text.parse::<Condition>() {
        Ok(condition) => {
            assert_eq!(condition.to_string().parse(), Ok(condition.clone()), "it can be written down");
            condition.holds(&Transcript::new(&entries));
            condition.holds(&Transcript::new(&entries).before(&call));
        }
        Err(error) => drop(error.to_string()),
    }
}

/// What a monitor knows: reading it, and adding to it.
pub fn patterns(bytes: &[u8]) {
    let text = text(bytes);
    match patterns::parse("project", "monitors/m.patterns.json", &text) {
        Ok(list) => {
            let _ = patterns::list(&list.entries);
            let _ = patterns::severity_of(&list.entries, Some("a"), &text);
            let provenance = Provenance { session: "s".into(), entry: None, evidence: None, finding: "f".into() };
            let reported = Reported { pattern: "A pattern that nobody has", provenance: &provenance, now: 0 };
            if let Ok(learned) = learning::learn(&list, &Sidecar::default(), &reported, usize::MAX) {
                applies(&text, &learned.change.initial, &learned.change.patch);
            }
            if let Some((_, change)) = learning::unlearn(&text) {
                applies(&text, &change.initial, &change.patch);
            }
        }
        Err(fault) => drop(fault.to_string()),
    }
}

/// What a monitor proposes: reading it, and deciding about it.
pub fn proposals(bytes: &[u8]) {
    let text = text(bytes);
    match proposals::parse("project", "monitors/m.proposed.json", &text) {
        Ok(list) => {
            for proposal in list.open() {
                for change in [proposal.remove(), proposal.reject(0)] {
                    applies(&text, &change.initial, &change.patch);
                }
                let approved = learning::approve(&Sidecar::default(), proposal, usize::MAX, 0);
                assert!(approved.is_ok(), "there is room in an empty list");
            }
        }
        Err(fault) => drop(fault.to_string()),
    }
}

/// A text that may hold secrets.
pub fn redact(bytes: &[u8]) {
    let once = chaperone::traces::redact(&text(bytes)).into_owned();
    assert_eq!(chaperone::traces::redact(&once), once, "what was left out is not taken for a secret again");
}

/// The user's rules for a monitor.
pub fn instructions(bytes: &[u8]) {
    match rules::parse("project", "monitors/m.instructions.json", &text(bytes)) {
        Ok(list) => drop(rules::list(&list.entries)),
        Err(fault) => drop(fault.to_string()),
    }
}

/// A judge's answer.
pub fn verdict(bytes: &[u8]) {
    let answer = text(bytes);
    match Verdict::parse(&answer) {
        Verdict::Clean => {
            assert!(answer.to_lowercase().contains("clean"), "only who says clean is understood as clean")
        }
        Verdict::Flag { description, pattern_id } => {
            assert!(!description.trim().is_empty() && pattern_id.is_none_or(|id| !id.trim().is_empty()));
        }
        Verdict::New { pattern, description } => {
            assert!(!pattern.trim().is_empty() && !description.trim().is_empty());
        }
        Verdict::Unknown { reason } => assert!(!reason.is_empty()),
    }
}

/// An answer of the stop guard's judge.
pub fn stop_verdict(bytes: &[u8]) {
    let answer = text(bytes);
    match StopVerdict::parse(&answer) {
        Ok(verdict) => {
            let word = verdict.decision.word();
            assert!(answer.to_lowercase().contains(word), "only who says {word} is understood so");
            assert!(verdict.decision == Decision::Stop || !verdict.reason.is_empty());
        }
        Err(misread) => drop(misread.to_string()),
    }
}

/// The stop guard's configuration.
pub fn stop_config(bytes: &[u8]) {
    if let Err(rejected) = StopConfig::parse(&text(bytes)) {
        assert!(!rejected.faults.is_empty(), "what is refused is refused for a reason");
        let _ = rejected.to_string();
    }
}

/// A recording, of which no plugin can be loaded.
pub fn recording(bytes: &[u8]) {
    match replay(bytes, |_| Err("there are no plugins here".into())) {
        Ok(report) => assert_eq!(report.hooks, 0, "without a plugin no hook can run"),
        Err(ReplayError::Load { .. }) => {}
        Err(error) => drop(error.to_string()),
    }
}

/// A file and a JSON Patch for it, with a zero byte between them; without one, the file alone and a patch that adds a
/// finding to it.
pub fn patch(bytes: &[u8]) {
    const FINDING: &str = r#"[{"op": "add", "path": "/gaps/-", "value": {"id": "f"}}]"#;
    let mut parts = bytes.splitn(2, |&byte| byte == 0);
    let file = text(parts.next().unwrap_or_default());
    let patch = parts.next().map_or(FINDING.into(), text);
    let mounts = mounts();
    mounts.write(&gaps(), &file, false).expect("any text can be written");
    let before = mounts.read(&gaps()).expect("it was just written");
    match mounts.patch(&gaps(), r#"{"gaps": []}"#, &patch) {
        Ok(change) => {
            let read = mounts.read(&gaps()).expect("it was just written");
            assert_eq!((change.before, &change.after), (Some(before), &read));
            serde_json::from_str::<serde_json::Value>(&read).expect("what was JSON is JSON");
        }
        Err(error) => {
            let _ = format!("{error:?}");
            assert_eq!(mounts.read(&gaps()).as_ref(), Ok(&before), "the file is as it was");
        }
    }
}

/// The list of a monitor can take what was made for it.
fn applies(file: &str, initial: &str, patch: &str) {
    let mounts = mounts();
    mounts.write(&gaps(), file, false).expect("any text can be written");
    mounts.patch(&gaps(), initial, patch).expect("it was made for this file");
}

/// A folder in memory.
fn mounts() -> Mounts {
    static NOWHERE: LazyLock<std::path::PathBuf> =
        LazyLock::new(|| std::env::temp_dir().join("chaperone-has-no-such-folder"));
    let mut mounts = Mounts::new(Storage::Memory(Overlay::new()));
    mounts.mount("workspace", Folder::at(&*NOWHERE), Grant::READ_WRITE);
    mounts
}

fn gaps() -> Location {
    Location { mount: "workspace".into(), path: "gaps.json".into() }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
