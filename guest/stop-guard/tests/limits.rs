//! How often the agent is sent back, and when a verdict is one too late.
#![allow(clippy::unwrap_used, reason = "tests may")]

mod support;

use chaperone_sdk::*;
use proptest::prelude::*;
use serde_json::json;
use support::*;

// The limit

#[test]
fn for_one_request_the_agent_is_sent_back_as_often_as_allowed_and_the_user_warned_once() {
    let mut host = host();
    stops(&mut host, "go", "half");
    for number in 1..=2 {
        judge(&mut host, &go_on());
        assert_eq!(line(&host).0, format!("⚖️ judged premature · continuation {number}/2"));
        assert_eq!(notes(&host), []);
        goes_on(&mut host, "still half");
    }
    judge(&mut host, &go_on());
    let limit = ("⚖️ continuation limit reached (2/2) · no further intervention".to_owned(), Tone::Muted);
    assert_eq!(line(&host), limit);
    assert_eq!((notes(&host).len(), notes(&host)[0].1), (1, Tone::Warning));
    assert_eq!((host.injections().len(), reported(&host)), (0, vec![Verdict::Flag]));

    // Something else than the user wakes the agent for the same request.
    host.take_effects();
    host.session.idle = false;
    host.fire(Event::AgentStart);
    host.turn("half again", &[]);
    host.end();
    judge(&mut host, &go_on());
    assert_eq!((line(&host), notes(&host).len(), host.injections().len()), (limit, 0, 0));
}

#[test]
fn new_input_of_the_user_begins_the_count_anew_and_nothing_else_does() {
    let mut host = host_with(json!({"maxAutoContinues": 1}));
    stops(&mut host, "go", "half");
    judge(&mut host, &go_on());
    goes_on(&mut host, "half");
    judge(&mut host, &verdict("stop", 0.9, "fine"));
    host.take_effects();
    host.settle(SettledReason::Finished);
    judge(&mut host, &go_on());
    assert!(line(&host).0.contains("limit reached (1/1)"), "an accepted stop gives nothing back");

    host.take_effects();
    stops(&mut host, "go", "half");
    judge(&mut host, &go_on());
    assert_eq!(line(&host).0, "⚖️ judged premature · continuation 1/1", "the same words are another request");
}

#[test]
fn a_limit_of_0_is_none() {
    let mut host = host_with(json!({"maxAutoContinues": 0}));
    stops(&mut host, "go", "half");
    for number in 1..=20 {
        judge(&mut host, &go_on());
        assert_eq!(line(&host).0, format!("⚖️ judged premature · continuation {number}, no limit"));
        goes_on(&mut host, "half");
    }
}

#[test]
fn the_count_belongs_to_the_branch_and_its_request() {
    let mut host = host();
    stops(&mut host, "go", "half");
    let before = host.state(Scope::Branch).map(<[u8]>::to_vec);
    assert_eq!(before, None, "nothing is spent");
    judge(&mut host, &go_on());
    let stored: serde_json::Value = serde_json::from_slice(host.state(Scope::Branch).unwrap()).unwrap();
    assert_eq!(stored["value"]["continuations"], 1);
    assert_eq!(stored["value"]["request"], host.branch.entries()[0].id.as_str());
}

proptest! {
    #[test]
    fn whatever_happens_no_request_is_continued_more_often_than_allowed(
        limit in 1_u32..4,
        acts in proptest::collection::vec(0_u8..7, 1..40),
    ) {
        let mut host = host_with(json!({"maxAutoContinues": limit}));
        let mut sent = 0;
        stops(&mut host, "go", "half");
        for act in acts {
            host.take_effects();
            match act {
                0 => { sent = 0; stops(&mut host, "more", "half"); }
                1 => host.settle(SettledReason::Interrupted),
                2 => { host.turn("by itself", &[]); host.end(); }
                3 => { host.fire(Event::SessionStart { reason: StartReason::Resume }); }
                4 => host.session.input_pending = !host.session.input_pending,
                _ => host.settle(SettledReason::Finished),
            }
            host.answer_all(|_| Ok(go_on()));
            sent += host.injections().len() as u32;
            prop_assert!(sent <= limit, "{sent} of {limit}");
        }
    }
}

// Too late

/// The agent has stopped, and something happens while the judge is thinking, who then wants to send it back.
fn late(happens: impl FnOnce(&mut TestHost)) -> TestHost {
    let mut host = host();
    stops(&mut host, "go", "half");
    let (id, _) = call(&host);
    host.take_effects();
    happens(&mut host);
    let outcome = Ok(fake::completion(go_on()));
    host.answer(id, outcome);
    host
}

fn is_cancelled(host: &TestHost) -> bool {
    host.effects().iter().any(|effect| matches!(effect, Effect::Cancel { .. }))
}

#[test]
fn a_verdict_on_time_counts_whatever_is_shown_meanwhile() {
    let shown = late(|host| {
        for _ in 0..100 {
            host.append(EntryBody::Other("custom".into()));
        }
    });
    assert_eq!(
        shown.injections().len(),
        1,
        "notices and labels are no part of the conversation, however many they are"
    );
}

#[test]
fn new_input_a_new_turn_or_another_branch_ends_the_judgement() {
    let content = || vec![Content::Text("wait".into())];
    let host = late(|host| _ = host.fire(Event::Input { content: content() }));
    assert_nothing_happened(&host);
    assert!(is_cancelled(&host));
    let host = late(|host| _ = host.fire(Event::AgentStart));
    assert_nothing_happened(&host);
    assert!(is_cancelled(&host));
    let host = late(|host| _ = host.fire(Event::BranchChanged));
    assert_nothing_happened(&host);
    assert!(is_cancelled(&host));
    let host = late(|host| _ = host.fire(Event::SessionStart { reason: StartReason::Resume }));
    assert_nothing_happened(&host);
}

#[test]
fn a_verdict_is_discarded_if_anything_has_happened_even_where_no_hook_told_of_it() {
    assert_nothing_happened(&late(|host| host.session.input_pending = true));
    assert_nothing_happened(&late(|host| host.session.idle = false));
    assert_nothing_happened(&late(|host| _ = host.append(EntryBody::User(Vec::new()))));
    assert_nothing_happened(&late(|host| {
        let message = CustomMessage { custom_type: "x".into(), content: "x".into(), display: true, details: None };
        host.append(EntryBody::Custom(message));
    }));
    assert_nothing_happened(&late(|host| {
        let user = host.branch.entries()[0].id.clone();
        assert!(host.branch.cut_after(&user));
    }));
}

#[test]
fn a_failure_that_comes_too_late_is_not_told_either() {
    let mut host = host();
    stops(&mut host, "go", "half");
    let (id, _) = call(&host);
    host.take_effects();
    host.session.input_pending = true;
    host.answer(id, Err(LlmError::TimedOut));
    assert_nothing_happened(&host);
}

#[test]
fn nobody_is_asked_while_the_user_is_already_typing() {
    let mut host = host();
    host.session.input_pending = true;
    stops(&mut host, "go", "half");
    assert_eq!(calls(&host).len(), 0);
    assert_nothing_happened(&host);
}

#[test]
fn after_a_reload_the_judgement_that_is_under_way_still_counts() {
    let host = late(|host| _ = host.fire(Event::SessionStart { reason: StartReason::Reload }));
    assert_eq!(host.injections().len(), 1);
}

#[test]
fn only_the_latest_stop_is_judged() {
    let mut host = host();
    stops(&mut host, "go", "half");
    let (first, _) = call(&host);
    host.take_effects();
    host.turn("more", &[]);
    host.end();
    assert!(is_cancelled(&host));
    let (second, _) = call(&host);
    host.answer(first, Ok(fake::completion(go_on())));
    assert_nothing_happened(&host);
    host.answer(second, Ok(fake::completion(go_on())));
    assert_eq!(host.injections().len(), 1);
    host.answer(second, Ok(fake::completion(go_on())));
    assert_eq!(host.injections().len(), 1, "an answer counts once");
}
