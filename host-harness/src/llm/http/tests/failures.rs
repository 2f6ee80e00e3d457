//! What goes wrong, and what becomes of it.

use super::streams::stream;
use super::*;

#[tokio::test]
async fn a_rate_limit_is_waited_out_where_the_provider_says_how_long() {
    let limited = status("429 Too Many Requests", "retry-after: 0\r\n", "{}");
    let (answer, asked) = outcome(Kind::OpenAi, vec![limited, clean()]).await;
    assert_eq!((answer.unwrap().text.as_str(), asked), ("CLEAN", 2));
}

#[tokio::test]
async fn a_rate_limit_that_outlasts_the_call_is_told_at_once() {
    let limited = status("429 Too Many Requests", "retry-after: 3600\r\n", "{}");
    let (answer, asked) = outcome(Kind::OpenAi, vec![limited, clean()]).await;
    assert_eq!((answer, asked), (Err(LlmError::RateLimited(Some(3600))), 1));
}

#[tokio::test]
async fn a_failing_server_is_asked_again_until_the_retries_are_used_up() {
    for kind in [Kind::OpenAi, Kind::Anthropic] {
        let fail = || status("503 Service Unavailable", "", r#"{"error":{"message":"overloaded"}}"#);
        let (answer, asked) = outcome(kind, vec![fail(), fail(), fail(), fail()]).await;
        let text = provider_error(answer);
        assert_eq!((text.as_str(), asked), ("`p` answered with status 503: overloaded", 3));
    }
}

#[tokio::test]
async fn a_connection_that_breaks_is_tried_again() {
    let (answer, asked) = outcome(Kind::OpenAi, vec![Reply::Close, clean()]).await;
    assert_eq!((answer.unwrap().text.as_str(), asked), ("CLEAN", 2));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    for streamed in [false, true] {
        let mut server = Server::start(Vec::new());
        server.url = "http://127.0.0.1:1/v1".into();
        let mut call = call("?");
        call.request.streamed = streamed;
        let text = provider_error(ask(Kind::OpenAi, &server, &call).await);
        assert!(text.contains("127.0.0.1:1") && text.contains("onnect"), "{text}");
    }
}

#[tokio::test]
async fn a_refused_key_is_told_once_and_not_tried_again() {
    let refuse = status("401 Unauthorized", "", r#"{"error":{"message":"invalid x-api-key"}}"#);
    let (answer, asked) = outcome(Kind::Anthropic, vec![refuse, clean()]).await;
    let refused = LlmError::Authentication("`p` refused the key: invalid x-api-key".into());
    assert_eq!((answer, asked), (Err(refused), 1));
}

#[tokio::test]
async fn a_model_that_the_provider_does_not_know_is_named() {
    let missing = status("404 Not Found", "", r#"{"error":{"type":"not_found_error","message":"model: m"}}"#);
    let (answer, _) = outcome(Kind::Anthropic, vec![missing]).await;
    assert_eq!(answer, Err(LlmError::UnknownModel("`p/m`: model: m".into())));
}

#[tokio::test]
async fn what_is_no_answer_is_shown() {
    for (sent, part) in [
        (status("200 OK", "", "{\"choices\": ["), "the answer is not JSON: EOF"),
        (status("200 OK", "", "{\"object\": \"list\"}"), "has no message in `choices`; it was: {\"object\":\"list\"}"),
        (
            Reply::Send("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<p>hi".into()),
            "text/html",
        ),
        (status("200 OK", "", r#"{"error":{"message":"no memory"}}"#), "`p`: no memory"),
    ] {
        let (answer, asked) = outcome(Kind::OpenAi, vec![sent, clean()]).await;
        let text = provider_error(answer);
        assert!(text.contains(part) && asked == 1, "{text}");
    }
    let text = provider_error(outcome(Kind::Anthropic, vec![reply(&json!({"type": "message"}))]).await.0);
    assert!(text.contains("was not understood") && text.contains("content"), "{text}");
}

#[tokio::test]
async fn a_long_error_is_cut() {
    let (answer, _) = outcome(Kind::OpenAi, vec![status("400 Bad Request", "", &"long ".repeat(10_000))]).await;
    let text = provider_error(answer);
    assert!(text.len() < 700 && text.ends_with("… (49999 characters)"), "{text}");
}

#[tokio::test]
async fn a_server_that_hangs_times_out_and_loses_its_connection() {
    let (sender, closed) = oneshot::channel();
    let server = Server::start(vec![Reply::Hang(String::new(), sender)]);
    let mut call = call("?");
    call.request.timeout_ms = Some(30);
    assert_eq!(ask(Kind::OpenAi, &server, &call).await, Err(LlmError::TimedOut));
    closed.await.unwrap();
}

#[tokio::test]
async fn a_key_that_the_server_echoes_is_in_no_error() {
    let body = json!({"error": {"message": format!("no such key: {KEY}, {KEY}")}}).to_string();
    for line in ["401 Unauthorized", "400 Bad Request", "404 Not Found", "500 Internal Server Error", "200 OK"] {
        let echo = || (0..3).map(|_| status(line, "", &body)).collect::<Vec<_>>();
        for kind in [Kind::OpenAi, Kind::Anthropic] {
            let whole = outcome(kind, echo()).await.0;
            let text = format!("{:?}", whole.unwrap_err());
            assert!(text.contains("no such key: [key], [key]") && !text.contains(KEY), "{text}");
        }
        if line != "200 OK" {
            let text = format!("{:?}", stream(Kind::OpenAi, echo()).await.0.unwrap_err());
            assert!(text.contains("[key]") && !text.contains(KEY), "{text}");
        }
    }
    let shown = status("200 OK", "", &format!("{{\"{KEY}\": "));
    let text = provider_error(outcome(Kind::OpenAi, vec![shown]).await.0);
    assert!(text.contains("[key]") && !text.contains(KEY), "{text}");
}

#[tokio::test]
async fn a_provider_does_not_print_its_key() {
    let server = Server::start(vec![clean()]);
    let (http, _folder) = provider(Kind::OpenAi, &server);
    http.complete(&call("?"), &|_| ()).await.unwrap();
    assert!(!format!("{http:?}").contains(KEY));
}

#[tokio::test]
async fn a_missing_key_is_told_before_anything_is_sent() {
    let server = Server::start(vec![clean()]);
    let (http, folder) = provider(Kind::OpenAi, &server);
    std::fs::remove_file(folder.path().join("key")).unwrap();
    let answer = http.complete(&call("?"), &|_| ()).await;
    assert!(matches!(answer, Err(LlmError::Authentication(text)) if text.contains("could not be read")));
    assert!(server.requests().is_empty());
}
