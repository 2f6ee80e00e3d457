//! How monitors are found and read.

use std::sync::Arc;

use chaperone::drive::Dialogs;
use chaperone::project::root_of;
use chaperone_contract::*;
use chaperone_tests::stage::Stage;
use serde_json::json;

use super::play::*;

#[test]
fn d18_nothing_is_copied_without_a_yes() {
    let stage = Arc::new(Stage::bare());
    let files =
        |stage: &Stage| std::fs::read_dir(stage.project().join(".pi/monitors")).map_or(0, |files| files.count());
    let play = Play::on(stage.clone(), Dialogs::Unavailable);
    assert_eq!(files(&stage), 0, "nobody could be asked");
    drop(play);
    let mut play = Play::on(stage.clone(), Dialogs::Shown);
    assert_eq!(play.dialogs().len(), 1);
    play.answer_dialog(Answer::Confirmed(false));
    assert_eq!(files(&stage), 0);
    play.seen.clear();
    play.event(Event::SessionStart { reason: StartReason::New });
    assert_eq!(play.dialogs(), [], "a no is remembered for the project");
    play.command("monitors", "init");
    assert_eq!(files(&stage), 9);
}

#[test]
fn d18_the_way_up_ends_at_the_repository_and_before_home() {
    let there = |paths: &'static [&'static str]| {
        move |path: &std::path::Path| paths.iter().any(|there| path == std::path::Path::new(there))
    };
    let root =
        |cwd: &str, paths| root_of(std::path::Path::new(cwd), Some(std::path::Path::new("/home/u")), there(paths));
    let at = std::path::PathBuf::from;
    assert_eq!(root("/home/u/proj", &["/home/u/proj/.git", "/home/u/.pi", "/home/u/.pi/monitors"]), at("/home/u/proj"));
    assert_eq!(
        root("/home/u/proj", &["/home/u/.pi", "/home/u/.pi/monitors"]),
        at("/home/u/proj"),
        "home is no project"
    );
    assert_eq!(root("/x/repo/sub", &["/x/.pi/monitors", "/x/repo/.git"]), at("/x/repo"));
}

#[test]
fn d20_one_bad_file_stops_nothing_else_and_is_told_with_its_place() {
    let stage = Arc::new(Stage::bare());
    put(&stage, &[monitor("m", json!({}))]);
    for (name, text) in [
        ("a", "null".to_owned()),
        ("b", monitor("b", json!({"patterns": {"path": 5}})).to_string()),
        ("c", monitor("my mon", json!({})).to_string()),
        ("d", monitor("monitors", json!({"event": "command"})).to_string()),
        ("e", monitor("m", json!({})).to_string()),
        ("f", json!({"classify": {"prompt": "x"}, "patterns": {"path": "p.json"}}).to_string()),
    ] {
        stage.put(&format!(".pi/monitors/{name}.monitor.json"), &text);
    }
    let mut play = Play::on(stage, Dialogs::Unavailable);
    for file in [
        "a.monitor.json",
        "b.monitor.json#/patterns/path",
        "c.monitor.json#/name",
        "d.monitor.json#/name",
        "f.monitor.json#/name",
    ] {
        assert!(play.told(file), "{file}: {:?}", play.seen.notices());
    }
    // The first file of a name counts.
    assert!(play.told("m.monitor.json#/name") || play.told("e.monitor.json#/name"), "{:?}", play.seen.notices());
    play.answers(&["FLAG:x"]);
    play.exchange("go", "bad");
    assert_eq!(play.steers(), ["[m] x. S."]);
}

#[test]
fn d22_a_list_of_the_wrong_shape_concerns_its_monitor_alone() {
    for patterns in ["{}", "null", "[1,", "[]"] {
        let stage = Arc::new(Stage::bare());
        put(&stage, &[monitor("a", json!({})), monitor("b", json!({}))]);
        stage.put(".pi/monitors/a.patterns.json", patterns);
        let mut play = Play::on(stage, Dialogs::Unavailable);
        assert!(play.told("a.patterns.json"), "{patterns}: {:?}", play.seen.notices());
        play.exchange("go", "done");
        assert_eq!(play.seen.asked(), ["b"], "{patterns}");
        play.seen.clear();
        play.command("monitors", "");
        assert!(play.told("a [agent_end] — inactive: "), "{:?}", play.seen.notices());
    }
}

#[test]
fn d22_a_byte_order_mark_is_no_fault_and_an_entry_without_words_is_left_out() {
    let stage = Arc::new(Stage::bare());
    put(&stage, &[monitor("m", json!({}))]);
    stage.put(".pi/monitors/m.patterns.json", "\u{feff}[{\"id\":\"a\"},{\"id\":\"b\",\"description\":\"bd\"}]");
    let mut play = Play::on(stage, Dialogs::Unavailable);
    play.exchange("go", "done");
    let system = play.calls()[0].system.clone().unwrap();
    assert!(system.contains("1. [warning] bd (b)") && !system.contains("undefined"), "{system}");
}
