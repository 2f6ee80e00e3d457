//! `chaperone monitors check`

use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::support::World;

fn faulty() -> World {
    let world = World::new();
    let files = [
        (
            "broken.monitor.json",
            r#"{
  "name": "broken",
  "event": "never",
  "when": "sometimes",
  "classify": { "context": ["tool_calls", "moods"], "prompt": "Look at {tool_cals}." },
  "patterns": { "path": "broken.patterns.json", "lern": true },
  "actions": {
    "on_flag": { "steer": "Stop.", "write": { "path": "/etc/gaps.json", "array_field": "gaps", "template": {} } }
  },
  "ceiling": 0
}
"#,
        ),
        ("broken.patterns.json", "[\n  { \"id\": \"a\" }\n]\n"),
        ("comma.monitor.json", "{\n  \"name\": \"comma\",\n}\n"),
        (
            "works.monitor.json",
            r#"{
  "name": "works",
  "event": null,
  "classify": { "context": "tool_calls", "prompt": "{patterns} CLEAN or FLAG" },
  "patterns": { "path": "works.patterns.json" }
}
"#,
        ),
        (
            "works.patterns.json",
            r#"[
  { "id": "ä", "description": "Ä", "source": "dream" },
  { "id": "b", "description": "B", "severity": "fatal" },
  { "id": "c" }
]
"#,
        ),
        ("works.instructions.json", "[{\"text\": \"a rule\"},]\n"),
    ];
    for (name, content) in files {
        world.write(&format!(".pi/monitors/{name}"), content);
    }
    world.write_of_user(
        "monitors/mine.monitor.json",
        r#"{ "name": "mine", "classify": { "prompt": "{patterns} CLEAN FLAG" }, "patterns": { "path": "none.json" } }"#,
    );
    world
}

#[test]
fn a_key_that_stands_twice_is_shown_where_the_one_stands_that_counts() {
    let world = World::new();
    let monitor = "{\n  \"name\": \"twice\",\n  \"ceiling\": 1,\n  \"ceiling\": 2,\n  \"patterns\": \
                   { \"path\": \"p.json\" },\n  \"classify\": { \"prompt\": \"{patterns} CLEAN FLAG\" }\n}\n";
    world.write(".pi/monitors/twice.monitor.json", monitor);
    world.write(".pi/monitors/p.json", "[\n  { \"id\": \"a\", \"description\": \"A\",\n    \"id\": \"b\" }\n]\n");
    assert_data_eq!(
        world.prints(["monitors", "check"]),
        str![[r#"
.pi/monitors/p.json:3:5: warning: /0/id: stands there more than once, and the last one counts
    keep the one that is meant
.pi/monitors/twice.monitor.json:4:3: warning: /ceiling: stands there more than once, and the last one counts
    keep the one that is meant
1 monitor, 0 errors, 2 warnings

"#]]
    );
}

#[test]
fn every_fault_is_told_with_its_place_and_its_mend() {
    let world = faulty();
    let output = world.chaperone(["monitors", "check"]).assert().code(1);
    assert_data_eq!(
        String::from_utf8(output.get_output().stdout.clone()).unwrap(),
        str![[r#"
.pi/monitors/broken.monitor.json:3:3: error: /event: `never` is not known
    write message_end, turn_end, agent_end, tool_call, command
.pi/monitors/broken.monitor.json:4:3: error: /when: `sometimes` is not a known condition
    write always, has_tool_results, has_file_writes, has_bash, tool(name), every(N) or another condition of the documentation
.pi/monitors/broken.monitor.json:5:43: error: /classify/context/1: `moods` cannot be collected
    write user_text, assistant_text, tool_results, tool_calls, custom_messages, tool_call, conversation_history, git_status
.pi/monitors/broken.monitor.json:5:53: warning: /classify/prompt: `{tool_cals}` is not a placeholder and stays as it is
    write one of patterns, instructions, iteration, or a collector of classify.context
.pi/monitors/broken.monitor.json:5:53: warning: /classify/prompt: does not show the judge the patterns
    put {patterns} where the list should stand
.pi/monitors/broken.monitor.json:5:53: warning: /classify/prompt: does not tell the judge how to answer
    end it with: Reply CLEAN, FLAG:<description> or NEW:<pattern>|<description>
.pi/monitors/broken.monitor.json:6:49: warning: /patterns/lern: `lern` is not a known field and has no effect
    remove it, or write one of path, learn, max_learned
.pi/monitors/broken.monitor.json:8:47: error: /actions/on_flag/write/path: `/etc/gaps.json` must be relative to the project
    write a path from the project's folder, with / and without ..
.pi/monitors/broken.monitor.json:10:3: error: /ceiling: `0` is not a whole number from 1
    write a whole number from 1
.pi/monitors/broken.patterns.json:2:3: error: /0/description: is missing
    What the judge looks for: one sentence that stands by itself, since the judge sees only this and the severity
.pi/monitors/comma.monitor.json:3:1: error: is not JSON: trailing comma at line 3 column 1
    mend it at that line and column
.pi/monitors/works.instructions.json:1:21: error: is not JSON: trailing comma at line 1 column 21
    mend it at that line and column
.pi/monitors/works.monitor.json:4:17: warning: /classify/context: "tool_calls" is not a list
    write ["tool_calls"]
.pi/monitors/works.patterns.json:2:36: warning: /0/source: "dream" is not one of "bundled", "learned", "user"
    Where the pattern is from: bundled (came with the monitor), learned (from a NEW verdict) or user (written by hand)
.pi/monitors/works.patterns.json:3:36: warning: /1/severity: "fatal" is no severity, and counts as warning
    write error, warning or info
.pi/monitors/works.patterns.json:4:3: error: /2: has no description, and is left out
    write what the judge is to look for
[..]/home/.pi/agent/monitors/none.json: error: is missing
    make the file, or correct the path that leads to it
4 monitors, 10 errors, 7 warnings

"#]]
    );
}

#[test]
fn in_json_each_fault_is_a_line() {
    let world = faulty();
    let output = world.chaperone(["monitors", "check", "--format", "json"]).assert().code(1);
    let output = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let lines: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &lines {
        let keys: Vec<_> = line.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["file", "line", "column", "pointer", "severity", "message", "mend"], "{line}");
        assert!(["error", "warning"].contains(&line["severity"].as_str().unwrap()), "{line}");
        assert!(["message", "mend"].iter().all(|key| !line[key].as_str().unwrap().is_empty()), "{line}");
    }
    let of_source = lines.iter().find(|line| line["pointer"] == "/0/source").unwrap();
    assert_eq!((&of_source["line"], &of_source["column"]), (&2.into(), &36.into()), "in characters");
    let missing = lines.iter().find(|line| line["message"] == "is missing" && line["pointer"] == "").unwrap();
    assert_eq!((&missing["line"], &missing["column"]), (&Value::Null, &Value::Null));
    let places = lines.iter().map(|line| (line["file"].as_str(), line["line"].as_u64(), line["column"].as_u64()));
    assert!(places.is_sorted(), "{output}");
}

#[test]
fn without_a_fault_the_monitors_are_counted() {
    let world = World::with_monitors();
    assert_eq!(world.prints(["monitors", "check"]), "3 monitors, no faults\n");
    assert_eq!(world.prints(["monitors", "check", "--format", "json"]), "");
    assert_eq!(World::new().prints(["monitors", "check"]), "0 monitors, no faults\n");
}

#[test]
fn warnings_alone_do_not_fail() {
    let world = World::with_monitors();
    let bundled = world.read(".pi/monitors/hedge.monitor.json");
    world.write(".pi/monitors/hedge.monitor.json", &bundled.replacen('{', "{\n  \"colour\": \"red\",", 1));
    assert_data_eq!(
        world.prints(["monitors", "check"]),
        str![[r#"
.pi/monitors/hedge.monitor.json:2:3: warning: /colour: `colour` is not a known field and has no effect
    remove it, or write one of $schema, name, description, event, when, scope, classify, patterns, instructions, actions, ceiling, escalate
3 monitors, 0 errors, 1 warning

"#]]
    );
}

#[test]
fn paths_are_told_from_the_current_folder() {
    let world = World::with_monitors();
    world.write(".pi/monitors/hedge.monitor.json", "{");
    let mut elsewhere = world.chaperone(["monitors", "check", "--cwd"]);
    let output = elsewhere.arg(world.project()).current_dir(world.home()).assert().code(1);
    let output = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let path = world.project().canonicalize().unwrap().join(".pi/monitors/hedge.monitor.json");
    assert!(output.starts_with(&format!("{}:1:1: error: is not JSON", path.display())), "{output}");
}
