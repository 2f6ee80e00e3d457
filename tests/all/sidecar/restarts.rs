//! A sidecar that died, and the one that goes on; sessions that are copies of others.

use std::sync::Arc;

use chaperone::store::Store;
use chaperone_tests::stage::{Pipe, Stage, Told};
use serde_json::{Value, json};

use super::{command, entry, event, hostile};

struct World {
    stage: Arc<Stage>,
    store: Arc<Store>,
}

impl World {
    fn new() -> Self {
        Self { stage: Arc::new(Stage::bare()), store: Arc::new(Store::in_memory().unwrap()) }
    }

    /// A sidecar of its own, over the same store.
    async fn pipe(&self) -> Pipe {
        Pipe::with(hostile(&self.stage, Some(&self.store)), json!({"models": [], "dialogs": true})).await
    }

    async fn open(&self, pipe: &mut Pipe, session: &str, more: Value) -> Told {
        pipe.open(session, &self.stage.project(), more).await.1
    }
}

fn log(told: &Told) -> Vec<&str> {
    let effects = told.of("session/effect");
    effects.into_iter().filter_map(|params| params["effect"]["log"]["message"].as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn the_next_sidecar_goes_on_where_the_last_one_died() {
    let world = World::new();
    let mut pipe = world.pipe().await;
    world.open(&mut pipe, "s", json!({"entries": [entry("a")]})).await;
    pipe.ask("session/event", event(json!("agent_end"))).await;
    pipe.ask("session/append", json!({"session": "s", "entries": [entry("b")]})).await;
    pipe.ask("session/event", event(json!("agent_end"))).await;
    // No word of farewell.
    drop(pipe);

    let mut pipe = world.pipe().await;
    let told = world.open(&mut pipe, "s", json!({"reason": "reload", "entries": [entry("a"), entry("b")]})).await;
    assert_eq!(log(&told), ["Reload after 2 calls"]);
    let (_, told) = pipe.ask("session/event", event(json!("agent_end"))).await;
    assert_eq!(told.notices(), ["call 3"]);
    pipe.ask("session/branch", json!({"session": "s", "leaf": "a"})).await;
    let (_, told) = pipe.ask("session/event", event(json!("agent_end"))).await;
    assert_eq!(told.notices(), ["call 2"], "each entry has what stood there");
}

#[tokio::test(start_paused = true)]
async fn what_was_left_open_is_answered_timers_fire_and_no_id_comes_twice() {
    let world = World::new();
    let mut pipe = world.pipe().await;
    world.open(&mut pipe, "s", json!({})).await;
    for line in ["complete x", "ask why", "arm 60000", "arm 70000", "disarm 4"] {
        pipe.ask("session/command", command(line)).await;
    }
    drop(pipe);

    let mut pipe = world.pipe().await;
    let told = world.open(&mut pipe, "s", json!({"reason": "reload"})).await;
    assert_eq!(told.notices(), ["completed 1: Err(Cancelled)", "answered 2: Unavailable"]);
    let (_, told) = pipe.ask("session/command", command("ask again")).await;
    let asked = told.0.iter().find(|line| !line["params"]["effect"]["ask"].is_null()).unwrap();
    assert_eq!(asked["params"]["effect"]["ask"]["id"], 5);
    assert_eq!(pipe.wait().await.notices(), ["timer 3 at 1760000060000"]);
    assert!(pipe.wait().await.0.is_empty(), "the other one was disarmed");
    drop(pipe);

    let mut pipe = world.pipe().await;
    let told = world.open(&mut pipe, "s", json!({"reason": "reload"})).await;
    assert_eq!(told.notices(), ["answered 5: Unavailable"], "what was answered once is over");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_nobody_goes_on_with_is_forgotten_when_another_one_begins() {
    const LONG_AGO: u64 = 1;
    let world = World::new();
    let mut pipe = world.pipe().await;
    world.open(&mut pipe, "s", json!({})).await;
    pipe.ask("session/event", event(json!("agent_end"))).await;
    for (others, remembered) in [(vec![], 1), (vec!["t"], 0)] {
        pipe.ask("session/close", json!({"session": "s"})).await;
        world.store.touch("s", LONG_AGO).unwrap();
        for other in others {
            world.open(&mut pipe, other, json!({})).await;
        }
        let told = world.open(&mut pipe, "s", json!({"reason": "resume"})).await;
        assert_eq!(log(&told), [format!("Resume after {remembered} calls")]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_fork_begins_with_what_stood_at_the_entry_where_it_parts() {
    let world = World::new();
    let mut pipe = world.pipe().await;
    world.open(&mut pipe, "s", json!({"entries": [entry("a")]})).await;
    pipe.ask("session/event", event(json!("agent_end"))).await;
    pipe.ask("session/append", json!({"session": "s", "entries": [entry("b")]})).await;
    pipe.ask("session/event", event(json!("agent_end"))).await;

    for (name, entry_of_fork, count) in [("early", json!("a"), 1), ("late", json!("b"), 2), ("whole", json!(null), 2)] {
        let from = json!({"session": "s", "entry": entry_of_fork});
        let more = json!({"reason": "fork", "forked_from": from, "entries": [entry("a"), entry("b")]});
        let told = world.open(&mut pipe, name, more).await;
        assert_eq!(log(&told), [format!("Fork after {count} calls")], "{name}");
    }
    let (_, told) = pipe.ask("session/event", json!({"session": "early", "event": "agent_end"})).await;
    assert_eq!(told.notices(), ["call 2"]);
    let (_, told) = pipe.ask("session/event", event(json!("agent_end"))).await;
    assert_eq!(told.notices(), ["call 3"], "the other session goes its own way");
}
