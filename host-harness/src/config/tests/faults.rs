use snapbox::{assert_data_eq, str};

use super::*;

/// What is said of a faulty text.
fn report(text: &str) -> String {
    Config::parse("c.toml", text).expect_err("a fault").to_string()
}

#[test]
fn a_mistyped_field_is_told_with_the_one_that_was_meant() {
    let text = "[[plugin]]\nname = \"m\"\ncomponent = \"builtin:monitors\"\n[plugin.limits]\nhook_sm = 200\n";
    assert_data_eq!(
        report(text),
        str![[r#"
c.toml:5:1: unknown field `hook_sm` in `plugin.limits`
  |
5 | hook_sm = 200
  | ^^^^^^^
  = did you mean `hook_ms`?
"#]]
    );
}

#[test]
fn a_field_that_resembles_none_is_told_with_all_that_there_are() {
    assert_data_eq!(
        report("[llm]\n\tcolour = 'red'"),
        str![[r#"
c.toml:2:2: unknown field `colour` in `llm`
  |
2 | 	colour = 'red'
  | 	^^^^^^
  = known fields: `provider`, `timeout_ms`
"#]]
    );
}

#[test]
fn all_faults_are_told_in_the_order_of_the_text() {
    let text = r#"
[llm]
provider = "opnai"
timeout_ms = 0
[[plugin]]
name = "monitors"
component = "builtin:monitor"
[plugin.limits]
hook_ms = "200"
memory_mib = 5000
quarantine_after = 1.5
[[plugin]]
name = "monitors"
"#;
    assert_data_eq!(
        report(text),
        str![[r#"
c.toml:3:12: there is no provider `opnai`
  |
3 | provider = "opnai"
  |            ^^^^^^^
  = write one of `script`, `host`, or add a table `[providers.opnai]`

c.toml:4:14: `timeout_ms` is out of range: 0
  |
4 | timeout_ms = 0
  |              ^
  = write a whole number of milliseconds from 1 to 3600000

c.toml:7:13: no component `monitor` is built in
  |
7 | component = "builtin:monitor"
  |             ^^^^^^^^^^^^^^^^^
  = did you mean `builtin:monitors`?

c.toml:9:11: `hook_ms` must be a whole number, not a string
  |
9 | hook_ms = "200"
  |           ^^^^^
  = write a whole number of milliseconds from 1 to 60000

c.toml:10:14: `memory_mib` is out of range: 5000
   |
10 | memory_mib = 5000
   |              ^^^^
   = write a whole number of MiB from 1 to 256

c.toml:11:20: `quarantine_after` must be a whole number, not a number with a fraction
   |
11 | quarantine_after = 1.5
   |                    ^^^
   = write a whole number of traps from 1 to 1000

c.toml:12:1: plugin `monitors` has no `component`
   |
12 | [[plugin]]
   | ^^^^^^^^^^
   = add `component = "builtin:monitors"`, or the path of a component

c.toml:13:8: there are two plugins called `monitors`
   |
13 | name = "monitors"
   |        ^^^^^^^^^^
   = give one of them another name, or remove it
"#]]
    );
}

#[test]
fn text_that_is_not_toml_is_told_with_its_place() {
    assert_data_eq!(
        report("[llm\nprovider = \"script\"\ntimeout_ms = \n"),
        str![[r#"
c.toml:1:5: unclosed table
  |
1 | [llm
  |     ^
  = expected here: `]`
"#]]
    );
}

#[test]
fn a_key_that_stands_twice_is_told() {
    assert_data_eq!(
        report("[llm]\ntimeout_ms = 1\ntimeout_ms = 2\n"),
        str![[r#"
c.toml:3:1: duplicate key
  |
3 | timeout_ms = 2
  | ^^^^^^^^^^
  = keep one of the two
"#]]
    );
}

#[test]
fn a_single_bracket_for_a_plugin_is_told() {
    assert_data_eq!(
        report("[plugin]\nname = \"m\"\n"),
        str![[r#"
c.toml:1:1: `plugin` must be a list of tables, not a table
  |
1 | [plugin]
  | ^^^^^^^^
  = write `[[plugin]]`, with two brackets, once for each
"#]]
    );
}

#[test]
fn grants_that_cannot_be_are_told() {
    let text = r#"
[[plugin]]
name = "My Plugin"
component = ""
[plugin.grants]
inject = "yes"
llm = "all"
[plugin.grants.files]
project = "write"
workspce = "read"
user = { read = "**", write = ["/etc/**", "a[", 3] }
"#;
    assert_data_eq!(
        report(text),
        str![[r#"
c.toml:3:8: `My Plugin` cannot be the name of a plugin
  |
3 | name = "My Plugin"
  |        ^^^^^^^^^^^
  = write lower-case letters, digits and hyphens, such as `stop-guard`

c.toml:4:13: `component` is empty
  |
4 | component = ""
  |             ^^
  = write the path of a component, or `builtin:monitors`

c.toml:6:10: `inject` must be true or false, not a string
  |
6 | inject = "yes"
  |          ^^^^^
  = write `true` or `false`, without quotes

c.toml:7:7: `llm` must be true, false or a table
  |
7 | llm = "all"
  |       ^^^^^
  = write `llm = { models = ["*"], calls_per_turn = 8 }`, or `false`

c.toml:9:11: `project` cannot be `write`
  |
9 | project = "write"
  |           ^^^^^^^
  = possible: `none`, `read`, `read-write`

c.toml:10:1: there is no folder `workspce` to grant
   |
10 | workspce = "read"
   | ^^^^^^^^
   = did you mean `workspace`?

c.toml:11:17: `read` must be a list of strings, not a string
   |
11 | user = { read = "**", write = ["/etc/**", "a[", 3] }
   |                 ^^^^
   = write a list of patterns, such as `[".workflow/**"]`

c.toml:11:32: the pattern `/etc/**` is absolute; paths are relative to the mount
   |
11 | user = { read = "**", write = ["/etc/**", "a[", 3] }
   |                                ^^^^^^^^^
   = write it relative to the mount, such as `.workflow/**`

c.toml:11:43: the pattern `a[` is not a glob: unclosed character class; missing ']'
   |
11 | user = { read = "**", write = ["/etc/**", "a[", 3] }
   |                                           ^^^^
   = patterns look like `**`, `*.json` or `.workflow/**`

c.toml:11:49: `write` must hold strings, not a whole number
   |
11 | user = { read = "**", write = ["/etc/**", "a[", 3] }
   |                                                 ^
   = write a list of patterns, such as `[".workflow/**"]`
"#]]
    );
}

#[test]
fn the_repository_cannot_be_written() {
    let text = r#"
[[plugin]]
name = "m"
component = "m.wasm"
[[plugin]]
name = "n"
component = "n.wasm"
[plugin.grants]
files = { git = "read-write" }
"#;
    assert_data_eq!(
        report(text),
        str![[r#"
c.toml:9:17: `git` cannot be `read-write`
  |
9 | files = { git = "read-write" }
  |                 ^^^^^^^^^^^^
  = possible: `none`, `read`
"#]]
    );
    let patterns = text.replace("\"read-write\"", "{ read = [\"status\"], write = [\"status\"] }");
    assert!(report(&patterns).contains("`write`"), "{}", report(&patterns));
}

#[test]
fn allowances_that_cannot_be_are_told() {
    let text = r#"
[[plugin]]
name = "m"
component = "m.wasm"
[plugin.grants.llm]
models = []
calls_per_turn = 0
tokens_per_session = -1
"#;
    assert_data_eq!(
        report(text),
        str![[r#"
c.toml:6:10: `models` is empty
  |
6 | models = []
  |          ^^
  = write `llm = false` to grant no model

c.toml:7:18: `calls_per_turn` is out of range: 0
  |
7 | calls_per_turn = 0
  |                  ^
  = write a whole number of calls from 1 to 10000

c.toml:8:22: `tokens_per_session` is out of range: -1
  |
8 | tokens_per_session = -1
  |                      ^^
  = write a whole number of tokens from 1 to 1000000000000
"#]]
    );
}

#[test]
fn providers_that_cannot_be_are_told() {
    let text = r#"
[providers.local]
base_url = "localhost:8080"
[providers.openai]
key_env = "OPENAI_API_KEY"
key_file = "key"
script = "judge.yaml"
base_url = "localhost:8080"
[providers.script]
base_url = "http://localhost"
[providers.claude]
kind = "antropic"
[providers.host]
[[providers.anthropic.models]]
name = "a"
context_window = 5_000_000_000
[[providers.anthropic.models]]
name = "a"
[[providers.anthropic.models]]
reasons = true
"#;
    assert_data_eq!(
        report(text),
        str![[r#"
c.toml:2:1: provider `local` has no `kind`
  |
2 | [providers.local]
  | ^^^^^^^^^^^^^^^^^
  = add `kind = …` with one of `openai`, `anthropic`, `script`

c.toml:6:1: `key_env` and `key_file` both say where the key is
  |
6 | key_file = "key"
  | ^^^^^^^^
  = keep one of them

c.toml:7:1: `script` means nothing to a provider of kind `openai`
  |
7 | script = "judge.yaml"
  | ^^^^^^
  = remove it, or change the `kind`

c.toml:8:12: `base_url` is not an HTTP address
  |
8 | base_url = "localhost:8080"
  |            ^^^^^^^^^^^^^^^^
  = write the whole address, such as `http://localhost:8080/v1`

c.toml:9:1: provider `script` has no `script`
  |
9 | [providers.script]
  | ^^^^^^^^^^^^^^^^^^
  = add `script = …` with the path of a file with answers

c.toml:10:1: `base_url` means nothing to a provider of kind `script`
   |
10 | base_url = "http://localhost"
   | ^^^^^^^^
   = remove it, or change the `kind`

c.toml:12:8: `kind` cannot be `antropic`
   |
12 | kind = "antropic"
   |        ^^^^^^^^^^
   = did you mean `anthropic`?

c.toml:13:12: `host` is the agent itself, and needs no table
   |
13 | [providers.host]
   |            ^^^^
   = give the provider another name

c.toml:16:18: `context_window` is out of range: 5_000_000_000
   |
16 | context_window = 5_000_000_000
   |                  ^^^^^^^^^^^^^
   = write a whole number of tokens from 1 to 1000000000

c.toml:18:8: model `a` is described twice
   |
18 | name = "a"
   |        ^^^
   = remove one of them

c.toml:19:1: a model in `providers.anthropic.models` has no `name`
   |
19 | [[providers.anthropic.models]]
   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   = add `name = …`, as requests call it
"#]]
    );
}

#[test]
fn a_key_put_into_the_file_is_told_and_not_shown() {
    let text = "[providers.openai]\nkey_env = \"sk-proj-123\"\n[providers.anthropic]\napi_key = \"sk-ant-456\"\n";
    let report = report(text);
    assert!(!report.contains("123") && !report.contains("456"), "{report}");
    assert_data_eq!(
        report,
        str![[r#"
c.toml:2:1: `key_env` is not the name of an environment variable
  |
2 | key_env = …
  | ^^^^^^^
  = name the variable that holds the key, such as `OPENAI_API_KEY`; the key itself stays out of here

c.toml:4:1: unknown field `api_key` in `providers.anthropic`
  |
4 | api_key = …
  | ^^^^^^^
  = known fields: `kind`, `base_url`, `key_env`, `key_file`, `default_model`, `models`, `script`
"#]]
    );
}

#[test]
fn a_fault_has_its_place_as_data() {
    let Err(ConfigError::Faulty(faults)) = Config::parse("c.toml", "[llm]\n'é' = 1") else { panic!("a fault") };
    let Fault { file, line, column, text, source_line, .. } = &faults[0];
    assert_eq!((file.as_str(), *line, *column), ("c.toml", 2, 1));
    assert_eq!((text.as_str(), source_line.as_str()), ("'é'", "'é' = 1"));
}
