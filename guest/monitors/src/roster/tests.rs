use chaperone_sdk::fake::FakeHost;
use chaperone_sdk::{Context, Description, Event, Hook, Level, Plugin, Scope};
use serde_json::{Value, json};

use super::*;

/// Discovers at `describe`, and loads what it finds at `session_start`.
struct Finder;

impl Plugin for Finder {
    fn describe(cx: &mut Context) -> Description {
        let words = trusting(discover(cx, &Words::new()));
        let roster = discover(cx, &words);
        cx.set_state(Scope::Session, &roster);
        chaperone_sdk::describe("finder", "1", "Finds monitors", [Hook::SessionStart])
    }

    fn session_start(cx: &mut Context, _: chaperone_sdk::StartReason) {
        let roster: Roster = cx.state(Scope::Session);
        for listed in &roster.monitors {
            match load(cx, listed) {
                Ok(monitor) => cx.log(Level::Info, monitor.name),
                Err(fault) => cx.log(Level::Error, fault.to_string()),
            }
        }
    }
}

/// What a user says who trusts all that there is.
fn trusting(roster: Roster) -> Words {
    roster.untrusted.into_iter().map(|monitor| (monitor.name, trust::Word::Trusted(monitor.fingerprint))).collect()
}

fn host(files: &[(&str, &str, Value)]) -> FakeHost<Finder> {
    let mut host = FakeHost::default();
    for (mount, name, content) in files {
        host.put(mount, &format!("monitors/{name}"), content.to_string());
    }
    host
}

fn roster(host: &mut FakeHost<Finder>) -> Roster {
    host.fire(Event::Describe);
    let stored: Value = serde_json::from_slice(host.state(Scope::Session).unwrap()).unwrap();
    serde_json::from_value(stored["value"].clone()).unwrap()
}

fn monitor(name: &str, excludes: &[&str]) -> Value {
    json!({
        "name": name, "event": "agent_end", "patterns": {"path": "p.json"},
        "classify": {"prompt": "{patterns} CLEAN FLAG", "excludes": excludes},
    })
}

fn some_pattern() -> Value {
    json!([{"id": "p", "description": "pd"}])
}

fn names(roster: &Roster) -> Vec<&str> {
    roster.monitors.iter().map(|monitor| monitor.name.as_str()).collect()
}

fn lines(faults: &[Fault]) -> Vec<String> {
    faults.iter().map(Fault::to_string).collect()
}

#[test]
fn monitors_of_the_project_come_before_those_of_the_user() {
    let mut host = host(&[
        ("project", "b.monitor.json", monitor("b", &[])),
        ("project", "p.json", some_pattern()),
        ("project", "notes.json", json!("not a monitor")),
        ("user", "a.monitor.json", monitor("a", &[])),
        ("user", "p.json", some_pattern()),
    ]);
    let roster = roster(&mut host);
    assert_eq!(names(&roster), ["b", "a"]);
    assert_eq!(roster.faults, []);
    let a = roster.find("a").unwrap();
    assert_eq!((a.mount.as_str(), a.file.as_str(), a.event), ("user", "monitors/a.monitor.json", Trigger::AgentEnd));
    assert_eq!((a.ceiling.get(), a.max_per_prompt.get(), a.escalate), (5, 3, Escalate::Ask));
    assert_eq!(a.inactive, None);
}

#[test]
fn without_any_folder_there_is_no_monitor_and_no_fault() {
    assert_eq!(roster(&mut host(&[])), Roster::default());
}

#[test]
fn a_monitor_of_the_project_takes_the_place_of_the_users_which_is_reported() {
    let mut host = host(&[
        ("project", "x.monitor.json", monitor("same", &[])),
        ("project", "p.json", some_pattern()),
        ("user", "y.monitor.json", monitor("same", &[])),
    ]);
    let roster = roster(&mut host);
    assert_eq!(roster.find("same").unwrap().mount, "project");
    assert_eq!(
        lines(&roster.faults),
        [
            "user:monitors/y.monitor.json#/name: `same` is already the name of project:monitors/x.monitor.json, which is \
          used (rename one of them to use both)"
        ]
    );
    assert!(!roster.faults[0].is_to_be_mended(), "that is what the project's folder is for");
}

#[test]
fn d20_of_two_files_with_one_name_in_one_folder_the_second_is_a_fault() {
    let mut host = host(&[
        ("user", "1.monitor.json", monitor("same", &[])),
        ("user", "2.monitor.json", monitor("same", &[])),
        ("user", "p.json", some_pattern()),
    ]);
    let roster = roster(&mut host);
    assert_eq!(roster.find("same").unwrap().file, "monitors/1.monitor.json");
    assert_eq!((roster.faults.len(), &*roster.faults[0].file), (1, "monitors/2.monitor.json"));
    assert!(roster.faults[0].is_error());
}

#[test]
fn d20_a_bad_file_does_not_affect_another() {
    let mut host = host(&[
        ("project", "a.monitor.json", json!(null)),
        ("project", "b.monitor.json", json!({"patterns": {"path": 5}})),
        ("project", "good.monitor.json", monitor("good", &[])),
        ("project", "p.json", some_pattern()),
    ]);
    host.put("project", "monitors/c.monitor.json", "{,}");
    let roster = roster(&mut host);
    assert_eq!(names(&roster), ["good"]);
    let files: std::collections::BTreeSet<&str> = roster.faults.iter().map(|fault| &*fault.file).collect();
    assert_eq!(
        files.into_iter().collect::<Vec<_>>(),
        ["a", "b", "c"].map(|name| format!("monitors/{name}.monitor.json"))
    );
}

#[test]
fn a_bad_monitor_of_the_project_does_not_hide_the_users() {
    let mut broken = monitor("same", &[]);
    broken["event"] = json!("never");
    let mut host = host(&[
        ("project", "x.monitor.json", broken),
        ("user", "y.monitor.json", monitor("same", &[])),
        ("user", "p.json", some_pattern()),
    ]);
    let roster = roster(&mut host);
    assert_eq!(roster.find("same").unwrap().mount, "user");
    assert_eq!(roster.faults.len(), 1);
}

#[test]
fn d22_a_monitor_without_usable_patterns_is_inactive_and_says_why() {
    let with_patterns = |patterns: Option<&str>| {
        let mut host = host(&[("project", "m.monitor.json", monitor("m", &[]))]);
        if let Some(text) = patterns {
            host.put("project", "monitors/p.json", text);
        }
        let roster = roster(&mut host);
        assert!(!roster.faults.is_empty(), "{patterns:?}");
        roster.find("m").unwrap().inactive.clone().unwrap()
    };
    assert_eq!(with_patterns(None), "project:monitors/p.json: is missing");
    assert_eq!(with_patterns(Some("[]")), "there are no patterns in project:monitors/p.json");
    assert_eq!(with_patterns(Some(r#"[{"id":"x"}]"#)), "there are no patterns in project:monitors/p.json");
    assert_eq!(with_patterns(Some("{}")), "project:monitors/p.json: is not a list");
    assert!(with_patterns(Some("[1,")).contains("is not JSON"));
}

#[test]
fn a_fault_in_a_list_that_two_monitors_share_is_told_once() {
    let mut host = host(&[
        ("project", "a.monitor.json", monitor("a", &[])),
        ("project", "b.monitor.json", monitor("b", &[])),
        ("project", "p.json", json!([{"id": "p", "description": "pd"}, null])),
    ]);
    let roster = roster(&mut host);
    assert_eq!((roster.monitors.len(), roster.faults.len()), (2, 1));
    assert_eq!(&*roster.faults[0].pointer, "/1");
}

#[test]
fn d22_a_byte_order_mark_switches_nothing_off() {
    let mut host = host(&[]);
    host.put("project", "monitors/m.monitor.json", format!("\u{feff}{}", monitor("m", &[])));
    host.put("project", "monitors/p.json", format!("\u{feff}{}", some_pattern()));
    let roster = roster(&mut host);
    assert_eq!((roster.monitors[0].inactive.as_deref(), roster.faults.len()), (None, 0));
}

#[test]
fn d12_rules_that_cannot_be_read_take_the_monitor_out_of_service_and_missing_ones_do_not() {
    let mut host = host(&[("project", "m.monitor.json", monitor("m", &[])), ("project", "p.json", some_pattern())]);
    assert_eq!(roster(&mut host).find("m").unwrap().inactive, None);
    host.put("project", "monitors/m.instructions.json", r#"[{"text":"one"},]"#);
    let roster = roster(&mut host);
    assert!(roster.find("m").unwrap().inactive.as_ref().unwrap().starts_with("project:monitors/m.instructions.json: "));
    assert_eq!(&*roster.faults[0].file, "monitors/m.instructions.json");
}

#[test]
fn d16_monitors_that_wait_for_each_other_are_all_out_of_service() {
    let mut host = host(&[
        ("project", "a.monitor.json", monitor("a", &["b"])),
        ("project", "b.monitor.json", monitor("b", &["c", "free"])),
        ("project", "c.monitor.json", monitor("c", &["a"])),
        ("project", "free.monitor.json", monitor("free", &[])),
        ("project", "self.monitor.json", monitor("self", &["self"])),
        ("project", "waits.monitor.json", monitor("waits", &["a"])),
        ("project", "p.json", some_pattern()),
    ]);
    let roster = roster(&mut host);
    let reasons: Vec<Option<&str>> = roster.monitors.iter().map(|monitor| monitor.inactive.as_deref()).collect();
    assert_eq!(
        reasons,
        [
            Some("excludes form a cycle: a -> b -> c -> a"),
            Some("excludes form a cycle: b -> c -> a -> b"),
            Some("excludes form a cycle: c -> a -> b -> c"),
            None,
            Some("excludes form a cycle: self -> self"),
            None,
        ]
    );
    let errors = roster.faults.iter().filter(|fault| fault.is_error());
    assert!(errors.map(|fault| &*fault.pointer).eq(["/classify/excludes"; 4]));
}

#[test]
fn an_excluded_monitor_that_does_not_exist_is_a_warning() {
    let mut host =
        host(&[("project", "a.monitor.json", monitor("a", &["ghost"])), ("project", "p.json", some_pattern())]);
    let roster = roster(&mut host);
    assert_eq!(roster.find("a").unwrap().inactive, None);
    assert_eq!(
        lines(&roster.faults),
        [
            "project:monitors/a.monitor.json#/classify/excludes/0: there is no monitor `ghost` (correct the name, or remove it)"
        ]
    );
}

#[test]
fn a_bundled_monitor_that_was_not_added_is_only_mentioned() {
    let mut host =
        host(&[("project", "a.monitor.json", monitor("a", &["fragility"])), ("project", "p.json", some_pattern())]);
    let [fault] = &roster(&mut host).faults[..] else { panic!("one remark") };
    assert!(!fault.is_to_be_mended());
    assert!(fault.mend.starts_with("/monitors init fragility adds it"), "{fault}");
}

#[test]
fn a_collector_that_the_host_does_not_grant_is_a_warning() {
    let mut shows = monitor("a", &[]);
    shows["classify"]["context"] = json!(["assistant_text", "git_status"]);
    let mut host = host(&[("project", "a.monitor.json", shows), ("project", "p.json", some_pattern())]);
    assert_eq!(roster(&mut host).faults, []);
    let denied = Err(FileError::Denied("no mount `git` is granted".into()));
    host.reads.insert(("git".into(), "status".into()), denied);
    let faults = roster(&mut host).faults;
    assert_eq!(
        lines(&faults),
        ["project:monitors/a.monitor.json#/classify/context/1: `git_status` is not available: no mount `git` is \
          granted (write git = \"read\" under [plugin.grants.files] of chaperone.toml)"]
    );
    assert!(!faults[0].is_error());
}

#[test]
fn a_listed_monitor_is_loaded_from_its_file_as_it_is_now() {
    let mut host = host(&[
        ("project", "a.monitor.json", monitor("a", &[])),
        ("project", "b.monitor.json", monitor("b", &[])),
        ("project", "c.monitor.json", monitor("c", &[])),
        ("project", "d.monitor.json", monitor("d", &[])),
        ("project", "p.json", some_pattern()),
    ]);
    assert_eq!(roster(&mut host).faults, []);
    host.put("project", "monitors/b.monitor.json", monitor("renamed", &[]).to_string());
    let mut broken = monitor("c", &[]);
    broken["ceiling"] = json!(0);
    host.put("project", "monitors/c.monitor.json", broken.to_string());
    host.files.remove(&("project".into(), "monitors/d.monitor.json".into()));
    host.take_effects();
    host.fire(Event::SessionStart { reason: chaperone_sdk::StartReason::New });
    let logged: Vec<String> = host
        .take_effects()
        .into_iter()
        .filter_map(|effect| match effect {
            chaperone_sdk::Effect::Log { message, .. } => Some(message),
            _ => None,
        })
        .collect();
    assert_eq!(logged.len(), 4);
    assert_eq!(logged[0], "a");
    assert!(
        logged[1].starts_with("project:monitors/b.monitor.json#/name: was `b`, and is now `renamed`"),
        "{}",
        logged[1]
    );
    assert!(logged[2].starts_with("project:monitors/c.monitor.json#/ceiling: "), "{}", logged[2]);
    assert!(logged[3].starts_with("project:monitors/d.monitor.json: is missing"), "{}", logged[3]);
}
