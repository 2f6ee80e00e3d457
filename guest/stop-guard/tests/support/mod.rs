//! A fake host with the stop guard, and short ways to say what happens in it.
#![allow(dead_code, reason = "no test file needs all of it")]
#![allow(clippy::unwrap_used, reason = "tests may")]

use chaperone_sdk::fake::FakeHost;
use chaperone_sdk::*;
use chaperone_stop_guard::{StopGuard, file, notice, nudge};
use serde_json::Value;

pub type TestHost = FakeHost<StopGuard>;

/// A session that has begun, under this configuration.
pub fn host_with(config: Value) -> TestHost {
    let mut host = TestHost::default();
    host.put(file::MOUNT, file::PATH, config.to_string());
    host.fire(Event::Describe);
    host.fire(Event::SessionStart { reason: StartReason::New });
    host
}

/// The same, without a file.
pub fn host() -> TestHost {
    let mut host = TestHost::default();
    host.fire(Event::SessionStart { reason: StartReason::New });
    host
}

/// What a judge answers.
pub fn verdict(word: &str, confidence: f64, reason: &str) -> String {
    serde_json::json!({"reason": reason, "verdict": word, "confidence": confidence}).to_string()
}

pub fn stop() -> String {
    verdict("stop", 0.92, "all done")
}

pub fn go_on() -> String {
    verdict("continue", 0.9, "the tests were not run")
}

/// The user asks for something, and the agent stops after having written this.
pub fn stops(host: &mut TestHost, request: &str, output: &str) {
    host.user(request);
    host.turn(output, &[]);
    host.end();
}

/// Answers the only open call.
pub fn judge(host: &mut TestHost, answer: &str) {
    let answered = host.answer_all(|_| Ok(answer.to_owned()));
    assert_eq!(answered, 1, "one question for each stop");
}

/// The directive reaches the agent, which works on and stops again.
pub fn goes_on(host: &mut TestHost, output: &str) {
    let message = injection(host).clone();
    host.take_effects();
    host.session.idle = false;
    host.fire(Event::AgentStart);
    let Injection { custom_type, content, display, details, .. } = message;
    let message = host.append(EntryBody::Custom(CustomMessage { custom_type, content, display, details }));
    host.fire(Event::MessageEnd { message });
    host.turn(output, &[]);
    host.end();
}

/// The only directive.
pub fn injection(host: &TestHost) -> &Injection {
    let injections = host.injections();
    assert_eq!(injections.len(), 1, "one directive");
    assert_eq!(injections[0].custom_type, nudge::CUSTOM_TYPE);
    injections[0]
}

/// The calls among the effects.
pub fn calls(host: &TestHost) -> Vec<&CompletionRequest> {
    let calls = host.effects().iter().filter_map(|effect| match effect {
        Effect::Complete(call) => Some(&call.request),
        _ => None,
    });
    calls.collect()
}

/// The only call: its id and what is asked.
pub fn call(host: &TestHost) -> (RequestId, CompletionRequest) {
    let calls: Vec<_> = host
        .effects()
        .iter()
        .filter_map(|effect| match effect {
            Effect::Complete(CompleteEffect { id, request }) => Some((*id, request.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(calls.len(), 1, "one question for each stop");
    calls[0].clone()
}

/// What the judge was shown, in the only call.
pub fn evidence(host: &TestHost) -> String {
    call(host).1.messages.remove(0).text
}

/// The verdict blocks: what is always shown, and its colour.
pub fn lines(host: &TestHost) -> Vec<(String, Tone)> {
    blocks(host).into_iter().map(|notice| (notice.title[1].text.clone(), notice.title[1].tone)).collect()
}

/// The only verdict block.
pub fn line(host: &TestHost) -> (String, Tone) {
    let mut lines = lines(host);
    assert_eq!(lines.len(), 1, "one block for each stop: {lines:?}");
    lines.remove(0)
}

/// The verdict blocks.
pub fn blocks(host: &TestHost) -> Vec<&Notice> {
    let notices = host.effects().iter().filter_map(|effect| match effect {
        Effect::Show(notice) => Some(notice),
        _ => None,
    });
    notices.inspect(|notice| assert_eq!(notice.custom_type, notice::CUSTOM_TYPE)).collect()
}

/// The details of the only block.
pub fn details(host: &TestHost) -> Vec<String> {
    let blocks = blocks(host);
    assert_eq!(blocks.len(), 1);
    blocks[0].details.iter().map(|line| line.iter().map(|span| span.text.as_str()).collect()).collect()
}

/// The passing messages.
pub fn notes(host: &TestHost) -> Vec<(&str, Tone)> {
    let notes = host.effects().iter().filter_map(|effect| match effect {
        Effect::Notify { text, tone } => Some((text.as_str(), *tone)),
        _ => None,
    });
    notes.collect()
}

/// The only passing message.
pub fn note(host: &TestHost) -> &str {
    let notes = notes(host);
    assert_eq!(notes.len(), 1, "{notes:?}");
    notes[0].0
}

/// What was reported of the judge.
pub fn judgements(host: &TestHost) -> Vec<&Judgement> {
    let judgements = host.effects().iter().filter_map(|effect| match effect {
        Effect::Judged(judgement) => Some(judgement),
        _ => None,
    });
    judgements.inspect(|judgement| assert_eq!(judgement.watcher, "stop-guard")).collect()
}

/// The verdicts that were reported.
pub fn reported(host: &TestHost) -> Vec<Verdict> {
    judgements(host).into_iter().map(|judgement| judgement.verdict).collect()
}

/// Nothing came of a stop: nobody hears of it.
pub fn assert_nothing_happened(host: &TestHost) {
    assert_eq!((lines(host), notes(host), reported(host)), (vec![], vec![], vec![]));
    assert_eq!(host.injections().len(), 0);
}

/// Runs `/config:auto-goal arguments`, and forgets what was before.
pub fn run(host: &mut TestHost, arguments: &str) {
    host.take_effects();
    host.fire(Event::Command { name: "config:auto-goal".into(), arguments: arguments.into() });
}

/// The configuration's file.
pub fn config_file(host: &TestHost) -> &str {
    host.file(file::MOUNT, file::PATH).unwrap()
}
