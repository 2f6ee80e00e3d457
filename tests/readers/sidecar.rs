//! Lines for the sidecar.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chaperone::config::LlmGrant;
use chaperone::drive::Running;
use chaperone::files::{Mounts, Overlay, Storage};
use chaperone::serve::lines::mend_surrogates;
use chaperone::serve::protocol::Id;
use chaperone::serve::{FindWatchers, Watchers};
use chaperone_contract::Mode;
use serde::Deserialize;
use serde_json::Value;

use crate::stage::{Pipe, Silence, Told, hostile};

/// What a client sends, line by line. Each request gets one answer and no more, whatever came before it, and the sidecar
/// goes on to the end.
pub fn sidecar(bytes: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime can be made").block_on(async {
        let mut pipe = Pipe::new(watchers());
        let mut open: BTreeMap<Id, i64> = BTreeMap::new();
        for line in bytes.split(|&byte| byte == b'\n') {
            if pipe.is_over() {
                break;
            }
            if let Some(id) = asked(line) {
                *open.entry(id).or_default() += 1;
            }
            answered(&mut open, &pipe.send(line).await);
        }
        answered(&mut open, &pipe.wait().await);
        answered(&mut open, &pipe.end());
        assert!(open.values().all(|&count| count == 0), "each request gets one answer: {open:?}");
    });
}

fn answered(open: &mut BTreeMap<Id, i64>, told: &Told) {
    for line in told.0.iter().filter(|line| line.get("method").is_none()) {
        assert!(line.get("result").is_some() != line.get("error").is_some(), "{line}");
        if let Ok(id) = serde_json::from_value(line["id"].clone()) {
            *open.entry(id).or_default() -= 1;
        }
    }
}

/// A message of which at least the id can be made out.
#[derive(Deserialize)]
struct Message {
    id: Id,
    #[serde(default, deserialize_with = "present")]
    method: bool,
    #[serde(default, deserialize_with = "present")]
    result: bool,
    #[serde(default, deserialize_with = "present")]
    error: bool,
    // These may not be there twice either.
    #[serde(rename = "jsonrpc")]
    _jsonrpc: Option<serde::de::IgnoredAny>,
    #[serde(rename = "params")]
    _params: Option<serde::de::IgnoredAny>,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    serde::de::IgnoredAny::deserialize(deserializer).map(|_| true)
}

/// The id of the answer that a line wants.
fn asked(line: &[u8]) -> Option<Id> {
    let line = mend_surrogates(std::str::from_utf8(line).ok()?);
    let message: Message = line.trim_start().starts_with('{').then(|| serde_json::from_str(&line).ok())??;
    (message.method || !(message.result || message.error)).then_some(message.id)
}

/// The hostile guest, without files. For an agent that works by itself, it has to be waited for.
fn watchers() -> FindWatchers {
    Box::new(|open, models| {
        let takes_long = open.mode == Mode::OneShot;
        let files = Mounts::new(Storage::Memory(Overlay::new()));
        let mut plugin = Running::new("hostile", "stage:hostile", hostile(), files);
        plugin.grants.inject = true;
        plugin.grants.llm = Some(LlmGrant::default());
        plugin.limits.time = Duration::from_millis(500);
        let watchers = Watchers {
            plugins: vec![plugin],
            unloaded: Vec::new(),
            provider: match models {
                Some(models) => models.provider(Duration::from_secs(60)),
                None => Arc::new(Silence),
            },
            judge: None,
            memory: None,
            recorder: None,
        };
        Box::pin(async move {
            if takes_long {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            Ok(watchers)
        })
    })
}

/// A conversation that uses every method, to be damaged.
pub fn conversation() -> Vec<Value> {
    let text = include_str!("conversation.jsonl");
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}
