use super::*;
use crate::samples::*;

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: "1".into(), name: name.into(), arguments: arguments.into() }
}

#[test]
fn calls_are_those_since_the_users_message_with_what_came_of_them() {
    let entries = branch([
        user("old"),
        assistant("", &[("0", "bash", "{}")]),
        user("new"),
        assistant("a", &[("1", "read", "{}"), ("2", "bash", "{}"), ("3", "bash", "{}")]),
        result("1", "read", "x"),
        failure("2", "bash", "y"),
    ]);
    let transcript = Transcript::new(&entries);
    let calls: Vec<(&str, Outcome)> =
        transcript.calls().iter().map(|call| (call.call.id.as_str(), call.outcome)).collect();
    assert_eq!(calls, [("1", Outcome::Succeeded), ("2", Outcome::Failed), ("3", Outcome::Open)]);
    assert_eq!(transcript.user_text(), "new");
    assert_eq!(transcript.answer(), "a");
}

#[test]
fn a_call_that_waits_is_none_of_those_that_were_made() {
    let entries = branch([user("go"), assistant("", &[("1", "read", "{}"), ("2", "bash", "{}")])]);
    let pending = ToolCall { id: "2".into(), ..call("bash", "{}") };
    let transcript = Transcript::new(&entries).before(&pending);
    assert_eq!(transcript.calls().len(), 1);
    assert_eq!(transcript.called().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["bash"]);
}

#[test]
fn a_command_is_found_whatever_the_tool_and_its_form() {
    let command = |arguments| command(&call("shell", arguments));
    assert_eq!(command(r#"{"command": "ls -l"}"#).unwrap(), "ls -l");
    assert_eq!(command(r#"{"cmd": ["git", "push"]}"#).unwrap(), "git push");
    assert_eq!(command(r#"{"command": ["bash", "-lc", "git push; ls"]}"#).unwrap(), "git push; ls");
    assert_eq!(command(r#"{"path": "a"}"#), None);
    assert_eq!(command("no JSON"), None);
}

#[test]
fn the_same_thing_tried_again_has_the_same_subject() {
    let same = |a: &str, b: &str| subject(&call("bash", a)) == subject(&call("bash", b));
    assert!(same(r#"{"command": "make  test"}"#, r#"{"command":"make test","timeout":5}"#));
    assert!(!same(r#"{"command": "make"}"#, r#"{"command":"make test"}"#));
    assert!(same(r#"{"path": "./a.rs", "old": "x"}"#, r#"{"path":"a.rs","old":"y"}"#));
    assert!(!same(r#"{"x": 1}"#, r#"{"x": 2}"#));
}
