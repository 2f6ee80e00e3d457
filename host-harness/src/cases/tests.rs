use chaperone_contract::{Content, EntryBody, Event, StartReason, StopReason};
use proptest::prelude::*;

use super::*;
use crate::session::Step;

/// A file with one case of this transcript.
fn file(transcript: &str) -> String {
    format!(
        "watcher: hedge\nrule: detours\ncases:\n  - name: a-case\n    language: en\n    expect: clean\n    why: Because.\n    \
         transcript:\n{transcript}"
    )
}

fn case(transcript: &str) -> Case {
    parse("c.yaml", &file(transcript)).unwrap().remove(0)
}

fn error(text: &str) -> String {
    parse("c.yaml", text).map(|cases| cases.len()).unwrap_err().to_string()
}

/// The hooks and entries that a case leads to, by name.
fn told(case: &Case) -> Vec<String> {
    let name = |step: TimedStep| match step.step {
        Step::Append(entry) => format!("+{}", entry.id),
        Step::Model(_) => "model".to_owned(),
        Step::Event(event) => event.name().to_owned(),
    };
    case.steps().into_iter().map(name).collect()
}

const REST: &str = "      - user: Do it.\n      - assistant: Done.\n";

#[test]
fn a_case_has_what_its_file_says() {
    let text = file(REST).replace(
        "expect: clean",
        "expect: flag\n    command: /work-quality now\n    git_status: |\n      ## main\n      ?? a",
    );
    let case = parse("c.yaml", &text).unwrap().remove(0);
    assert_eq!((case.id().as_str(), case.watcher.as_str(), case.expect), ("detours/a-case", "hedge", Expect::Flag));
    assert_eq!((case.why.as_str(), case.language.as_str(), case.place.as_str()), ("Because.", "en", "c.yaml:4"));
    assert_eq!(case.command.as_deref(), Some("work-quality now"));
    assert_eq!(case.git_status.as_deref(), Some("## main\n?? a\n"));
}

#[test]
fn a_name_may_be_in_any_script() {
    for name in ["a-case-2", "größe", "再取得で成功した", "半分-の", "हिन्दी-में"] {
        assert_eq!(parse("c.yaml", &file(REST).replace("a-case", name)).unwrap()[0].name, name);
    }
    for name in ["A-case", "a--case", "-a", "a/case", "a case", "a\u{3000}case", "Ärger", "a_case"] {
        assert!(error(&file(REST).replace("a-case", &format!("\"{name}\""))).contains("not in kebab-case"), "{name}");
    }
}

#[test]
fn turns_become_entries_and_results_answer_the_oldest_call() {
    let case = case(concat!(
        "      - user: Look.\n",
        "      - assistant: I look.\n",
        "        calls:\n",
        "          - { tool: read, arguments: { path: a.rs } }\n",
        "          - { tool: bash }\n",
        "      - result: fn a() {}\n",
        "      - user: And be quick.\n",
        "      - result: no such command\n",
        "        error: true\n",
        "        details: { code: 127 }\n",
        "      - custom: The build is done.\n",
        "        type: note\n",
        "      - calls: [{ tool: read }]\n",
        "      - result: ''\n",
        "      - assistant: ''\n",
        "        stop: length\n",
    ));
    let bodies: Vec<&EntryBody> = case.branch.iter().map(|entry| &entry.entry.body).collect();
    let EntryBody::Assistant(first) = bodies[1] else { panic!("{bodies:?}") };
    assert_eq!(first.stop_reason, StopReason::ToolUse);
    let [Content::Text(_), Content::ToolCall(read), Content::ToolCall(bash)] = &first.content[..] else {
        panic!("{first:?}")
    };
    assert_eq!((read.arguments.as_str(), bash.arguments.as_str()), (r#"{"path":"a.rs"}"#, "{}"));
    let EntryBody::ToolResult(second) = bodies[4] else { panic!("{bodies:?}") };
    assert_eq!((&second.call_id, second.tool_name.as_str(), second.is_error), (&bash.id, "bash", true));
    assert_eq!(second.details.as_deref(), Some(r#"{"code":127}"#));
    assert!(matches!(bodies[5], EntryBody::Custom(note) if note.custom_type == "note"));
    assert!(matches!(bodies[8], EntryBody::Assistant(last)
        if last.stop_reason == StopReason::Length && last.content.is_empty()));
}

#[test]
fn a_single_run_is_told_from_its_start() {
    let told = told(&case(REST));
    assert_eq!(told[..4], ["session_start", "input", "agent_start", "turn_start"]);
    assert_eq!(told[told.len() - 3..], ["agent_end", "agent_settled", "session_end"]);
}

#[test]
fn what_came_before_the_last_run_is_there_already() {
    let case = case(concat!(
        "      - user: Start it.\n",
        "      - calls: [{ tool: bash }]\n",
        "      - result: started\n",
        "      - assistant: It runs.\n",
        "      - custom: It is done.\n",
        "        type: note\n",
        "      - assistant: Oh.\n",
        "        stop: error\n",
        "      - assistant: It is done.\n",
    ));
    assert_eq!(
        told(&case),
        [
            "+e1",
            "+e2",
            "+e3",
            "+e4",
            "session_start",
            "agent_start",
            "turn_start",
            "+e5",
            "message_end",
            "+e6",
            "message_end",
            "turn_end",
            "agent_end",
            "agent_start",
            "turn_start",
            "+e7",
            "message_end",
            "turn_end",
            "agent_end",
            "agent_settled",
            "session_end",
        ]
    );
    let steps = case.steps();
    assert!(steps.is_sorted_by_key(|step| step.at));
    assert_eq!(steps[4].step, Step::Event(Event::SessionStart { reason: StartReason::Resume }));
    assert!(steps[..5].iter().all(|step| step.idle));
}

#[test]
fn transcripts_that_no_agent_can_have_are_refused_with_their_place() {
    for (transcript, message) in [
        ("      - user: a\n      - result: b\n", "c.yaml:10:9: case `a-case`: no call waits for this result; "),
        (
            "      - user: a\n      - calls: [{ tool: bash }]\n      - assistant: b\n",
            "c.yaml:11:9: case `a-case`: the call of `bash` before this has no result, ",
        ),
        (
            "      - user: a\n      - calls: [{ tool: bash }]\n",
            "c.yaml:10:9: case `a-case`: the call of `bash` before this has no result, ",
        ),
        (
            "      - user: a\n      - calls: [{ tool: bash }]\n        stop: aborted\n      - result: b\n",
            "c.yaml:12:9: case `a-case`: no call waits for this result; ",
        ),
        ("      - assistant: a\n", "c.yaml:9:9: case `a-case`: the agent speaks, and nobody spoke to it "),
        (
            "      - user: a\n      - assistant: b\n      - assistant: c\n",
            "c.yaml:11:9: case `a-case`: the agent speaks, and nobody spoke to it ",
        ),
        ("      - user: a\n", "c.yaml:9:9: case `a-case`: the transcript ends before the agent comes to rest; "),
        (
            "      - user: a\n      - assistant: b\n      - custom: c\n        type: note\n",
            "c.yaml:11:9: case `a-case`: the transcript ends before the agent comes to rest; ",
        ),
    ] {
        let error = error(&file(transcript));
        assert!(error.starts_with(message), "{transcript}{error}");
    }
    let empty = file("").replace("transcript:\n", "transcript: []\n");
    assert!(error(&empty).starts_with("c.yaml: case `a-case`: the transcript ends"), "{}", error(&empty));
}

#[test]
fn turns_with_the_wrong_keys_are_refused_with_their_place() {
    for (turn, message) in [
        ("- { stop: stop }", "c.yaml:9:9: case `a-case`: nobody takes this turn; "),
        ("- { user: a, assistant: b }", "c.yaml:9:9: case `a-case`: this turn has both `user` and `assistant`; "),
        ("- { calls: [], result: b }", "c.yaml:9:9: case `a-case`: this turn has both `assistant` and `result`; "),
        ("- { user: a, error: true }", "c.yaml:9:27: case `a-case`: `error` goes with `result` only; "),
        ("- { user: a, type: note }", "c.yaml:9:26: case `a-case`: `type` goes with `custom` only; "),
        ("- { custom: a }", "c.yaml:9:9: case `a-case`: a `custom` message has a `type`, "),
        ("- { result: a, stop: stop }", "c.yaml:9:28: case `a-case`: `stop` goes with `assistant` only; "),
        ("- { calls: [{ tool: a }], stop: stop }", "c.yaml:9:39: case `a-case`: a message with `calls` does not stop "),
        ("- { usr: a }", "c.yaml:9:11: case `a-case`: unknown field `usr`, expected one of user, assistant, "),
        (
            "- { calls: [{ tol: a }] }",
            "c.yaml:9:21: case `a-case`: unknown field `tol`, expected one of tool, arguments",
        ),
        ("- { calls: [{ tool: a, arguments: [] }] }", "c.yaml:9:41: case `a-case`: `arguments` is not an object; "),
        ("- { assistant: a, stop: done }", "c.yaml:9:31: case `a-case`: "),
    ] {
        let error = error(&file(&format!("      {turn}\n")));
        assert!(error.starts_with(message), "{turn}: {error}");
    }
}

#[test]
fn a_fault_outside_of_the_transcripts_names_its_place_too() {
    for (from, to, message) in [
        ("watcher: hedge\n", "", "c.yaml:"),
        ("watcher: hedge", "watcher: ''", "c.yaml:1:10: `watcher` is empty; "),
        ("rule: detours", "rule: De tours", "c.yaml:2:7: the rule `De tours` is not in kebab-case; "),
        ("name: a-case", "name: a_case", "c.yaml:4:11: case `a_case`: the name `a_case` is not in kebab-case; "),
        ("language: en", "language: english", "c.yaml:5:15: case `a-case`: `english` is no language; "),
        ("expect: clean", "expect: new", "c.yaml:6:13: case `a-case`: "),
        ("why: Because.", "why: b\n    git_status: ' '", "c.yaml:8:17: case `a-case`: `git_status` is empty; "),
        ("why: Because.", "why: ' '", "c.yaml:7:10: case `a-case`: `why` is empty; "),
        ("why: Because.", "wy: Because.", "c.yaml:7:5: case `a-case`: unknown field `wy`, expected one of "),
        ("why: Because.\n", "\n", "c.yaml:8:5: case `a-case`: missing field `why`"),
    ] {
        let text = file(REST);
        assert!(text.contains(from), "{from}");
        let error = error(&text.replacen(from, to, 1));
        assert!(error.starts_with(message), "{to}: {error}");
    }
    let none = "watcher: hedge\nrule: detours\ncases: []\n";
    assert!(error(none).starts_with("c.yaml: there are no cases; "), "{}", error(none));
    let twice = file(REST) + file(REST).split_once("cases:\n").unwrap().1;
    assert!(error(&twice).starts_with("c.yaml:11:11: case `a-case`: the case of line 4 is called `a-case` as well; "));
}

#[test]
fn all_faults_are_told_that_can_be() {
    let two = file(REST) + &file("      - user: a\n").split_once("cases:\n").unwrap().1.replace("a-case", "b-case");
    let text = two.replace("watcher: hedge", "watcher: ''").replacen("language: en", "language: english", 1);
    let error = error(&text);
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 3, "{error}");
    for (line, begin) in
        lines.iter().zip(["c.yaml:1:10: `watcher` ", "c.yaml:5:15: case `a-case`: ", "c.yaml:16:9: case `b-case`: "])
    {
        assert!(line.starts_with(begin), "{error}");
    }
}

#[test]
fn the_last_case_before_a_fault_is_the_one_that_is_named() {
    let second = file(REST).split_once("cases:\n").unwrap().1.replace("a-case", "b-case").replace("why", "whyever");
    let error = error(&(file(REST) + &second));
    assert!(error.contains("case `b-case`: unknown field `whyever`"), "{error}");
}

#[test]
fn who_says_nothing_is_right_where_nothing_is_wrong() {
    assert!([Said::Clean, Said::NotAsked].into_iter().all(|said| Expect::Clean.is_met_by(said)));
    assert!([Said::Flag, Said::Unknown].into_iter().all(|said| !Expect::Clean.is_met_by(said)));
    assert!(Expect::Flag.is_met_by(Said::Flag));
    assert!([Said::Clean, Said::Unknown, Said::NotAsked].into_iter().all(|said| !Expect::Flag.is_met_by(said)));
}

fn a_turn() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("- user: u"),
        Just("- assistant: a"),
        Just("- { assistant: a, stop: error }"),
        Just("- { assistant: a, stop: aborted }"),
        Just("- { calls: [{ tool: t }] }"),
        Just("- { calls: [{ tool: t }, { tool: s }] }"),
        Just("- result: r"),
        Just("- { custom: c, type: note }"),
    ]
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_with_the_file_named(text in "\\PC{0,80}") {
        if let Err(error) = parse("c.yaml", &text) {
            prop_assert!(error.to_string().starts_with("c.yaml:"));
        }
    }

    #[test]
    fn whatever_is_taken_ends_at_a_rest_which_is_the_only_one_told(turns in prop::collection::vec(a_turn(), 0..12)) {
        let text: String = turns.iter().map(|turn| format!("      {turn}\n")).collect();
        let text = if turns.is_empty() { file("      []\n") } else { file(&text) };
        if let Ok(cases) = parse("c.yaml", &text) {
            let told = told(&cases[0]);
            prop_assert_eq!(told.iter().filter(|name| *name == "agent_settled").count(), 1);
            prop_assert_eq!(&told[told.len() - 2..], ["agent_settled", "session_end"]);
            let appended = told.iter().filter(|name| name.starts_with('+')).count();
            prop_assert_eq!(appended, turns.len());
        }
    }
}
