//! `chaperone run`

use std::collections::BTreeSet;

use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::support::{World, session};

const GAPS: &str = ".workflow/gaps.json";

#[test]
fn the_timeline_tells_what_the_agent_did_and_what_its_watchers_made_of_it() {
    let world = World::with_monitors();
    let [session, script] = session("leaves-failing-test");
    assert_data_eq!(
        world.prints(["run", &session, "--script", &script, "--command", "work-quality"]),
        str![[r#"

leaves-failing-test.jsonl  26 entries, /home/dev/shop, judged by `script`

[..]  user   The test suite is red. Please make it pass, and tell me what was wrong.
...
[..]calls  bash [..]
...
                 ⚑ fragility: FLAG  test_release_cannot_exceed_capacity still fails[..]
                   and unrelated, although the user asked for the whole suite to pass
                 ✎ would write workspace:.workflow/gaps.json
                   @@ -0,0 +1,12 @@
                   +{
...
                 ✎ fragility-[..] in workspace:.workflow/gaps.json
                 ➤ to the agent: [fragility] test_release_cannot_exceed_capacity still fails[..]
...
                 ⚑ stop-guard: FLAG  The user asked for the whole suite to pass, and
                   test_release_cannot_exceed_capacity still fails. It has to be repaired as well.
                 ➤ to the agent: [auto-goal] [..]
...
[..]  user   Thanks. What does reserve do when there is not enough on the shelf?
...
                 ✓ hedge: CLEAN  precheck: no rule asks for a look
                 ✓ stop-guard: CLEAN
          command /work-quality
                 ✓ work-quality: CLEAN
                 · [work-quality] CLEAN

Summary
  verdicts   6 clean, 2 flagged, 0 new, 0 unknown
  steers     2
  findings   1
  judge      5 calls, 3 saved, [..] tokens in, [..] out
  hooks      [..] in [..] ms ([..] µs each)

  watcher       looks  calls  saved  clean  flag  steered  found  tokens in  out  judge ms  saved by
  fragility         2      1      1      1     1        1      1       1980   34  [..]  precheck 1
  hedge             2      0      2      2     0        0      0          0    0         0  precheck 2
  work-quality      1      1      0      1     0        0      0       1400    2  [..]
  stop-guard        3      3      0      2     1        1      0       4130   92  [..]

"#]]
    );
}

fn lines(output: &str) -> Vec<Value> {
    output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn in_json_each_effect_is_a_line_and_the_last_line_is_the_summary() {
    let world = World::with_monitors();
    let [session, script] = session("leaves-failing-test");
    let all = lines(&world.prints(["run", &session, "--script", &script, "--format", "json"]));
    let (summary, effects) = all.split_last().unwrap();

    assert_eq!(keys(summary), ["summary"].into());
    let summary = &summary["summary"];
    let documented = [
        "hooks",
        "llm_calls",
        "saved",
        "verdicts",
        "steers",
        "refusals",
        "findings",
        "tokens",
        "hook_micros",
        "watchers",
    ];
    assert_eq!(keys(summary), documented.into());
    assert_eq!(keys(&summary["verdicts"]), ["clean", "flag", "new", "unknown"].into());
    assert_eq!(keys(&summary["tokens"]), ["input", "output"].into());
    let count = |effect: &str| effects.iter().filter(|line| line["effect"].get(effect).is_some()).count();
    assert_eq!(summary["steers"], count("inject"));
    assert_eq!(summary["findings"], count("found"));
    assert_eq!(summary["llm_calls"], count("complete"));
    let judged = effects.iter().filter_map(|line| line["effect"].get("judged"));
    let without_call = judged.filter(|judged| judged["request"].is_null() && judged["verdict"] == "clean").count();
    assert_eq!(summary["saved"], without_call + count("spared"));
    assert_eq!((count("inject"), count("found"), count("judged")), (2, 1, 7));

    let watchers = summary["watchers"].as_array().unwrap();
    for of in watchers {
        let documented = [
            "plugin",
            "watcher",
            "looks",
            "llm_calls",
            "failed_calls",
            "saved",
            "verdicts",
            "steered",
            "dropped",
            "refused",
            "findings",
            "tokens",
            "llm_micros",
        ];
        assert_eq!(keys(of), documented.into());
    }
    let sum = |figure: fn(&Value) -> &Value| watchers.iter().map(|of| figure(of).as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum(|of| &of["llm_calls"]), summary["llm_calls"]);
    assert_eq!(sum(|of| &of["verdicts"]["clean"]), summary["verdicts"]["clean"]);
    assert_eq!(sum(|of| &of["tokens"]["input"]), summary["tokens"]["input"]);
    assert_eq!(sum(|of| &of["looks"]), (count("complete") + without_call + count("spared")) as u64);
    let fragility = watchers.iter().find(|of| of["watcher"] == "fragility").unwrap();
    assert_eq!(
        (&fragility["plugin"], &fragility["steered"], &fragility["findings"]),
        (&"monitors".into(), &1.into(), &1.into())
    );

    for line in effects {
        assert_eq!(keys(line), ["entry", "hook", "plugin", "effect"].into(), "{line}");
        assert!(line["plugin"] == "monitors" || line["plugin"] == "stop-guard", "{line}");
    }
    let injection = effects.iter().find_map(|line| line["effect"].get("inject")).unwrap();
    assert!(injection["content"].as_str().unwrap().starts_with("[fragility] "));
    assert_eq!(injection["custom_type"], "monitor-steer");
}

#[test]
fn of_several_sessions_each_line_names_its_own() {
    let world = World::with_monitors();
    let [first, script] = session("clean-fix");
    let [second, _] = session("reports-only");
    let all = lines(&world.prints(["run", &first, &second, "--script", &script, "--format", "json"]));
    let named: BTreeSet<_> = all[..all.len() - 1].iter().map(|line| line["session"].as_str().unwrap()).collect();
    assert_eq!(named, ["clean-fix.jsonl", "reports-only.jsonl"].into());
}

#[test]
fn nothing_is_written_unless_it_is_said() {
    let world = World::with_monitors();
    let [session, script] = session("leaves-failing-test");
    let before = world.tree();
    world.prints(["run", &session, "--script", &script]);
    assert_eq!(world.tree(), before);

    let output = world.prints(["run", &session, "--script", &script, "--write"]);
    assert!(output.contains("✎ wrote workspace:.workflow/gaps.json"), "{output}");
    let mut after = world.tree();
    let gaps: Value = serde_json::from_str(&world.read(GAPS)).unwrap();
    assert_eq!(gaps["gaps"].as_array().unwrap().len(), 1);
    after.remove(&world.project().join(GAPS));
    assert_eq!(after, before, "nothing else was touched");
}

#[test]
fn another_branch_is_another_session() {
    let world = World::with_monitors();
    let [session, script] = session("two-branches");
    let text = std::fs::read_to_string(&session).unwrap();
    let left_behind = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>();
    let parents: BTreeSet<_> = left_behind.iter().filter_map(|entry| entry["parentId"].as_str()).collect();
    let leaf = left_behind
        .iter()
        .filter_map(|entry| entry["id"].as_str())
        .find(|id| !parents.contains(id) && left_behind[0]["id"] != *id);
    let of_leaf = world.prints(["run", &session, "--script", &script, "--leaf", leaf.unwrap()]);
    assert!(of_leaf.contains("⚑ fragility: FLAG"), "{of_leaf}");
    assert!(!world.prints(["run", &session, "--script", &script]).contains("⚑ fragility: FLAG"));
    let error = world.fails(1, ["run", &session, "--script", &script, "--leaf", "nowhere"]);
    assert!(error.contains("no entry `nowhere` in this session"), "{error}");
}

#[test]
fn what_is_missing_is_named_with_its_mend() {
    let world = World::with_monitors();
    let [session, script] = session("clean-fix");
    let [session, script] = [session.as_str(), script.as_str()];
    let fails = |arguments: &[&str]| world.fails(1, ["run"].iter().chain(arguments).copied());
    assert_data_eq!(
        fails(&[session, "--script", script, "--plugin", "monitor"]),
        str![[r#"
error: there is no plugin `monitor`; there is monitors, stop-guard

"#]]
    );
    assert_data_eq!(
        fails(&["none.jsonl", "--script", script]),
        str![[r#"
error: cannot read the session none.jsonl: No such file or directory (os error 2); name a session file of pi, which keeps them below ~/.pi/agent/sessions

"#]]
    );
    assert_data_eq!(
        fails(&[script, "--script", script]),
        str![[r#"
error: [..]clean-fix.script.yaml: not a session of pi: line 1 is plain text; a session begins with a line such as {"type":"session","version":3,"id":…}

"#]]
    );
    assert_data_eq!(
        fails(&[session, "--script", "none.yaml"]),
        str![[r#"
error: none.yaml: the script could not be read: No such file or directory (os error 2); --script takes a YAML file of answers

"#]]
    );
    assert_data_eq!(
        fails(&[session, "--script", script, "--record", "no/folder/x.jsonl"]),
        str![[r#"
error: cannot write the recording no/folder/x.jsonl: No such file or directory (os error 2); make the folder no/folder first

"#]]
    );
    assert_data_eq!(
        fails(&[session, "--script", script, "--command", "nothing"]),
        str![[r#"
error: no plugin has a command `/nothing`; there is auto-goal, config:auto-goal, monitors, pi-auto-goal-config, work-quality

"#]]
    );
    assert_data_eq!(
        fails(&[session]),
        str![[r#"
error: nobody answers model calls: name a script with --script FILE, or a provider with --provider or `llm.provider`

"#]]
    );
}

#[test]
fn a_recording_replaces_an_older_one_and_nothing_else() {
    let world = World::with_monitors();
    let [session, script] = session("clean-fix");
    let record =
        |session: &str| world.chaperone(["run", session, "--script", &script, "--record", "file.jsonl"]).assert();
    record(&session).success();
    let recording = world.read("file.jsonl");
    record("none.jsonl").code(1);
    assert_eq!(world.read("file.jsonl"), recording, "there is no new one to replace it");
    world.write("chaperone.toml", "[[plugin]]\nname = \"monitors\"\ncomponent = \"none.wasm\"\n");
    record(&session).code(1);
    assert_eq!(world.read("file.jsonl"), recording, "there is no plugin to be recorded");
    std::fs::remove_file(world.project().join("chaperone.toml")).unwrap();
    record(&session).success();

    world.write("file.jsonl", "{\"type\":\"session\"}\n");
    let refused = record(&session).code(1);
    assert_data_eq!(
        String::from_utf8(refused.get_output().stderr.clone()).unwrap(),
        str![[r#"
error: file.jsonl is there and is no recording; name another file for --record

"#]]
    );
    assert_eq!(world.read("file.jsonl"), "{\"type\":\"session\"}\n");
}

#[test]
fn a_hook_that_fails_is_told_and_fails_the_run() {
    let world = World::with_monitors();
    let [session, script] = session("clean-fix");
    // Not even the description of a plugin fits into this.
    world.write(
        "chaperone.toml",
        "[[plugin]]\nname = \"monitors\"\ncomponent = \"builtin:monitors\"\nlimits.memory_mib = 1\n",
    );
    let output = world.chaperone(["run", &session, "--script", &script, "--format", "json"]).assert().code(1);
    let all = lines(std::str::from_utf8(&output.get_output().stdout).unwrap());
    assert_eq!(keys(&all[0]), ["entry", "hook", "plugin", "failure"].into(), "{}", all[0]);
}

#[test]
fn wrong_usage_exits_with_2() {
    let world = World::new();
    let [session, script] = session("clean-fix");
    let wrong: [&[&str]; 5] = [
        &[],
        &["run"],
        &["run", &session, "--format", "yaml"],
        &["run", &session, "--script", &script, "--provider", "openai"],
        &["unknown"],
    ];
    for arguments in wrong {
        let error = world.fails(2, arguments.iter().copied());
        assert!(error.contains("--help"), "{error}");
    }
}

#[test]
fn a_watcher_that_may_not_speak_or_ask_breaks_nothing() {
    let world = World::with_monitors();
    let [session, script] = session("leaves-failing-test");
    world.write(
        "silent.toml",
        "[[plugin]]\nname = \"monitors\"\ncomponent = \"builtin:monitors\"\n[plugin.grants]\n\
         files = { project = \"read\", workspace = \"read-write\" }\nllm = true\ninject = false\n",
    );
    let out = world.prints(["run", &session, "--script", &script, "--config", "silent.toml", "--format", "json"]);
    let summary = out.lines().last().unwrap();
    assert!(summary.contains(r#""steers":0"#), "{summary}");
    assert!(summary.contains(r#""steered":0,"dropped":1"#), "{summary}");
    assert!(!out.contains(r#""inject""#), "what is not granted is not shown as done");
}

#[test]
fn a_run_that_no_judge_answered_fails() {
    let world = World::with_monitors();
    let [session, _] = session("clean-fix");
    world.write("nobody.yaml", "rules:\n  - error: timed-out\n");
    let error = world.fails(1, ["run", &session, "--script", "nobody.yaml"]);
    assert!(error.contains("nothing was judged"), "{error}");
}

#[test]
fn a_project_may_not_choose_where_keys_go_nor_reach_for_the_users_files() {
    let world = World::with_monitors();
    let [session, script] = session("clean-fix");
    for (wish, text) in [
        ("sends what", "[providers.openai]\nbase_url = \"http://localhost:1/v1\"\n"),
        ("the variable AWS_SECRET", "[providers.openai]\nkey_env = \"AWS_SECRET\"\n"),
        ("the file", "[providers.openai]\nkey_file = \"id_rsa\"\n"),
        (
            "the files of the user",
            "[[plugin]]\nname = \"theirs\"\ncomponent = \"theirs.wasm\"\n[plugin.grants]\nfiles = { user = \"read\" }\n",
        ),
    ] {
        world.write("chaperone.toml", text);
        let error = world.fails(1, ["run", &session, "--script", &script]);
        assert!(error.contains(wish) && error.contains("--config"), "{error}");
    }
}

#[test]
fn d38_findings_go_to_the_project_that_owns_the_monitors_wherever_the_agent_was_started() {
    let world = World::with_monitors();
    let [session, script] = session("leaves-failing-test");
    world.write("deep/down/notes.txt", "");
    world.prints(["run", &session, "--script", &script, "--cwd", "deep/down", "--write"]);
    assert!(world.read(".workflow/gaps.json").contains("test_release_cannot_exceed_capacity"));
    assert!(!world.project().join("deep/down/.workflow").exists());
}

#[test]
fn a_recorded_session_has_no_host_to_ask() {
    let world = World::with_monitors();
    let [session, _] = session("clean-fix");
    let told = "a recorded session has none, name another";
    assert!(world.fails(1, ["run", &session, "--provider", "host"]).contains(told));
    world.write("chaperone.toml", "[llm]\nprovider = \"host\"\n");
    assert!(world.fails(1, ["run", &session]).contains(told));
}

#[test]
fn a_call_that_would_have_been_refused_is_told_although_it_ran_when_it_was_recorded() {
    let world = World::new();
    let guard = r#"{"name": "guard", "event": "tool_call", "when": "command(*unittest*)",
        "classify": {"prompt": "{patterns} {tool_call} CLEAN FLAG"}, "patterns": {"path": "p.json"}, "ceiling": 1,
        "escalate": "dismiss", "actions": {"on_flag": {"steer": "Do not run tests.", "block": true}}}"#;
    world.write(".pi/monitors/guard.monitor.json", guard);
    world.write(".pi/monitors/p.json", r#"[{"id": "p", "description": "Tests are run"}]"#);
    world
        .write("judge.yaml", "rules: [{ when: { monitor: guard }, answer: 'FLAG:it runs the tests' }, { answer: '' }]");
    let [session, _] = session("leaves-failing-test");
    let told = world.prints(["run", &session, "--script", "judge.yaml"]);
    for part in [
        "■ would have refused the tool call",
        "which has run:",
        "[guard] it runs the tests. Do not run tests.",
        "➤ to the agent: [guard] it runs the tests. Do not run tests.",
        "refusals   3 tool calls",
    ] {
        assert!(told.contains(part), "{part}\n{told}");
    }
    let of_guard = world.prints(["monitors", "test", "guard", &session, "--script", "judge.yaml"]);
    for part in ["■ would have refused the tool call", "refusals   3 tool calls", "  refused  "] {
        assert!(of_guard.contains(part), "{part}\n{of_guard}");
    }
}

#[test]
fn calls_that_rules_save_are_told_and_counted() {
    let world = World::new();
    let monitor = r#"{"name": "m", "event": "agent_end", "classify": {"prompt": "{patterns} CLEAN FLAG",
        "exempt": ["review_only"], "precheck": [{"clean_if": "has_file_writes"}]}, "patterns": {"path": "p.json"}}"#;
    world.write(".pi/monitors/m.monitor.json", monitor);
    world.write(".pi/monitors/p.json", r#"[{"id": "p", "description": "Something"}]"#);
    let [session, script] = session("reports-only");
    let told = world.prints(["run", &session, "--script", &script]);
    assert!(told.contains("○ m: not asked  exempt: review_only"), "{told}");
    assert!(told.contains("✓ m: CLEAN  precheck: has_file_writes"), "{told}");
    assert!(told.contains("calls, 2 saved, "), "{told}");
    assert!(told.contains("exempt 1, precheck 1\n"), "{told}");
}
