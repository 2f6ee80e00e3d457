//! Sessions that many processes take turns at, with a watcher that stands at the door.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chaperone::config::State;
use chaperone::files::Locks;
use chaperone::hosts::Host;
use chaperone::hosts::answer::{Answer, Decision};
use chaperone::hosts::event::{HookEvent, Moment};
use chaperone::hosts::live::{self, LiveError, Outcome, Surroundings, Watchers};
use chaperone::llm::Provider;
use chaperone::store::Store;
use chaperone::traces::Policy;
use chaperone_contract::{StartReason, Timestamp, ToolCall, ToolResult};
use chaperone_tests::stage::{self, Judge, Silence, Stage};
use serde_json::json;

/// What stays while processes come and go.
struct Machine {
    stage: Stage,
    store: Arc<Store>,
    now: Timestamp,
}

impl Machine {
    fn new() -> Self {
        Self { stage: Stage::bare(), store: Arc::new(Store::in_memory().unwrap()), now: 0 }
    }

    /// The event as Claude Code would tell it.
    fn event(&self, moment: Moment) -> HookEvent {
        let event = json!({"session_id": "s", "cwd": self.stage.project(), "hook_event_name": "Notification"});
        HookEvent { moment, ..Host::ClaudeCode.event(&event.to_string()).unwrap() }
    }

    /// One process.
    async fn process(&self, event: &HookEvent, provider: Arc<dyn Provider>, time: Duration) -> Outcome {
        let around = Surroundings {
            store: self.store.clone(),
            locks: Locks::in_folder(self.stage.outside().join("locks")),
            send_back_cap: 8,
            deadline: Instant::now() + time,
            now: self.now,
        };
        let load = || -> Result<Watchers, LiveError> {
            Ok(Watchers {
                plugins: vec![self.stage.plugin("hostile", stage::hostile(), self.stage.disk())],
                provider,
                judge: None,
                project: "/project".into(),
                traces: Policy::default(),
                keep: State::default().keep,
            })
        };
        live::answer(Host::ClaudeCode, event, &around, load).await.unwrap()
    }

    async fn with(&self, moment: Moment, provider: impl Provider + 'static) -> Outcome {
        self.process(&self.event(moment), Arc::new(provider), Duration::from_secs(60)).await
    }

    async fn at(&self, moment: Moment) -> Answer {
        self.with(moment, Judge("yes")).await.answer
    }

    /// What `/hostile line` answers, but for its announcement.
    async fn hostile(&self, line: &str) -> String {
        match self.at(Moment::Prompt(format!("/hostile {line}"))).await.decision {
            Decision::Answered(text) => text.replace("about to misbehave", "").trim().to_owned(),
            other => panic!("no answer, but {other:?}"),
        }
    }
}

fn tool(name: &str, id: &str) -> Moment {
    Moment::BeforeTool(ToolCall { id: id.into(), name: name.into(), arguments: "{}".into() })
}

fn after(id: &str) -> Moment {
    Moment::AfterTool(ToolResult {
        call_id: id.into(),
        tool_name: "x".into(),
        content: Vec::new(),
        is_error: false,
        details: None,
    })
}

#[tokio::test]
async fn a_tool_call_is_refused_or_held_until_the_watcher_has_made_up_its_mind() {
    let machine = Machine::new();
    assert_eq!(machine.at(tool("harmless", "a")).await.decision, Decision::GoOn);
    assert_eq!(machine.at(tool("refuse", "b")).await.decision, Decision::Refuse("as I like it".into()));
    assert_eq!(machine.with(tool("ask", "c"), Judge("yes")).await.answer.decision, Decision::GoOn);
    let refused = machine.with(tool("ask", "d"), Judge("no")).await.answer.decision;
    assert_eq!(refused, Decision::Refuse("the model said no".into()));

    let event = machine.event(tool("ask", "e"));
    let outcome = machine.process(&event, Arc::new(Silence), Duration::ZERO).await;
    assert_eq!(outcome.answer.decision, Decision::GoOn, "who says nothing in time does not hold it");
    assert!(outcome.remarks.iter().any(|remark| remark.contains("in time")), "{:?}", outcome.remarks);
}

#[tokio::test]
async fn requests_and_timers_go_on_where_the_last_process_left_them() {
    let mut machine = Machine::new();
    assert_eq!(machine.hostile("complete a").await, "completed 1: Ok(\"yes\")");
    assert_eq!(machine.hostile("arm 1000").await, "");
    assert_eq!(machine.hostile("complete b").await, "completed 3: Ok(\"yes\")");
    machine.now = 999;
    assert_eq!(machine.at(Moment::Other).await.shown, None);
    machine.now = 1_500;
    assert_eq!(machine.at(Moment::Other).await.shown.as_deref(), Some("timer 2 at 1500"));
    assert_eq!(machine.at(Moment::Other).await.shown, None, "it fires once");
}

#[tokio::test]
async fn a_message_waits_for_an_answer_that_can_carry_it() {
    let machine = Machine::new();
    assert_eq!(machine.hostile("inject").await, "");
    assert_eq!(machine.at(tool("harmless", "a")).await, Answer::default());
    assert_eq!(machine.at(after("a")).await.context.as_deref(), Some("Listen to me."));
    assert_eq!(machine.at(after("b")).await.context, None);
}

#[tokio::test]
async fn a_command_that_stops_the_agent_is_answered_all_the_same() {
    let machine = Machine::new();
    assert_eq!(machine.hostile("abort").await, "");
}

#[tokio::test(start_paused = true)]
async fn a_process_that_is_killed_has_done_nothing() {
    let machine = Machine::new();
    machine.hostile("complete a").await;
    let event = machine.event(Moment::Prompt("/hostile complete b".into()));
    let process = machine.process(&event, Arc::new(Silence), Duration::from_secs(3_600));
    tokio::time::timeout(Duration::from_secs(1), process).await.expect_err("nobody answers");
    assert_eq!(machine.hostile("complete b").await, "completed 2: Ok(\"yes\")");
}

#[tokio::test]
async fn a_watcher_that_fails_is_set_aside_for_the_session() {
    let machine = Machine::new();
    for _ in 0..3 {
        let outcome = machine.with(Moment::Prompt("/hostile panic".into()), Silence).await;
        assert!(outcome.remarks.iter().any(|remark| remark.contains("failed")), "{:?}", outcome.remarks);
    }
    let fourth = machine.with(Moment::Prompt("/hostile panic".into()), Silence).await;
    assert_eq!((fourth.answer, fourth.remarks), (Answer::default(), Vec::new()));
    machine.at(Moment::SessionStart(StartReason::Resume)).await;
    assert_eq!(machine.hostile("complete a").await, "completed 1: Ok(\"yes\")");
}

#[tokio::test]
async fn no_session_begins_with_an_event_that_says_nothing() {
    let machine = Machine::new();
    assert_eq!(machine.at(Moment::Other).await, Answer::default());
    assert_eq!(machine.store.paused("claude-code/s").unwrap(), None);
    machine.at(Moment::SessionStart(StartReason::New)).await;
    assert!(machine.store.paused("claude-code/s").unwrap().is_some());
}

#[tokio::test]
async fn a_transcript_that_is_not_there_yet_is_no_fault() {
    let machine = Machine::new();
    let mut event = machine.event(Moment::SessionStart(StartReason::New));
    event.transcript = Some(PathBuf::from("/no/such/transcript.jsonl"));
    let outcome = machine.process(&event, Arc::new(Silence), Duration::from_secs(60)).await;
    assert_eq!((outcome.answer, outcome.remarks), (Answer::default(), Vec::new()));
}
