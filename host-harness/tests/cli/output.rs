//! Colours, and readers that go away.

use std::process::{Command, Stdio};

use crate::support::{World, session};

const ESCAPE: char = '\u{1b}';

#[test]
fn colours_are_for_terminals_and_not_where_nobody_wants_them() {
    let world = World::with_monitors();
    let [session, script] = session("leaves-failing-test");
    let commands: [&[&str]; 4] = [
        &["run", &session, "--script", &script],
        &["monitors", "list"],
        &["monitors", "show", "none"],
        &["monitors", "check"],
    ];
    world.write(".pi/monitors/bad.monitor.json", "{}");
    for arguments in commands {
        let has_escapes = |variables: &[(&str, &str)]| {
            let mut command = world.chaperone(arguments.iter().copied());
            let output = command.envs(variables.iter().copied()).output().unwrap();
            String::from_utf8([output.stdout, output.stderr].concat()).unwrap().contains(ESCAPE)
        };
        assert!(!has_escapes(&[]), "{arguments:?} in a pipe");
        assert!(has_escapes(&[("CLICOLOR_FORCE", "1")]), "{arguments:?} as on a terminal");
        assert!(!has_escapes(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), "{arguments:?} without colours");
    }
}

#[test]
fn what_others_wrote_cannot_command_the_terminal() {
    const TITLE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m";
    let world = World::with_monitors();
    let [session, script] = session("leaves-failing-test");
    let hostile = |text: &str, from: &str| {
        let escaped: String = TITLE.chars().map(|char| format!("\\u{:04x}", u32::from(char))).collect();
        let changed = text.replace(from, &format!("{from}{escaped}"));
        assert_ne!(changed, text, "{from}");
        changed
    };
    let recorded = std::fs::read_to_string(&session).unwrap();
    let recorded = ["The test suite is red", "I'll run the suite first", "/home/dev/shop", "python3 -m"]
        .iter()
        .fold(recorded, |text, from| hostile(&text, from));
    world.write("session.jsonl", &recorded);
    let answers = std::fs::read_to_string(&script).unwrap().replace("answer: CLEAN", "answer: \"NEW:p|CLEAN\"");
    world.write("judge.yaml", &hostile(&answers, "NEW:p|CLEAN"));
    world.write(".pi/monitors/bad.monitor.json", &hostile(r#"{"event": "bad event"}"#, "bad event"));
    let commands: [&[&str]; 5] = [
        &["run", "session.jsonl", "--script", "judge.yaml", "--command", "work-quality"],
        &["run", "session.jsonl", "--script", "judge.yaml", "--leaf", TITLE],
        &["monitors", "list"],
        &["monitors", "check"],
        &["monitors", "show", TITLE],
    ];
    for arguments in commands {
        let output = world.chaperone(arguments.iter().copied()).env("CLICOLOR_FORCE", "1").output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let without_colours = anstream::adapter::strip_str(&text).to_string();
        assert!(without_colours.contains("␛]0;owned␇␛[2J\u{fffd}31m"), "{arguments:?}: {text}");
        for raw in ["\u{1b}]", "\u{1b}[2J", "\u{7}", "\u{9b}"] {
            assert!(!text.contains(raw), "{arguments:?} prints {raw:?}: {text}");
        }
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let world = World::with_monitors();
    let [session, script] = session("leaves-failing-test");
    world.prints(["run", &session, "--script", &script, "--record", "recording.jsonl"]);
    let commands: [&[&str]; 6] = [
        &["run", &session, "--script", &script],
        &["run", &session, "--script", &script, "--format", "json"],
        &["replay", "recording.jsonl"],
        &["monitors", "show", "hedge"],
        &["monitors", "check"],
        &["monitors", "test", "fragility", &session, "--script", &script],
    ];
    for arguments in commands {
        let described = world.chaperone(arguments.iter().copied());
        let mut command = Command::new(described.get_program());
        command.args(described.get_args()).current_dir(world.project()).env_clear();
        command.envs(described.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        assert!(output.status.success(), "{arguments:?}");
    }
}
