//! A fake host with monitors, and short ways to say what happens in it.
#![allow(dead_code, reason = "no test file needs all of it")]
#![allow(clippy::unwrap_used, reason = "tests may")]

use chaperone_monitors::Monitors;
use chaperone_sdk::fake::{FakeHost, Tooling};
use chaperone_sdk::*;
use serde_json::{Value, json};

pub type TestHost = FakeHost<Monitors>;

/// A tool call that answers `ok`.
pub fn bash() -> Tooling {
    Tooling::ok("bash", "{}", "ok")
}

/// A monitor that judges at the end of a run, steers with `S.` and learns; with changes merged into it.
pub fn monitor(name: &str, changes: Value) -> Value {
    let mut monitor = json!({
        "name": name,
        "event": "agent_end",
        "classify": {"prompt": "Known: {patterns} Again: {iteration} {instructions} Answer CLEAN, FLAG: or NEW:"},
        "patterns": {"path": format!("{name}.patterns.json")},
        "actions": {"on_flag": {"steer": "S."}, "on_new": {"steer": "S.", "learn_pattern": true}},
    });
    merge(&mut monitor, changes);
    monitor
}

pub fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

/// A session over these monitors, which has begun.
pub fn host(monitors: &[Value]) -> TestHost {
    let mut host = TestHost::default();
    for monitor in monitors {
        let name = monitor["name"].as_str().unwrap();
        host.put("project", &format!("monitors/{name}.monitor.json"), monitor.to_string());
        host.put("project", &format!("monitors/{name}.patterns.json"), r#"[{"id":"p","description":"pd"}]"#);
    }
    host.fire(Event::Describe);
    trust_all(&mut host);
    host.fire(Event::SessionStart { reason: StartReason::New });
    host
}

/// The user trusts all monitors of the project as they are now.
pub fn trust_all(host: &mut TestHost) {
    host.fire(Event::Command { name: "monitors".into(), arguments: "trust all".into() });
    host.take_effects();
}

/// A session over one monitor `m`.
pub fn host_with(changes: Value) -> TestHost {
    host(&[monitor("m", changes)])
}

/// Answers the open calls with these texts, in order; there must be as many calls as answers.
pub fn judge(host: &mut TestHost, answers: &[&str]) {
    let mut left = answers.iter();
    let cancelled = cancelled(host);
    assert_eq!(cancelled, 0, "this host does not forget cancelled calls");
    let asked = host.answer_all(|request| {
        let answer = left.next().unwrap_or_else(|| panic!("an unexpected question of {}", request.label));
        Ok((*answer).to_owned())
    });
    assert_eq!(asked, answers.len(), "questions asked");
}

/// The user's prompt, and the agent's answer to it, with the end of the run.
pub fn exchange(host: &mut TestHost, prompt: &str, answer: &str) {
    host.user(prompt);
    host.turn(answer, &[]);
    host.end();
}

/// The steers reach the agent, which answers them.
pub fn answer_steer(host: &mut TestHost, answer: &str) {
    let messages: Vec<Injection> = host.injections().into_iter().cloned().collect();
    assert_eq!(messages.len(), 1, "steers in one run");
    host.take_effects();
    host.session.idle = false;
    host.fire(Event::AgentStart);
    for message in messages {
        let Injection { custom_type, content, display, details, .. } = message;
        let message = host.append(EntryBody::Custom(CustomMessage { custom_type, content, display, details }));
        host.fire(Event::MessageEnd { message });
    }
    host.turn(answer, &[]);
    host.end();
}

/// The calls among the effects.
pub fn calls(host: &TestHost) -> Vec<&CompletionRequest> {
    let calls = host.effects().iter().filter_map(|effect| match effect {
        Effect::Complete(call) => Some(&call.request),
        _ => None,
    });
    calls.collect()
}

/// The ids of the calls among the effects.
pub fn call_ids(host: &TestHost) -> Vec<RequestId> {
    let ids = host.effects().iter().filter_map(|effect| match effect {
        Effect::Complete(call) => Some(call.id),
        _ => None,
    });
    ids.collect()
}

/// How many calls were cancelled.
pub fn cancelled(host: &TestHost) -> usize {
    host.effects().iter().filter(|effect| matches!(effect, Effect::Cancel { .. })).count()
}

/// The labels of the calls among the effects.
pub fn asked(host: &TestHost) -> Vec<&str> {
    calls(host).into_iter().map(|call| call.label.as_str()).collect()
}

/// The lines of all steers, without the last one of each, which says who speaks.
pub fn steers(host: &TestHost) -> Vec<String> {
    let lines = host.injections().into_iter().flat_map(|message| {
        let mut lines: Vec<String> = message.content.lines().map(str::to_owned).collect();
        assert!(lines.pop().unwrap().contains("not the user's word"));
        lines
    });
    lines.collect()
}

/// The passing messages.
pub fn notes(host: &TestHost) -> Vec<&str> {
    let notes = host.effects().iter().filter_map(|effect| match effect {
        Effect::Notify { text, .. } => Some(text.as_str()),
        _ => None,
    });
    notes.collect()
}

/// The only passing message.
pub fn note(host: &TestHost) -> &str {
    let notes = notes(host);
    assert_eq!(notes.len(), 1, "{notes:?}");
    notes[0]
}

/// The notices of a kind.
pub fn notices<'h>(host: &'h TestHost, custom_type: &str) -> Vec<&'h Notice> {
    let notices = host.effects().iter().filter_map(|effect| match effect {
        Effect::Show(notice) if notice.custom_type == custom_type => Some(notice),
        _ => None,
    });
    notices.collect()
}

/// The title of a notice.
pub fn title(notice: &Notice) -> String {
    notice.title.iter().map(|span| span.text.as_str()).collect()
}

/// What was reported of judges.
pub fn judgements(host: &TestHost) -> Vec<&Judgement> {
    let judgements = host.effects().iter().filter_map(|effect| match effect {
        Effect::Judged(judgement) => Some(judgement),
        _ => None,
    });
    judgements.collect()
}

/// The open dialogs: id, title, body.
pub fn dialogs(host: &TestHost) -> Vec<(RequestId, &str, &str)> {
    let dialogs = host.effects().iter().filter_map(|effect| match effect {
        Effect::Ask { id, prompt: Prompt::Confirm((title, body)) | Prompt::Input((title, body)) } => {
            Some((*id, title.as_str(), body.as_str()))
        }
        _ => None,
    });
    dialogs.collect()
}

/// Answers the only open dialog.
pub fn answer_dialog(host: &mut TestHost, answer: Answer) {
    let dialogs = dialogs(host);
    assert_eq!(dialogs.len(), 1, "{dialogs:?}");
    let id = dialogs[0].0;
    host.take_effects();
    host.fire(Event::Answered { id, answer });
}

/// The lines of the log.
pub fn log(host: &TestHost) -> Vec<&str> {
    let lines = host.effects().iter().filter_map(|effect| match effect {
        Effect::Log { message, .. } => Some(message.as_str()),
        _ => None,
    });
    lines.collect()
}

/// What the status bar was last set to.
pub fn status(host: &TestHost) -> Option<String> {
    host.effects().iter().rev().find_map(|effect| match effect {
        Effect::SetStatus { text } => text.as_ref().map(|line| line.iter().map(|span| span.text.as_str()).collect()),
        _ => None,
    })
}

/// Runs `/monitors arguments` and returns what it answered.
pub fn monitors(host: &mut TestHost, arguments: &str) -> String {
    host.take_effects();
    run(host, "monitors", arguments);
    note(host).to_owned()
}

/// Runs `/name arguments`.
pub fn run(host: &mut TestHost, name: &str, arguments: &str) {
    host.fire(Event::Command { name: name.into(), arguments: arguments.into() });
}

/// A JSON file of a mount.
pub fn json_file(host: &TestHost, mount: &str, path: &str) -> Value {
    serde_json::from_str(host.file(mount, path).unwrap_or_else(|| panic!("{mount}:{path} is missing"))).unwrap()
}

/// The monitor's stored notes on the branch.
pub fn remembered(host: &TestHost) -> Value {
    let stored: Value = serde_json::from_slice(host.state(Scope::Branch).unwrap_or(b"{\"value\":{}}")).unwrap();
    stored["value"].clone()
}

/// How many steers in a row are counted for `m`.
pub fn count(host: &TestHost) -> u64 {
    remembered(host)["notes"]["m"]["count"].as_u64().unwrap_or(0)
}
