use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use chaperone_contract::{LlmError, PromptMessage, Role, StopReason};
use tokio::time::Instant;

use super::*;
use crate::llm::fixtures::{call, model};

fn script(text: &str) -> Script {
    Script::parse("judge.yaml", text).unwrap()
}

async fn ask(script: &Script, call: &Call) -> Answer {
    script.complete(call, &|_| ()).await
}

async fn text(script: &Script, call: &Call) -> String {
    ask(script, call).await.unwrap().text
}

#[tokio::test]
async fn the_first_rule_whose_conditions_all_hold_answers() {
    let script = script(
        r#"
rules:
  - when: { plugin: goal, prompt_contains: loop }
    answer: the plugin differs
  - when: { session: another, prompt_contains: loop }
    answer: the session differs
  - when: { monitor: hedge, prompt_contains: loop }
    answer: the label differs
  - when: { plugin: monitors, session: session, monitor: fragility, prompt_contains: loop, prompt_matches: "in \\d+ steps" }
    answer: all hold
  - when: { prompt_contains: loop }
    answer: the prompt alone
  - answer: anything
"#,
    );
    assert_eq!(text(&script, &call("a loop in 12 steps")).await, "all hold");
    assert_eq!(text(&script, &call("a loop in some steps")).await, "the prompt alone");
    assert_eq!(text(&script, &call("a line")).await, "anything");
}

#[tokio::test]
async fn the_prompt_is_the_system_text_and_every_message() {
    let script =
        script("rules:\n  - when: { prompt_matches: '^be strict\\n\\nfirst\\n\\nsecond$' }\n    answer: seen\n");
    let mut call = call("first");
    call.request.system = Some("be strict".into());
    call.request.messages.push(PromptMessage { role: Role::Assistant, text: "second".into() });
    assert_eq!(text(&script, &call).await, "seen");
}

#[tokio::test]
async fn an_answer_carries_what_its_rule_says() {
    let script = script("rules: [{ answer: naïve, usage: { input: 7, output: 3 }, stop: length, model: tiny }]");
    let answer = ask(&script, &call("?")).await.unwrap();
    assert_eq!(answer.stop_reason, StopReason::Length);
    assert_eq!(answer.usage, Some(Usage { input: 7, output: 3, cache_read: 0, cache_write: 0, total: 10 }));
    assert_eq!(answer.model, model("script", "tiny"));
    assert_eq!(answer.parts, [("text".to_owned(), 5)]);
}

#[tokio::test]
async fn an_answer_is_marked_as_scripted_whatever_model_was_asked_for() {
    let mut call = call("?");
    call.request.model = Some(model("anthropic", "large"));
    let answer = ask(&script("rules: [{ answer: CLEAN }]"), &call).await.unwrap();
    assert_eq!(answer.model, model("script", "script"));
    assert_eq!((answer.stop_reason, answer.usage), (StopReason::Stop, None));
}

#[tokio::test]
async fn every_error_of_the_contract_can_be_scripted() {
    let text = |text: &str| text.to_owned();
    for (rule, expected) in [
        ("error: unknown-model, message: m", LlmError::UnknownModel(text("m"))),
        ("error: authentication, message: m", LlmError::Authentication(text("m"))),
        ("error: rate-limited", LlmError::RateLimited(None)),
        ("error: rate-limited, retry_after: 30", LlmError::RateLimited(Some(30))),
        ("error: timed-out", LlmError::TimedOut),
        ("error: cancelled", LlmError::Cancelled),
        ("error: allowance-spent, message: m", LlmError::AllowanceSpent(text("m"))),
        ("error: provider, message: m", LlmError::Provider(text("m"))),
        ("error: provider", LlmError::Provider(text("as the script says"))),
    ] {
        assert_eq!(ask(&script(&format!("rules: [{{ {rule} }}]")), &call("?")).await, Err(expected), "{rule}");
    }
}

#[tokio::test]
async fn a_call_that_no_rule_matches_shows_the_file_the_caller_and_the_whole_prompt() {
    let script = script("rules: [{ when: { monitor: hedge }, answer: CLEAN }]");
    let mut call = call(&"long ".repeat(1000));
    call.request.system = Some("be strict".into());
    let Err(LlmError::Provider(text)) = ask(&script, &call).await else { panic!("expected a provider error") };
    let start = "no rule of judge.yaml fits this call of the plugin `monitors` for `fragility`; add one with `when: { \
                 monitor: fragility }` and an `answer`; its prompt:\n";
    assert_eq!(text, format!("{start}be strict\n\n{}", "long ".repeat(1000)));
}

#[tokio::test(start_paused = true)]
async fn a_delay_is_waited_for_before_an_answer_and_before_an_error() {
    for reply in ["answer: CLEAN", "error: provider"] {
        let start = Instant::now();
        let _ = ask(&script(&format!("rules: [{{ {reply}, delay_ms: 1500 }}]")), &call("?")).await;
        assert_eq!(start.elapsed(), Duration::from_millis(1500), "{reply}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_delay_beyond_the_requests_patience_times_out() {
    let mut call = call("?");
    call.request.timeout_ms = Some(1000);
    let start = Instant::now();
    assert_eq!(ask(&script("rules: [{ answer: CLEAN, delay_ms: 1500 }]"), &call).await, Err(LlmError::TimedOut));
    assert_eq!(start.elapsed(), Duration::from_secs(1));
}

#[tokio::test]
async fn a_streamed_answer_is_reported_as_progress_and_others_are_not() {
    let script = script("rules: [{ answer: CLEAN }]");
    for streamed in [true, false] {
        let heard = Mutex::new(String::new());
        let mut call = call("?");
        call.request.streamed = streamed;
        script.complete(&call, &|text: &str| heard.lock().unwrap().push_str(text)).await.unwrap();
        assert_eq!(heard.into_inner().unwrap(), if streamed { "CLEAN" } else { "" });
    }
}

#[test]
fn its_models_are_its_own_name_and_those_that_rules_give() {
    let script =
        script("rules: [{ answer: a, model: x }, { answer: b }, { answer: c, model: x }, { error: provider }]");
    let ids: Vec<_> = script.models().into_iter().map(|info| info.id).collect();
    assert_eq!(ids, [model("script", "script"), model("script", "x")]);
}

#[tokio::test]
async fn the_scripts_of_the_recorded_sessions_can_be_read_and_answer() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../monitors-examples/sessions");
    let mut read = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().ends_with(".script.yaml") {
            let script = Script::read(&path).unwrap();
            assert_eq!(text(&script, &call("nothing in particular")).await, "CLEAN", "{}", path.display());
            read += 1;
        }
    }
    assert!(read >= 10, "{read} scripts in {}", folder.display());
}
