use proptest::prelude::*;

use super::*;
use crate::files::{Access, Globs};

mod faults;

fn parse(text: &str) -> Config {
    Config::parse("/p/.pi/chaperone.toml", text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_field_is_read() {
    let config = parse(
        r#"
        [llm]
        provider = "local"
        timeout_ms = 30_000
        [providers.local]
        kind = "openai"
        base_url = "http://localhost:8080/v1"
        key_file = "keys/local"
        default_model = "small"
        [[providers.local.models]]
        name = "small"
        context_window = 128000
        max_output_tokens = 4096
        reasons = true
        [[providers.local.models]]
        name = "tiny"
        [providers.anthropic]
        [providers.script]
        script = "/answers/judge.yaml"
        [[plugin]]
        name = "monitors"
        component = "builtin:monitors"
        [plugin.grants]
        files = { project = "read-write", user = "read", workspace = { read = ["**"], write = [".workflow/**"] } }
        llm = { models = ["claude-*"], calls_per_turn = 12, tokens_per_session = 400_000 }
        inject = true
        [plugin.limits]
        hook_ms = 100
        memory_mib = 32
        quarantine_after = 5
        [trace]
        keep_days = 7
        max_mib = 16
        content = "none"
        [state]
        keep_days = 14
        [[plugin]]
        name = "mine"
        component = "../mine.wasm"
        "#,
    );
    assert_eq!(config.llm, Llm { provider: Some("local".into()), timeout_ms: 30_000 });
    let local = Provider {
        kind: ProviderKind::OpenAi(Endpoint {
            base_url: Some("http://localhost:8080/v1".into()),
            key: Key::File("/p/.pi/keys/local".into()),
        }),
        default_model: Some("small".into()),
        models: vec![
            Model { name: "small".into(), context_window: Some(128_000), max_output_tokens: Some(4096), reasons: true },
            Model { name: "tiny".into(), context_window: None, max_output_tokens: None, reasons: false },
        ],
    };
    let anthropic = ProviderKind::Anthropic(Endpoint { base_url: None, key: Key::Env("ANTHROPIC_API_KEY".into()) });
    let script = ProviderKind::Script("/answers/judge.yaml".into());
    let plain = |kind| Provider { kind, default_model: None, models: vec![] };
    assert_eq!(
        config.providers,
        BTreeMap::from([
            ("anthropic".into(), plain(anthropic)),
            ("local".into(), local),
            ("script".into(), plain(script)),
        ])
    );
    let globs = |pattern: &str| Access::Globs(Globs::new([pattern]).unwrap());
    let monitors = Plugin {
        name: "monitors".into(),
        component: Component::Builtin("monitors".into()),
        grants: Grants {
            files: BTreeMap::from([
                ("project".into(), Grant::READ_WRITE),
                ("user".into(), Grant::READ),
                ("workspace".into(), Grant { read: globs("**"), write: globs(".workflow/**") }),
            ]),
            llm: Some(LlmGrant {
                models: ModelNames::new(vec!["claude-*".into()]).unwrap(),
                calls_per_turn: 12,
                tokens_per_session: Some(400_000),
            }),
            inject: true,
        },
        limits: Limits { hook_ms: 100, memory_mib: 32, quarantine_after: 5 },
    };
    let mine = Plugin {
        name: "mine".into(),
        component: Component::File("/p/.pi/../mine.wasm".into()),
        grants: Grants::default(),
        limits: Limits::default(),
    };
    assert_eq!(config.plugins, [monitors, mine]);
    let week = std::time::Duration::from_secs(7 * 24 * 60 * 60);
    assert_eq!(config.trace, Policy { keep: week, max_bytes: 16 << 20, content: crate::traces::Content::None });
    assert_eq!(config.state, State { keep: 2 * week });
}

#[test]
fn an_empty_file_is_the_default_and_no_plugins_can_be_asked_for() {
    assert_eq!(parse(""), Config::default());
    assert_eq!(parse("plugin = []").plugins, []);
    let names: Vec<String> = Config::default().plugins.into_iter().map(|plugin| plugin.name).collect();
    assert_eq!(names, BUILTINS);
    assert_eq!(Config::default().plugins[0].grants.files[REPOSITORY], Grant::READ);
}

#[test]
fn the_stop_guard_reaches_its_own_folder_of_the_user_and_no_other_file() {
    let config = Config::default();
    let guard = config.plugins.iter().find(|plugin| plugin.name == "stop-guard").unwrap();
    assert!(guard.grants.inject && guard.grants.llm.is_some());
    let [(mount, grant)] = Vec::from_iter(&guard.grants.files)[..] else { panic!("one mount") };
    assert_eq!(mount, "user");
    for access in [&grant.read, &grant.write] {
        assert!(access.allows("extensions/pi-auto-goal/config.json"));
        assert!(!access.allows("extensions/other/config.json") && !access.allows("settings.json"));
    }
}

#[test]
fn a_plugin_of_a_file_has_just_what_is_granted() {
    let grants = |grants: &str| {
        parse(&format!("[[plugin]]\nname = \"p\"\ncomponent = \"p.wasm\"\ngrants = {grants}")).plugins[0].grants.clone()
    };
    assert_eq!(grants("{}"), Grants { files: BTreeMap::new(), llm: None, inject: false });
    assert_eq!(grants("{ llm = false }").llm, None);
    assert_eq!(grants("{ llm = true }").llm, Some(LlmGrant::default()));
    let workspace = grants("{ files = { workspace = { write = [\"a\"] }, user = \"none\" } }").files;
    assert_eq!(workspace["workspace"].read, Access::None);
    assert_eq!(workspace["user"], Grant::NONE);
}

#[test]
fn a_model_is_allowed_by_pattern() {
    assert!(ModelNames::any().allow("openrouter/qwen/qwen3"));
    let names = ModelNames::new(vec!["claude-*".into(), "gpt-5".into()]).unwrap();
    assert!(names.allow("claude-sonnet-4") && names.allow("gpt-5"));
    assert!(!names.allow("gpt-5-mini") && !names.allow("my-claude-1"));
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chaperone.toml");
    let error = Config::load(&path).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot read {}: ", path.display())), "{error}");
}

#[test]
fn paths_start_from_the_folder_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chaperone.toml");
    std::fs::write(&path, "[providers.script]\nscript = \"a/judge.yaml\"").unwrap();
    let config = Config::load(&path).unwrap();
    assert_eq!(config.providers["script"].kind, ProviderKind::Script(folder.path().join("a/judge.yaml")));
}

proptest! {
    #[test]
    fn any_text_is_answered(text in ".{0,80}") {
        let _answered = Config::parse("c.toml", &text).map_err(|error| error.to_string());
    }

    #[test]
    fn any_lines_of_a_configuration_are_answered(lines in prop::collection::vec(prop_oneof![
        Just("[[plugin]]"), Just("[plugin.grants]"), Just("[plugin.limits]"), Just("[plugin]"), Just("[llm]"),
        Just("[providers.openai]"), Just("[[providers.openai.models]]"), Just("name = 'é'"), Just("name = 'a'"),
        Just("component = 'builtin:monitors'"), Just("files = { user = { read = ['[', ''] } }"), Just("hook_ms = 1e9"),
        Just("llm = { models = ['{', '*'] }"), Just("provider = ["), Just("kind = 'script'"), Just("script = '~/x'"),
        Just("key_env = \"\\u00e9\""), Just("timeout_ms = 0x_1"), Just("\u{feff}"), Just("\r"), Just("a.b.c = '''"),
    ], 0..12)) {
        let text = lines.join("\n");
        if let Err(error) = Config::parse("c.toml", &text) {
            let ConfigError::Faulty(faults) = &error else { panic!("nothing is read from the disk") };
            prop_assert!(!faults.is_empty() && !error.to_string().is_empty());
            for fault in faults {
                prop_assert!(text.split('\n').count() >= fault.line);
                prop_assert!(!fault.message.is_empty() && !fault.mend.is_empty());
            }
        }
    }
}
