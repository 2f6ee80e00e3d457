//! A guest that misbehaves costs its own effects, and nothing else.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chaperone::plugin::Plugin;
use chaperone::transaction::{Cause, Input, Limits, NoTraces, Outcome, ReadFiles};
use chaperone_contract::*;
use chaperone_tests::stage;

struct NoFiles;

impl ReadFiles for NoFiles {
    fn read(&self, _: &Location) -> Result<String, FileError> {
        Err(FileError::Denied("no such mount".into()))
    }
    fn entries(&self, _: &Location) -> Result<Vec<String>, FileError> {
        Err(FileError::NotFound)
    }
}

fn plugin() -> Arc<Plugin> {
    stage::hostile()
}

fn input() -> Input {
    Input {
        snapshot: stage::snapshot(),
        branch: Arc::default(),
        state: Default::default(),
        models: Arc::new([]),
        files: Arc::new(NoFiles),
        traces: Arc::new(NoTraces),
        next_request: 7,
    }
}

fn limits() -> Limits {
    // Unoptimised, and beside other tests: only those hooks run out of time that have to.
    Limits { memory: 16 << 20, time: Duration::from_secs(10), ..Limits::default() }
}

fn command(what: &str) -> Outcome {
    let event = Event::Command { name: "hostile".into(), arguments: what.into() };
    plugin().call(&limits(), input(), &event)
}

fn cause(what: &str) -> Cause {
    command(what).result.unwrap_err().cause
}

#[test]
fn a_panic_is_told_with_its_text_and_has_no_effects() {
    let failure = command("panic").result.unwrap_err();
    assert!(matches!(failure.cause, Cause::Trapped(_)));
    let text = failure.to_string();
    assert!(text.contains("as I was told"), "{text}");
    assert!(text.contains("doing panic"), "the log is kept: {text}");
}

#[test]
fn a_hook_that_never_returns_is_stopped_in_time() {
    let limits = Limits { time: Duration::from_millis(50), ..limits() };
    let event = Event::Command { name: "hostile".into(), arguments: "spin".into() };
    let started = Instant::now();
    let outcome = plugin().call(&limits, input(), &event);
    assert_eq!(outcome.result.unwrap_err().cause, Cause::TimedOut(50));
    assert!(started.elapsed() >= Duration::from_millis(45));
}

#[test]
fn a_hook_that_hoards_memory_is_told_so() {
    assert_eq!(cause("grow"), Cause::OutOfMemory(16));
}

#[test]
fn memory_that_was_given_back_is_used_again() {
    assert_eq!(said(&command("churn")), "kept 20000");
}

#[test]
fn nothing_that_a_hook_leaves_in_its_memory_is_seen_by_the_next() {
    // Below and above what the pool keeps mapped of an instance, and then writes over instead of giving it back.
    for pages in [4, 200].repeat(4) {
        let smeared = said(&command(&format!("smear {pages}"))).to_owned();
        let bytes: usize = smeared.split(' ').nth(1).unwrap().parse().unwrap();
        let (image, grown) = (2048 * 8, pages * (64 << 10));
        assert!(bytes > image + grown, "image, new pages and stack are stained: {smeared}");
        assert_eq!(said(&command(&format!("sniff {pages}"))), "found 0 bytes");
    }
}

/// The last that a command has shown.
fn said(outcome: &Outcome) -> &str {
    let effects = &outcome.result.as_ref().unwrap().effects;
    effects
        .iter()
        .rev()
        .find_map(|effect| match effect {
            Effect::Notify { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .unwrap()
}

#[test]
fn endless_recursion_ends() {
    assert!(matches!(cause("recurse"), Cause::Trapped(text) if text.contains("stack")));
}

#[test]
fn effects_are_bounded_in_number_and_size() {
    let limits = limits();
    let expected = Cause::TooManyEffects(limits.effects, limits.effect_bytes);
    assert_eq!(cause("flood"), expected);
    let limits = Limits { memory: 64 << 20, ..limits };
    let event = Event::Command { name: "hostile".into(), arguments: "shout".into() };
    let failure = plugin().call(&limits, input(), &event).result.unwrap_err();
    assert!(matches!(failure.cause, Cause::TooManyEffects(..) | Cause::Trapped(_)), "{failure}");
}

#[test]
fn a_hook_after_a_failed_one_is_not_touched_by_it() {
    cause("panic");
    let committed = plugin().call(&limits(), input(), &Event::AgentEnd).result.unwrap();
    assert_eq!(committed.effects.len(), 2);
    assert!(matches!(&committed.effects[1], Effect::Notify { text, .. } if text == "call 1"));
}

#[test]
fn the_context_hook_has_no_effects() {
    let committed = plugin().call(&limits(), input(), &Event::Context { messages: Vec::new() }).result.unwrap();
    assert_eq!(committed.reply, Reply::LeaveOut(vec![0]));
    assert_eq!(committed.effects, []);
}

#[test]
fn requests_are_numbered_from_where_the_host_says() {
    let committed = command("complete").result.unwrap();
    assert!(committed.effects.iter().any(|effect| matches!(effect, Effect::Complete(CompleteEffect { id: 7, .. }))));
}

#[test]
fn hooks_run_beside_each_other_on_instances_of_their_own() {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let committed = plugin().call(&limits(), input(), &Event::AgentEnd).result.unwrap();
                        assert_eq!(committed.effects.len(), 2);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}
