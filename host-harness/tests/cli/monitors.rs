//! `chaperone monitors`, but for `check`

use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::support::{World, session};

const RULES: &str = ".pi/monitors/hedge.instructions.json";

#[test]
fn init_writes_the_bundled_monitors_once_and_keeps_what_is_there() {
    let world = World::new();
    world.write(".pi/monitors/hedge.patterns.json", "[]");
    assert_data_eq!(
        world.prints(["monitors", "init"]),
        str![[r#"
Written to .pi/monitors: fragility.monitor.json, fragility.patterns.json, fragility.instructions.json, hedge.monitor.json, hedge.instructions.json, work-quality.monitor.json, work-quality.patterns.json, work-quality.instructions.json. Edit or delete them to customize.
There already, and left as they are: hedge.patterns.json.

"#]]
    );
    assert_eq!(world.read(".pi/monitors/hedge.patterns.json"), "[]");
    let before = world.tree();
    let again = world.prints(["monitors", "init"]);
    assert!(again.starts_with("There already, and left as they are: fragility.monitor.json, "), "{again}");
    assert_eq!(world.tree(), before);
}

#[test]
fn init_goes_to_the_project_or_to_the_folder_that_is_named() {
    let world = World::new();
    world.write("deep/er/file", "");
    let mut within = world.chaperone(["monitors", "init"]);
    within.current_dir(world.project().join("deep/er")).assert().success();
    assert!(world.project().join(".pi/monitors/hedge.monitor.json").exists());
    world.prints(["monitors", "init", "--cwd", "deep"]);
    assert!(world.project().join("deep/.pi/monitors/hedge.monitor.json").exists());
    assert_eq!(world.fails(1, ["monitors", "init", "--cwd", "none"]), "error: none is not a folder\n");
}

#[test]
fn init_says_what_it_may_not_write() {
    let world = World::new();
    world.write(
        "chaperone.toml",
        "[[plugin]]\nname = \"monitors\"\ncomponent = \"builtin:monitors\"\ngrants.files = { project = \"read\" }\n",
    );
    let error = world.fails(1, ["monitors", "init"]);
    assert!(error.contains("error: Not written: fragility.monitor.json ("), "{error}");
    assert!(!world.project().join(".pi").exists());
}

#[test]
fn list_tells_how_all_stand_and_on_stderr_what_is_wrong() {
    let world = World::with_monitors();
    world.write_of_user(
        "monitors/mine.monitor.json",
        r#"{"name": "mine", "event": "agent_end", "classify": {"prompt": "{patterns} CLEAN FLAG"}, "patterns": {"path": "none.json"}}"#,
    );
    let output = world.chaperone(["monitors", "list"]).assert().success();
    assert_data_eq!(
        String::from_utf8(output.get_output().stdout.clone()).unwrap(),
        str![[r#"
monitors: ON
  fragility [message_end, when: has_tool_results] — idle
  hedge [turn_end] — idle
  work-quality [command] — idle
  mine [agent_end] — inactive: user:monitors/none.json: is missing
(1 fault in their files: chaperone monitors check)

"#]]
    );
    assert_data_eq!(
        String::from_utf8(output.get_output().stderr.clone()).unwrap(),
        str![[r#"
warning: user:monitors/none.json: is missing (make the file, or correct the path that leads to it)

"#]]
    );
}

#[test]
fn list_says_how_to_get_monitors_where_there_are_none() {
    let world = World::new();
    let before = world.tree();
    let output = world.chaperone(["monitors", "list"]).assert().success();
    let hint = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert_eq!(hint, "`chaperone monitors init` adds three to start with, `init all` all eleven\n");
    assert_eq!(world.tree(), before);
}

#[test]
fn show_and_patterns_answer_as_in_a_session() {
    let world = World::with_monitors();
    assert_data_eq!(
        world.prints(["monitors", "show", "hedge"]),
        str![[r#"
[hedge] Speaks up when [..]
event: turn_end, when: always, scope: main
state: idle, ceiling: 3, escalate: ask
rules: 0, patterns: 8

"#]]
    );
    let patterns = world.prints(["monitors", "patterns", "hedge"]);
    assert!(patterns.starts_with("[hedge] patterns:\n1. [warning] "), "{patterns}");
    assert_eq!(patterns.lines().count(), 9);
}

#[test]
fn rules_are_added_replaced_and_removed_word_for_word() {
    let world = World::with_monitors();
    let rules = |arguments: &[&str]| world.prints(["monitors", "rules", "hedge"].iter().chain(arguments).copied());
    let text = "Two  blanks, a\ttab, \"quotes\", {braces} and\na line break\u{a0}—";
    assert_eq!(rules(&["add", text]), format!("[hedge] Rule added: {text}\n"));
    assert_eq!(rules(&["add", "--", "never", "pass", "--force", "-f"]), "[hedge] Rule added: never pass --force -f\n");
    assert_eq!(rules(&["add", "--", "--cwd", "is", "text"]), "[hedge] Rule added: --cwd is text\n");
    let stored = || -> Vec<String> {
        let list: Value = serde_json::from_str(&world.read(RULES)).unwrap();
        list.as_array().unwrap().iter().map(|rule| rule["text"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(stored(), [text, "never pass --force -f", "--cwd is text"]);
    let list: Value = serde_json::from_str(&world.read(RULES)).unwrap();
    let added: jiff::Timestamp = list[0]["added_at"].as_str().unwrap().parse().unwrap();
    assert!(jiff::Timestamp::now().duration_since(added).as_secs().abs() < 600, "a rule has the time of today");

    rules(&["replace", "2", "two"]);
    assert_eq!(
        rules(&["remove", "1"]).lines().next(),
        Some("[hedge] Removed rule 1: Two  blanks, a\ttab, \"quotes\", {braces} and")
    );
    assert_eq!(rules(&[]), "[hedge] rules:\n1. two\n2. --cwd is text\n");
    assert_eq!(stored(), ["two", "--cwd is text"]);
}

#[test]
fn a_rule_that_is_not_there_and_a_file_that_is_broken_are_errors_that_change_nothing() {
    let world = World::with_monitors();
    let error = world.fails(1, ["monitors", "rules", "hedge", "remove", "3"]);
    assert_eq!(error, "error: [hedge] Invalid index 3: there are no rules\n");
    world.write(RULES, "[{\"text\": \"mine\"},]");
    let error = world.fails(1, ["monitors", "rules", "hedge", "add", "another"]);
    assert!(error.contains("project:monitors/hedge.instructions.json: is not JSON: trailing comma"), "{error}");
    assert_eq!(world.read(RULES), "[{\"text\": \"mine\"},]");
}

#[test]
fn an_unknown_monitor_is_an_error_that_names_those_there_are() {
    let world = World::with_monitors();
    let before = world.tree();
    let [session, script] = session("clean-fix");
    let commands: [&[&str]; 5] = [
        &["show", "hedgehog"],
        &["patterns", "hedgehog"],
        &["rules", "hedgehog"],
        &["rules", "hedgehog", "add", "x"],
        &["test", "hedgehog", &session, "--script", &script],
    ];
    for arguments in commands {
        let error = world.fails(1, ["monitors"].iter().chain(arguments).copied());
        assert_eq!(
            error, "error: Unknown monitor: hedgehog\nAvailable: fragility, hedge, work-quality\n",
            "{arguments:?}"
        );
    }
    assert_eq!(world.tree(), before);
}

#[test]
fn a_word_of_the_command_is_no_monitor_unless_one_is_called_so() {
    let world = World::new();
    let before = world.tree();
    for word in ["init", "off", "check"] {
        let error = world.fails(1, ["monitors", "show", word]);
        assert_eq!(error, format!("error: no monitor is called `{word}`, which is a word of `/monitors` itself\n"));
    }
    assert_eq!(world.tree(), before, "nothing was written");
    world.write(
        ".pi/monitors/init.monitor.json",
        r#"{"name": "init", "classify": {"prompt": "{patterns} CLEAN FLAG"}, "patterns": {"path": "p.json"}}"#,
    );
    assert!(world.prints(["monitors", "show", "init"]).starts_with("[init]\n"));
}

#[test]
fn test_shows_what_one_monitor_does_and_nothing_else() {
    let world = World::with_monitors();
    let before = world.tree();
    let [session, script] = session("leaves-failing-test");
    assert_data_eq!(
        world.prints(["monitors", "test", "hedge", &session, "--script", &script]),
        str![[r#"

leaves-failing-test.jsonl  26 entries, /home/dev/shop, judged by `script`

[..]  user   The test suite is red. Please make it pass, and tell me what was wrong.
[..]  user   The stock test is part of the suite I asked you to make pass. Please fix that one too.
                 ✓ hedge: CLEAN  precheck: no rule asks for a look
[..]  user   Thanks. What does reserve do when there is not enough on the shelf?
                 ✓ hedge: CLEAN  precheck: no rule asks for a look

Summary
  verdicts   2 clean, 0 flagged, 0 new, 0 unknown
  steers     0
  findings   0
  judge      0 calls, 2 saved, 0 tokens in, 0 out
  hooks      2 in [..]

  watcher  looks  calls  saved  clean  flag  steered  saved by
  hedge        2      0      2      2     0        0  precheck 2

"#]]
    );
    let fragility = world.prints(["monitors", "test", "fragility", &session, "--script", &script]);
    for part in ["⚑ fragility: FLAG", "✎ would write workspace:.workflow/gaps.json", "➤ to the agent: [fragility]"]
    {
        assert!(fragility.contains(part), "{part} in {fragility}");
    }
    assert!(fragility.contains("  steers     1\n  findings   1\n") && !fragility.contains("hedge"), "{fragility}");
    assert_eq!(world.tree(), before);
}

#[test]
fn test_runs_the_command_of_a_command_monitor_and_writes_where_it_is_said() {
    let world = World::with_monitors();
    let [session, script] = session("blind-edits");
    let output = world.prints(["monitors", "test", "work-quality", &session, "--script", &script, "--write"]);
    assert!(output.contains("⚑ work-quality: FLAG") && output.contains("✎ wrote workspace:"), "{output}");
    let gaps: Value = serde_json::from_str(&world.read(".workflow/gaps.json")).unwrap();
    assert_eq!(gaps["gaps"][0]["category"], "work-quality");
}

#[test]
fn the_plugin_of_the_configuration_answers_with_what_it_is_granted() {
    let world = World::with_monitors();
    world.write(
        "own.toml",
        "[[plugin]]\nname = \"mine\"\ncomponent = \"builtin:monitors\"\ngrants.files = { user = \"read\" }\n",
    );
    let listed = world.prints(["monitors", "list", "--config", "own.toml"]);
    assert!(!listed.contains("hedge"), "the project's monitors are not granted: {listed}");
    let error = world.fails(1, ["monitors", "list", "--config", "absent.toml"]);
    assert!(error.starts_with("error: cannot read absent.toml: "), "{error}");
}

#[test]
fn wrong_usage_exits_with_2() {
    let world = World::with_monitors();
    let before = world.tree();
    let wrong: [&[&str]; 12] = [
        &[],
        &["unknown"],
        &["show"],
        &["show", ""],
        &["show", "hedge rules add x"],
        &["rules", "hedge", "add"],
        &["rules", "hedge", "add", " "],
        &["rules", "hedge", "remove", "0"],
        &["rules", "hedge", "remove", "1a"],
        &["rules", "hedge", "replace", "1"],
        &["check", "--format", "yaml"],
        &["test", "hedge"],
    ];
    for arguments in wrong {
        world.fails(2, ["monitors"].iter().chain(arguments).copied());
    }
    assert_eq!(world.tree(), before);
}
