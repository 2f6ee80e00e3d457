//! Calls to a real server, which answers as each test tells it.

mod failures;
mod server;
mod streams;

use std::sync::Mutex;

use chaperone_contract::{Effort, PromptMessage, Role, StopReason, Usage};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::*;
use crate::llm::fixtures::{call, model};
use server::{Reply, Server, events, json as reply, status};

const KEY: &str = "sk-do-not-tell";

/// A provider called `p` that asks `server`, with a key in a file that lives as long as the folder.
fn provider(kind: Kind, server: &Server) -> (Http, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, KEY).unwrap();
    let thinker = ModelConfig { max_output_tokens: Some(4096), reasons: true, ..ModelConfig::new("thinker") };
    let config = HttpConfig {
        base_url: Some(server.url.clone()),
        models: vec![ModelConfig::new("m"), thinker],
        default_model: Some("m".into()),
        backoff_ms: 1,
        ..HttpConfig::new("p", kind, Key::File(path))
    };
    (Http::new(config).unwrap(), folder)
}

async fn ask(kind: Kind, server: &Server, call: &Call) -> Answer {
    let (http, _folder) = provider(kind, server);
    http.complete(call, &|_| ()).await
}

/// The answer to a plain question, and how often the server was asked.
async fn outcome(kind: Kind, replies: Vec<Reply>) -> (Answer, usize) {
    let server = Server::start(replies);
    let answer = ask(kind, &server, &call("?")).await;
    (answer, server.requests().len())
}

fn openai(message: &Value, finish: &str) -> Value {
    json!({
        "id": "c", "object": "chat.completion", "model": "m-2024",
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25,
                  "prompt_tokens_details": {"cached_tokens": 12}}
    })
}

fn clean() -> Reply {
    reply(&openai(&json!({"role": "assistant", "content": "CLEAN"}), "stop"))
}

fn anthropic(content: &Value, stop: &str) -> Value {
    json!({
        "id": "msg", "type": "message", "role": "assistant", "model": "m-2025", "content": content, "stop_reason": stop,
        "usage": {"input_tokens": 8, "output_tokens": 5, "cache_read_input_tokens": 12,
                  "cache_creation_input_tokens": 3}
    })
}

fn parts(parts: &[(&str, u32)]) -> Vec<(String, u32)> {
    parts.iter().map(|(kind, size)| ((*kind).to_owned(), *size)).collect()
}

fn provider_error(answer: Answer) -> String {
    match answer {
        Err(LlmError::Provider(text)) => text,
        other => panic!("expected a provider error, got {other:?}"),
    }
}

#[tokio::test]
async fn an_openai_call_sends_the_request_and_brings_the_completion() {
    let server = Server::start(vec![clean()]);
    let mut call = call("first");
    call.request.system = Some("be strict".into());
    call.request.messages.push(PromptMessage { role: Role::Assistant, text: "second".into() });
    call.request.messages.push(PromptMessage { role: Role::User, text: "third".into() });
    call.request.model = Some(model("p", "thinker"));
    call.request.effort = Effort::Medium;
    call.request.max_output_tokens = Some(10_000);
    call.request.response_schema = Some(r#"{"type":"object","properties":{},"additionalProperties":false}"#.into());
    let answer = ask(Kind::OpenAi, &server, &call).await.unwrap();

    assert_eq!(answer.text, "CLEAN");
    assert_eq!(answer.stop_reason, StopReason::Stop);
    assert_eq!(answer.usage, Some(Usage { input: 8, output: 5, cache_read: 12, cache_write: 0, total: 25 }));
    assert_eq!(answer.model, model("p", "thinker"));
    assert_eq!(answer.parts, parts(&[("text", 5)]));

    let request = server.requests().pop().unwrap();
    assert_eq!(request.line, "POST /v1/chat/completions");
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let roles: Vec<_> =
        request.body["messages"].as_array().unwrap().iter().map(|m| (&m["role"], &m["content"])).collect();
    let said = [("system", "be strict"), ("user", "first"), ("assistant", "second"), ("user", "third")];
    assert_eq!(roles, said.map(|(role, text)| (json!(role), json!(text))).each_ref().map(|(r, t)| (r, t)));
    assert_eq!(request.body["model"], "thinker");
    assert_eq!(request.body["max_tokens"], 4096);
    assert_eq!(request.body["reasoning_effort"], "medium");
    assert_eq!(request.body["response_format"]["json_schema"]["schema"]["type"], "object");
    assert!(!request.body.to_string().contains("fragility"), "the label is never sent");
}

#[tokio::test]
async fn an_anthropic_call_sends_the_request_and_brings_the_completion() {
    let content = json!([
        {"type": "thinking", "thinking": "hm, hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "CLE"},
        {"type": "text", "text": "AN"}
    ]);
    let server = Server::start(vec![reply(&anthropic(&content, "end_turn"))]);
    let mut call = call("first");
    call.request.system = Some("be strict".into());
    call.request.cache_key = Some("k".into());
    let answer = ask(Kind::Anthropic, &server, &call).await.unwrap();

    assert_eq!(answer.text, "CLEAN");
    assert_eq!(answer.stop_reason, StopReason::Stop);
    assert_eq!(answer.usage, Some(Usage { input: 8, output: 5, cache_read: 12, cache_write: 3, total: 28 }));
    assert_eq!(answer.model, model("p", "m"));
    let kinds: Vec<_> = answer.parts.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["thinking", "redacted_thinking", "text", "text"]);
    assert_eq!(answer.parts[0].1, 6);

    let request = server.requests().pop().unwrap();
    assert_eq!(request.line, "POST /v1/messages");
    assert_eq!(request.header("x-api-key"), Some(KEY));
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(request.body["model"], "m");
    assert_eq!(request.body["system"][0]["text"], "be strict");
    assert_eq!(request.body["system"][0]["cache_control"]["type"], "ephemeral");
    assert_eq!(request.body["messages"], json!([{"role": "user", "content": "first"}]));
    assert!(request.body.get("thinking").is_none());
}

#[tokio::test]
async fn the_name_of_a_model_is_sent_as_it_is() {
    for name in ["ns::model", "qwen3-max", "thing-low", "vendor/model:free"] {
        let server = Server::start(vec![clean(), reply(&anthropic(&json!([]), "end_turn"))]);
        for kind in [Kind::OpenAi, Kind::Anthropic] {
            let mut call = call("?");
            call.session_model = Some(model("p", name));
            ask(kind, &server, &call).await.unwrap();
            let request = server.requests().pop().unwrap();
            assert_eq!(request.body["model"], name);
            assert!(request.body.get("reasoning_effort").is_none(), "{name}");
        }
    }
}

#[tokio::test]
async fn a_server_that_asks_for_no_key_gets_none() {
    let server = Server::start(vec![clean(), reply(&anthropic(&json!([]), "end_turn"))]);
    for (kind, line) in [(Kind::OpenAi, "POST /v1/chat/completions"), (Kind::Anthropic, "POST /v1/messages")] {
        let config = HttpConfig {
            base_url: Some(server.url.clone()),
            default_model: Some("m".into()),
            ..HttpConfig::new("p", kind, Key::None)
        };
        Http::new(config).unwrap().complete(&call("?"), &|_| ()).await.unwrap();
        let request = server.requests().pop().unwrap();
        assert_eq!(request.line, line);
        assert_eq!((request.header("authorization"), request.header("x-api-key")), (None, None));
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_is_marked_so() {
    let cut = openai(&json!({"content": "CLE"}), "length");
    assert_eq!(outcome(Kind::OpenAi, vec![reply(&cut)]).await.0.unwrap().stop_reason, StopReason::Length);
    let cut = anthropic(&json!([{"type": "text", "text": "CLE"}]), "max_tokens");
    assert_eq!(outcome(Kind::Anthropic, vec![reply(&cut)]).await.0.unwrap().stop_reason, StopReason::Length);
}

#[tokio::test]
async fn an_empty_answer_still_tells_what_came() {
    let thought = openai(&json!({"content": "", "reasoning_content": "hm, hm"}), "length");
    let answer = outcome(Kind::OpenAi, vec![reply(&thought)]).await.0.unwrap();
    assert_eq!((answer.text.as_str(), answer.parts), ("", parts(&[("thinking", 6)])));

    let refused = openai(&json!({"content": null, "refusal": "I won't"}), "stop");
    let answer = outcome(Kind::OpenAi, vec![reply(&refused)]).await.0.unwrap();
    assert_eq!((answer.text.as_str(), answer.parts), ("", parts(&[("refusal", 7)])));

    let thought = anthropic(&json!([{"type": "thinking", "thinking": "hm", "signature": "s"}]), "max_tokens");
    let answer = outcome(Kind::Anthropic, vec![reply(&thought)]).await.0.unwrap();
    assert_eq!((answer.text.as_str(), answer.parts), ("", parts(&[("thinking", 2)])));
}

#[tokio::test]
async fn an_answer_without_counts_has_no_usage() {
    let mut body = openai(&json!({"content": "CLEAN"}), "stop");
    body.as_object_mut().unwrap().remove("usage");
    assert_eq!(outcome(Kind::OpenAi, vec![reply(&body)]).await.0.unwrap().usage, None);
}

#[test]
fn a_request_gets_its_own_model_the_sessions_or_the_default() {
    let server = Server::start(Vec::new());
    let (http, _folder) = provider(Kind::OpenAi, &server);
    let pick = |wanted: Option<ModelId>, own: Option<ModelId>| {
        let mut call = call("?");
        call.request.model = wanted;
        call.session_model = own;
        http.model(&call).map(str::to_owned)
    };
    assert_eq!(pick(Some(model("p", "thinker")), Some(model("p", "own"))).unwrap(), "thinker");
    assert_eq!(pick(None, Some(model("p", "own"))).unwrap(), "own");
    assert_eq!(pick(Some(model("p", "own")), Some(model("p", "own"))).unwrap(), "own");
    assert_eq!(pick(None, Some(model("elsewhere", "own"))).unwrap(), "m");
    assert_eq!(pick(None, None).unwrap(), "m");
    let error = pick(Some(model("p", "other")), None).unwrap_err();
    let text = "`p/other` is not configured; add it to the `models` of `p`";
    assert_eq!(error, LlmError::UnknownModel(text.into()));
    assert!(matches!(pick(Some(model("q", "m")), None), Err(LlmError::UnknownModel(text)) if text.contains("`q`")));
}

#[test]
fn without_a_default_a_request_without_a_model_says_what_to_configure() {
    let http = Http::new(HttpConfig::new("p", Kind::OpenAi, Key::None)).unwrap();
    let text = http.model(&call("?")).unwrap_err();
    assert!(matches!(&text, LlmError::UnknownModel(text) if text.contains("configure a `default_model` for `p`")));
}

#[test]
fn its_models_are_those_that_are_configured() {
    let server = Server::start(Vec::new());
    let (http, _folder) = provider(Kind::OpenAi, &server);
    let infos = http.models();
    assert_eq!(infos.len(), 2);
    assert_eq!(
        (&infos[1].id, infos[1].max_output_tokens, infos[1].reasons),
        (&model("p", "thinker"), Some(4096), true)
    );
    assert_eq!(http.name(), "p");
}
