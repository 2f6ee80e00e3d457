use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const PROGRAM: &str = "/opt/bin/chaperone hook claude-code";

fn installed(text: &str) -> String {
    install(Some(text), Host::ClaudeCode, PROGRAM).unwrap()
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_missing_file_gets_the_hooks_and_nothing_else() {
    let text = install(None, Host::Codex, "/opt/chaperone hook codex").unwrap();
    assert!(text.starts_with("{\n  \"hooks\": {\n    \"SessionStart\": [\n"), "{text}");
    assert!(text.ends_with("}\n"));
    let stop = &value(&text)["hooks"]["Stop"][0]["hooks"][0];
    assert_eq!(*stop, json!({"type": "command", "command": "/opt/chaperone hook codex", "timeout": 60}));
    assert_eq!(value(&text)["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 3);
    let gemini = value(&install(None, Host::GeminiCli, "c").unwrap());
    assert_eq!(gemini["hooks"]["AfterAgent"][0]["hooks"][0]["timeout"], 60_000, "in milliseconds there");
}

#[test]
fn everything_else_keeps_its_text() {
    let text = "{\n\t\"model\":   \"opus\",\n\t\"n\": 1.50,\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [ {\"type\": \"command\", \"command\": \"say done\"} ] }\n\t\t]\n\t},\n\t\"z\": [1,2,  3]\n}";
    let after = installed(text);
    for kept in [
        "\"model\":   \"opus\"",
        "1.50",
        "{ \"hooks\": [ {\"type\": \"command\", \"command\": \"say done\"} ] }",
        "[1,2,  3]",
    ] {
        assert!(after.contains(kept), "{after}");
    }
    assert!(after.contains("\n\t\t\"PreToolUse\": ["), "indented as the file is: {after}");
    assert_eq!(value(&after)["hooks"]["Stop"].as_array().unwrap().len(), 2);
    assert_eq!(value(&uninstall(&after, Host::ClaudeCode).unwrap()), value(text));
}

#[test]
fn installing_again_changes_nothing_and_from_another_place_only_the_place() {
    let once = installed("{}\n");
    assert_eq!(installed(&once), once);
    let moved = install(Some(&once), Host::ClaudeCode, "'/new place/chaperone' hook claude-code").unwrap();
    assert!(!moved.contains("/opt/bin"));
    assert_eq!(moved.matches("/new place/").count(), once.matches("/opt/bin/").count());
}

#[test]
fn other_commands_are_left_alone() {
    let own = |command: &str| is_ours(command, Host::ClaudeCode);
    assert!(own("/usr/bin/chaperone hook claude-code"));
    assert!(own("'/a b/chaperone' hook claude-code --config '/c d.toml'"));
    assert!(own(r"C:\tools\chaperone.exe hook claude-code"));
    assert!(!own("/usr/bin/chaperone hook codex"));
    assert!(!own("/usr/bin/not-chaperone hook claude-code"));
    assert!(!own("chaperone run x"));
    let foreign = r#"{"hooks": {"Stop": [], "SessionEnd": [{"hooks": [{"type": "command", "command": "x"}]}]}}"#;
    assert_eq!(uninstall(foreign, Host::ClaudeCode).unwrap(), foreign, "also lists that were empty before");
}

#[test]
fn what_is_no_json_is_left_alone_and_the_place_is_named() {
    let error = install(Some("{\n  \"a\": 1,\n  oops\n}"), Host::ClaudeCode, PROGRAM).unwrap_err();
    assert!(error.to_string().starts_with("line 3, column 3:"), "{error}");
    assert!(matches!(uninstall("{", Host::Codex).unwrap_err(), SettingsError::NotJson { .. }));
    let with_comment = "{\n  // mine\n  \"a\": 1\n}\n";
    assert!(install(Some(with_comment), Host::ClaudeCode, PROGRAM).is_err(), "Claude Code does not read it either");
    assert!(install(Some(with_comment), Host::GeminiCli, "c").unwrap().contains("// mine"));
}

#[test]
fn what_is_of_another_kind_is_left_alone() {
    let error = |text: &str| install(Some(text), Host::ClaudeCode, PROGRAM).unwrap_err().to_string();
    assert!(error("[]").starts_with("the document is no object"));
    assert!(error(r#"{"hooks": []}"#).starts_with("`hooks` is no object"));
    assert!(error(r#"{"hooks": {"Stop": {}}}"#).starts_with("`hooks.Stop` is no list"));
}

#[test]
fn a_command_is_a_line_of_a_shell() {
    assert_eq!(command(Path::new("/opt/chaperone"), Host::Codex, None), "/opt/chaperone hook codex");
    let line = command(Path::new("/it's here/chaperone"), Host::GeminiCli, Some(Path::new("/c.toml")));
    assert_eq!(line, r"'/it'\''s here/chaperone' hook gemini-cli --config /c.toml");
}

#[test]
fn the_folders_of_hosts_can_be_moved() {
    let project = Path::new("/p");
    let home = Some(Path::new("/h"));
    let none = |_: &str| None;
    let at = |host, scope| file(host, scope, project, home, none).unwrap().display().to_string();
    assert_eq!(at(Host::ClaudeCode, Scope::User), "/h/.claude/settings.json");
    assert_eq!(at(Host::ClaudeCode, Scope::Project), "/p/.claude/settings.json");
    assert_eq!(at(Host::Codex, Scope::User), "/h/.codex/hooks.json");
    assert_eq!(at(Host::GeminiCli, Scope::Project), "/p/.gemini/settings.json");
    let moved = |name: &str| Some(PathBuf::from(format!("/moved/{name}")));
    let codex = file(Host::Codex, Scope::User, project, home, moved).unwrap();
    assert_eq!(codex, Path::new("/moved/CODEX_HOME/hooks.json"));
    let claude = file(Host::ClaudeCode, Scope::User, project, None, moved).unwrap();
    assert_eq!(claude, Path::new("/moved/CLAUDE_CONFIG_DIR/settings.json"));
    assert_eq!(file(Host::GeminiCli, Scope::User, project, None, moved), None);
}

fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z \"é]{0,5}".prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::vec(("[a-z]{1,4}", inner), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_text_is_taken_or_refused(text in ".{0,60}") {
        let _ = install(Some(&text), Host::GeminiCli, "c");
        let _ = uninstall(&text, Host::GeminiCli);
    }

    #[test]
    fn taking_out_what_was_put_in_gives_the_same_document(
        members in proptest::collection::vec(("[a-z]{1,6}", documents()), 0..4),
        pretty in any::<bool>(),
    ) {
        let members: serde_json::Map<_, _> = members.into_iter().filter(|(name, _)| name != "hooks").collect();
        let document = Value::Object(members);
        let text = if pretty { serde_json::to_string_pretty(&document).unwrap() } else { document.to_string() };
        let with = installed(&text);
        prop_assert_eq!(&installed(&with), &with);
        prop_assert_eq!(value(&uninstall(&with, Host::ClaudeCode).unwrap()), document);
    }
}
