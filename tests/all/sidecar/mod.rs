//! The sidecar, with real components, through its lines.

mod chaos;
mod damage;
mod document;
mod ends;
mod models;
mod opening;
mod restarts;
mod schema;
mod sessions;

use std::future::ready;
use std::sync::Arc;

use chaperone::drive::Memory;
use chaperone::llm::Provider;
use chaperone::serve::{FindWatchers, Models, Watchers};
use chaperone::store::Store;
use chaperone_tests::stage::{self, Silence, Stage};
use serde_json::{Value, json};

/// The hostile guest watches each session, and the client's models answer, where it lends any.
fn hostile(stage: &Arc<Stage>, store: Option<&Arc<Store>>) -> FindWatchers {
    let (stage, store) = (stage.clone(), store.cloned());
    Box::new(move |_, models| Box::pin(ready(Ok(watchers(&stage, store.as_ref(), models)))))
}

fn watchers(stage: &Stage, store: Option<&Arc<Store>>, models: Option<&Models>) -> Watchers {
    let provider: Arc<dyn Provider> = match models {
        Some(models) => models.provider(std::time::Duration::from_secs(60)),
        None => Arc::new(Silence),
    };
    Watchers {
        plugins: vec![stage.plugin("hostile", stage::hostile(), stage.dry())],
        unloaded: Vec::new(),
        provider,
        judge: None,
        memory: store.map(|store| Memory::new(store.clone(), stage.project().display().to_string())),
        recorder: None,
    }
}

/// An entry of the user's.
fn entry(id: &str) -> Value {
    json!({"id": id, "timestamp": 0, "body": {"user": [{"text": id}]}})
}

fn event(event: Value) -> Value {
    json!({"session": "s", "event": event})
}

fn command(line: &str) -> Value {
    json!({"session": "s", "name": "hostile", "arguments": line})
}
