//! Steers, and what is remembered of them.

use chaperone_contract::*;
use serde_json::json;

use super::play::*;

#[test]
fn d06_an_explicit_run_always_runs_and_always_answers() {
    let mut play = Play::with(json!({"event": "command"}));
    play.answers(&["CLEAN", "FLAG:x", "CLEAN"]);
    play.exchange("go", "done");
    play.command("m", "");
    assert!(play.told("[m] CLEAN"));
    play.command("m", "");
    assert!(play.told("[m] FLAG: x"));
    play.command("monitors", "off");
    play.seen.clear();
    play.command("m", "");
    assert!(play.told("[m] CLEAN"), "also while monitoring is off");
}

#[test]
fn d07_all_findings_of_a_run_are_delivered_and_only_they_count() {
    let late = json!({"event": "turn_end", "ceiling": 2});
    let mut play = Play::over(&[monitor("a", late.clone()), monitor("b", late)]);
    play.answers(&["FLAG:v", "FLAG:w"]);
    play.exchange("1", "bad");
    assert_eq!(play.steers(), ["[a] v. S.", "[b] w. S."]);
    assert_eq!(play.count().unwrap(), "a(1/2) b(1/2)");
    play.answers(&["FLAG:v", "FLAG:w"]);
    play.user("2");
    play.agent("bad", &[]);
    play.event(Event::Input { content: vec![Content::Text("wait".into())] });
    play.end();
    assert_eq!(play.count().unwrap(), "a(1/2) b(1/2)", "what was not delivered does not count");
}

#[test]
fn d16_who_excludes_another_waits_for_it_whatever_the_order_of_the_files() {
    let mut play = Play::over(&[monitor("a", json!({"classify": {"excludes": ["b"]}})), monitor("b", json!({}))]);
    play.answers(&["FLAG:x"]);
    play.exchange("go", "bad");
    assert_eq!(play.seen.asked(), ["b"]);
    let silent = json!({"actions": {"on_flag": {"steer": null}}});
    let mut play = Play::over(&[monitor("a", silent), monitor("b", json!({"classify": {"excludes": ["a"]}}))]);
    play.answers(&["FLAG:x", "FLAG:y"]);
    play.exchange("go", "bad");
    assert_eq!(play.steers(), ["[b] y. S."], "who says nothing keeps nobody out");
    let circle = |name, other| monitor(name, json!({"classify": {"excludes": [other]}}));
    let mut play = Play::over(&[circle("a", "b"), circle("b", "a")]);
    assert!(play.told("/classify/excludes"), "{:?}", play.seen.notices());
    play.exchange("go", "bad");
    assert_eq!(play.seen.asked(), [""; 0]);
}

#[test]
fn d19_where_nobody_can_be_asked_the_end_of_the_watch_is_said() {
    let mut play = Play::with(json!({"ceiling": 2}));
    for prompt in ["1", "2", "3", "4"] {
        play.answers(&["FLAG:v"]);
        play.exchange(prompt, "bad");
    }
    assert_eq!(play.steers().len(), 2);
    assert!(play.told("[m] Dismissed for this session after 2 steers in a row"), "{:?}", play.seen.notices());
    let logged = |effect: &Effect| matches!(effect, Effect::Log { level: Level::Warn, message } if message.contains("Dismissed"));
    assert!(play.seen.effects().any(logged));
}

#[test]
fn d26_off_dismiss_and_reset_leave_nothing_behind() {
    for silence in ["off", "m dismiss"] {
        let mut play = Play::with(json!({"event": "turn_end"}));
        play.answers(&["FLAG:x"]);
        play.user("go");
        play.agent("bad", &[]);
        play.command("monitors", silence);
        play.end();
        assert!(play.steers().is_empty(), "{silence}");
    }
    let mut play = Play::with(json!({}));
    play.exchange("go", "done");
    play.command("monitors", "m reset");
    play.event(Event::AgentEnd);
    assert_eq!(play.calls().len(), 2, "it looks at the same again");
}

#[test]
fn d31_one_message_starts_the_agent_once() {
    let (early, late) = (json!({"event": "turn_end"}), json!({}));
    let mut play = Play::over(&[monitor("a", early), monitor("c", late.clone()), monitor("d", late)]);
    play.answers(&["FLAG:x", "FLAG:y", "FLAG:z"]);
    play.exchange("go", "bad");
    let injections = play.seen.injections();
    assert_eq!(injections.len(), 1);
    assert!(injections[0].trigger_turn);
    assert_eq!(play.steers(), ["[a] x. S.", "[c] y. S.", "[d] z. S."]);
}

#[test]
fn d32_whoever_stopped_the_agent_has_stopped_it() {
    for reason in [StopReason::Aborted, StopReason::Error] {
        let mut play = Play::with(json!({"event": "turn_end"}));
        play.answers(&["FLAG:x"]);
        play.user("u");
        play.agent_ending("half", &[], reason);
        play.event(Event::AgentEnd);
        play.event(Event::AgentSettled { reason: SettledReason::Interrupted });
        assert_eq!(play.calls().len(), 0, "{reason:?}");
        assert!(play.steers().is_empty());
    }
}

#[test]
fn d33_the_user_is_asked_only_after_the_judge_has_flagged_again() {
    let mut play = Play::attended(json!({"ceiling": 1}));
    play.answers(&["FLAG:x", "CLEAN", "FLAG:y", "FLAG:z"]);
    play.exchange("1", "bad");
    play.exchange("2", "good");
    assert_eq!(play.dialogs(), [], "all was well");
    play.exchange("3", "bad");
    play.exchange("4", "bad");
    assert_eq!(play.dialogs()[0].1, "[m] Steered 1 times");
    play.answer_dialog(Answer::Confirmed(true));
    assert_eq!(play.steers().last().unwrap(), "[m] z. S.");
    let play = Play::with(json!({"ceiling": -1}));
    assert!(play.told("m.monitor.json#/ceiling"));
}

#[test]
fn d35_what_a_session_remembers_ends_with_it() {
    let mut play = Play::with(json!({}));
    play.command("monitors", "off");
    let mut other = Play::on(play.stage.clone(), chaperone::drive::Dialogs::Unavailable);
    other.exchange("go", "done");
    assert_eq!(other.calls().len(), 1, "another session is another matter");
    play.event(Event::SessionStart { reason: StartReason::New });
    play.exchange("go", "done");
    assert_eq!(play.calls().len(), 1, "a new session has all monitors on");
}
