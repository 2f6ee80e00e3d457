//! Model calls, which the client makes.

use std::sync::Arc;

use chaperone_tests::stage::{Pipe, Stage, Told};
use serde_json::{Value, json};

use super::{command, event, hostile};

/// A session whose client lends a model.
async fn lending() -> (Pipe, Arc<Stage>) {
    let stage = Arc::new(Stage::bare());
    let id = json!({"provider": "acme", "model": "judge-1"});
    let models = json!([{"id": id, "context_window": null, "max_output_tokens": null, "reasons": false}]);
    let mut pipe = Pipe::with(hostile(&stage, None), json!({"models": models})).await;
    let (opened, _) =
        pipe.open("s", &stage.project(), json!({"model": {"provider": "acme", "model": "agent-1"}})).await;
    assert_eq!(opened["provider"], "host");
    (pipe, stage)
}

fn completion(text: &str) -> Value {
    let model = json!({"provider": "acme", "model": "judge-1"});
    json!({"text": text, "stop_reason": "stop", "usage": null, "model": model, "parts": [["text", text.len()]]})
}

async fn answer(pipe: &mut Pipe, id: &Value, member: &str, value: Value) -> Told {
    pipe.send(json!({"jsonrpc": "2.0", "id": id, member: value}).to_string()).await
}

#[tokio::test(start_paused = true)]
async fn a_plugin_asks_the_client_and_events_go_on_meanwhile() {
    let (mut pipe, _stage) = lending().await;
    let (_, told) = pipe.ask("session/command", command("complete judge")).await;
    let asked = told.of("llm/complete")[0];
    assert_eq!(asked["model"], json!({"provider": "acme", "model": "agent-1"}), "the session's own");
    assert_eq!((&asked["plugin"], &asked["request"]["label"]), (&json!("hostile"), &json!("judge")));
    let id = told.questions()[0].clone();
    assert_eq!(pipe.ask("session/event", event(json!("agent_end"))).await.1.notices(), ["call 1000"]);

    let told = answer(&mut pipe, &id, "result", completion("CLEAN")).await;
    assert_eq!(told.notices(), ["completed 1: Ok(\"CLEAN\")"]);
    let note = &told.of("session/note")[0]["note"]["answered"];
    assert_eq!((&note["label"], &note["usage"], &note["ok"]), (&json!("judge"), &json!(null), &json!(true)));
    assert!(answer(&mut pipe, &id, "result", completion("CLEAN")).await.0.is_empty(), "once is enough");
}

#[tokio::test(start_paused = true)]
async fn answers_come_in_whatever_order_they_like() {
    let (mut pipe, _stage) = lending().await;
    let first = pipe.ask("session/command", command("complete a")).await.1.questions()[0].clone();
    let second = pipe.ask("session/command", command("complete b")).await.1.questions()[0].clone();
    let told = answer(&mut pipe, &second, "result", completion("B")).await;
    assert_eq!(told.notices(), ["completed 2: Ok(\"B\")"]);
    let told = answer(&mut pipe, &first, "result", completion("A")).await;
    assert_eq!(told.notices(), ["completed 1: Ok(\"A\")"]);
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_client_reaches_the_plugin_as_the_contracts_own() {
    let (mut pipe, _stage) = lending().await;
    for (number, (error, told)) in [
        (json!({"code": -32000, "message": "slow down", "data": {"rate_limited": 7}}), "RateLimited(Some(7))"),
        (json!({"code": -32000, "message": "slow down", "data": {"unheard_of": 7}}), "Provider(\"slow down\")"),
        (json!({"code": -32800, "message": "cancelled"}), "Cancelled"),
        (json!({"code": 1, "message": "no"}), "Provider(\"no\")"),
    ]
    .into_iter()
    .enumerate()
    {
        let id = pipe.ask("session/command", command("complete x")).await.1.questions()[0].clone();
        let heard = answer(&mut pipe, &id, "error", error).await;
        assert_eq!(heard.notices(), [format!("completed {}: Err({told})", number + 1)]);
    }
    let id = pipe.ask("session/command", command("complete x")).await.1.questions()[0].clone();
    let heard = answer(&mut pipe, &id, "result", json!({"text": 7})).await;
    let told = "completed 5: Err(Provider(\"the host answered with what is no completion: result.text: invalid type";
    assert!(heard.notices()[0].starts_with(told), "{heard:?}");
}

#[tokio::test(start_paused = true)]
async fn text_that_streams_in_reaches_who_wants_it() {
    let (mut pipe, _stage) = lending().await;
    for (line, heard) in [("stream x", vec!["progress 1: CL", "progress 1: EAN"]), ("complete x", vec![])] {
        let id = pipe.ask("session/command", command(line)).await.1.questions()[0].clone();
        let mut notices = Vec::new();
        for text in ["CL", "EAN"] {
            let params = json!({"id": id, "text": text});
            let told =
                pipe.send(json!({"jsonrpc": "2.0", "method": "llm/progress", "params": params}).to_string()).await;
            notices.extend(told.notices().into_iter().map(str::to_owned));
        }
        assert_eq!(notices, heard);
        answer(&mut pipe, &id, "result", completion("CLEAN")).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_the_plugin_cancels_is_cancelled_at_the_client() {
    let (mut pipe, _stage) = lending().await;
    let id = pipe.ask("session/command", command("complete x")).await.1.questions()[0].clone();
    let (_, told) = pipe.ask("session/command", command("cancel 1")).await;
    assert_eq!(told.notices(), ["about to misbehave", "completed 1: Err(Cancelled)"]);
    assert_eq!(told.of("$/cancel_request"), [&json!({"id": id})]);
    assert!(answer(&mut pipe, &id, "result", completion("CLEAN")).await.0.is_empty(), "nobody waits for it");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_is_given_up_and_cancelled() {
    let (mut pipe, _stage) = lending().await;
    let id = pipe.ask("session/command", command("complete x")).await.1.questions()[0].clone();
    let told = pipe.wait().await;
    assert_eq!(told.of("$/cancel_request"), [&json!({"id": id})]);
    let notices = [told.notices(), pipe.wait().await.notices()].concat().join("");
    assert_eq!(notices, "completed 1: Err(TimedOut)");
}

#[tokio::test(start_paused = true)]
async fn quiet_is_answered_when_no_call_is_under_way_or_when_it_is_cancelled() {
    let (mut pipe, _stage) = lending().await;
    assert_eq!(pipe.ask("session/quiet", json!({"session": "s"})).await.0, json!({}));
    let question = pipe.ask("session/command", command("complete x")).await.1.questions()[0].clone();
    let quiet = |id: &str| {
        json!({"jsonrpc": "2.0", "id": id, "method": "session/quiet", "params": {"session": "s"}}).to_string()
    };
    assert!(pipe.send(quiet("first")).await.0.is_empty());
    assert!(pipe.send(quiet("second")).await.0.is_empty());
    assert_eq!(pipe.send(quiet("first")).await.0[0]["error"]["code"], -32600, "the id is taken");
    let cancel = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"id":"first"}}"#;
    let told = pipe.send(cancel).await.0;
    assert_eq!((told.len(), &told[0]["id"], &told[0]["error"]["code"]), (1, &json!("first"), &json!(-32800)));
    assert!(pipe.send(cancel).await.0.is_empty());

    let told = answer(&mut pipe, &question, "result", completion("CLEAN")).await;
    assert_eq!(told.0.last().unwrap(), &json!({"jsonrpc": "2.0", "id": "second", "result": {}}));
    assert_eq!(told.notices().len(), 1, "after everything that follows from the answer");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_closed_cancels_its_calls_and_tells_who_waits() {
    let (mut pipe, _stage) = lending().await;
    let question = pipe.ask("session/command", command("complete x")).await.1.questions()[0].clone();
    pipe.request("session/quiet", json!({"session": "s"})).await;
    let (_, told) = pipe.ask("session/close", json!({"session": "s"})).await;
    assert_eq!(told.0.iter().filter(|line| line["error"]["code"] == -32001).count(), 1, "{told:?}");
    assert_eq!(told.of("$/cancel_request"), [&json!({"id": question})]);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_pipe_ends_sessions_with_calls_under_way() {
    let (mut pipe, _stage) = lending().await;
    pipe.ask("session/command", command("complete x")).await;
    let told = pipe.end();
    assert_eq!(told.of("$/cancel_request").len(), 1);
}
