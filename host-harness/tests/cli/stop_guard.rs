//! The stop guard beside recorded sessions, and its command.

use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::support::{World, session};

const CONFIG: &str = "extensions/pi-auto-goal/config.json";

#[test]
fn an_agent_that_stops_halfway_is_judged_and_sent_back() {
    let world = World::new();
    let [session, script] = session("asks-permission");
    assert_data_eq!(
        world.prints(["run", &session, "--script", &script, "--plugin", "stop-guard"]),
        str![[r#"

asks-permission.jsonl  19 entries, /home/dev/shop, judged by `script`

[..]  user   Rename the function calc in shop/prices.py to gross_price, everywhere it is used, and run the tests
                 afterwards.
...
                 Would you like me to go ahead and rename it to `gross_price` in all of these places?
                 ⚑ stop-guard: FLAG  The rename was ordered, and nothing has been renamed yet. [..]
...
                 ➤ to the agent: [auto-goal] Automatic directive of the system, not a message from the user: [..]
...
                   Still missing: The rename was ordered, and nothing has been renamed yet. [..]
...
[..]  user   Yes. That is what I asked for.
...
                 ✓ stop-guard: CLEAN
...
                 ✓ stop-guard: CLEAN

Summary
  verdicts   2 clean, 1 flagged, 0 new, 0 unknown
  steers     1
  findings   0
  judge      3 calls, [..]
  hooks      [..]

  watcher     looks  calls  saved  clean  flag  steered  tokens in  out  judge ms
  stop-guard      3      3      0      2     1        1       4130   95  [..]

"#]]
    );
}

#[test]
fn what_the_user_has_stopped_is_told_and_not_judged() {
    let world = World::new();
    let [session, script] = session("interrupted");
    let told = world.prints(["run", &session, "--script", &script, "--plugin", "stop-guard"]);
    assert_eq!(told.matches("· [auto-goal] ⚖️ interrupted · not judged").count(), 2, "{told}");
    assert!(told.contains("1 clean, 0 flagged, 0 new, 0 unknown"), "{told}");
}

#[test]
fn the_command_shows_the_configuration_and_changes_the_users_own_file() {
    let world = World::new();
    let [session, script] = session("clean-fix");
    let run = |command: &str, writes: &[&str]| {
        let run = ["run", &session, "--script", &script, "--command", command];
        world.prints(run.into_iter().chain(writes.iter().copied()))
    };
    let status = run("config:auto-goal status", &[]);
    assert!(status.contains("maxAutoContinues: 2") && status.contains("Sent back 0 times (of 2)"), "{status}");

    let file = world.home().join(".pi/agent").join(CONFIG);
    let told = run("auto-goal model default", &[]);
    assert!(told.contains("would write user:extensions/pi-auto-goal/config.json"), "{told}");
    assert!(!file.exists());
    run("pi-auto-goal-config disable", &["--write"]);
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(written, serde_json::json!({"enabled": false}));
    assert!(!run("auto-goal status", &["--plugin", "stop-guard"]).contains("stop-guard: CLEAN"), "it is switched off");
}

#[test]
fn the_configuration_is_where_pi_has_its_own() {
    let world = World::new();
    world.write("agent/extensions/pi-auto-goal/config.json", r#"{"maxAutoContinues": 7}"#);
    let [session, script] = session("clean-fix");
    let mut command = world.chaperone(["run", &session, "--script", &script, "--command", "auto-goal status"]);
    let output = command.env("PI_CODING_AGENT_DIR", world.project().join("agent")).assert().success();
    let told = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    assert!(told.contains("maxAutoContinues: 7"), "{told}");
}

#[test]
fn a_field_that_stands_there_twice_is_told_and_a_command_leaves_one_of_it() {
    let world = World::new();
    let file = world.home().join(".pi/agent").join(CONFIG);
    world.write_of_user(CONFIG, "{\n  \"enabled\": false,\n  \"maxAutoContinues\": 3,\n  \"enabled\": false\n}\n");
    let [session, script] = session("clean-fix");
    let run = |command: &str| {
        let run = ["run", &session, "--script", &script, "--plugin", "stop-guard", "--write", "--command", command];
        world.prints(run)
    };
    assert!(run("auto-goal status").contains("`enabled` stands there more than once; keep the one that is meant"));
    run("auto-goal enable");
    let mended = std::fs::read_to_string(file).unwrap();
    assert_eq!(mended, "{\n  \"enabled\": true,\n  \"maxAutoContinues\": 3\n}\n");
    assert!(run("auto-goal status").contains("Judgement is on."));
}

#[test]
fn a_configuration_that_is_wrong_is_told_with_its_mend_and_left_alone() {
    let world = World::new();
    let wrong = "{\"maxAutoContinue\": 3}\n";
    world.write_of_user(CONFIG, wrong);
    let [session, script] = session("asks-permission");
    let told = world.prints(["run", &session, "--script", &script, "--plugin", "stop-guard", "--write"]);
    assert_eq!(told.matches("⚖️ configuration rejected · not judged").count(), 1, "{told}");
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("config.json is rejected: `maxAutoContinue` is not a field; did you mean `maxAutoContinues`?")
    );
    assert!(told.contains("0 clean, 0 flagged, 0 new, 3 unknown") && !told.contains("to the agent"), "{told}");
    assert_eq!(std::fs::read_to_string(world.home().join(".pi/agent").join(CONFIG)).unwrap(), wrong);
}
