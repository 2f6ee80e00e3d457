//! What a client tells, and what it is told.

use std::sync::Arc;

use chaperone_tests::stage::{Pipe, Stage};
use serde_json::{Value, json};

use super::{command, entry, event, hostile};

async fn opened(capabilities: Value) -> (Pipe, Arc<Stage>) {
    let stage = Arc::new(Stage::bare());
    let mut pipe = Pipe::with(hostile(&stage, None), capabilities).await;
    pipe.open("s", &stage.project(), json!({})).await;
    (pipe, stage)
}

#[tokio::test(start_paused = true)]
async fn nothing_is_served_before_somebody_says_who_is_there_and_that_only_once() {
    let stage = Arc::new(Stage::bare());
    let mut pipe = Pipe::new(hostile(&stage, None));
    for method in ["session/open", "session/quiet"] {
        assert_eq!(pipe.refused(method, json!({})).await, (-32002, "send `initialize` first".into()));
    }
    let client = json!({"name": "test", "version": "1"});
    let (code, told) = pipe.refused("initialize", json!({"protocol_version": 2, "client": client})).await;
    assert_eq!((code, told.as_str()), (-32602, "params.protocol_version: is 2; this sidecar speaks 1"));
    let (result, _) = pipe.ask("initialize", json!({"protocol_version": 1, "client": client, "unknown": 1})).await;
    assert_eq!(result["contract"], "chaperone:agent@0.1.0");
    assert_eq!(pipe.refused("initialize", json!({"protocol_version": 1, "client": client})).await.0, -32600);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_served_is_refused_with_its_place_and_the_session_goes_on() {
    let (mut pipe, stage) = opened(json!({})).await;
    let open = json!({"session": "s", "cwd": stage.project(), "mode": "rpc", "reason": "new"});
    assert_eq!(pipe.refused("session/open", open).await.0, -32003);
    let relative = json!({"session": "t", "cwd": "here", "mode": "rpc", "reason": "new"});
    let told = (-32602, "params.cwd: `here` is not an absolute path".into());
    assert_eq!(pipe.refused("session/open", relative).await, told);
    assert_eq!(pipe.refused("session/dance", json!({})).await, (-32601, "there is no method `session/dance`".into()));
    let nobody = json!({"session": "t", "entries": []});
    assert_eq!(pipe.refused("session/append", nobody).await, (-32001, "no session `t` is open".into()));
    assert_eq!(pipe.refused("exit", json!({})).await.0, -32600);

    let bad = json!({"session": "s", "entries": [entry("a"), {"id": "b", "timestamp": -1, "body": {"user": []}}]});
    let (code, told) = pipe.refused("session/append", bad).await;
    assert_eq!(code, -32602);
    assert_eq!(told, "params.entries[1].timestamp: invalid value: integer `-1`, expected u64");
    assert_eq!(pipe.refused("session/append", json!([])).await, (-32602, "params: must be an object".into()));
    for no_variant in [json!(5), json!(null), json!([])] {
        let told = "params.event: must be a text, or an object with one member";
        assert_eq!(pipe.refused("session/event", event(no_variant)).await, (-32602, told.into()));
    }
    let late = json!({"session": "s", "event": "agent_end", "circumstances": {"now": 1u64 << 53}});
    assert!(pipe.refused("session/event", late).await.1.starts_with("params.circumstances.now: "));

    for (line, code, id) in [
        ("nonsense", -32700, json!(null)),
        ("{\"jsonrpc\":\"2.0\",\"id\":9", -32700, json!(null)),
        ("[]", -32600, json!(null)),
        ("5", -32600, json!(null)),
        (r#"{"jsonrpc":"1.0","id":9,"method":"shutdown"}"#, -32600, json!(9)),
        (r#"{"jsonrpc":"2.0","id":"x"}"#, -32600, json!("x")),
        (r#"{"jsonrpc":"2.0","id":9,"method":[]}"#, -32600, json!(9)),
        (r#"{"jsonrpc":"2.0","id":1e999,"method":"shutdown"}"#, -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":{},"method":"shutdown"}"#, -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":9,"id":9,"method":"shutdown"}"#, -32600, json!(null)),
    ] {
        let told = pipe.send(line).await.0;
        assert_eq!((told.len(), &told[0]["error"]["code"], &told[0]["id"]), (1, &json!(code), &id), "{line}: {told:?}");
    }
    assert_eq!(pipe.send([0xff, b'\n']).await.0[0]["error"]["code"], -32700);
    assert!(pipe.send(" \r").await.0.is_empty(), "a line without anything in it is none");
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"session/event","params":{}1{}}}"#,
        "[".repeat(9999),
        "]".repeat(9999)
    );
    assert_eq!(pipe.send(deep).await.0[0]["error"]["code"], -32602);
    let (result, told) = pipe.ask("session/event", event(json!("agent_end"))).await;
    assert_eq!((result, told.notices()), (json!({"reply": null}), vec!["call 1"]));
}

#[tokio::test(start_paused = true)]
async fn effects_come_before_the_response_of_the_event_that_they_follow_from() {
    let (mut pipe, _stage) = opened(json!({})).await;
    let line = json!({"jsonrpc": "2.0", "id": "x", "method": "session/command", "params": command("inject")});
    let told = pipe.send(line.to_string()).await.0;
    let effects: Vec<_> = told.iter().filter(|line| line["method"] == "session/effect").collect();
    let injected = effects.iter().filter(|line| !line["params"]["effect"]["inject"].is_null()).count();
    assert_eq!((injected, told.last().unwrap()), (1, &json!({"jsonrpc": "2.0", "id": "x", "result": {"known": true}})));
    assert_eq!(effects[0]["params"]["plugin"], "hostile");
    assert!(told.iter().all(|line| line["params"]["effect"]["set"].is_null()), "what is remembered is not told");
}

#[tokio::test(start_paused = true)]
async fn a_request_without_an_id_is_served_and_not_answered() {
    let (mut pipe, _stage) = opened(json!({})).await;
    let line = json!({"jsonrpc": "2.0", "method": "session/event", "params": event(json!("agent_end"))});
    let told = pipe.send(line.to_string()).await;
    assert_eq!((told.0.len(), told.notices()), (1, vec!["call 1"]));
    for method in ["session/dance", "session/event"] {
        let line = json!({"jsonrpc": "2.0", "method": method, "params": 7});
        assert!(pipe.send(line.to_string()).await.0.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn the_branch_grows_moves_and_is_told_anew() {
    let (mut pipe, _stage) = opened(json!({})).await;
    let append = |ids: &[&str]| {
        let entries: Vec<_> = ids.iter().map(|id| entry(id)).collect();
        json!({"session": "s", "entries": entries})
    };
    let (grown, _) = pipe.ask("session/append", append(&["a", "b"])).await;
    assert_eq!(grown, json!({"leaf": "b", "length": 2}));
    let (grown, _) = pipe.ask("session/append", append(&["b", "c"])).await;
    assert_eq!(grown, json!({"leaf": "c", "length": 3}));
    pipe.ask("session/event", event(json!("agent_end"))).await;

    let (moved, _) = pipe.ask("session/branch", json!({"session": "s", "leaf": "a"})).await;
    assert_eq!(moved, json!({"leaf": "a", "length": 1}));
    let (_, told) = pipe.ask("session/event", event(json!("agent_end"))).await;
    assert_eq!(told.notices(), ["call 1"], "what was remembered follows the branch");
    pipe.ask("session/branch", json!({"session": "s", "leaf": "c"})).await;
    let (_, told) = pipe.ask("session/event", event(json!("agent_end"))).await;
    assert_eq!(told.notices(), ["call 2"]);

    let (code, told) = pipe.refused("session/branch", json!({"session": "s", "leaf": "x"})).await;
    assert_eq!(code, -32602);
    assert_eq!(told, "params.leaf: there is no entry `x`; send the whole branch as `entries`");
    let anew = |leaf: Value| json!({"session": "s", "leaf": leaf, "entries": [entry("x"), entry("y")]});
    assert_eq!(pipe.refused("session/branch", anew(json!("x"))).await.0, -32602);
    assert_eq!(pipe.ask("session/branch", anew(json!("y"))).await.0, json!({"leaf": "y", "length": 2}));
    let (start, _) = pipe.ask("session/branch", json!({"session": "s", "leaf": null})).await;
    assert_eq!(start, json!({"leaf": null, "length": 0}));
}

#[tokio::test(start_paused = true)]
async fn a_branch_may_come_in_several_messages_and_is_one_when_it_is_told() {
    let stage = Arc::new(Stage::bare());
    let mut pipe = Pipe::with(hostile(&stage, None), json!({})).await;
    let bring = |ids: &[&str]| json!({"session": "s", "entries": ids.iter().map(|id| entry(id)).collect::<Vec<_>>()});
    assert_eq!(pipe.ask("session/entries", bring(&["a", "b"])).await.0, json!({"length": 2}));
    assert_eq!(pipe.ask("session/entries", bring(&["c"])).await.0, json!({"length": 3}));
    pipe.open("t", &stage.project(), json!({"entries": [entry("x")]})).await;
    pipe.open("s", &stage.project(), json!({"entries": [entry("d")]})).await;
    let (is, _) = pipe.ask("session/append", json!({"session": "s", "entries": []})).await;
    assert_eq!(is, json!({"leaf": "d", "length": 4}));
    let (is, _) = pipe.ask("session/append", json!({"session": "t", "entries": []})).await;
    assert_eq!(is, json!({"leaf": "x", "length": 1}), "they are of one session alone");

    pipe.ask("session/entries", bring(&["a", "e"])).await;
    let (is, _) = pipe.ask("session/branch", json!({"session": "s", "leaf": "b"})).await;
    assert_eq!(is, json!({"leaf": "b", "length": 2}), "this is no whole branch, and they wait on");
    let anew = |entries: Value, leaf: &str| json!({"session": "s", "leaf": leaf, "entries": entries});
    let (is, _) = pipe.ask("session/branch", anew(json!([entry("f")]), "f")).await;
    assert_eq!(is, json!({"leaf": "f", "length": 3}));
    let (is, _) = pipe.ask("session/branch", anew(json!([entry("f")]), "f")).await;
    assert_eq!(is, json!({"leaf": "f", "length": 1}), "they are used once");

    pipe.ask("session/entries", bring(&["g"])).await;
    let (is, _) = pipe.ask("session/branch", anew(json!([]), "g")).await;
    assert_eq!(is, json!({"leaf": "g", "length": 1}), "the last message need not have one");
    pipe.ask("session/entries", bring(&["h"])).await;
    let (code, told) = pipe.refused("session/branch", anew(json!([entry("h")]), "h")).await;
    assert_eq!((code, told.as_str()), (-32602, "params.entries: entry `h` is there twice"));
    pipe.ask("session/entries", bring(&["i"])).await;
    pipe.ask("session/close", json!({"session": "s"})).await;
    pipe.open("s", &stage.project(), json!({})).await;
    let (is, _) = pipe.ask("session/append", json!({"session": "s", "entries": []})).await;
    assert_eq!(is, json!({"leaf": null, "length": 0}), "a session that is closed leaves nothing");
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_complete_joins_the_branch_if_it_is_not_there_yet() {
    let (mut pipe, _stage) = opened(json!({})).await;
    for _ in 0..2 {
        pipe.ask("session/event", event(json!({"message_end": {"message": entry("a")}}))).await;
        let (is, _) = pipe.ask("session/append", json!({"session": "s", "entries": [entry("a")]})).await;
        assert_eq!(is, json!({"leaf": "a", "length": 1}));
    }
}

#[tokio::test(start_paused = true)]
async fn what_another_method_stands_for_is_no_event() {
    let (mut pipe, _stage) = opened(json!({})).await;
    for (told, method) in [
        (json!({"session_start": {"reason": "new"}}), "session/open"),
        (json!("session_end"), "session/close"),
        (json!("branch_changed"), "session/branch"),
        (json!({"command": {"name": "hostile", "arguments": ""}}), "session/command"),
        (json!({"tool": {"name": "echo", "arguments": "{}"}}), "session/tool"),
    ] {
        let (code, text) = pipe.refused("session/event", event(told)).await;
        assert_eq!(code, -32602);
        assert!(text.ends_with(&format!("is told with the method `{method}`")), "{text}");
    }
    for told in [json!("describe"), json!({"timer_fired": {"id": 1}})] {
        assert_eq!(pipe.refused("session/event", event(told)).await.0, -32602);
    }
}

fn call(name: &str) -> Value {
    event(json!({"tool_start": {"call": {"id": "c1", "name": name, "arguments": "{}"}}}))
}

#[tokio::test(start_paused = true)]
async fn a_tool_call_is_gated_as_far_as_the_client_can_and_the_rest_is_told() {
    let refuse = json!({"refuse": "as I like it"});
    for (can, refused, held, notes) in [
        ("none", json!(null), json!(null), 2),
        ("refuse", json!({"gate": refuse}), json!({"gate": "allow"}), 1),
        ("hold", json!({"gate": refuse}), json!({"gate": "hold"}), 0),
    ] {
        let (mut pipe, _stage) = opened(json!({"gate": can})).await;
        let (allowed, _) = pipe.ask("session/event", call("read")).await;
        assert_eq!(allowed["reply"], if can == "none" { json!(null) } else { json!({"gate": "allow"}) });
        let (refusal, mut told) = pipe.ask("session/event", call("refuse")).await;
        let (holding, more) = pipe.ask("session/event", call("hold")).await;
        told.0.extend(more.0);
        assert_eq!((&refusal["reply"], &holding["reply"]), (&refused, &held), "{can}");
        assert_eq!(told.of("session/note").len(), notes, "{can}");
        let (_, told) = pipe.ask("session/command", command("release c1")).await;
        let released = told.0.iter().filter(|line| !line["params"]["effect"]["release"].is_null()).count();
        assert_eq!(released, usize::from(can == "hold"));
    }
}

#[tokio::test(start_paused = true)]
async fn messages_to_leave_out_commands_and_tools_are_answered() {
    let (mut pipe, _stage) = opened(json!({})).await;
    let messages = json!([{"entry": null, "kind": "user", "details": null}]);
    let (result, told) = pipe.ask("session/event", event(json!({"context": {"messages": messages}}))).await;
    assert_eq!((result, told.0.len()), (json!({"reply": {"leave_out": [0]}}), 0));
    let (result, _) = pipe.ask("session/event", event(json!({"context": {"messages": []}}))).await;
    assert_eq!(result, json!({"reply": {"leave_out": []}}), "there is no message 0");

    let (result, _) = pipe.ask("session/command", json!({"session": "s", "name": "nothing"})).await;
    assert_eq!(result, json!({"known": false}));
    let (result, _) =
        pipe.ask("session/complete_command", json!({"session": "s", "name": "hostile", "prefix": "p"})).await;
    assert_eq!(result["completions"][0]["value"], "ppanic");
    for (arguments, name, outcome) in [
        ("{\"a\":1}", "echo", json!({"ok": {"content": "{\"a\":1}", "details": null}})),
        ("{\"fail\":1}", "echo", json!({"err": "as I was told"})),
        ("{}", "nothing", json!(null)),
    ] {
        let params = json!({"session": "s", "name": name, "arguments": arguments});
        assert_eq!(pipe.ask("session/tool", params).await.0, json!({"outcome": outcome}));
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_to_the_user_goes_to_a_client_with_dialogs_and_is_answered_once() {
    let (mut pipe, _stage) = opened(json!({"dialogs": true})).await;
    let (_, told) = pipe.ask("session/command", command("ask why")).await;
    let asked: Vec<_> = told.0.iter().filter(|line| !line["params"]["effect"]["ask"].is_null()).collect();
    assert_eq!(asked[0]["params"]["effect"]["ask"], json!({"id": 1, "prompt": {"confirm": ["Go on?", "why"]}}));
    let answer = |id: u64| json!({"session": "s", "plugin": "hostile", "id": id, "answer": {"confirmed": true}});
    assert_eq!(pipe.refused("session/answer", answer(2)).await.0, -32602);
    let (_, told) = pipe.ask("session/answer", answer(1)).await;
    assert_eq!(told.notices(), ["answered 1: Confirmed(true)"]);
    let (code, text) = pipe.refused("session/answer", answer(1)).await;
    assert_eq!((code, text.as_str()), (-32602, "params.id: `hostile` does not ask anything under 1"));
    let stranger = json!({"session": "s", "plugin": "nobody", "id": 1, "answer": "dismissed"});
    assert_eq!(pipe.refused("session/answer", stranger).await.0, -32602);
}

#[tokio::test(start_paused = true)]
async fn where_nobody_can_be_asked_the_answer_is_there_at_once() {
    let (mut pipe, _stage) = opened(json!({})).await;
    let (_, told) = pipe.ask("session/command", command("ask why")).await;
    assert_eq!(told.notices(), ["about to misbehave", "answered 1: Unavailable"]);
    assert!(told.0.iter().all(|line| line["params"]["effect"]["ask"].is_null()), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_fails_is_told_and_so_is_a_plugin_that_is_set_aside() {
    let (mut pipe, _stage) = opened(json!({})).await;
    let mut notes = Vec::new();
    for _ in 0..3 {
        let (_, told) = pipe.ask("session/command", command("panic")).await;
        notes.extend(told.of("session/note").into_iter().map(|params| params["note"].clone()));
    }
    assert_eq!(notes.len(), 4);
    assert_eq!(notes[0]["failed"]["hook"], "command");
    assert!(notes[0]["failed"]["reason"].as_str().unwrap().contains("as I was told"), "{notes:?}");
    assert_eq!(notes[3], json!({"quarantined": {"failures": 3}}));
}

#[tokio::test(start_paused = true)]
async fn timers_fire_by_the_clock_that_the_client_may_set() {
    let (mut pipe, _stage) = opened(json!({})).await;
    pipe.ask("session/command", command("arm 1500")).await;
    assert_eq!(pipe.wait().await.notices(), ["timer 1 at 1760000001500"]);
    let set = json!({"session": "s", "event": "agent_end", "circumstances": {"now": 1_800_000_000_000u64}});
    pipe.ask("session/event", set).await;
    pipe.ask("session/command", command("arm 20")).await;
    assert_eq!(pipe.wait().await.notices(), ["timer 2 at 1800000000020"]);
    assert!(pipe.wait().await.0.is_empty());
}

#[tokio::test(start_paused = true)]
async fn sessions_of_one_pipe_know_nothing_of_each_other() {
    let (mut pipe, stage) = opened(json!({})).await;
    pipe.open("t", &stage.project(), json!({})).await;
    for (session, count) in [("s", 1), ("t", 1), ("s", 2), ("s", 3), ("t", 2)] {
        let (_, told) = pipe.ask("session/event", json!({"session": session, "event": "agent_end"})).await;
        assert_eq!(told.notices(), [format!("call {count}")]);
        assert!(told.0.iter().all(|line| line["params"]["session"] == session));
    }
    pipe.ask("session/close", json!({"session": "s"})).await;
    assert_eq!(pipe.refused("session/event", event(json!("agent_end"))).await.0, -32001);
    let (_, told) = pipe.ask("session/event", json!({"session": "t", "event": "agent_end"})).await;
    assert_eq!(told.notices(), ["call 3"]);
}

#[tokio::test(start_paused = true)]
async fn after_shutdown_only_exit_is_served() {
    let (mut pipe, _stage) = opened(json!({})).await;
    pipe.ask("shutdown", json!({})).await;
    assert_eq!(pipe.refused("session/event", event(json!("agent_end"))).await.0, -32600);
    assert!(!pipe.is_over());
    assert!(pipe.send(r#"{"jsonrpc":"2.0","method":"exit"}"#).await.0.is_empty());
    assert!(pipe.is_over());
    assert!(pipe.send("nonsense").await.0.is_empty(), "nobody reads any more");
}
