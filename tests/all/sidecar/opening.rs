//! A session whose watchers take long to be found.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chaperone::serve::FindWatchers;
use chaperone_tests::stage::{Pipe, Stage, Told};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{command, entry, event, watchers};

/// Lets watchers be found, and knows how many are looked for.
struct Door {
    stage: Arc<Stage>,
    opens: watch::Sender<Result<bool, String>>,
    looking: Arc<AtomicUsize>,
}

/// Counts for as long as it is there.
struct Looking(Arc<AtomicUsize>);

impl Looking {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count.clone())
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Door {
    fn new() -> Self {
        Self { stage: Arc::new(Stage::bare()), opens: watch::Sender::new(Ok(false)), looking: Arc::default() }
    }

    /// A sidecar that finds the watchers of the session `t` at once, and those of others when the door opens.
    async fn pipe(&self) -> Pipe {
        let (stage, door, looking) = (self.stage.clone(), self.opens.clone(), self.looking.clone());
        let find_watchers: FindWatchers = Box::new(move |open, models| {
            let watchers = watchers(&stage, None, models);
            let waits = open.session != "t";
            let (mut opened, looking) = (door.subscribe(), Looking::new(&looking));
            Box::pin(async move {
                let _looking = looking;
                if waits {
                    opened.wait_for(|opened| *opened != Ok(false)).await.unwrap().clone()?;
                }
                Ok(watchers)
            })
        });
        Pipe::with(find_watchers, json!({})).await
    }

    /// A sidecar that is opening the session `s`, under the id `open`.
    async fn opening(&self) -> Pipe {
        let mut pipe = self.pipe().await;
        assert!(self.send(&mut pipe, "open", "session/open", json!({})).await.0.is_empty());
        pipe
    }

    /// Sends a request to `s`. What comes of it at once.
    async fn send(&self, pipe: &mut Pipe, id: &str, method: &str, more: Value) -> Told {
        let mut params = json!({"session": "s"});
        if method == "session/open" {
            params = json!({"session": "s", "cwd": self.stage.project(), "mode": "interactive", "reason": "new"});
        }
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        pipe.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()).await
    }

    fn open(&self) {
        self.set(Ok(true));
    }

    /// Lets watchers be found, or says why there are none.
    fn set(&self, opens: Result<bool, String>) {
        self.opens.send_modify(|now| *now = opens);
    }

    fn is_looked_for(&self) -> bool {
        self.looking.load(Ordering::SeqCst) > 0
    }
}

/// The ids of the answers, in order, each with the code of its error, or 0.
fn answers(told: &Told) -> Vec<(&str, i64)> {
    let answers = told.0.iter().filter(|line| line.get("method").is_none());
    answers.map(|line| (line["id"].as_str().unwrap(), line["error"]["code"].as_i64().unwrap_or(0))).collect()
}

fn cancel(id: &str) -> String {
    json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"id": id}}).to_string()
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_of_it_waits_in_order_and_other_sessions_are_served() {
    let door = Door::new();
    let mut pipe = door.opening().await;
    for (id, method, more) in [
        ("grow", "session/append", json!({"entries": [entry("a"), entry("b")]})),
        ("first", "session/event", json!({"event": "agent_end"})),
        ("back", "session/branch", json!({"leaf": "a"})),
        ("second", "session/event", json!({"event": "agent_end"})),
        ("quiet", "session/quiet", json!({})),
    ] {
        assert!(door.send(&mut pipe, id, method, more).await.0.is_empty(), "{id}");
    }
    // It is not answered, and has its turn all the same.
    let silent = json!({"jsonrpc": "2.0", "method": "session/event", "params": event(json!("agent_end"))});
    assert!(pipe.send(silent.to_string()).await.0.is_empty());

    pipe.open("t", &door.stage.project(), json!({})).await;
    let (_, told) = pipe.ask("session/event", json!({"session": "t", "event": "agent_end"})).await;
    assert_eq!(told.notices(), ["call 1"]);

    door.open();
    let told = pipe.settle().await;
    let all = ["open", "grow", "first", "back", "second", "quiet"].map(|id| (id, 0));
    assert_eq!(answers(&told), all);
    assert_eq!(told.notices(), ["call 1", "call 1", "call 2"], "each where the branch was then");
    assert_eq!(pipe.ask("session/event", event(json!("agent_end"))).await.1.notices(), ["call 3"]);
    assert!(!door.is_looked_for());
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_be_opened_refuses_what_has_waited_for_it() {
    let door = Door::new();
    let mut pipe = door.opening().await;
    door.send(&mut pipe, "event", "session/event", json!({"event": "agent_end"})).await;
    door.send(&mut pipe, "close", "session/close", json!({})).await;
    door.set(Err("there is no project".into()));
    let told = pipe.settle().await;
    assert_eq!(answers(&told), [("open", -32000), ("event", -32001), ("close", -32001)]);
    assert_eq!(told.0[0]["error"]["message"], "there is no project");
    door.open();
    assert_eq!(answers(&door.send(&mut pipe, "again", "session/open", json!({})).await), [("again", 0)]);
}

#[tokio::test(start_paused = true)]
async fn a_session_can_be_closed_and_opened_anew_before_it_is_open() {
    let door = Door::new();
    let mut pipe = door.opening().await;
    for (id, method, more) in [
        ("twice", "session/open", json!({})),
        ("first", "session/event", json!({"event": "agent_end"})),
        ("close", "session/close", json!({})),
        ("late", "session/event", json!({"event": "agent_end"})),
        ("anew", "session/open", json!({})),
        ("last", "session/event", json!({"event": "agent_end"})),
    ] {
        assert!(door.send(&mut pipe, id, method, more).await.0.is_empty(), "{id}");
    }
    door.open();
    let told = pipe.settle().await;
    let answered =
        [("open", 0), ("twice", -32003), ("first", 0), ("close", 0), ("late", -32001), ("anew", 0), ("last", 0)];
    assert_eq!(answers(&told), answered);
    assert_eq!(told.notices(), ["call 1", "call 1"], "nothing of the first one is left");
}

#[tokio::test(start_paused = true)]
async fn ids_are_taken_until_they_are_answered_and_what_waits_can_be_cancelled() {
    let door = Door::new();
    let mut pipe = door.opening().await;
    door.send(&mut pipe, "quiet", "session/quiet", json!({})).await;
    door.send(&mut pipe, "event", "session/event", json!({"event": "agent_end"})).await;
    for id in ["open", "quiet"] {
        assert_eq!(answers(&door.send(&mut pipe, id, "session/quiet", json!({})).await), [(id, -32600)]);
    }
    assert_eq!(answers(&pipe.send(cancel("quiet")).await), [("quiet", -32800)]);
    assert!(pipe.send(cancel("quiet")).await.0.is_empty());
    assert!(door.is_looked_for());
    assert_eq!(answers(&pipe.send(cancel("open")).await), [("open", -32800), ("event", -32001)]);
    assert!(!door.is_looked_for(), "nobody wants it any more");
    door.open();
    assert!(pipe.settle().await.0.is_empty());
    assert_eq!(answers(&door.send(&mut pipe, "open", "session/open", json!({})).await), [("open", 0)]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_goes_leaves_nothing_and_each_request_is_answered() {
    for goes in ["exit", "dies"] {
        let door = Door::new();
        let mut pipe = door.opening().await;
        door.send(&mut pipe, "event", "session/event", json!({"event": "agent_end"})).await;
        let told = match goes {
            "exit" => pipe.send(r#"{"jsonrpc":"2.0","method":"exit"}"#).await,
            _ => pipe.end(),
        };
        assert_eq!(answers(&told), [("open", -32001), ("event", -32001)], "{goes}");
        assert!(told.notices().is_empty() && !door.is_looked_for(), "{goes}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_waits_for_what_was_asked_before_it() {
    let door = Door::new();
    let mut pipe = door.opening().await;
    door.send(&mut pipe, "event", "session/event", json!({"event": "agent_end"})).await;
    let told = pipe.send(r#"{"jsonrpc":"2.0","id":"end","method":"shutdown"}"#).await;
    assert!(answers(&told).is_empty() && !pipe.takes_lines());
    door.open();
    assert_eq!(answers(&pipe.settle().await), [("open", 0), ("event", 0), ("end", 0)]);
    assert!(!pipe.is_over(), "that is for `exit`");
}

#[tokio::test(start_paused = true)]
async fn nothing_more_is_read_where_too_much_waits() {
    let door = Door::new();
    let mut pipe = door.opening().await;
    let mut waiting = 0;
    while pipe.takes_lines() {
        door.send(&mut pipe, &format!("{waiting}"), "session/command", command("nothing")).await;
        waiting += 1;
    }
    assert!(waiting > 100, "{waiting}");
    door.open();
    assert_eq!(answers(&pipe.settle().await).len(), waiting + 1);
    assert!(pipe.takes_lines());
}
