//! The SDK's example of a small watcher works in the real host.

use std::sync::Arc;

use chaperone::plugin::{Cache, Plugin};
use chaperone_contract::*;
use chaperone_tests::stage::{Seen, Silence, Stage};

#[test]
fn the_example_sends_the_agent_back_twice_and_then_lets_it_be() {
    let stage = Stage::bare();
    let component = Arc::new(Plugin::from_bytes(chaperone_artifacts::UNFINISHED, &Cache::None).unwrap());
    let mut watcher = stage.plugin("unfinished", component, stage.dry());
    watcher.grants.inject = true;
    let mut seen = Seen::default();
    let mut session = stage.session(vec![watcher], Arc::new(Silence), &mut seen);
    for number in 0..3 {
        let message = AssistantMessage {
            content: vec![Content::Text("Let me fix the other test as well.".into())],
            stop_reason: StopReason::Stop,
            usage: None,
            model: None,
            error: None,
        };
        let entry = Entry { id: format!("a{number}"), timestamp: 0, body: EntryBody::Assistant(message) };
        session.append(Arc::new(entry.clone())).unwrap();
        session.event(&Event::MessageEnd { message: entry }, &mut seen).unwrap();
    }
    assert_eq!(seen.injections().len(), 2);
}
