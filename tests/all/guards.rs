//! Tool calls that wait for a watcher, through the real host.

use std::sync::Arc;

use chaperone::drive::{LONGEST_HOLD_MS, Note, Running, Session};
use chaperone::llm::Provider;
use chaperone_contract::*;
use chaperone_tests::stage::{self, Judge, Seen, Silence, Stage};

const GUARD: &str = r#"{"name": "g", "event": "tool_call", "when": "command(git push*)",
    "classify": {"prompt": "{patterns} {tool_call} CLEAN FLAG"}, "patterns": {"path": "p.json"},
    "actions": {"on_flag": {"steer": "Ask first.", "block": true}}}"#;

fn stage() -> Stage {
    let stage = Stage::bare();
    stage.put(".pi/monitors/g.monitor.json", GUARD);
    stage.put(".pi/monitors/p.json", r#"[{"id": "p", "description": "pd"}]"#);
    stage
}

fn guard(stage: &Stage, name: &str) -> Running {
    stage.plugin(name, stage::monitors(), stage.dry())
}

/// A session of plugins whose monitors are trusted.
fn begun(stage: &Stage, plugins: Vec<Running>, judge: Arc<dyn Provider>, seen: &mut Seen) -> Session {
    let mut session = stage.session(plugins, judge, seen);
    session.command("monitors", "trust all", seen).unwrap();
    session
}

fn call(command: &str) -> ToolCall {
    let arguments = serde_json::json!({"command": command}).to_string();
    ToolCall { id: "c".into(), name: "bash".into(), arguments }
}

/// What was decided, in order.
fn decided(seen: &Seen) -> Vec<Option<&str>> {
    let decisions = seen.notes.iter().filter_map(|(_, note)| match note {
        Note::Decided { refusal, .. } => Some(refusal.as_deref()),
        _ => None,
    });
    decisions.collect()
}

/// Begins a call inside of a runtime, in which model calls can be started.
fn begin(session: &mut Session, call: ToolCall, seen: &mut Seen) -> Gate {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async { session.tool_start(call, seen).unwrap() })
}

#[test]
fn a_call_is_held_until_its_judge_has_spoken() {
    for (answer, refusal) in
        [("FLAG:nobody asked for it", Some("[g] nobody asked for it. Ask first.")), ("CLEAN", None)]
    {
        let (stage, mut seen) = (stage(), Seen::default());
        let mut session = begun(&stage, vec![guard(&stage, "a")], Arc::new(Judge(answer)), &mut seen);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            assert_eq!(session.tool_start(call("git status"), &mut seen).unwrap(), Gate::Allow);
            assert_eq!(session.tool_start(call("git push"), &mut seen).unwrap(), Gate::Hold);
            assert!(session.is_held("c"));
            session.quiet(&mut seen).await.unwrap();
        });
        assert!(!session.is_held("c"));
        let decided = decided(&seen);
        assert_eq!(decided.len(), 1);
        assert_eq!(decided[0].and_then(|reason| reason.lines().next()), refusal);
    }
}

#[test]
fn of_two_plugins_both_are_waited_for() {
    let (stage, mut seen) = (stage(), Seen::default());
    let plugins = vec![guard(&stage, "a"), guard(&stage, "b")];
    let mut session = begun(&stage, plugins, Arc::new(Judge("CLEAN")), &mut seen);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        assert_eq!(session.tool_start(call("git push"), &mut seen).unwrap(), Gate::Hold);
        session.quiet(&mut seen).await.unwrap();
    });
    assert_eq!(decided(&seen), [None], "one decision, once both have let it go");
}

#[test]
fn a_plugin_that_may_not_speak_holds_nothing() {
    let (stage, mut seen) = (stage(), Seen::default());
    let mut mute = guard(&stage, "mute");
    mute.grants.inject = false;
    let mut session = begun(&stage, vec![mute], Arc::new(Judge("FLAG:x")), &mut seen);
    assert_eq!(begin(&mut session, call("git push"), &mut seen), Gate::Allow);
    assert_eq!(seen.notes[0], ("mute".into(), Note::Denied { effect: "tool_start" }));
    assert!(!session.is_held("c"));
}

#[test]
fn a_judge_that_is_not_granted_keeps_nobody_waiting() {
    let (stage, mut seen) = (stage(), Seen::default());
    let mut poor = guard(&stage, "poor");
    poor.grants.llm = None;
    let mut session = begun(&stage, vec![poor], Arc::new(Silence), &mut seen);
    assert_eq!(begin(&mut session, call("git push"), &mut seen), Gate::Allow, "it was decided at once");
}

#[test]
fn time_ends_every_wait() {
    let (stage, mut seen) = (stage(), Seen::default());
    let mut session = begun(&stage, vec![guard(&stage, "a")], Arc::new(Silence), &mut seen);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let start = stage::snapshot().now;
    runtime.block_on(async {
        assert_eq!(session.tool_start(call("git push"), &mut seen).unwrap(), Gate::Hold);
        session.advance(start + 9_999, &mut seen).unwrap();
        assert!(session.is_held("c"));
        session.advance(start + 10_000, &mut seen).unwrap();
    });
    assert_eq!(decided(&seen), [None], "the monitor's own limit");
    const { assert!(LONGEST_HOLD_MS > 10_000, "the host's is for those who forget theirs") };
}

#[test]
fn a_call_that_ran_all_the_same_is_not_held_and_the_agent_hears_of_the_finding() {
    let (stage, mut seen) = (stage(), Seen::default());
    let mut session = begun(&stage, vec![guard(&stage, "a")], Arc::new(Judge("FLAG:x")), &mut seen);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        assert_eq!(session.tool_start(call("git push"), &mut seen).unwrap(), Gate::Hold);
        session.quiet(&mut seen).await.unwrap();
        let outcome = ToolResult {
            call_id: "c".into(),
            tool_name: "bash".into(),
            content: vec![Content::Text("pushed".into())],
            is_error: false,
            details: None,
        };
        session.event(&Event::ToolEnd { outcome }, &mut seen).unwrap();
        session.event(&Event::AgentEnd, &mut seen).unwrap();
        session.quiet(&mut seen).await.unwrap();
    });
    assert!(!session.is_held("c"));
    assert_eq!(seen.injections().len(), 1);
    assert!(seen.injections()[0].content.starts_with("[g] x. Ask first."));
}
