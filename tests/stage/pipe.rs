//! The sidecar in this process, and a client's end of its pipe.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use chaperone::serve::schema::schema;
use chaperone::serve::{FindWatchers, MAX_LINE_BYTES, Settings, Sidecar};
use jsonschema::Validator;
use serde_json::{Value, json};

/// When the clock of every pipe begins.
pub const START: u64 = 1_760_000_000_000;

/// A sidecar, and what it has sent so far. Needs tokio's clock to be paused: it goes on with [`Pipe::wait`] only.
pub struct Pipe {
    sidecar: Sidecar,
    next_id: i64,
}

/// Lines of the sidecar, in order.
#[derive(Debug, Default)]
pub struct Told(pub Vec<Value>);

impl Pipe {
    /// A sidecar that finds watchers like this.
    pub fn new(find_watchers: FindWatchers) -> Self {
        let begun = tokio::time::Instant::now();
        let clock = move || START + u64::try_from(begun.elapsed().as_millis()).unwrap();
        let settings = Settings { find_watchers, clock: Box::new(clock), max_line_bytes: MAX_LINE_BYTES };
        Self { sidecar: Sidecar::new(settings), next_id: 1 }
    }

    /// A sidecar whose client can do all of this.
    pub async fn with(find_watchers: FindWatchers, capabilities: Value) -> Self {
        let mut pipe = Self::new(find_watchers);
        let client = json!({"name": "test", "version": "1"});
        pipe.ask("initialize", json!({"protocol_version": 1, "client": client, "capabilities": capabilities})).await;
        pipe
    }

    /// Sends a line. What comes of it without waiting is there before any time has passed.
    pub async fn send(&mut self, line: impl AsRef<[u8]>) -> Told {
        self.sidecar.line(line.as_ref());
        self.settle().await
    }

    /// Sends a request that has to be answered well. The first is its result, the second everything else that came.
    pub async fn ask(&mut self, method: &str, params: Value) -> (Value, Told) {
        let (answer, told) = self.request(method, params).await;
        let result = answer.as_ref().unwrap_or_else(|| panic!("{method} is not answered: {told:?}")).get("result");
        (result.unwrap_or_else(|| panic!("{method}: {answer:?}")).clone(), told)
    }

    /// Sends a request that has to be refused. Code and message of its error.
    pub async fn refused(&mut self, method: &str, params: Value) -> (i64, String) {
        let (answer, _) = self.request(method, params).await;
        let error = &answer.as_ref().unwrap()["error"];
        let told = || Some((error["code"].as_i64()?, error["message"].as_str()?.to_owned()));
        told().unwrap_or_else(|| panic!("{method}: {answer:?}"))
    }

    /// Sends a request. Its answer, if it came at once, and everything else that came.
    pub async fn request(&mut self, method: &str, params: Value) -> (Option<Value>, Told) {
        let id = self.next_id;
        self.next_id += 1;
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let mut told = self.send(line.to_string()).await;
        let place = told.0.iter().position(|line| line["id"] == id && line.get("method").is_none());
        (place.map(|place| told.0.remove(place)), told)
    }

    /// Opens a session of this id, with more or other parameters than the usual ones.
    pub async fn open(&mut self, session: &str, cwd: &Path, more: Value) -> (Value, Told) {
        let mut params = json!({"session": session, "cwd": cwd, "mode": "interactive", "reason": "new"});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.ask("session/open", params).await
    }

    /// Lets time pass until the sidecar says something, but no longer than an hour.
    pub async fn wait(&mut self) -> Told {
        for _ in 0..1000 {
            if tokio::time::timeout(Duration::from_secs(3600), self.sidecar.next()).await.is_err() {
                break;
            }
            let told = self.settle().await;
            if !told.0.is_empty() {
                return told;
            }
        }
        Told::default()
    }

    /// What is under way and needs no time comes to its end.
    pub async fn settle(&mut self) -> Told {
        let mut told = self.take();
        loop {
            // Tasks that were just begun, or woken, have their turn.
            for _ in 0..4 {
                tokio::task::yield_now().await;
            }
            let happened = tokio::time::timeout(Duration::ZERO, self.sidecar.next()).await.is_ok();
            told.0.extend(self.take().0);
            if !happened {
                return told;
            }
        }
    }

    /// The client is gone.
    pub fn end(mut self) -> Told {
        self.sidecar.end();
        self.take()
    }

    /// Whether the sidecar reads no more.
    pub fn is_over(&self) -> bool {
        self.sidecar.is_over()
    }

    /// Whether the sidecar would read another line now.
    pub fn takes_lines(&self) -> bool {
        self.sidecar.takes_lines()
    }

    fn take(&mut self) -> Told {
        let (lines, _) = self.sidecar.take_output();
        Told(lines.iter().map(|line| read(line)).collect())
    }
}

/// A line of the sidecar, which must be as its schema says.
fn read(line: &str) -> Value {
    static SCHEMA: LazyLock<Validator> = LazyLock::new(|| {
        let mut schema = schema();
        schema.as_object_mut().unwrap().remove("anyOf");
        schema["$ref"] = json!("#/$defs/SidecarLine");
        Validator::new(&schema).unwrap()
    });
    assert!(!line.contains('\n'), "a message is one line");
    let value = serde_json::from_str(line).unwrap();
    assert!(SCHEMA.is_valid(&value), "no line of a sidecar: {line}");
    value
}

impl Told {
    /// The parameters of the messages of a method, in order.
    pub fn of(&self, method: &str) -> Vec<&Value> {
        self.0.iter().filter(|line| line["method"] == method).map(|line| &line["params"]).collect()
    }

    /// The texts that plugins showed in passing, in order.
    pub fn notices(&self) -> Vec<&str> {
        let effects = self.of("session/effect");
        effects.into_iter().filter_map(|params| params["effect"]["notify"]["text"].as_str()).collect()
    }

    /// The ids of the questions to models, in order.
    pub fn questions(&self) -> Vec<&Value> {
        self.0.iter().filter(|line| line["method"] == "llm/complete").map(|line| &line["id"]).collect()
    }
}
