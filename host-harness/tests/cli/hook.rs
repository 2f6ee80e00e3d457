//! `chaperone hook`

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::support::World;

/// Flags what the agents of the recorded sessions say before they are sent back.
const SCRIPT: &str = r#"
rules:
  - when: { monitor: hedge, prompt_contains: "Done. I created" }
    answer: "FLAG:STEER- did not prove it"
  - answer: CLEAN
"#;

const STEER: &str = "[hedge] STEER- did not prove it. Address what the user actually said.\n\
     (An automatic observation by a monitor, not the user's word: weigh it against what the user asked for.)";

const HOSTS: [&str; 3] = ["claude-code", "codex", "gemini-cli"];

/// Whose answers are in a script.
const JUDGED: &str = "[llm]\nprovider = \"script\"\n[providers.script]\nscript = \"judge.yaml\"\n";

/// A built-in watcher, with more time than it needs where tests run side by side.
fn builtin(name: &str) -> String {
    format!(
        "[[plugin]]\nname = \"{name}\"\ncomponent = \"builtin:{name}\"\nlimits.hook_ms = 20_000\n[plugin.grants]\n\
         files = {{ project = \"read-write\", user = \"read\", workspace = \"read-write\" }}\nllm = true\ninject = true\n"
    )
}

/// A monitor that asks its judge whenever a run ends.
const HEDGE: &str = r#"{
  "name": "hedge",
  "description": "Asks whether the agent did what it was told",
  "event": "agent_end",
  "classify": { "context": ["assistant_text"], "prompt": "{patterns} Answer CLEAN or FLAG. {assistant_text}" },
  "patterns": { "path": "hedge.patterns.json" },
  "actions": { "on_flag": { "steer": "Address what the user actually said." } },
  "ceiling": 3,
  "escalate": "ask"
}"#;

/// A project that this one monitor of the user watches, judged by a script.
fn watched(script: &str) -> World {
    let world = World::new();
    world.write_of_user("monitors/hedge.monitor.json", HEDGE);
    world.write_of_user("monitors/hedge.patterns.json", r#"[{ "id": "aside", "description": "Leaves the subject" }]"#);
    world.write("judge.yaml", script);
    world.write("chaperone.toml", &format!("{JUDGED}{}", builtin("monitors")));
    world
}

/// What a hook printed for an event, if anything.
fn answer(world: &World, host: &str, event: &Value) -> Option<Value> {
    answer_to(world.chaperone(["hook", host]), event)
}

fn answer_to(mut command: Command, event: &Value) -> Option<Value> {
    let done = command.write_stdin(event.to_string()).assert().success();
    let output = done.get_output();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    printed(&output.stdout)
}

fn printed(stdout: &[u8]) -> Option<Value> {
    (!stdout.is_empty()).then(|| serde_json::from_slice(stdout).unwrap())
}

fn recorded(host: &str, file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/hosts").join(host).join(file);
    std::fs::read_to_string(path).unwrap()
}

/// Replays the session of a host. Gives what was answered to each event.
fn replay(world: &World, host: &str) -> Vec<(String, Option<Value>)> {
    replay_late(world, host, 0)
}

/// Replays it with a transcript that has so many lines less at each event.
fn replay_late(world: &World, host: &str, late: usize) -> Vec<(String, Option<Value>)> {
    let transcript = world.project().join("transcript.jsonl");
    let whole = recorded(host, "transcript.jsonl");
    let lines: Vec<_> = whole.split_inclusive('\n').collect();
    let events = recorded(host, "events.jsonl");
    events
        .lines()
        .map(|line| {
            let event = line
                .replace("{PROJECT}", &world.project().display().to_string())
                .replace("{TRANSCRIPT}", &transcript.display().to_string());
            let event: Value = serde_json::from_str(&event).unwrap();
            let written = (event["lines"].as_u64().unwrap() as usize).saturating_sub(late);
            std::fs::write(&transcript, lines[..written].concat()).unwrap();
            let name = event["event"]["hook_event_name"].as_str().unwrap().to_owned();
            (name, answer(world, host, &event["event"]))
        })
        .collect()
}

/// An event of Claude Code. Sessions of all worlds share their locks, so each world has a session of its own.
fn event(world: &World, name: &str, more: Value) -> Value {
    let mut event = json!({
        "session_id": world.project(), "transcript_path": world.project().join("transcript.jsonl"), "cwd": world.project(),
        "permission_mode": "default", "hook_event_name": name,
    });
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

fn stop(world: &World, words: &str, is_sent_back: bool) -> Value {
    event(world, "Stop", json!({"stop_hook_active": is_sent_back, "last_assistant_message": words}))
}

fn prompt(world: &World, text: &str) -> Value {
    event(world, "UserPromptSubmit", json!({"prompt": text}))
}

#[test]
fn in_a_session_of_each_host_the_agent_is_sent_back_once_however_late_the_transcript_is() {
    for (host, late) in HOSTS.iter().flat_map(|host| [0, 1, 3].map(|late| (*host, late))) {
        let world = watched(SCRIPT);
        let answers = replay_late(&world, host, late);
        let block = if host == "gemini-cli" { "deny" } else { "block" };
        let spoken: Vec<_> =
            answers.iter().filter_map(|(name, answer)| Some((name.as_str(), answer.as_ref()?))).collect();
        let at = if host == "gemini-cli" { "AfterAgent" } else { "Stop" };
        let expected = json!({"decision": block, "reason": STEER, "systemMessage": "[hedge] STEER- did not prove it"});
        assert_eq!(spoken, [(at, &expected)], "{host}, {late} lines late");
    }
}

/// The transcript of a session of Claude Code, as a branch of it has it.
fn branched(transcript: &str, session: &str) -> String {
    let lines = transcript.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if let (Some(from), Some(uuid)) = (line.get("sessionId").cloned(), line.get("uuid").cloned()) {
            line["sessionId"] = session.into();
            line["forkedFrom"] = json!({"sessionId": from, "messageUuid": uuid});
        }
        format!("{line}\n")
    });
    lines.collect()
}

/// What a session of Codex that begins where another one was left begins with.
fn forked(parent: &str, length: usize) -> String {
    let base = json!({"thread_id": parent, "end_ordinal_exclusive": 27, "end_byte_offset": length});
    let meta = json!({"id": "forked", "forked_from_id": parent, "history_mode": "paginated", "history_base": base});
    format!("{}\n", json!({"timestamp": "2026-11-30T14:34:27.000Z", "type": "session_meta", "payload": meta}))
}

#[test]
fn a_fork_begins_with_what_the_watchers_knew_of_the_session_that_it_went_on_from() {
    for host in ["claude-code", "codex"] {
        let world = watched("rules:\n  - when: { monitor: hedge }\n    answer: \"FLAG:Again\"\n  - answer: CLEAN\n");
        replay(&world, host);
        let first: Value = serde_json::from_str(recorded(host, "events.jsonl").lines().next().unwrap()).unwrap();
        let parent = first["event"]["session_id"].as_str().unwrap();
        let whole = world.read("transcript.jsonl");
        let folder = "sessions/2026/11/30";
        world.write(&format!("{folder}/rollout-2026-11-30T08-00-00-{parent}.jsonl"), &whole);
        let of = |session: &str, name: &str, more: Value| {
            let transcript = world.project().join(format!("{folder}/rollout-2026-11-30T14-34-27-{session}.jsonl"));
            let transcript = if session == parent { world.project().join("transcript.jsonl") } else { transcript };
            let mut event = event(&world, name, more);
            event["session_id"] = session.into();
            event["transcript_path"] = transcript.display().to_string().into();
            answer(&world, host, &event)
        };
        let hedge_of = |session: &str| {
            let status = of(session, "UserPromptSubmit", json!({"prompt": "/monitors hedge"})).unwrap();
            status["reason"].as_str().unwrap().to_owned()
        };
        assert!(hedge_of(parent).contains("engaged (2/3)"), "{host}: {}", hedge_of(parent));

        let beginning = if host == "codex" { forked(parent, whole.len()) } else { branched(&whole, "forked") };
        world.write(&format!("{folder}/rollout-2026-11-30T14-34-27-forked.jsonl"), &beginning);
        assert_eq!(of("forked", "SessionStart", json!({"source": "fork"})), None, "{host}: nothing of it is news");
        assert!(hedge_of("forked").contains("engaged (2/3)"), "{host}: {}", hedge_of("forked"));
        of("other", "SessionStart", json!({"source": "startup"}));
        assert!(hedge_of("other").contains("idle"), "{host}: {}", hedge_of("other"));
    }
}

#[test]
fn the_stop_guard_sends_an_agent_back_that_stops_too_early() {
    let continues = r#"
rules:
  - when: { plugin: stop-guard, prompt_contains: "I changed the first file" }
    answer: '{"verdict": "continue", "confidence": 0.95, "reason": "two files are missing"}'
  - when: { plugin: stop-guard }
    answer: '{"verdict": "stop", "confidence": 0.95, "reason": "all is there"}'
  - answer: CLEAN
"#;
    for host in HOSTS {
        let world = watched(continues);
        world.write("chaperone.toml", &format!("{JUDGED}{}{}", builtin("monitors"), builtin("stop-guard")));
        let mut first = prompt(&world, "Change all three files.");
        let mut stop = stop(&world, "I changed the first file.", false);
        if host == "gemini-cli" {
            first["hook_event_name"] = "BeforeAgent".into();
            stop["hook_event_name"] = "AfterAgent".into();
            stop["prompt_response"] = "I changed the first file.".into();
        }
        answer(&world, host, &first);
        let back = answer(&world, host, &stop).unwrap();
        assert!(back["reason"].as_str().unwrap().contains("two files are missing"), "{host}: {back}");
        stop["stop_hook_active"] = true.into();
        stop["last_assistant_message"] = "All three files are changed.".into();
        stop["prompt_response"] = "I changed the first file.\nAll three files are changed.".into();
        let done = answer(&world, host, &stop);
        assert_eq!(done.as_ref().and_then(|done| done.get("decision")), None, "{host}: {done:?}");
    }
}

#[test]
fn what_was_told_from_an_event_is_not_judged_again_when_the_transcript_has_it() {
    let world = watched(SCRIPT);
    replay(&world, "claude-code");
    let status = answer(
        &world,
        "claude-code",
        &json!({
            "session_id": "5f0c2a4e-6a1d-4c1b-9a51-2d8f6f6f0a11", "hook_event_name": "UserPromptSubmit",
            "transcript_path": world.project().join("transcript.jsonl"), "cwd": world.project(), "prompt": "/monitors hedge",
        }),
    );
    let reason = status.unwrap()["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("state: idle"), "the last answer was clean, which is the newest verdict: {reason}");
}

#[test]
fn the_agent_is_not_sent_back_more_often_than_the_host_allows_and_hears_the_rest_with_the_next_prompt() {
    let world = watched("rules:\n  - when: { monitor: hedge }\n    answer: \"FLAG:Again\"\n  - answer: CLEAN\n");
    assert_eq!(answer(&world, "claude-code", &prompt(&world, "please make a file")), None);
    let send = |words: &str, is_sent_back| {
        let mut command = world.chaperone(["hook", "claude-code"]);
        command.env("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "2");
        answer_to(command, &stop(&world, words, is_sent_back)).unwrap()
    };
    assert_eq!(send("One.", false)["decision"], "block");
    assert_eq!(send("Two.", true)["decision"], "block");
    let third = send("Three.", true);
    assert_eq!(third.get("decision"), None, "{third}");
    assert_eq!(third["systemMessage"], "[hedge] Again", "the user sees it all the same");

    let next = answer(&world, "claude-code", &prompt(&world, "and now?")).unwrap();
    let context = next["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.starts_with("[hedge] Again."), "{context}");
    assert_eq!(next["hookSpecificOutput"]["hookEventName"], "UserPromptSubmit");
    assert_eq!(answer(&world, "claude-code", &prompt(&world, "and now?")), None, "it was said");
}

#[test]
fn a_hundred_hooks_at_once_send_the_agent_back_once_and_lose_nothing() {
    let world = watched(SCRIPT);
    answer(&world, "claude-code", &prompt(&world, "please make a file"));
    let tool = |number: usize| {
        let id = format!("toolu_{number}");
        event(
            &world,
            "PostToolUse",
            json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {}, "tool_response": "x"}),
        )
    };
    let last = stop(&world, "Done. I created out.txt.", false);
    let events: Vec<_> = (0..100).map(|number| if number % 2 == 0 { last.clone() } else { tool(number) }).collect();
    let start = |event: &Value| -> Child {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_chaperone"))
            .args(["hook", "claude-code", "--within", "300"])
            .env_clear()
            .envs(world.environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
        child
    };
    let children: Vec<_> = events.iter().map(start).collect();
    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        if let Some(answer) = printed(&output.stdout) {
            *answers.entry(answer["decision"].to_string()).or_default() += 1;
        }
    }
    assert_eq!(answers, [("\"block\"".to_owned(), 1)].into());
    let status = answer(&world, "claude-code", &prompt(&world, "/monitors hedge")).unwrap();
    assert!(status["reason"].as_str().unwrap().contains("engaged (1/3)"), "{status}");
}

#[test]
fn a_command_of_a_plugin_is_answered_and_the_agent_does_not_see_it() {
    let world = watched(SCRIPT);
    let ask = |text: &str| answer(&world, "claude-code", &prompt(&world, text));
    let list = ask(" /monitors").unwrap();
    assert_eq!(list["decision"], "block");
    assert!(list["reason"].as_str().unwrap().starts_with("monitors: ON\n"), "{list}");
    assert_eq!(ask("/monitors hedge dismiss").unwrap()["decision"], "block");
    assert!(ask("/monitors").unwrap()["reason"].as_str().unwrap().contains("dismissed"), "it is remembered");
    assert_eq!(ask("/no-such-command"), None, "that is not ours to answer");
    let codex = answer(&world, "codex", &prompt(&world, "/monitors")).unwrap();
    assert_eq!(codex["decision"], "block");
    let mut gemini = prompt(&world, "/monitors");
    gemini["hook_event_name"] = "BeforeAgent".into();
    assert_eq!(answer(&world, "gemini-cli", &gemini).unwrap()["decision"], "deny");
}

#[test]
fn what_the_user_stopped_is_not_judged() {
    let world = watched("rules:\n  - answer: \"FLAG:Judged all the same\"\n");
    let line = |uuid: &str, parent: Value, kind: &str, content: Value| {
        format!(
            "{}\n",
            json!({"type": kind, "uuid": uuid, "parentUuid": parent, "message": {"role": kind, "content": content}})
        )
    };
    let transcript = [
        line("u", Value::Null, "user", json!("please make a file")),
        line("a", "u".into(), "assistant", json!([{"type": "text", "text": "I wonder whether"}])),
        line("i", "a".into(), "user", json!([{"type": "text", "text": "[Request interrupted by user]"}])),
    ];
    answer(&world, "claude-code", &prompt(&world, "please make a file"));
    world.write("transcript.jsonl", &transcript.concat());
    assert_eq!(answer(&world, "claude-code", &prompt(&world, "something else")), None);
}

#[test]
fn an_agent_that_was_started_by_another_one_does_not_disturb_it() {
    let world = watched(SCRIPT);
    answer(&world, "claude-code", &prompt(&world, "please make a file"));
    let more = json!({
        "agent_id": "a7", "agent_type": "reviewer", "stop_hook_active": false,
        "last_assistant_message": "Done. I created out.txt.",
    });
    assert_eq!(
        answer(&world, "claude-code", &event(&world, "SubagentStop", more)),
        None,
        "these monitors watch the main one"
    );
    let main = answer(&world, "claude-code", &stop(&world, "Done. I created out.txt.", false)).unwrap();
    assert_eq!(main["decision"], "block");
}

#[test]
fn whatever_goes_wrong_the_agent_goes_on() {
    let world = watched(SCRIPT);
    let quiet = |arguments: &[&str], stdin: &str| {
        let mut command = world.chaperone(["hook"].iter().chain(arguments).copied());
        let done = command.write_stdin(stdin.to_owned()).assert().success();
        assert_eq!(String::from_utf8_lossy(&done.get_output().stdout), "", "{arguments:?}");
        String::from_utf8(done.get_output().stderr.clone()).unwrap()
    };
    assert!(quiet(&["codex"], "").contains("no event"));
    assert!(quiet(&["codex"], "[1]").contains("no object"));
    assert!(quiet(&["gemini-cli"], r#"{"hook_event_name": "AfterAgent"}"#).contains("`session_id`"));
    let last = stop(&world, "Done. I created out.txt.", false).to_string();
    assert!(quiet(&["claude-code", "--nonsense"], &last).contains("--nonsense"), "wrong usage would block the host");
    assert!(quiet(&["claude-code", "--script", "judge.yaml", "--provider", "openai"], &last).contains("--script"));

    world.write("chaperone.toml", "[llm]\nprovider = 7\n");
    assert!(quiet(&["claude-code"], &last).contains("chaperone.toml"));
    let begin = event(&world, "SessionStart", json!({"source": "startup"})).to_string();
    let told = world.chaperone(["hook", "claude-code"]).write_stdin(begin).assert().success();
    let told = printed(&told.get_output().stdout).unwrap();
    let message = told["systemMessage"].as_str().unwrap();
    assert!(message.starts_with("chaperone does not watch:") && message.contains("chaperone.toml"), "{message}");
}

#[test]
fn code_that_came_with_a_repository_does_not_run_by_itself() {
    let world = watched(SCRIPT);
    let own = "[[plugin]]\nname = \"own\"\ncomponent = \"own.wasm\"\n";
    world.write("chaperone.toml", own);
    let begin = event(&world, "SessionStart", json!({"source": "startup"})).to_string();
    let told = |arguments: &[&str]| {
        let mut command = world.chaperone(["hook", "claude-code"].iter().chain(arguments).copied());
        let done = command.write_stdin(begin.clone()).assert().success();
        printed(&done.get_output().stdout).unwrap()["systemMessage"].as_str().unwrap().to_owned()
    };
    assert!(told(&[]).contains("brings code of its own"), "{}", told(&[]));
    let trusted = told(&["--config", "chaperone.toml"]);
    assert!(trusted.contains("own.wasm") && !trusted.contains("of its own"), "only the file is missing: {trusted}");
}

#[test]
fn a_transcript_that_cannot_be_read_is_told_and_the_last_words_are_judged() {
    let world = watched(SCRIPT);
    std::fs::create_dir(world.project().join("transcript.jsonl")).unwrap();
    let done = world
        .chaperone(["hook", "claude-code"])
        .write_stdin(stop(&world, "Done. I created out.txt.", false).to_string())
        .assert()
        .success();
    assert!(String::from_utf8_lossy(&done.get_output().stderr).contains("cannot read the transcript"));
    assert_eq!(printed(&done.get_output().stdout).unwrap()["decision"], "block");

    std::fs::remove_dir(world.project().join("transcript.jsonl")).unwrap();
    world.write(
        "transcript.jsonl",
        "{\"type\":\"user\",\"uuid\":\"u\",\"message\":{\"content\":\"x\"}}\n{broken\n{\"type\":",
    );
    let done =
        world.chaperone(["hook", "claude-code"]).write_stdin(stop(&world, "Yes.", true).to_string()).assert().success();
    let told = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    assert!(told.contains("line 2 passed over") && told.contains("line 3, the last one, is cut short"), "{told}");
}

#[test]
fn a_judge_that_is_too_slow_is_not_waited_for() {
    let world = watched("rules:\n  - delay_ms: 600000\n    answer: CLEAN\n");
    let mut command = world.chaperone(["hook", "claude-code", "--within", "1"]);
    let done = command.write_stdin(stop(&world, "Done.", false).to_string()).assert().success();
    let told = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    assert!(told.contains("did not answer in time"), "{told}");
    let answer = printed(&done.get_output().stdout);
    assert_eq!(answer.as_ref().and_then(|answer| answer.get("decision")), None, "{answer:?}");
}

#[test]
fn the_state_of_the_repository_is_that_of_the_project_whatever_started_the_host() {
    let looks = "rules:\n  - when: { prompt_contains: \"?? left-behind.txt\" }\n    answer: FLAG:it is left behind\n  - answer: CLEAN\n";
    let world = watched(looks);
    let toml = format!("{JUDGED}{}", builtin("monitors")).replace("files = {", "files = { git = \"read\",");
    world.write("chaperone.toml", &toml);
    world.write_of_user("monitors/hedge.monitor.json", &HEDGE.replace("assistant_text", "git_status"));
    let git =
        std::process::Command::new("git").args(["init", "--quiet"]).current_dir(world.project()).status().unwrap();
    assert!(git.success());
    world.write("left-behind.txt", "");
    answer(&world, "claude-code", &prompt(&world, "Commit it."));
    let mut hook = world.chaperone(["hook", "claude-code"]);
    // As in a hook of git, of another repository.
    hook.envs([("GIT_DIR", "/nowhere"), ("GIT_WORK_TREE", "/"), ("GIT_INDEX_FILE", "/nowhere/index")]);
    let answer = answer_to(hook, &stop(&world, "Committed.", false)).unwrap();
    assert!(answer["reason"].as_str().unwrap().starts_with("[hedge] it is left behind."), "{answer}");
}

#[test]
fn without_anybody_to_ask_the_agent_goes_on_and_the_user_is_told_once() {
    let world = watched("rules: []\n");
    world.write("chaperone.toml", &builtin("monitors"));
    let first = answer(&world, "claude-code", &stop(&world, "Done.", false)).unwrap();
    assert_eq!(first.as_object().unwrap().keys().collect::<Vec<_>>(), ["systemMessage"]);
    let message = first["systemMessage"].as_str().unwrap();
    assert_eq!(message.matches("nobody answers model calls").count(), 1, "{message}");
    assert!(message.contains("set ANTHROPIC_API_KEY where Claude Code runs, or name a provider"), "{message}");
    answer(&world, "claude-code", &prompt(&world, "and the tests?"));
    assert_eq!(answer(&world, "claude-code", &stop(&world, "Done as well.", false)), None, "it was said");
}

#[test]
fn installing_says_what_is_missing_before_anything_is_judged() {
    let world = World::new();
    let said = install(&world, "claude-code");
    assert!(said.contains("set ANTHROPIC_API_KEY where Claude Code runs"), "{said}");
    assert!(said.contains("`chaperone monitors init`"), "{said}");
    let mut with_key = world.chaperone(["hook", "install", "codex", "--yes"]);
    let done = with_key.env("OPENAI_API_KEY", "k").assert().success();
    assert!(!String::from_utf8_lossy(&done.get_output().stdout).contains("Nobody"));
    world.write("chaperone.toml", JUDGED);
    world.write(".pi/monitors/hedge.monitor.json", HEDGE);
    let said = install(&world, "gemini-cli");
    assert!(said.trim_end().ends_with("from its next session on"), "{said}");
}

fn settings(world: &World, host: &str) -> PathBuf {
    world.home().join(match host {
        "claude-code" => ".claude/settings.json",
        "codex" => ".codex/hooks.json",
        _ => ".gemini/settings.json",
    })
}

fn install(world: &World, host: &str) -> String {
    world.prints(["hook", "install", host, "--yes"])
}

#[test]
fn installing_shows_what_changes_and_uninstalling_gives_the_very_same_bytes() {
    let texts = [
        "{}",
        "{ }\n",
        "{\n}",
        "{\"model\":\"opus\",\n \"hooks\": {\"Stop\": [],\"x\":1}  }\n\n",
        "{\n\t\"hooks\": {}\n}\r\n",
    ];
    for host in HOSTS {
        for text in texts {
            let world = World::new();
            let path = settings(&world, host);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            let shown = install(&world, host);
            assert!(shown.contains("+") && shown.contains(&format!("chaperone hook {host}")), "{shown}");
            let with = std::fs::read_to_string(&path).unwrap();
            assert!(with.contains(&format!("chaperone hook {host}")), "{with}");
            assert!(install(&world, host).contains("already"));
            assert_eq!(std::fs::read_to_string(&path).unwrap(), with);
            world.prints(["hook", "uninstall", host, "--yes"]);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "{host}");
        }
    }
}

#[test]
fn a_file_that_was_not_there_is_gone_again() {
    let world = World::new();
    let before = world.tree();
    install(&world, "codex");
    assert!(settings(&world, "codex").exists());
    world.prints(["hook", "uninstall", "codex", "--yes"]);
    let mut after = world.tree();
    after.retain(|path, _| !path.starts_with(world.home().join(".cache")));
    assert_eq!(after, before);
    assert!(world.prints(["hook", "uninstall", "codex", "--yes"]).contains("no hook of this program"));
}

#[test]
fn what_was_changed_since_stays_changed() {
    let world = World::new();
    let path = settings(&world, "claude-code");
    install(&world, "claude-code");
    let with = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, with.replacen('{', "{\n  \"model\": \"opus\",", 1)).unwrap();
    world.prints(["hook", "uninstall", "claude-code", "--yes"]);
    let after: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(after, json!({"model": "opus"}));
}

#[test]
fn nothing_is_written_without_a_yes_and_broken_settings_are_left_alone() {
    let world = World::new();
    let path = settings(&world, "claude-code");
    let error = world.fails(1, ["hook", "install", "claude-code"]);
    assert!(error.contains("nobody to ask; say --yes"), "{error}");
    assert!(!path.exists());
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "{\n  \"a\": 1,\n  // mine\n}").unwrap();
    let error = world.fails(1, ["hook", "install", "claude-code", "--yes"]);
    assert!(error.contains("settings.json") && error.contains("line 3, column 3"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\n  \"a\": 1,\n  // mine\n}");
}

#[test]
fn hosts_whose_folder_was_moved_and_projects_have_their_own_settings() {
    let world = World::new();
    let moved = world.home().join("moved");
    world.chaperone(["hook", "install", "claude-code", "--yes"]).env("CLAUDE_CONFIG_DIR", &moved).assert().success();
    world.chaperone(["hook", "install", "codex", "--yes"]).env("CODEX_HOME", &moved).assert().success();
    world.prints(["hook", "install", "gemini-cli", "--project", "--yes"]);
    assert!(moved.join("settings.json").exists() && moved.join("hooks.json").exists());
    let of_project: Value = serde_json::from_str(&world.read(".gemini/settings.json")).unwrap();
    let command = of_project["hooks"]["AfterAgent"][0]["hooks"][0]["command"].as_str().unwrap();
    assert!(Path::new(command.split(' ').next().unwrap()).is_absolute(), "{command}");
}

#[cfg(unix)]
#[test]
fn settings_that_are_a_link_stay_one() {
    let world = World::new();
    let path = settings(&world, "claude-code");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let kept = world.home().join("dotfiles.json");
    std::fs::write(&kept, "{}").unwrap();
    std::os::unix::fs::symlink(&kept, &path).unwrap();
    install(&world, "claude-code");
    assert!(path.symlink_metadata().unwrap().is_symlink());
    assert!(std::fs::read_to_string(&kept).unwrap().contains("chaperone hook"));
}
