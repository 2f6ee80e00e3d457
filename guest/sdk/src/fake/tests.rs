use super::*;

#[derive(Default, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Seen {
    ends: u32,
}

struct Counter;

impl Plugin for Counter {
    fn describe(_: &mut Context) -> Description {
        crate::describe("counter", "1", "Counts", [Hook::AgentEnd])
    }
    fn agent_end(cx: &mut Context) {
        let mut seen: Seen = cx.state(Scope::Branch);
        seen.ends += 1;
        cx.set_state(Scope::Branch, &seen);
        cx.arm(1000);
        cx.patch("workspace", "log.json", "[]", r#"[{"op":"add","path":"/-","value":"end"}]"#);
    }
    fn timer_fired(cx: &mut Context, id: RequestId) {
        cx.notify(format!("timer {id} at {}", cx.session().now), Tone::Normal);
    }
    fn stored(cx: &mut Context, _: RequestId, outcome: Result<(), FileError>) {
        cx.notify(format!("{outcome:?}"), Tone::Muted);
    }
}

#[test]
fn state_is_kept_between_hooks() {
    let mut host = FakeHost::<Counter>::default();
    host.fire(Event::AgentEnd);
    host.fire(Event::AgentEnd);
    assert_eq!(host.state(Scope::Branch), Some(br#"{"value":{"ends":2}}"#.as_slice()));
}

#[test]
fn a_value_that_no_longer_parses_is_kept_aside_and_reported() {
    let mut host = FakeHost::<Counter>::default();
    host.set_state(Scope::Branch, r#"{"value":{"ends":"many"}}"#);
    host.fire(Event::AgentEnd);
    let stored: serde_json::Value = serde_json::from_slice(host.state(Scope::Branch).unwrap()).unwrap();
    assert_eq!(stored["value"], serde_json::json!({"ends": 1}));
    assert_eq!(stored["set_aside"], r#"{"value":{"ends":"many"}}"#);
    assert!(
        matches!(&host.effects()[0], Effect::Log { level: Level::Error, message } if message.contains("kept aside"))
    );

    host.fire(Event::AgentEnd);
    let stored: serde_json::Value = serde_json::from_slice(host.state(Scope::Branch).unwrap()).unwrap();
    assert_eq!(stored["set_aside"], r#"{"value":{"ends":"many"}}"#, "it stays for whoever can read it");
}

#[test]
fn timers_fire_once_and_in_time() {
    let mut host = FakeHost::<Counter>::default();
    host.fire(Event::AgentEnd);
    host.advance(999);
    assert!(!host.effects().iter().any(|effect| matches!(effect, Effect::Notify { tone: Tone::Normal, .. })));
    host.advance(5000);
    let fired = host.effects().iter().filter(|effect| matches!(effect, Effect::Notify { tone: Tone::Normal, .. }));
    assert_eq!(fired.count(), 1);
}

#[test]
fn patches_are_applied_and_answered() {
    let mut host = FakeHost::<Counter>::default();
    host.fire(Event::AgentEnd);
    assert_eq!(host.file("workspace", "log.json"), Some("[\n  \"end\"\n]\n"));
    host.put("workspace", "log.json", "[1,");
    host.fire(Event::AgentEnd);
    assert_eq!(host.file("workspace", "log.json"), Some("[1,"), "what is not JSON is left alone");
    assert!(
        host.effects().iter().any(|effect| matches!(effect, Effect::Notify { text, .. } if text.contains("NotJson")))
    );
}
