//! Answers that come bit by bit.

use super::*;

/// The answer to a plain question, the bits that were heard, and how often the server was asked.
pub async fn stream(kind: Kind, replies: Vec<Reply>) -> (Answer, Vec<String>, usize) {
    let server = Server::start(replies);
    let (http, _folder) = provider(kind, &server);
    let mut call = call("?");
    call.request.streamed = true;
    let heard = Mutex::new(Vec::new());
    let answer = http.complete(&call, &|text: &str| heard.lock().unwrap().push(text.to_owned())).await;
    (answer, heard.into_inner().unwrap(), server.requests().len())
}

#[tokio::test]
async fn a_call_that_is_dropped_closes_its_connection() {
    let (sender, closed) = oneshot::channel();
    let head = "data: {\"choices\":[{\"delta\":{\"content\":\"CLE\"}}]}";
    let server = Server::start(vec![Reply::Hang(events(&[head]), sender)]);
    let (http, _folder) = provider(Kind::OpenAi, &server);
    let mut call = call("?");
    call.request.streamed = true;
    let (heard, first_text) = oneshot::channel();
    let heard = Mutex::new(Some(heard));
    let progress = |text: &str| {
        if let Some(heard) = heard.lock().unwrap().take() {
            heard.send(text.to_owned()).unwrap();
        }
    };
    tokio::select! {
        answer = http.complete(&call, &progress) => panic!("the server hangs, and yet it answered {answer:?}"),
        text = first_text => assert_eq!(text.unwrap(), "CLE"),
    }
    closed.await.unwrap();
}

#[tokio::test]
async fn a_streamed_openai_answer_arrives_bit_by_bit() {
    let reply = events(&[
        r#"data: {"choices":[{"delta":{"role":"assistant","reasoning_content":"hm"}}]}"#,
        r#"data: {"choices":[{"delta":{"content":"CLE"}}]}"#,
        r#"data: {"choices":[{"delta":{"content":"AN"}}]}"#,
        r#"data: {"choices":[{"delta":{},"finish_reason":"length"}]}"#,
        r#"data: {"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":5,"total_tokens":25,"prompt_tokens_details":{"cached_tokens":12}}}"#,
        "data: [DONE]",
    ]);
    let (answer, heard, _) = stream(Kind::OpenAi, vec![Reply::Send(reply)]).await;
    let answer = answer.unwrap();
    assert_eq!(heard, ["CLE", "AN"]);
    assert_eq!((answer.text.as_str(), answer.stop_reason), ("CLEAN", StopReason::Length));
    assert_eq!(answer.usage, Some(Usage { input: 8, output: 5, cache_read: 12, cache_write: 0, total: 25 }));
    assert_eq!(answer.parts, parts(&[("thinking", 2), ("text", 5)]));
}

#[tokio::test]
async fn a_streamed_anthropic_answer_arrives_bit_by_bit() {
    let reply = events(&[
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":8,\"output_tokens\":1,\"cache_read_input_tokens\":12}}}",
        "event: content_block_start\ndata: {\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}",
        "event: content_block_delta\ndata: {\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}",
        "event: content_block_stop\ndata: {}",
        "event: ping\ndata: {\"type\":\"ping\"}",
        "event: content_block_start\ndata: {\"content_block\":{\"type\":\"text\",\"text\":\"\"}}",
        "event: content_block_delta\ndata: {\"delta\":{\"type\":\"text_delta\",\"text\":\"CLEAN\"}}",
        "event: content_block_stop\ndata: {}",
        "event: message_delta\ndata: {\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}",
    ]);
    let (answer, heard, _) = stream(Kind::Anthropic, vec![Reply::Send(reply)]).await;
    let answer = answer.unwrap();
    assert_eq!(heard, ["CLEAN"]);
    assert_eq!((answer.text.as_str(), answer.stop_reason), ("CLEAN", StopReason::Stop));
    assert_eq!(answer.usage, Some(Usage { input: 8, output: 5, cache_read: 12, cache_write: 0, total: 25 }));
    assert_eq!(answer.parts, parts(&[("thinking", 2), ("text", 5)]));
}

#[tokio::test]
async fn a_stream_that_fails_before_its_first_text_is_tried_again() {
    let done = events(&[r#"data: {"choices":[{"delta":{"content":"CLEAN"}}]}"#, "data: [DONE]"]);
    for failing in [
        status("500 Internal Server Error", "", "{}"),
        Reply::Send(events(&[r#"data: {"error":{"message":"busy","type":"server_error"}}"#])),
        Reply::Send(events(&[])),
        Reply::Close,
    ] {
        let (answer, heard, asked) = stream(Kind::OpenAi, vec![failing, Reply::Send(done.clone())]).await;
        assert_eq!((answer.unwrap().text.as_str(), asked), ("CLEAN", 2));
        assert_eq!(heard, ["CLEAN"]);
    }
}

#[tokio::test]
async fn a_stream_that_fails_after_its_first_text_is_not_said_twice() {
    let broken = events(&[r#"data: {"choices":[{"delta":{"content":"CLE"}}]}"#]);
    let (answer, heard, asked) = stream(Kind::OpenAi, vec![Reply::Send(broken), clean()]).await;
    assert_eq!(provider_error(answer), "`p`: the stream ended before the answer did");
    assert_eq!((heard.as_slice(), asked), (["CLE".to_owned()].as_slice(), 1));
}

#[tokio::test]
async fn a_streamed_rate_limit_keeps_its_seconds() {
    let limited = status("429 Too Many Requests", "retry-after: 3600\r\n", "{}");
    let (answer, _, asked) = stream(Kind::Anthropic, vec![limited]).await;
    assert_eq!((answer, asked), (Err(LlmError::RateLimited(Some(3600))), 1));
}
