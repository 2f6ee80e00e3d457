//! Monitors that came with a repository

use snapbox::{assert_data_eq, str};

use crate::support::{World, session};

const MONITOR: &str = r#"{
  "name": "naming", "event": "agent_end", "classify": {"prompt": "{patterns} CLEAN FLAG", "model": "anthropic/big"},
  "patterns": {"path": "naming.patterns.json"}, "actions": {"on_flag": {"steer": "Rename it."}}
}"#;
const PATTERNS: &str = r#"[{"id": "p", "description": "Poor names"}]"#;

fn cloned() -> World {
    let world = World::new();
    world.write(".pi/monitors/naming.monitor.json", MONITOR);
    world.write(".pi/monitors/naming.patterns.json", PATTERNS);
    world
}

#[test]
fn the_shell_lists_trusts_and_withdraws() {
    let world = cloned();
    let before = world.tree();
    assert_data_eq!(
        world.prints(["monitors", "trust"]),
        str![[r#"
Not trusted, and inactive:
  naming [agent_end] — asks anthropic/big, steers the agent (not trusted yet)
chaperone monitors trust <name>|all activates them; look at their files first

"#]]
    );
    assert!(world.prints(["monitors", "list"]).contains("naming [agent_end] — inactive: not trusted yet"));
    assert_eq!(world.tree(), before, "looking leaves nothing behind");
    assert_eq!(world.prints(["monitors", "trust", "naming"]), "Trusted: naming\n");
    assert!(world.prints(["monitors", "list"]).contains("naming [agent_end] — idle"));
    assert_eq!(world.prints(["monitors", "rules", "naming", "add", "i is fine"]), "[naming] Rule added: i is fine\n");
    assert!(world.prints(["monitors", "list"]).contains("naming [agent_end] — idle"), "the user's own change");
    world.write(".pi/monitors/naming.patterns.json", "[{\"id\": \"q\", \"description\": \"Other\"}]");
    let listed = world.prints(["monitors", "list"]);
    assert!(listed.contains("inactive: no longer trusted, since its patterns changed"), "{listed}");
    assert_eq!(world.prints(["monitors", "trust", "all"]), "Trusted: naming\n");
    assert_eq!(world.prints(["monitors", "untrust", "naming"]), "[naming] is no longer trusted, and inactive\n");
    world.prints(["monitors", "trust", "all"]);
    assert_eq!(world.prints(["monitors", "untrust", "all"]), "No longer trusted, and inactive: naming\n");
    assert_eq!(world.fails(1, ["monitors", "trust", "nope"]), "error: Unknown monitor: nope\n");
}

#[test]
fn trust_is_kept_out_of_the_repository() {
    let world = cloned();
    let files = |world: &World| -> Vec<_> {
        world.tree().into_iter().filter(|(path, _)| path.starts_with(world.project())).collect()
    };
    let before = files(&world);
    world.prints(["monitors", "trust", "all"]);
    assert_eq!(files(&world), before);
    assert!(world.home().join(".local/state/chaperone/state.db").exists());
}

#[test]
fn a_session_with_a_scripted_judge_is_watched_by_all_monitors() {
    let world = cloned();
    world.write("judge.yaml", "rules:\n  - when: { monitor: naming }\n    answer: \"FLAG:x\"\n");
    let [session, _] = session("clean-fix");
    let before = world.tree();
    let output = world.prints(["run", &session, "--script", "judge.yaml"]);
    assert!(output.contains("naming: "), "{output}");
    let output = world.prints(["monitors", "test", "naming", &session, "--script", "judge.yaml"]);
    assert!(output.contains("naming: "), "{output}");
    assert_eq!(world.tree(), before, "and nothing is remembered");
}

#[test]
fn where_a_real_model_may_be_asked_only_trusted_monitors_act() {
    let world = cloned();
    world.write("judge.yaml", "rules:\n  - when: { monitor: naming }\n    answer: CLEAN\n");
    // The judge is a script, but the monitor names a provider that is configured as well.
    let toml = "[llm]\nprovider = \"script\"\n[providers.script]\nscript = \"judge.yaml\"\n[providers.anthropic]\n";
    world.write("own.toml", toml);
    let [session, _] = session("clean-fix");
    let run = ["run", &session, "--config", "own.toml", "--plugin", "monitors"];
    let output = world.prints(run);
    assert!(output.contains("would ask: Trust the monitors of this project?"), "{output}");
    assert!(output.contains("[naming] Inactive: not trusted yet"), "{output}");
    assert!(!output.contains("naming: "), "{output}");
    // Without a key the question fails, but it is asked.
    let asks = |output: String| output.contains("naming: UNKNOWN");
    let trusted = |arguments: &[&str]| {
        let output = world.chaperone(arguments.iter().copied()).assert().code(1).get_output().stdout.clone();
        String::from_utf8(output).unwrap()
    };
    assert!(asks(trusted(&[&run[..], &["--trust-project"]].concat())));
    world.prints(["monitors", "trust", "naming"]);
    assert!(asks(trusted(&run)));
}
