//! What the host keeps of judgements, and of the user's word, through real components.

use std::sync::Arc;

use chaperone::drive::{Extent, Memory, Session};
use chaperone::store::{Owner, Store};
use chaperone_contract::*;
use chaperone_tests::stage::{self, Judge, Seen, Silence, Stage};

const MONITOR: &str = r#"{
    "name": "words",
    "event": "agent_end",
    "classify": {"context": ["user_text"], "prompt": "{user_text} {patterns} {instructions} CLEAN, FLAG: or NEW:"},
    "patterns": {"path": "words.patterns.json", "learn": "propose"},
    "actions": {"on_flag": {"steer": "S."}, "on_new": {"learn_pattern": true}}
}"#;

fn cloned() -> Stage {
    let stage = Stage::bare();
    stage.put(".pi/monitors/words.monitor.json", MONITOR);
    stage.put(".pi/monitors/words.patterns.json", r#"[{"id": "p", "description": "a fault"}]"#);
    stage
}

fn memory() -> Memory {
    Memory::new(Arc::new(Store::in_memory().unwrap()), "/project")
}

fn session(stage: &Stage, id: &str, memory: &Memory, answer: &'static str, seen: &mut Seen) -> Session {
    let plugin = stage.plugin("monitors", stage::monitors(), stage.disk());
    stage.remembered_session(id, vec![plugin], Arc::new(Judge(answer)), memory.clone(), seen)
}

/// A prompt and its answer, and what monitors make of them.
async fn exchange(session: &mut Session, number: u32, seen: &mut Seen) {
    session.event(&Event::SessionStart { reason: StartReason::New }, seen).unwrap();
    let entry = |id: String, body| Arc::new(Entry { id, timestamp: 0, body });
    let text = |text: &str| vec![Content::Text(text.into())];
    session.append(entry(format!("u{number}"), EntryBody::User(text("do it")))).unwrap();
    let message = AssistantMessage {
        content: text("done"),
        stop_reason: StopReason::Stop,
        usage: None,
        model: None,
        error: None,
    };
    session.append(entry(format!("a{number}"), EntryBody::Assistant(message))).unwrap();
    session.event(&Event::AgentEnd, seen).unwrap();
    session.quiet(seen).await.unwrap();
}

fn traces(memory: &Memory, plugin: &str) -> Vec<Trace> {
    let owner = Owner { plugin: plugin.into(), session: "one".into(), project: memory.project.clone() };
    let query = TraceQuery { selection: Selection::Project, watcher: None, limit: 100, texts: true };
    memory.store.traces(&owner, &query).unwrap()
}

fn outcomes(trace: &Trace) -> Vec<&str> {
    trace.consequences.iter().map(|consequence| consequence.outcome.as_str()).collect()
}

#[tokio::test]
async fn a_judgement_is_kept_with_all_that_belongs_to_it_and_explained_in_a_later_session() {
    let (stage, memory, mut seen) = (cloned(), memory(), Seen::default());
    let mut first = session(&stage, "one", &memory, "FLAG:it said done", &mut seen);
    first.command("monitors", "trust all", &mut seen).unwrap();
    exchange(&mut first, 1, &mut seen).await;
    first.finish().unwrap();
    let kept = traces(&memory, "monitors");
    assert_eq!(kept.len(), 1);
    let trace = &kept[0];
    assert_eq!((trace.session_id.as_str(), trace.watcher.as_str()), ("one", "words"));
    assert_eq!((trace.verdict, trace.description.as_deref()), (Some(Verdict::Flag), Some("it said done")));
    assert!(trace.system.as_ref().unwrap().contains("[warning] a fault"));
    assert!(trace.messages[0].text.contains("do it"));
    assert_eq!(trace.answer.as_deref(), Some("FLAG:it said done"));
    assert_eq!(trace.entry.as_deref(), Some("a1"));
    assert!(trace.evidence.is_some() && trace.duration_ms.is_some());
    assert_eq!(outcomes(trace), ["noted", "steered"]);

    let mut second = session(&stage, "two", &memory, "CLEAN", &mut seen);
    seen.clear();
    second.command("monitors", "why 1", &mut seen).unwrap();
    assert!(seen.notices()[0].starts_with("[words] FLAG — it said done\njudgement: #1, "), "{:?}", seen.notices());
    seen.clear();
    second.command("monitors", "wrong 1", &mut seen).unwrap();
    assert_eq!(outcomes(&traces(&memory, "monitors")[0]), ["noted", "steered", "wrong"]);
}

#[tokio::test]
async fn trust_outlives_the_session_and_what_is_proposed_does_not_end_it() {
    let (stage, memory, mut seen) = (cloned(), memory(), Seen::default());
    let mut first = session(&stage, "one", &memory, "NEW:a pattern|x", &mut seen);
    exchange(&mut first, 1, &mut seen).await;
    assert!(seen.asked().is_empty(), "not trusted yet");
    first.command("monitors", "trust words", &mut seen).unwrap();
    first.finish().unwrap();
    for (id, number) in [("two", 2), ("three", 3)] {
        let mut later = session(&stage, id, &memory, "NEW:a pattern|x", &mut seen);
        exchange(&mut later, number, &mut seen).await;
    }
    assert_eq!(seen.asked(), ["words", "words"]);
    let proposed = std::fs::read_to_string(stage.project().join(".pi/monitors/words.proposed.json")).unwrap();
    assert_eq!(proposed.matches("a pattern").count(), 1);
    assert_eq!(outcomes(&traces(&memory, "monitors")[0]), ["noted", "proposed"]);
}

#[tokio::test]
async fn what_a_command_of_the_shell_remembers_is_of_the_project_alone() {
    let (stage, memory, mut seen) = (cloned(), memory(), Seen::default());
    let of_shell = Memory { extent: Extent::Project, ..memory.clone() };
    let mut shell = session(&stage, "shell", &of_shell, "CLEAN", &mut seen);
    shell.command("monitors", "off", &mut seen).unwrap();
    shell.command("monitors", "trust all", &mut seen).unwrap();
    let history = memory
        .store
        .history(&Owner { plugin: "monitors".into(), session: "shell".into(), project: "/project".into() })
        .unwrap();
    let kept: Vec<Scope> = history.values().map(|(scope, ..)| scope).collect();
    assert_eq!(kept, [Scope::Project]);
}

#[tokio::test]
async fn calls_are_kept_whether_or_not_anybody_judges_by_them() {
    let (stage, memory, mut seen) = (Stage::bare(), memory(), Seen::default());
    let plugin = stage.plugin("hostile", stage::hostile(), stage.dry());
    let mut session = stage.remembered_session("one", vec![plugin], Arc::new(Judge("yes")), memory.clone(), &mut seen);
    session.command("hostile", "complete", &mut seen).unwrap();
    session.quiet(&mut seen).await.unwrap();
    let kept = traces(&memory, "hostile");
    assert_eq!((kept.len(), kept[0].answer.as_deref(), kept[0].verdict), (1, Some("yes"), None));

    let mut plugin = stage.plugin("refused", stage::hostile(), stage.dry());
    plugin.grants.llm = None;
    let mut session = stage.remembered_session("two", vec![plugin], Arc::new(Silence), memory.clone(), &mut seen);
    session.command("hostile", "complete", &mut seen).unwrap();
    let kept = traces(&memory, "refused");
    assert!(kept[0].error.as_ref().unwrap().contains("is granted no model calls"), "{:?}", kept[0].error);
}
