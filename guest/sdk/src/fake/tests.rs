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

/// Has the host make a file whenever the agent ends, and logs what came of it.
struct Maker;

impl Plugin for Maker {
    fn describe(_: &mut Context) -> Description {
        crate::describe("maker", "1", "Has a file made", vec![Hook::AgentEnd])
    }

    fn agent_end(cx: &mut Context) {
        cx.refresh("git", "status");
    }

    fn stored(cx: &mut Context, _: RequestId, outcome: Result<(), FileError>) {
        cx.log(Level::Info, format!("{outcome:?}"));
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
fn a_file_that_the_host_makes_is_there_once_it_was_asked_for() {
    let mut host = FakeHost::<Maker>::default();
    host.fire(Event::AgentEnd);
    assert_eq!(host.file("git", "status"), None);
    host.made.insert(("git".into(), "status".into()), Ok("## main".into()));
    host.fire(Event::AgentEnd);
    assert_eq!(host.file("git", "status"), Some("## main"));
    host.made.insert(("git".into(), "status".into()), Err(FileError::NotFound));
    host.fire(Event::AgentEnd);
    assert_eq!(host.file("git", "status"), None, "what was made before is gone");
    let heard: Vec<&str> = host
        .effects()
        .iter()
        .filter_map(|effect| match effect {
            Effect::Log { message, .. } => Some(message.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(heard, ["Err(NotFound)", "Ok(())", "Err(NotFound)"]);
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
