//! `chaperone replay`

use snapbox::{assert_data_eq, str};

use crate::support::{World, session, session_names};

const RECORDING: &str = "recording.jsonl";

fn record(world: &World, name: &str) {
    let [session, script] = session(name);
    world.prints(["run", &session, "--script", &script, "--command", "work-quality", "--record", RECORDING]);
}

#[test]
fn a_replay_of_every_bundled_session_agrees() {
    let world = World::with_monitors();
    let names = session_names();
    assert_eq!(names.len(), 9);
    for name in names {
        record(&world, &name);
        let hooks = world.read(RECORDING).lines().filter(|line| line.starts_with("{\"hook\"")).count();
        assert!(hooks > 10, "{name}");
        assert_eq!(world.prints(["replay", RECORDING]), format!("{hooks} hooks, no difference\n"), "{name}");
    }
}

#[test]
fn a_replay_needs_neither_session_nor_files() {
    let world = World::with_monitors();
    record(&world, "leaves-failing-test");
    std::fs::remove_dir_all(world.project().join(".pi")).unwrap();
    world.prints(["replay", RECORDING]);
}

#[test]
fn where_a_recording_was_changed_the_difference_is_shown() {
    let world = World::with_monitors();
    record(&world, "leaves-failing-test");
    let recording = world.read(RECORDING);
    let tampered = recording.replacen("\"text\":\"CLEAN\"", "\"text\":\"FLAG:something else\"", 1);
    assert_ne!(tampered, recording);
    world.write(RECORDING, &tampered);
    let output = world.chaperone(["replay", RECORDING]).assert().code(1);
    assert_data_eq!(
        String::from_utf8(output.get_output().stdout.clone()).unwrap(),
        str![[r#"
line [..]: `monitors` answers llm_completed differently
...
-[..]"verdict": "clean"[..]
...
+[..]something else[..]
...
"#]]
    );
}

#[test]
fn a_component_for_a_plugin_that_was_not_recorded_is_an_error() {
    let world = World::with_monitors();
    record(&world, "clean-fix");
    assert_data_eq!(
        world.fails(1, ["replay", RECORDING, "--component", "monitor=new.wasm"]),
        str![[r#"
error: recording.jsonl: there is no plugin `monitor` in it; there is monitors, stop-guard

"#]]
    );
}

#[test]
fn what_is_no_recording_is_an_error() {
    let world = World::new();
    let [session, script] = session("clean-fix");
    assert!(world.fails(1, ["replay", "none.jsonl"]).starts_with("error: cannot read none.jsonl: "));
    assert!(world.fails(1, ["replay", &session]).contains("this is not a recording"));
    assert!(world.fails(1, ["replay", &script]).contains("this is not a recording"));
    world.fails(2, ["replay"]);
    world.fails(2, ["replay", "x", "--component", "no-equals-sign"]);
}
