//! What is kept of judgements, and the commands that read it

use snapbox::{assert_data_eq, str};

use crate::support::{World, session};

/// A project whose bundled monitors have judged a session, which is remembered.
fn judged(name: &str) -> World {
    let world = World::with_monitors();
    let [session, script] = session(name);
    world.prints(["run", &session, "--script", &script, "--remember", "--write"]);
    world
}

#[test]
fn a_session_that_is_not_remembered_leaves_no_trace() {
    let world = World::with_monitors();
    let [session, script] = session("leaves-failing-test");
    world.prints(["run", &session, "--script", &script, "--write"]);
    assert_eq!(world.prints(["monitors", "log"]), "No judgements are kept of this project.\n");
    assert_eq!(world.prints(["monitors", "cost"]), "No judgements are kept of this project.\n");
}

#[test]
fn log_lists_the_judgements_of_earlier_sessions_with_what_became_of_them() {
    let world = judged("leaves-failing-test");
    assert_data_eq!(
        world.prints(["monitors", "log", "fragility"]),
        str![[r#"
#1 [..] [fragility] FLAG — [..] (fragility-[..]) → noted, recorded, steered
[..] [fragility] CLEAN — precheck: no rule asks for a look

"#]]
    );
    assert_eq!(world.prints(["monitors", "log", "-n", "1"]).lines().count(), 1);
}

#[test]
fn why_shows_question_answer_and_consequences_by_the_id_that_stands_in_the_file() {
    let world = judged("leaves-failing-test");
    let gaps: serde_json::Value = serde_json::from_str(&world.read(".workflow/gaps.json")).unwrap();
    let id = gaps["gaps"][0]["id"].as_str().unwrap();
    let why = world.prints(["monitors", "why", id]);
    assert!(why.starts_with("[fragility] FLAG — "), "{why}");
    for part in [
        &format!("\nfinding: {id}\n"),
        "\njudge: script/script, ",
        " recorded: workspace:.workflow/gaps.json\n",
        " steered\n",
        "\n  answer\n    FLAG:",
        "\n  evidence\n    <evidence name=",
        "\n  instructions\n    ",
    ] {
        assert!(why.contains(part), "{part:?} in {why}");
    }
    assert_eq!(world.prints(["monitors", "why", "1"]), why);
    let error = world.fails(1, ["monitors", "why", "nothing"]);
    assert!(error.starts_with("error: No judgement `nothing` is kept"), "{error}");
}

#[test]
fn wrong_counts_and_says_how_to_add_a_rule() {
    let world = judged("leaves-failing-test");
    let said = world.prints(["monitors", "wrong", "1"]);
    assert!(said.starts_with("[fragility] Counted as wrong: FLAG — "), "{said}");
    assert!(said.contains("\nchaperone monitors rules fragility add 'This is no fault: "), "{said}");
    assert_eq!(world.prints(["monitors", "wrong", "1"]), "[fragility] #1 counts as wrong already\n");
    let cost = world.prints(["monitors", "cost"]);
    assert!(
        cost.contains("\n  fragility: 1 calls, 1 saved, ") && cost.contains("; 1 of 1 findings wrong (100 %)"),
        "{cost}"
    );
    assert!(world.prints(["monitors", "log"]).contains(" → noted, recorded, steered, wrong\n"));
}

#[test]
fn the_stop_guard_tells_of_its_own_judgements() {
    let world = World::new();
    let [session, script] = session("asks-permission");
    let run = |command: &str| {
        let run = ["run", &session, "--script", &script, "--plugin", "stop-guard", "--remember", "--command", command];
        world.prints(run).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let log = run("auto-goal log");
    assert!(log.contains("[stop-guard] FLAG — The rename was ordered, "), "{log}");
    assert_eq!((log.matches(" → steered").count(), log.matches("CLEAN → passed").count()), (1, 2), "{log}");
    let why = run("auto-goal why 1");
    for part in ["judge: script/script, ", " steered: confidence ", ", continuation 1 (of 2)", "judgement: #1, "] {
        assert!(why.contains(part), "{part:?} in {why}");
    }
    let cost = run("auto-goal cost");
    assert!(cost.contains("This session stop-guard: 9 calls, "), "{cost}");
    assert!(world.prints(["monitors", "log"]).starts_with("No judgements are kept"), "each plugin has its own");
}

#[test]
fn another_project_sees_nothing_of_it() {
    let world = judged("leaves-failing-test");
    world.write("other/.git/x", "");
    let said = world.prints(["monitors", "log", "--cwd", "other"]);
    assert_eq!(said, "No judgements are kept of this project.\n");
}

#[test]
fn the_configuration_says_what_is_kept() {
    let world = World::with_monitors();
    world.write("chaperone.toml", "[trace]\ncontent = \"none\"\n");
    let [session, script] = session("leaves-failing-test");
    world.prints(["run", &session, "--script", &script, "--remember"]);
    let why = world.prints(["monitors", "why", "1"]);
    assert!(why.starts_with("[fragility] FLAG\n") && why.contains("(not kept)"), "{why}");
    assert!(!why.contains("evidence\n") && !why.contains("<evidence"), "{why}");
    world.write("chaperone.toml", "[trace]\nkeep_days = 0\n");
    let error = world.fails(1, ["monitors", "log"]);
    assert!(error.contains("`keep_days` is out of range: 0") && error.contains("days from 1 to 3650"), "{error}");
}

#[test]
fn a_monitor_that_is_called_like_a_word_is_not_mistaken_for_it() {
    let world = World::new();
    world.write(
        ".pi/monitors/log.monitor.json",
        r#"{"name": "log", "classify": {"prompt": "{patterns} CLEAN FLAG"}, "patterns": {"path": "p.json"}}"#,
    );
    let error = world.fails(1, ["monitors", "log"]);
    assert!(error.contains("a monitor is called `log`, like the word of `/monitors`"), "{error}");
}

#[test]
fn a_recording_that_asked_for_traces_runs_again_without_the_store() {
    let world = judged("leaves-failing-test");
    let [session, script] = session("clean-fix");
    let record = ["run", &session, "--script", &script, "--remember", "--record", "rec.jsonl", "--command"];
    world.prints(record.into_iter().chain(["monitors why 1", "--command", "monitors cost"]));
    std::fs::remove_dir_all(world.home().join(".local")).unwrap();
    let replayed = world.prints(["replay", "rec.jsonl"]);
    assert!(replayed.ends_with(" hooks, no difference\n"), "{replayed}");
    assert!(world.read("rec.jsonl").contains("\"traces\":[{\"read\":"));
}

#[test]
fn proposed_patterns_are_approved_rejected_and_undone_in_the_shell() {
    let world = World::with_monitors();
    let proposal = |text: &str| format!("{{\"id\": \"x\", \"description\": \"{text}\"}}");
    let file = ".pi/monitors/hedge.proposed.json";
    world.write(file, &format!("[{}, {}]", proposal("Says sorry"), proposal("Says please")));
    let patterns =
        |arguments: &[&str]| world.prints(["monitors", "patterns", "hedge"].iter().chain(arguments).copied());
    assert!(patterns(&[]).ends_with("reject <n>|all):\n1. Says sorry\n2. Says please\n"));
    assert_eq!(patterns(&["approve", "2"]), "[hedge] Pattern approved: Says please\n");
    assert!(world.read(".pi/monitors/hedge.patterns.json").contains("Says please"));
    assert_eq!(patterns(&["reject", "all"]), "[hedge] Pattern rejected: Says sorry. It is not proposed again\n");
    assert!(world.prints(["monitors", "list"]).contains("hedge [turn_end] — idle"), "it is trusted as it is now");
    assert_eq!(patterns(&["undo"]), "[hedge] Pattern taken out again: Says please\n");
    assert_eq!(patterns(&[]).lines().count(), 9);
    world.fails(2, ["monitors", "patterns", "hedge", "approve", "0"]);
    world.fails(2, ["monitors", "patterns", "hedge", "like", "1"]);
}
