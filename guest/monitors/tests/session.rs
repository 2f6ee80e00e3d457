//! The life of a session: how it begins, what it keeps, and how a project gets its first monitors.
#![allow(clippy::unwrap_used, reason = "tests may")]

mod support;

use chaperone_sdk::*;
use serde_json::json;
use support::*;

const BUNDLED: usize = 9;

fn start(host: &mut TestHost, reason: StartReason) {
    host.take_effects();
    host.fire(Event::Describe);
    host.fire(Event::SessionStart { reason });
}

fn files(host: &TestHost) -> usize {
    host.files.keys().filter(|(mount, path)| mount == "project" && path.starts_with("monitors/")).count()
}

#[test]
fn d35_a_new_session_has_everything_on_and_nothing_under_way() {
    for reason in [StartReason::New, StartReason::Resume, StartReason::Fork] {
        let mut host = host(&[monitor("a", json!({})), monitor("b", json!({"event": "turn_end"}))]);
        monitors(&mut host, "a dismiss");
        host.user("go");
        host.turn("bad", &[]);
        judge(&mut host, &["FLAG:x"]);
        monitors(&mut host, "off");
        start(&mut host, reason);
        assert_eq!(status(&host).unwrap(), "monitors:2");
        host.end();
        assert!(host.injections().is_empty());
        assert_eq!(asked(&host), ["a"]);
    }
}

#[test]
fn d35_a_plugin_that_is_loaded_anew_goes_on_where_it_was() {
    let mut host = host(&[monitor("a", json!({})), monitor("b", json!({"event": "turn_end"}))]);
    monitors(&mut host, "a dismiss");
    host.user("go");
    host.turn("bad", &[]);
    start_after_judging(&mut host);
    assert_eq!(status(&host).unwrap(), "1 dismissed");
    host.end();
    assert_eq!(steers(&host), ["[b] x. S."]);
}

fn start_after_judging(host: &mut TestHost) {
    judge(host, &["FLAG:x"]);
    start(host, StartReason::Reload);
}

#[test]
fn what_is_counted_follows_the_branch() {
    let mut host = host_with(json!({}));
    exchange(&mut host, "1", "bad");
    let before = host.state(Scope::Branch).unwrap().to_vec();
    judge(&mut host, &["FLAG:x"]);
    assert_eq!(count(&host), 1);
    host.set_state(Scope::Branch, before);
    host.take_effects();
    host.fire(Event::BranchChanged);
    assert_eq!(count(&host), 0);
    assert_eq!(status(&host).unwrap(), "monitors:1");
    host.fire(Event::AgentEnd);
    assert_eq!(calls(&host).len(), 1, "what was under way there is over, so it is judged again");
}

#[test]
fn a_monitor_that_is_edited_is_read_again() {
    let mut host = host_with(json!({}));
    host.put(
        "project",
        "monitors/m.monitor.json",
        monitor("m", json!({"actions": {"on_flag": {"steer": "T."}}})).to_string(),
    );
    host.fire(Event::Describe);
    trust_all(&mut host);
    exchange(&mut host, "go", "bad");
    judge(&mut host, &["FLAG:x"]);
    assert_eq!(steers(&host), ["[m] x. T."]);
}

#[test]
fn describing_keeps_what_was_switched_off() {
    let mut host = host_with(json!({}));
    monitors(&mut host, "off");
    monitors(&mut host, "m dismiss");
    host.put("project", "monitors/n.monitor.json", monitor("n", json!({})).to_string());
    host.put("project", "monitors/n.patterns.json", r#"[{"id":"p","description":"pd"}]"#);
    trust_all(&mut host);
    host.fire(Event::Describe);
    assert_eq!(
        monitors(&mut host, ""),
        "monitors: OFF (all monitoring paused)\n  m [agent_end] — dismissed\n  n [agent_end] — idle"
    );
}

#[test]
fn d20_each_faulty_file_is_told_once_with_place_and_mend_and_harms_no_other() {
    let mut host = TestHost::default();
    host.put("project", "monitors/a.monitor.json", "null");
    host.put("project", "monitors/b.monitor.json", r#"{"name":"b","classify":{"prompt":"x"},"patterns":{"path":5}}"#);
    host.put("project", "monitors/m.monitor.json", monitor("m", json!({})).to_string());
    host.put("project", "monitors/m.patterns.json", r#"[{"id":"p","description":"pd"}]"#);
    trust_all(&mut host);
    start(&mut host, StartReason::New);
    let told = notes(&host);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].starts_with("project:monitors/a.monitor.json") && told[1].contains("b.monitor.json#/patterns/path")
    );
    assert!(told.iter().all(|line| line.contains('(') && !line.contains('\n')));
    host.take_effects();
    exchange(&mut host, "go", "bad");
    assert!(notes(&host).is_empty());
    judge(&mut host, &["FLAG:x"]);
    assert_eq!(steers(&host), ["[m] x. S."]);
    assert!(monitors(&mut host, "").ends_with("faults in their files: /monitors check)"));
}

#[test]
fn a_fault_that_comes_in_later_is_told_with_the_next_prompt() {
    let mut host = host_with(json!({}));
    host.put("project", "monitors/m.monitor.json", "{");
    host.fire(Event::Describe);
    host.user("go");
    assert!(note(&host).contains("m.monitor.json"));
    host.take_effects();
    host.user("again");
    assert!(notes(&host).is_empty());
}

#[test]
fn the_projects_monitor_wins_over_the_users_of_the_same_name() {
    let mut host = TestHost::default();
    for (mount, steer) in [("project", "P."), ("user", "U.")] {
        let text = monitor("m", json!({"actions": {"on_flag": {"steer": steer}}})).to_string();
        host.put(mount, "monitors/m.monitor.json", text);
        host.put(mount, "monitors/m.patterns.json", r#"[{"id":"p","description":"pd"}]"#);
    }
    trust_all(&mut host);
    start(&mut host, StartReason::New);
    assert!(notes(&host).is_empty(), "{:?}", notes(&host));
    assert!(!monitors(&mut host, "").contains("fault"));
    assert!(monitors(&mut host, "check").contains("note: user:monitors/m.monitor.json#/name"), "whoever asks is told");
    exchange(&mut host, "go", "bad");
    judge(&mut host, &["FLAG:x"]);
    assert_eq!(steers(&host), ["[m] x. P."]);
}

#[test]
fn the_users_monitors_work_in_every_project() {
    let mut host = TestHost::default();
    host.put("user", "monitors/m.monitor.json", monitor("m", json!({})).to_string());
    host.put("user", "monitors/m.patterns.json", r#"[{"id":"p","description":"pd"}]"#);
    start(&mut host, StartReason::New);
    assert!(dialogs(&host).is_empty());
    exchange(&mut host, "go", "bad");
    assert_eq!(calls(&host).len(), 1);
}

#[test]
fn d18_nothing_is_seeded_without_a_yes() {
    for reason in [StartReason::New, StartReason::Resume] {
        for mode in [Mode::Interactive, Mode::Rpc] {
            let mut host = TestHost::default();
            host.session.mode = mode;
            start(&mut host, reason);
            assert_eq!((dialogs(&host).len(), files(&host)), (1, 0));
            answer_dialog(&mut host, Answer::Confirmed(true));
            assert_eq!(files(&host), BUNDLED);
            assert!(note(&host).contains("fragility.monitor.json") && note(&host).contains("Edit or delete"));
        }
    }
}

#[test]
fn d18_a_no_is_remembered_for_the_project_and_only_a_no() {
    let mut host = TestHost::default();
    for (answer, asked_again) in [(Answer::Unavailable, 1), (Answer::Dismissed, 1), (Answer::Confirmed(false), 0)] {
        start(&mut host, StartReason::New);
        answer_dialog(&mut host, answer);
        assert_eq!(files(&host), 0);
        host.set_state(Scope::Session, r#"{"value":{"roster":{"monitors":[],"faults":[]}}}"#);
        start(&mut host, StartReason::New);
        assert_eq!(dialogs(&host).len(), asked_again);
    }
}

#[test]
fn d18_nobody_is_asked_where_there_is_a_monitor_file_of_whatever_kind_or_nobody_to_ask() {
    let quiet = |mode: Mode, reason, file: Option<(&str, &str)>| {
        let mut host = TestHost::default();
        host.session.mode = mode;
        if let Some((mount, text)) = file {
            host.put(mount, "monitors/x.monitor.json", text);
        }
        start(&mut host, reason);
        dialogs(&host).is_empty() && files(&host) <= 1
    };
    assert!(quiet(Mode::OneShot, StartReason::New, None));
    assert!(quiet(Mode::Interactive, StartReason::Fork, None));
    assert!(quiet(Mode::Interactive, StartReason::Reload, None));
    assert!(quiet(Mode::Interactive, StartReason::New, Some(("project", "{broken"))));
    assert!(quiet(Mode::Interactive, StartReason::New, Some(("user", "{broken"))));
}

#[test]
fn init_writes_what_is_absent_and_leaves_alone_what_is_there() {
    let mut host = TestHost::default();
    host.put("project", "monitors/hedge.patterns.json", "[]");
    start(&mut host, StartReason::New);
    let answer = monitors(&mut host, "init");
    assert_eq!(files(&host), BUNDLED);
    assert_eq!(host.file("project", "monitors/hedge.patterns.json"), Some("[]"));
    assert!(answer.contains("There already, and left as they are: hedge.patterns.json."));
    assert!(monitors(&mut host, "init").starts_with("There already"));
}

#[test]
fn init_adds_others_by_name_and_all_on_demand() {
    let mut host = TestHost::default();
    start(&mut host, StartReason::New);
    let answer = monitors(&mut host, "init scope-crepe");
    assert!(answer.starts_with("There is no bundled monitor scope-crepe\nAvailable: all, fragility, "), "{answer}");
    assert_eq!(files(&host), 0);
    monitors(&mut host, "init scope-creep commit-hygiene");
    assert_eq!(files(&host), 6);
    monitors(&mut host, "init all");
    assert_eq!(files(&host), 33);
}

#[test]
fn init_says_what_could_not_be_written() {
    let mut host = TestHost::default();
    start(&mut host, StartReason::New);
    host.file_errors.extend(std::iter::repeat_n(FileError::Denied("read-only".into()), BUNDLED));
    assert!(
        monitors(&mut host, "init")
            .starts_with("Not written: fragility.monitor.json (the file may not be written: read-only)")
    );
}

#[test]
fn the_bundled_monitors_work_as_soon_as_they_are_there() {
    let mut host = TestHost::default();
    start(&mut host, StartReason::New);
    monitors(&mut host, "init");
    host.fire(Event::Describe);
    assert_eq!(
        monitors(&mut host, ""),
        "monitors: ON\n  fragility [message_end, when: has_tool_results] — idle\n  hedge [turn_end] — idle\n  work-quality \
         [command] — idle"
    );
    host.user("run the tests");
    host.turn("I run them", &[bash()]);
    host.turn("One still fails, but that was so before.", &[]);
    host.end();
    assert_eq!(asked(&host), ["fragility"], "hedge waits");
    judge(&mut host, &["FLAG:one test still fails"]);
    assert_eq!(steers(&host), ["[fragility] one test still fails. Fix the issue you left behind."]);
    assert_eq!(json_file(&host, "workspace", ".workflow/gaps.json")["gaps"][0]["category"], "fragility");
}

#[test]
fn without_monitors_the_command_still_answers_and_nothing_is_shown() {
    let mut host = TestHost::default();
    host.session.mode = Mode::OneShot;
    start(&mut host, StartReason::New);
    assert_eq!(status(&host), None);
    exchange(&mut host, "go", "x");
    assert!(host.effects().iter().all(|effect| matches!(effect, Effect::Set { .. })), "{:?}", host.effects());
    assert_eq!(monitors(&mut host, ""), "monitors: ON\n  (no monitors; /monitors init adds the bundled ones)");
}
