use chaperone_sdk::{EntryBody, ToolCall};
use proptest::prelude::*;

use super::*;
use crate::samples::*;
use crate::transcript::Transcript;

fn condition(text: &str) -> Condition {
    text.parse().unwrap()
}

fn holds(text: &str, bodies: &[EntryBody]) -> bool {
    condition(text).holds(&Transcript::new(&branch(bodies.to_vec())))
}

/// Calls one tool after another, each with its arguments and whether it succeeds.
fn calls(tools: &[(&str, &str, bool)]) -> Vec<EntryBody> {
    let mut bodies = vec![user("go")];
    for (number, (name, arguments, succeeds)) in tools.iter().enumerate() {
        let id = number.to_string();
        bodies.push(assistant("", &[(&id, name, arguments)]));
        bodies.push(if *succeeds { result(&id, name, "ok") } else { failure(&id, name, "exit 1") });
    }
    bodies
}

fn bash(command: &str) -> String {
    serde_json::json!({"command": command}).to_string()
}

#[test]
fn every_word_of_the_documentation_is_read_and_written_back() {
    for text in [
        "always",
        "has_tool_results",
        "has_file_writes",
        "has_bash",
        "tool(mcp__*)",
        "tool_succeeded(write)",
        "command(git commit*)",
        "command_succeeded(*pytest*)",
        "unresolved_failure",
        "unresolved_failure(bash)",
        "repeated_failure(3)",
        "unread_write",
        "untested_write",
        "untested_write(*test*)",
        "ends_in_question",
        "claims_success",
        "answer_says(all tests pass, works now)",
        "user_says(\"(draft)\", \"a, b\")",
        "result_says(FAILED)",
        "waiting_on_user",
        "background_work",
        "review_only",
        "plan_only",
        "not claims_success",
        "any(has_bash, not tool(read))",
        "all(has_file_writes, any(untested_write, unresolved_failure))",
    ] {
        assert_eq!(condition(text).to_string(), text);
    }
    assert_eq!(condition("  not  any( always ,has_bash )").to_string(), "not any(always, has_bash)");
    assert_eq!(condition(r#"command("echo \"(x)\"")"#), Condition::Command(r#"echo "(x)""#.parse().unwrap()));
}

#[test]
fn what_is_not_understood_says_what_is_wrong() {
    let error = |text: &str| text.parse::<Condition>().unwrap_err().to_string();
    assert_eq!(error("tool_suceeded(x)"), "`tool_suceeded` is not a known condition");
    assert_eq!(error("command"), "`command` needs a command in parentheses, where * stands for any text");
    assert_eq!(error("repeated_failure(0)"), "`repeated_failure` needs a whole number from 1 in parentheses");
    assert_eq!(
        error("answer_says(a, )"),
        "`answer_says` needs words or phrases in parentheses, with commas between them"
    );
    assert_eq!(error("any"), "`any` needs conditions in parentheses, with commas between them");
    assert_eq!(error("all()"), "`all` needs conditions in parentheses, with commas between them");
    assert_eq!(error("always(x)"), "`always` needs nothing in parentheses");
    assert_eq!(error("tool([a)"), "`tool` needs the name of a tool in parentheses, where * stands for any text");
    assert_eq!(error("any(always"), "`any(always` is not well formed: a parenthesis is not closed");
    assert_eq!(error("user_says(\"a"), "`user_says(\"a` is not well formed: a quotation mark is not closed");
    assert_eq!(error("always always"), "`always always` is not well formed: something stands behind its end");
    assert_eq!(error("not"), "`not` is not a known condition");
    assert!(error(&"not ".repeat(40)).ends_with("nested too deeply"));
}

#[test]
fn success_is_that_of_the_latest_call() {
    let repaired = calls(&[("bash", &bash("make test"), false), ("bash", &bash("make test"), true)]);
    assert!(holds("command_succeeded(make test)", &repaired) && holds("tool_succeeded(bash)", &repaired));
    let broken = calls(&[("bash", &bash("make test"), true), ("bash", &bash("make test"), false)]);
    assert!(!holds("command_succeeded(make test)", &broken) && holds("command(make *)", &broken));
    assert!(!holds("command_succeeded(ls)", &broken), "it was never run");
}

#[test]
fn a_failure_is_resolved_by_the_same_call_with_success_afterwards() {
    let failed = ("bash", &*bash("make test"), false);
    assert!(holds("unresolved_failure", &calls(&[failed])));
    assert!(!holds("unresolved_failure(read)", &calls(&[failed])));
    let other = ("bash", &*bash("make"), true);
    assert!(holds("unresolved_failure", &calls(&[failed, other])), "something else succeeded");
    let again = ("bash", &*bash("make  test"), true);
    assert!(!holds("unresolved_failure", &calls(&[failed, other, again])));
    assert!(holds("unresolved_failure", &calls(&[again, failed])), "it failed afterwards");
    let edit = |succeeds| ("edit", r#"{"path":"a.rs","old":"x"}"#, succeeds);
    assert!(!holds("unresolved_failure", &calls(&[edit(false), ("edit", r#"{"path":"a.rs","old":"y"}"#, true)])));
    assert!(!holds("unresolved_failure", &calls(&[])));
}

#[test]
fn failures_repeat_where_nothing_succeeded_in_between() {
    let (fails, works) = (("bash", &*bash("make"), false), ("bash", &*bash("make"), true));
    assert!(holds("repeated_failure(3)", &calls(&[fails, fails, fails])));
    assert!(!holds("repeated_failure(3)", &calls(&[fails, fails, works, fails])));
    let other = ("bash", &*bash("make x"), false);
    assert!(!holds("repeated_failure(2)", &calls(&[fails, other])), "not the same command");
}

#[test]
fn a_write_is_unread_where_nothing_showed_the_file_before() {
    let write = ("write", r#"{"path":"src/a.rs"}"#, true);
    assert!(holds("unread_write", &calls(&[write])));
    assert!(!holds("unread_write", &calls(&[("read", r#"{"path":"./src/a.rs"}"#, true), write])));
    assert!(!holds("unread_write", &calls(&[("read", r#"{"file_path":"/home/x/src/a.rs"}"#, true), write])));
    assert!(!holds("unread_write", &calls(&[("bash", &bash("sed -n 1,9p src/a.rs"), true), write])));
    assert!(holds("unread_write", &calls(&[("read", r#"{"path":"src/b.rs"}"#, true), write])));
    assert!(holds("unread_write", &calls(&[("read", r#"{"path":"src/a.rs"}"#, false), write])), "reading failed");
    assert!(!holds("unread_write", &calls(&[("write", r#"{"path":"src/a.rs"}"#, false)])), "writing failed");
}

#[test]
fn a_write_is_untested_until_a_command_succeeds_after_it() {
    let (write, tests) = (("edit", r#"{"path":"a.rs"}"#, true), ("bash", &*bash("cargo test -q"), true));
    assert!(holds("untested_write", &calls(&[tests, write])));
    assert!(!holds("untested_write", &calls(&[write, tests])));
    assert!(!holds("untested_write(cargo test*)", &calls(&[write, tests])));
    assert!(holds("untested_write(*pytest*)", &calls(&[write, tests])));
    assert!(holds("untested_write", &calls(&[write, tests, write])));
    assert!(holds("untested_write", &calls(&[write, ("bash", &bash("cargo test"), false)])));
    assert!(!holds("untested_write", &calls(&[tests])), "nothing was written");
}

#[test]
fn words_are_looked_for_in_what_each_side_says() {
    let bodies = [
        user("Be quick"),
        assistant("", &[("1", "bash", "{}")]),
        result("1", "bash", "2 FAILED"),
        assistant("It is unverified?", &[]),
    ];
    assert!(holds("user_says(slow, quick)", &bodies) && !holds("user_says(quickly)", &bodies));
    assert!(holds("result_says(failed)", &bodies) && !holds("answer_says(verified)", &bodies));
    assert!(holds("ends_in_question", &bodies) && holds("not claims_success", &bodies));
}

#[test]
fn conditions_are_joined_and_turned_round() {
    let bodies = calls(&[("bash", &bash("git push"), true)]);
    assert!(holds("all(has_bash, command(git push*))", &bodies));
    assert!(!holds("all(has_bash, has_file_writes)", &bodies));
    assert!(holds("any(has_file_writes, has_bash)", &bodies));
    assert!(!holds("not any(has_file_writes, has_bash)", &bodies));
    assert!(holds("not tool(*)", &[user("go")]), "no tool was used");
}

#[test]
fn while_a_call_waits_the_words_about_calls_are_about_that_one() {
    let entries = branch(calls(&[("write", r#"{"path":"a"}"#, true)]));
    let pending = ToolCall { id: "p".into(), name: "bash".into(), arguments: bash("cd x && rm -rf y") };
    let holds = |text: &str| condition(text).holds(&Transcript::new(&entries).before(&pending));
    assert!(holds("tool(bash)") && holds("has_bash") && holds("command(rm -rf *)"));
    assert!(!holds("tool(write)") && !holds("has_file_writes"));
    assert!(holds("tool_succeeded(write)"), "that is about what happened before");
    let pending = ToolCall { name: "edit".into(), ..pending };
    assert!(condition("has_file_writes").holds(&Transcript::new(&entries).before(&pending)));
}

fn any_condition() -> impl Strategy<Value = Condition> {
    let glob = || {
        "[a-c*, ()\"\\\\]{1,6}".prop_filter_map("a glob is not blank", |text| match text.trim() {
            "" => None,
            text => text.parse().ok(),
        })
    };
    let texts = || prop::collection::vec("[a-c, ()\"\\\\]{0,5}[a-c]", 1..4);
    let leaf = prop_oneof![
        Just(Condition::Always),
        Just(Condition::Waiting(Waiting::PlanOnly)),
        Just(Condition::UnresolvedFailure(None)),
        glob().prop_map(Condition::Tool),
        glob().prop_map(Condition::CommandSucceeded),
        glob().prop_map(|glob| Condition::UntestedWrite(Some(glob))),
        (1_u32..9).prop_map(|times| Condition::RepeatedFailure(NonZeroU32::new(times).unwrap())),
        texts().prop_map(Condition::AnswerSays),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|condition| Condition::Not(Box::new(condition))),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Condition::Any),
            prop::collection::vec(inner, 1..4).prop_map(Condition::All),
        ]
    })
}

proptest! {
    #[test]
    fn a_condition_that_is_written_down_is_read_as_the_same(condition in any_condition()) {
        prop_assert_eq!(condition.to_string().parse::<Condition>(), Ok(condition));
    }

    #[test]
    fn any_text_is_a_condition_that_keeps_its_meaning_or_an_error(
        text in "(always|has_bash|tool|not |any|all|command|user_says|[()0-9a-z _,\"\\\\*-]){0,8}",
    ) {
        if let Ok(condition) = text.parse::<Condition>() {
            prop_assert_eq!(condition.to_string().parse::<Condition>(), Ok(condition.clone()));
            condition.holds(&Transcript::new(&[]));
        }
    }
}
