//! The driver's rules, through real components.

use std::sync::Arc;

use chaperone::config::LlmGrant;
use chaperone::drive::{Note, Session};
use chaperone::llm::script::Script;
use chaperone::transaction::Cause;
use chaperone_contract::*;
use chaperone_tests::stage::{self, Judge, Seen, Silence, Stage};

/// A session of the hostile guest alone.
fn hostile(stage: &Stage, seen: &mut Seen) -> Session {
    let plugin = stage.plugin("hostile", stage::hostile(), stage.dry());
    stage.session(vec![plugin], Arc::new(Silence), seen)
}

/// Runs `/hostile line`, and returns what it showed in passing, but for its announcement.
fn told(session: &mut Session, line: &str) -> Vec<String> {
    let mut seen = Seen::default();
    assert!(session.command("hostile", line, &mut seen).unwrap());
    seen.notices().into_iter().filter(|notice| *notice != "about to misbehave").map(str::to_owned).collect()
}

/// The only thing that was shown in passing.
fn only(seen: &Seen) -> &str {
    let [notice] = seen.notices()[..] else { panic!("{:?}", seen.notices()) };
    notice
}

fn entry(id: &str) -> Arc<Entry> {
    Arc::new(Entry { id: id.into(), timestamp: 0, body: EntryBody::Other("x".into()) })
}

fn user(id: &str, text: &str) -> Arc<Entry> {
    Arc::new(Entry { id: id.into(), timestamp: 0, body: EntryBody::User(vec![Content::Text(text.into())]) })
}

fn answer(id: &str, text: &str) -> Arc<Entry> {
    let message = AssistantMessage {
        content: vec![Content::Text(text.into())],
        stop_reason: StopReason::Stop,
        usage: None,
        model: None,
        error: None,
    };
    Arc::new(Entry { id: id.into(), timestamp: 0, body: EntryBody::Assistant(message) })
}

// What fails

#[test]
fn a_hook_that_fails_leaves_state_requests_and_effects_as_they_were() {
    let stage = Stage::bare();
    let mut seen = Seen::default();
    let mut session = hostile(&stage, &mut seen);
    session.event(&Event::AgentEnd, &mut seen).unwrap();
    let before = session.plugins()[0].history.current().clone();
    seen.clear();
    session.command("hostile", "panic", &mut seen).unwrap();
    assert!(matches!(seen.failures()[..], [Cause::Trapped(_)]));
    assert_eq!(seen.effects().count(), 0);
    assert_eq!(*session.plugins()[0].history.current(), before);
    assert_eq!(session.plugins()[0].next_request(), 1);
    seen.clear();
    session.event(&Event::AgentEnd, &mut seen).unwrap();
    assert_eq!(only(&seen), "call 2");
}

#[test]
fn a_plugin_that_fails_again_and_again_is_set_aside_which_is_told_once_and_others_go_on() {
    let stage = Stage::bare();
    let mut seen = Seen::default();
    let mut bad = stage.plugin("bad", stage::hostile(), stage.dry());
    bad.quarantine_after = 3;
    let good = stage.plugin("good", stage::hostile(), stage.dry());
    let mut session = stage.session(vec![bad, good], Arc::new(Silence), &mut seen);
    for _ in 0..3 {
        session.command("hostile", "panic", &mut seen).unwrap();
    }
    let told = [("bad".to_owned(), Note::Quarantined { failures: 3 })];
    assert_eq!(seen.notes, told);
    seen.clear();
    session.event(&Event::AgentEnd, &mut seen).unwrap();
    assert_eq!(seen.hooks.iter().map(|hook| hook.plugin.as_str()).collect::<Vec<_>>(), ["good"]);
    assert_eq!(only(&seen), "call 1");
    assert_eq!(seen.notes, []);

    seen.clear();
    session.command("hostile", "panic", &mut seen).unwrap();
    assert!(seen.hooks.is_empty(), "it is not called any more");
    assert_eq!(seen.notes, told, "who asks for its command is told why nothing happens");
}

#[test]
fn only_failures_in_a_row_set_a_plugin_aside() {
    let stage = Stage::bare();
    let mut seen = Seen::default();
    let mut session = hostile(&stage, &mut seen);
    for _ in 0..3 {
        session.command("hostile", "panic", &mut seen).unwrap();
        session.command("hostile", "panic", &mut seen).unwrap();
        session.event(&Event::AgentEnd, &mut seen).unwrap();
    }
    assert_eq!(seen.failures().len(), 6);
    assert_eq!(seen.notes, []);
}

#[test]
fn a_plugin_that_answers_its_own_answers_without_end_is_set_aside_which_is_told_once_and_others_go_on() {
    let stage = Stage::bare();
    let mut seen = Seen::default();
    let circling = stage.plugin("circling", stage::hostile(), stage.dry());
    let good = stage.plugin("good", stage::hostile(), stage.dry());
    let mut session = stage.session(vec![circling, good], Arc::new(Silence), &mut seen);
    seen.clear();
    session.command("hostile", "circle", &mut seen).unwrap();
    let told = [("circling".to_owned(), Note::RanAway { hooks: 1_000 })];
    assert_eq!(seen.notes, told);
    assert_eq!(seen.hooks_called("stored").len(), 1_001, "the answer to the command's own write, and what followed");

    seen.clear();
    session.event(&Event::AgentEnd, &mut seen).unwrap();
    assert_eq!(seen.hooks.iter().map(|hook| hook.plugin.as_str()).collect::<Vec<_>>(), ["good"]);
    assert_eq!(seen.notes, []);
    session.command("hostile", "write again", &mut seen).unwrap();
    assert_eq!(seen.notes, told, "who asks for its command is told why nothing happens");
}

#[test]
fn answers_that_are_due_together_are_no_chain() {
    let stage = Stage::bare();
    let mut seen = Seen::default();
    let mut session = hostile(&stage, &mut seen);
    for _ in 0..1_100 {
        session.command("hostile", "arm 1", &mut seen).unwrap();
    }
    seen.clear();
    let now = session.snapshot_mut().now;
    session.tick(now + 1, &mut seen).unwrap();
    assert_eq!((seen.notices().len(), seen.notes.len()), (1_100, 0));
}

// What is not granted

#[test]
fn a_plugin_that_may_not_speak_is_told_on_for_each_try() {
    let stage = Stage::bare();
    let mut seen = Seen::default();
    let mut mute = stage.plugin("mute", stage::hostile(), stage.dry());
    mute.grants.inject = false;
    let mut session = stage.session(vec![mute], Arc::new(Silence), &mut seen);
    for line in ["inject", "abort", "release call-1"] {
        session.command("hostile", line, &mut seen).unwrap();
    }
    let denied = |effect| ("mute".to_owned(), Note::Denied { effect });
    assert_eq!(seen.notes, [denied("inject"), denied("abort"), denied("release")]);

    seen.clear();
    let mut session = hostile(&stage, &mut seen);
    session.command("hostile", "inject", &mut seen).unwrap();
    assert_eq!((seen.injections().len(), seen.notes.len()), (1, 0));
}

#[test]
fn without_a_grant_every_model_call_is_answered_with_a_spent_allowance() {
    let stage = Stage::bare();
    let mut seen = Seen::default();
    let mut poor = stage.plugin("poor", stage::hostile(), stage.dry());
    poor.grants.llm = None;
    let mut session = stage.session(vec![poor], Arc::new(Judge("CLEAN")), &mut seen);
    let told = told(&mut session, "complete");
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("completed 1: Err(AllowanceSpent("), "{told:?}");
}

#[tokio::test]
async fn an_allowance_of_calls_is_whole_again_when_the_user_speaks() {
    let stage = Stage::bare();
    let mut seen = Seen::default();
    let mut plugin = stage.plugin("hostile", stage::hostile(), stage.dry());
    plugin.grants.llm = Some(LlmGrant { calls_per_turn: 1, ..LlmGrant::default() });
    let mut session = stage.session(vec![plugin], Arc::new(Judge("CLEAN")), &mut seen);
    assert_eq!(told(&mut session, "complete"), [""; 0], "it is under way");
    assert!(told(&mut session, "complete")[0].contains("AllowanceSpent"));
    session.event(&Event::Input { content: Vec::new() }, &mut seen).unwrap();
    assert_eq!(told(&mut session, "complete"), [""; 0]);
    seen.clear();
    session.quiet(&mut seen).await.unwrap();
    assert_eq!(seen.notices(), [r#"completed 1: Ok("CLEAN")"#, r#"completed 3: Ok("CLEAN")"#]);
}

#[test]
fn a_mount_is_not_left_by_any_path() {
    let stage = Stage::bare();
    std::fs::write(stage.outside().join("outside.txt"), "secret").unwrap();
    stage.put("inside.txt", "public");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../outside.txt", stage.project().join("link.txt")).unwrap();
        std::os::unix::fs::symlink("..", stage.project().join("up")).unwrap();
    }
    let plugin = stage.plugin("hostile", stage::hostile(), stage.disk());
    let mut session = stage.session(vec![plugin], Arc::new(Silence), &mut Seen::default());
    assert_eq!(told(&mut session, "read inside.txt"), [r#"read: Ok("public")"#]);
    let absolute = stage.outside().join("outside.txt");
    for path in ["../outside.txt", "a/../../outside.txt", "link.txt", "up/outside.txt", absolute.to_str().unwrap()] {
        let told = told(&mut session, &format!("read {path}"));
        assert!(told[0].starts_with("read: Err("), "{path}: {told:?}");
    }
    for folder in ["..", "up", "/"] {
        let told = told(&mut session, &format!("list {folder}"));
        assert!(told[0].starts_with("list: Err("), "{folder}: {told:?}");
    }
    for path in ["../outside.txt", "../new.txt", "link.txt", "up/new.txt"] {
        let told = told(&mut session, &format!("write {path}"));
        assert!(told[0].contains(": Err("), "{path}: {told:?}");
    }
    assert_eq!(std::fs::read_to_string(stage.outside().join("outside.txt")).unwrap(), "secret");
    assert!(!stage.outside().join("new.txt").exists());
}

// Answers

#[tokio::test]
async fn a_call_that_is_cancelled_ends_as_cancelled_though_nobody_ever_answers() {
    let stage = Stage::bare();
    let mut seen = Seen::default();
    let mut session = hostile(&stage, &mut seen);
    assert_eq!(told(&mut session, "complete"), [""; 0]);
    assert_eq!(told(&mut session, "cancel 1"), ["completed 1: Err(Cancelled)"]);
    seen.clear();
    session.quiet(&mut seen).await.unwrap();
    assert_eq!(seen.hooks.len(), 0, "and it is answered once");
    assert_eq!(told(&mut session, "cancel 1"), [""; 0], "there is nothing left to cancel");
}

#[tokio::test(start_paused = true)]
async fn answers_are_delivered_in_the_order_of_the_questions() {
    let rules = "rules:\n  - when: { monitor: slow }\n    answer: first\n    delay_ms: 900\n  - answer: second\n";
    let stage = Stage::bare();
    let mut seen = Seen::default();
    let plugin = stage.plugin("hostile", stage::hostile(), stage.dry());
    let script = Arc::new(Script::parse("script.yaml", rules).unwrap());
    let mut session = stage.session(vec![plugin], script, &mut seen);
    told(&mut session, "complete slow");
    told(&mut session, "complete fast");
    session.quiet(&mut seen).await.unwrap();
    assert_eq!(seen.notices(), [r#"completed 1: Ok("first")"#, r#"completed 2: Ok("second")"#]);
}

#[test]
fn timers_fire_once_at_their_time_of_the_session() {
    let stage = Stage::bare();
    let mut seen = Seen::default();
    let mut session = hostile(&stage, &mut seen);
    let start = stage::snapshot().now;
    for line in ["arm 700", "arm 500", "arm 600"] {
        told(&mut session, line);
    }
    told(&mut session, "disarm 3");
    seen.clear();
    session.advance(start + 499, &mut seen).unwrap();
    assert_eq!(seen.hooks.len(), 0);
    session.advance(start + 10_000, &mut seen).unwrap();
    let expected = [format!("timer 2 at {}", start + 500), format!("timer 1 at {}", start + 700)];
    assert_eq!(seen.notices(), expected);
    seen.clear();
    session.advance(start + 20_000, &mut seen).unwrap();
    assert_eq!(seen.hooks.len(), 0);
}

// What is remembered

#[test]
fn state_follows_the_branch() {
    let stage = Stage::bare();
    let mut seen = Seen::default();
    let mut session = hostile(&stage, &mut seen);
    let count = |session: &mut Session| {
        let mut seen = Seen::default();
        session.event(&Event::AgentEnd, &mut seen).unwrap();
        only(&seen).to_owned()
    };
    session.append(entry("a")).unwrap();
    assert_eq!(count(&mut session), "call 1");
    session.append(entry("b")).unwrap();
    assert_eq!(count(&mut session), "call 2");
    session.go_to([entry("a")].into_iter().collect(), &mut seen).unwrap();
    session.append(entry("c")).unwrap();
    assert_eq!(count(&mut session), "call 2");
    session.go_to([entry("a"), entry("b")].into_iter().collect(), &mut seen).unwrap();
    assert_eq!(count(&mut session), "call 3");
    session.go_to(Branch::default(), &mut seen).unwrap();
    assert_eq!(count(&mut session), "call 1");
}

#[test]
fn a_plugin_says_anew_what_it_is_when_a_file_has_changed_that_it_told_from() {
    let stage = Stage::with_bundled_monitors();
    let mut seen = Seen::default();
    let plugin = stage.plugin("monitors", stage::monitors(), stage.dry());
    let mut session = stage.session(vec![plugin], Arc::new(Silence), &mut seen);
    let input = Event::Input { content: Vec::new() };
    session.event(&Event::SessionStart { reason: StartReason::New }, &mut seen).unwrap();
    session.event(&input, &mut seen).unwrap();
    assert_eq!(seen.hooks_called("describe").len(), 1);
    let described = session.plugins()[0].description().unwrap().clone();
    assert!(described.commands.iter().any(|command| command.name == "work-quality"));

    let file = stage.project().join(".pi/monitors/work-quality.monitor.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let renamed = text.replace(r#""name": "work-quality""#, r#""name": "diligence""#);
    assert_ne!(renamed, text);
    std::fs::write(&file, renamed).unwrap();
    session.event(&Event::AgentStart, &mut seen).unwrap();
    assert_eq!(seen.hooks_called("describe").len(), 1, "not in the middle of the agent's work");
    session.event(&input, &mut seen).unwrap();
    assert_eq!(seen.hooks_called("describe").len(), 2);
    let described = session.plugins()[0].description().unwrap();
    let names: Vec<&str> = described.commands.iter().map(|command| command.name.as_str()).collect();
    assert_eq!(names, ["monitors", "diligence"]);

    std::fs::remove_file(&file).unwrap();
    assert!(session.command("monitors", "list", &mut seen).unwrap());
    assert_eq!(seen.hooks_called("describe").len(), 3, "a command is looked up among those of now");
    assert!(!session.command("diligence", "", &mut seen).unwrap());
}

#[test]
fn sessions_that_write_to_one_file_at_the_same_time_lose_nothing() {
    const EACH: u64 = 40;
    let stage = Stage::bare();
    std::thread::scope(|scope| {
        for first in [0, EACH] {
            let stage = &stage;
            scope.spawn(move || {
                let plugin = stage.plugin("hostile", stage::hostile(), stage.disk());
                let mut session = stage.session(vec![plugin], Arc::new(Silence), &mut Seen::default());
                for number in first..first + EACH {
                    let told = told(&mut session, &format!("add {number}"));
                    assert!(told[0].ends_with(": Ok(())"), "{told:?}");
                }
            });
        }
    });
    let text = std::fs::read_to_string(stage.project().join("findings.json")).unwrap();
    let mut numbers: Vec<u64> = serde_json::from_str(&text).unwrap();
    numbers.sort();
    assert_eq!(numbers, (0..2 * EACH).collect::<Vec<_>>());
}

// What is judged

/// A monitor that judges the end of each run by the user's words alone.
const BY_THE_WORDS: &str = r#"{
    "name": "words",
    "event": "agent_end",
    "classify": {"context": ["user_text"], "prompt": "{user_text} {patterns} {instructions} CLEAN, FLAG: or NEW:"},
    "patterns": {"path": "words.patterns.json"},
    "actions": {"on_flag": {"steer": "S."}}
}"#;

fn by_the_words() -> Stage {
    let stage = Stage::bare();
    stage.put(".pi/monitors/words.monitor.json", BY_THE_WORDS);
    stage.put(".pi/monitors/words.patterns.json", r#"[{"id": "p", "description": "a fault"}]"#);
    stage
}

#[tokio::test]
async fn the_same_evidence_is_judged_once() {
    let stage = by_the_words();
    let mut seen = Seen::default();
    let plugin = stage.plugin("monitors", stage::monitors(), stage.dry());
    let mut session = stage.session(vec![plugin], Arc::new(Judge("CLEAN")), &mut seen);
    session.command("monitors", "trust all", &mut seen).unwrap();
    session.event(&Event::SessionStart { reason: StartReason::New }, &mut seen).unwrap();
    session.append(user("u1", "do it")).unwrap();
    for id in ["a1", "a2", "a3"] {
        session.append(answer(id, id)).unwrap();
        session.event(&Event::AgentEnd, &mut seen).unwrap();
        session.quiet(&mut seen).await.unwrap();
    }
    assert_eq!(seen.asked(), ["words"], "the user's words are the same");
    assert_eq!(seen.judgements().len(), 1);
    session.event(&Event::Input { content: Vec::new() }, &mut seen).unwrap();
    session.append(user("u2", "do more")).unwrap();
    session.append(answer("a4", "done")).unwrap();
    session.event(&Event::AgentEnd, &mut seen).unwrap();
    session.quiet(&mut seen).await.unwrap();
    assert_eq!(seen.asked(), ["words", "words"]);
}

#[tokio::test]
async fn evidence_that_is_being_judged_is_not_judged_beside_that() {
    let stage = by_the_words();
    let mut seen = Seen::default();
    let plugin = stage.plugin("monitors", stage::monitors(), stage.dry());
    let mut session = stage.session(vec![plugin], Arc::new(Silence), &mut seen);
    session.command("monitors", "trust all", &mut seen).unwrap();
    session.event(&Event::SessionStart { reason: StartReason::New }, &mut seen).unwrap();
    session.append(user("u1", "do it")).unwrap();
    session.append(answer("a1", "done")).unwrap();
    session.event(&Event::AgentEnd, &mut seen).unwrap();
    session.event(&Event::AgentEnd, &mut seen).unwrap();
    assert_eq!(seen.asked(), ["words"]);
}
