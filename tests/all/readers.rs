//! Damaged files: whatever reads what others wrote takes it, and panics at nothing.

use std::path::Path;

use chaperone_tests::readers;
use chaperone_tests::stage::EXAMPLES;

use crate::sessions::{EXPECTED, watch};

/// How often each reader is given something damaged.
const CASES: usize = 400;

/// What turns up in files where nobody expects it.
const ODDITIES: &[&[u8]] = &[
    b"\0",
    b"\xff",
    b"\xe2\x80",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\n\n",
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]",
    b"[[[[[[[[",
    b"null",
    b"true",
    b"-0",
    b"1e999",
    b"18446744073709551616",
    b"-1",
    b"0.1",
    b"{}",
    b"[]",
    b"\"\"",
    b",",
    b":",
    b"#",
    b"&a *a",
    b"---\n",
    b"!!binary ",
    b"|",
    b"\xf0\x9f\xa6\x80",
    b"\xe2\x80\xae",
    b"CLEAN",
    b"FLAG:",
    b"NEW:",
    b"```",
    b"{user_text}",
    b"every(0)",
    b"/",
    b"~1",
    b"-",
];

/// A small generator (SplitMix64): the same damage in every run.
pub struct Chance(pub u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `end`, which may be 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    pub fn pick<'list, T>(&mut self, list: &'list [T]) -> &'list T {
        &list[self.below(list.len())]
    }

    /// A short stretch of `length` bytes.
    fn stretch(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        let reach = if self.below(4) == 0 { length } else { 24 };
        start..(start + self.below(reach)).min(length)
    }

    /// One of the files, damaged in one to four places.
    pub fn damaged(&mut self, files: &[Vec<u8>]) -> Vec<u8> {
        let mut file = self.pick(files).clone();
        for _ in 0..=self.below(4) {
            let here = self.stretch(file.len());
            match self.below(7) {
                0 => {
                    if let Some(byte) = file.get_mut(here.start) {
                        *byte ^= 1 << self.below(8);
                    }
                }
                1 => file.truncate(here.start),
                2 => drop(file.drain(here)),
                3 => {
                    let again = file[here.clone()].to_vec();
                    drop(file.splice(here.start..here.start, again));
                }
                4 => {
                    let other = self.pick(files);
                    let other = &other[self.stretch(other.len())];
                    drop(file.splice(here, other.iter().copied()));
                }
                5 => drop(file.splice(here, self.pick(ODDITIES).iter().copied())),
                _ => drop(file.splice(here.start..here.start, self.pick(ODDITIES).iter().copied())),
            }
        }
        file
    }
}

/// Gives a reader the files as they are, then damaged ones.
fn survives(reader: fn(&[u8]), files: &[Vec<u8>]) {
    assert!(!files.is_empty());
    files.iter().for_each(|file| reader(file));
    let mut chance = Chance(7);
    for case in 0..CASES {
        let damaged = chance.damaged(files);
        let outcome = std::panic::catch_unwind(|| reader(&damaged));
        assert!(outcome.is_ok(), "case {case} is too much:\n{}", String::from_utf8_lossy(&damaged));
    }
}

/// The bundled files whose names end like that.
fn bundled(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> =
        std::fs::read_dir(Path::new(EXAMPLES).join(folder)).unwrap().map(|file| file.unwrap().path()).collect();
    paths.sort();
    let fits = |path: &&std::path::PathBuf| path.to_str().unwrap().ends_with(ending);
    paths.iter().filter(fits).map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn sessions() {
    survives(readers::session, &bundled("sessions", ".jsonl"));
}

/// What hosts wrote in the recorded sessions of the program's own tests.
fn of_host(host: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host-harness/tests/cli/hosts").join(host);
    ["transcript.jsonl", "events.jsonl"].map(|file| std::fs::read(folder.join(file)).unwrap()).into()
}

#[test]
fn transcripts_of_claude_code() {
    survives(readers::claude_code, &of_host("claude-code"));
}

#[test]
fn rollouts_of_codex() {
    survives(readers::codex, &of_host("codex"));
}

#[test]
fn chat_files_of_gemini_cli() {
    survives(readers::gemini_cli, &of_host("gemini-cli"));
}

#[test]
fn settings_of_hosts() {
    let files = [
        "{\n  // mine\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]\n  }\n}\n",
        "{\"hooks\":{\"AfterAgent\":[{\"hooks\":[{\"command\":\"/opt/chaperone hook gemini-cli\"}]}]},\"a\":[1,2]}",
        "{}",
    ];
    survives(readers::settings, &files.map(Vec::from));
}

#[test]
fn configurations() {
    const FULL: &str = r#"
# Who watches, and who answers.
[llm]
provider = "local"
timeout_ms = 30_000

[providers.local]
kind = "openai"
base_url = "http://localhost:8080/v1"
key_env = "LOCAL_KEY"
default_model = "small"

[[providers.local.models]]
name = "small"
context_window = 32_768
max_output_tokens = 4096
reasons = false

[providers.replay]
kind = "script"
script = "answers.yaml"

[[plugin]]
name = "monitors"
component = "builtin:monitors"

[plugin.grants]
files = { workspace = { read = ["**"], write = [".workflow/**"] }, project = "read-write", user = "read" }
llm = { models = ["small", "local/*"], calls_per_turn = 4, tokens_per_session = 200_000 }
inject = true

[plugin.limits]
hook_ms = 150
memory_mib = 32
quarantine_after = 5
"#;
    survives(readers::config, &[FULL.into(), "[[plugin]]\nname = \"a\"\ncomponent = \"a.wasm\"\n".into()]);
}

#[test]
fn scripts() {
    survives(readers::script, &bundled("sessions", ".script.yaml"));
}

#[test]
fn cases() {
    const FULL: &str = r#"
watcher: stop-guard
rule: background-work
cases:
  - name: the-build-runs
    language: en
    expect: clean
    why: The result arrives by itself.
    transcript:
      - user: Build it.
      - assistant: ""
        calls:
          - { tool: bash, arguments: { command: make, in_background: true } }
          - { tool: read, arguments: { path: Makefile } }
      - result: started
        details: { job: 7 }
      - result: "no such file"
        error: true
      - assistant: It runs; I hear of its end.
      - custom: The job 7 has ended.
        type: note
      - assistant: I look
        stop: error
      - assistant: It is built.
    command: stop-guard now
  - { name: antwort, language: de, expect: flag, why: "Nichts geschah.", transcript: [{ user: Tu es. }, { assistant: Ja. }] }
"#;
    survives(readers::cases, &[FULL.into()]);
}

#[test]
fn monitors() {
    survives(readers::monitor, &bundled("", ".monitor.json"));
}

#[test]
fn conditions() {
    let conditions = [
        "always",
        "not any(command(git push*), all(has_file_writes, untested_write(*test*)), user_says(\"a, b\", c))",
        "Review it. Which one do you mean? I'll wait for the build to finish; don't change anything.",
        "cd a && sudo rm -rf 'x; y' | sh -c \"git push; ls\"",
    ];
    survives(readers::condition, &conditions.map(Vec::from));
}

#[test]
fn patterns() {
    survives(readers::patterns, &bundled("", ".patterns.json"));
}

#[test]
fn proposals() {
    let own = r#"[{"id": "a", "description": "Says sorry", "provenance": {"session": "s", "finding": "f"}},
        {"id": "b", "description": "Says please", "rejected_at": "2026-01-01T00:00:00Z"}]"#;
    survives(readers::proposals, &[own.into(), "[]".into()]);
}

#[test]
fn secrets() {
    let texts = [
        "Authorization: Bearer abcdefghijklmnopqrst\nexport API_KEY='abcdefgh12345678' && git clone https://me:pw@host/x",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n{\"client_secret\": \"abcdefgh\"}",
    ];
    survives(readers::redact, &texts.map(Vec::from));
}

#[test]
fn instructions() {
    let own = r#"["Leave generated files alone", {"text": "Numbers stay", "added_at": "2026-01-01T00:00:00Z"}]"#;
    survives(readers::instructions, &[own.into(), "[]".into()]);
}

#[test]
fn verdicts() {
    let answers = [
        "CLEAN",
        "FLAG:a test was left failing",
        "NEW:a general fault|this case of it",
        "**Verdict**: flag - `x` was left\n",
        "<think>CLEAN?</think>\n```json\n{\"verdict\": \"NEW\", \"pattern\": \"p\", \"description\": \"d\"}\n```",
        "- clean.\n\nNothing is wrong.",
    ];
    survives(readers::verdict, &answers.map(Vec::from));
}

#[test]
fn stop_verdicts() {
    let answers = [
        r#"{"reason": "the tests were not run", "verdict": "continue", "confidence": 0.9}"#,
        "All done.\n```json\n{\n  \"verdict\": \"stop\",\n  \"confidence\": 1\n}\n```",
        r#"<think>{"verdict": "stop"}</think>{"verdict": "Stop", "confidence": 0.5, "reason": "x", "more": [{}]}"#,
    ];
    survives(readers::stop_verdict, &answers.map(Vec::from));
}

#[test]
fn stop_configurations() {
    let full = r#"{
  "enabled": true, "model": "anthropic/haiku", "maxAutoContinues": 2, "confidenceThreshold": 0.6, "timeoutSeconds": 30,
  "includeToolTrace": false, "maxUserRequestChars": 2000, "notifyOnStopDecision": false, "judgeMaxTokens": 2000,
  "continueMessageTemplate": "Go on: {reason}", "forcedDecision": "auto"
}"#;
    survives(readers::stop_config, &[full.into(), r#"{"maxAutoContinue": 1}"#.into()]);
}

#[test]
fn recordings() {
    let (name, end, expected) = &EXPECTED[2];
    let (_, recording) = watch(name, end, expected);
    let lines = recording.split_inclusive(|&byte| byte == b'\n');
    let some: Vec<u8> = lines.take(30).flatten().copied().collect();
    // Without its plugins, a recording is read up to its first hook.
    let (first, rest) = some.split_at(some.iter().position(|&byte| byte == b'\n').unwrap() + 1);
    let session = rest.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let bare = [first, b"{\"session\":{\"id\":\"s\",\"plugins\":[]}}\n", &rest[session..]].concat();
    survives(readers::recording, &[some.clone(), bare]);
}

#[test]
fn patches() {
    let files = [
        "{\n\t\"gaps\": [\n\t\t{\"id\": \"a\", \"n\": 1.50}\n\t],\n\t\"b\": {}\n}\n",
        "{\"gaps\":[]}",
        "{\"gaps\":[1,2]}\0[{\"op\":\"add\",\"path\":\"/gaps/-\",\"value\":{\"x\":[\"\\u00e9\"]}},{\"op\":\"test\",\"path\":\"/gaps/0\",\"value\":1}]",
        "[1, [2, {\"a/b\": \"~\"}]]\0[{\"op\":\"move\",\"from\":\"/1/1/a~1b\",\"path\":\"/0\"},{\"op\":\"copy\",\"from\":\"\",\"path\":\"/-\"}]",
        "{\"a\": 18446744073709551615, \"b\": -0.0, \"c\": 1E5}\r\n\0[{\"op\":\"replace\",\"path\":\"/a\",\"value\":null},{\"op\":\"remove\",\"path\":\"/b\"}]",
    ];
    survives(readers::patch, &files.map(Vec::from));
}
