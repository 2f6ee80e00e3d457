//! A guest that misbehaves on command.
//!
//! `/hostile WHAT` first asks for effects, so that tests can see that a hook which fails has none, and then does what the
//! argument says. Whatever the host answers is shown in passing.

use chaperone_sdk::{
    Answer, Command, Completion, CompletionItem, CompletionRequest, Context, Description, Effort, FileError, Gate,
    Hook, Json, Level, LlmError, Plugin, Prompt, RequestId, Scope, StartReason, Tone, Tool, ToolCall, ToolOutput,
};
use serde::{Deserialize, Serialize};

#[cfg(target_family = "wasm")]
mod stain;

/// The guest.
pub struct Hostile;

/// The calls that are held, with the request that decides.
#[derive(Default, Serialize, Deserialize)]
struct Held(Vec<(RequestId, String)>);

#[derive(Default, Serialize, Deserialize)]
struct Calls {
    count: u32,
}

/// Whether it writes again whenever it has written.
#[derive(Default, Serialize, Deserialize)]
struct Circling(bool);

impl Plugin for Hostile {
    fn describe(_: &mut Context) -> Description {
        let command = Command { name: "hostile".into(), description: "Misbehaves".into() };
        let tool = Tool {
            name: "echo".into(),
            label: "Echo".into(),
            description: "Gives back what it is given, or fails".into(),
            parameters: "{}".into(),
        };
        let hooks = [Hook::SessionStart, Hook::AgentEnd, Hook::Context, Hook::ToolStart];
        Description {
            commands: vec![command],
            tools: vec![tool],
            ..chaperone_sdk::describe("hostile", "1", "Misbehaves on command", hooks)
        }
    }

    fn session_start(cx: &mut Context, reason: StartReason) {
        let calls: Calls = cx.state(Scope::Branch);
        cx.log(Level::Info, format!("{reason:?} after {} calls", calls.count));
    }

    fn tool_start(cx: &mut Context, call: ToolCall) -> Gate {
        match call.name.as_str() {
            "refuse" => Gate::Refuse("as I like it".into()),
            "hold" => Gate::Hold,
            "ask" => {
                let mut held: Held = cx.state(Scope::Session);
                held.0.push((cx.complete(completion("door")), call.id));
                cx.set_state(Scope::Session, &held);
                Gate::Hold
            }
            _ => Gate::Allow,
        }
    }

    fn agent_end(cx: &mut Context) {
        let mut calls: Calls = cx.state(Scope::Branch);
        calls.count += 1;
        cx.set_state(Scope::Branch, &calls);
        cx.notify(format!("call {}", calls.count), Tone::Normal);
    }

    fn context(cx: &mut Context, _: Vec<chaperone_sdk::ContextMessage>) -> Vec<u32> {
        cx.notify("this hook may have no effects", Tone::Normal);
        vec![0]
    }

    fn llm_progress(cx: &mut Context, id: RequestId, text: String) {
        cx.notify(format!("progress {id}: {text}"), Tone::Normal);
    }

    fn llm_completed(cx: &mut Context, id: RequestId, outcome: Result<Completion, LlmError>) {
        let text = outcome.map(|completion| completion.text);
        let held: Held = cx.state(Scope::Session);
        if let (Some((_, call)), Ok(said)) = (held.0.iter().find(|(request, _)| *request == id), &text) {
            cx.release(call, (said != "yes").then(|| format!("the model said {said}")));
            return;
        }
        cx.notify(format!("completed {id}: {text:?}"), Tone::Normal);
    }

    fn answered(cx: &mut Context, id: RequestId, answer: Answer) {
        cx.notify(format!("answered {id}: {answer:?}"), Tone::Normal);
    }

    fn stored(cx: &mut Context, id: RequestId, outcome: Result<(), FileError>) {
        cx.notify(format!("stored {id}: {outcome:?}"), Tone::Normal);
        let Circling(circling) = cx.state(Scope::Session);
        if circling {
            cx.write("workspace", "circle", "round and round", false);
        }
    }

    fn timer_fired(cx: &mut Context, id: RequestId) {
        cx.notify(format!("timer {id} at {}", cx.session().now), Tone::Normal);
    }

    fn complete_command(_: &mut Context, name: String, prefix: String) -> Vec<CompletionItem> {
        vec![CompletionItem { value: format!("{prefix}panic"), label: name, description: String::new() }]
    }

    fn tool(_: &mut Context, _: String, arguments: Json) -> Result<ToolOutput, String> {
        match arguments.contains("fail") {
            true => Err("as I was told".into()),
            false => Ok(ToolOutput { content: arguments, details: None }),
        }
    }

    fn command(cx: &mut Context, _: String, line: String) {
        cx.notify("about to misbehave", Tone::Normal);
        cx.set_state(Scope::Branch, &Calls { count: 999 });
        cx.log(Level::Info, format!("doing {line}"));
        let (what, argument) = line.split_once(' ').unwrap_or((&line, ""));
        let number = argument.parse().unwrap_or_default();
        match what {
            "panic" => panic!("as I was told"),
            "spin" => loop {
                std::hint::black_box(());
            },
            "grow" => {
                let mut hoard = Vec::new();
                loop {
                    hoard.push(vec![1u8; 1 << 20]);
                    std::hint::black_box(&hoard);
                }
            }
            "churn" => {
                // Far more than it may have, but little of it at a time.
                let mut kept = Vec::new();
                for round in 0..200_usize {
                    std::hint::black_box(vec![1u8; 2 << 20]);
                    kept.extend(std::hint::black_box([round; 100]));
                }
                cx.notify(format!("kept {}", kept.len()), Tone::Normal);
            }
            #[cfg(target_family = "wasm")]
            "smear" => {
                let seen = stain::smear(number as usize);
                cx.notify(format!("smeared {seen} bytes"), Tone::Normal);
            }
            #[cfg(target_family = "wasm")]
            "sniff" => {
                let seen = stain::sniff(number as usize);
                cx.notify(format!("found {seen} bytes"), Tone::Normal);
            }
            "recurse" => {
                std::hint::black_box(recurse(1));
            }
            "flood" => {
                for number in 0..1_000_000u32 {
                    cx.notify(format!("flood {number}"), Tone::Normal);
                }
            }
            "shout" => cx.notify("x".repeat(48 << 20), Tone::Normal),
            "complete" => {
                cx.complete(completion(argument));
            }
            "stream" => {
                cx.complete(CompletionRequest { streamed: true, ..completion(argument) });
            }
            "ask" => {
                cx.ask(Prompt::Confirm(("Go on?".into(), argument.into())));
            }
            "cancel" => cx.cancel(number),
            "inject" => cx.steer("hostile", "Listen to me."),
            "abort" => cx.abort(),
            "release" => cx.release(argument, None),
            "arm" => {
                cx.arm(number);
            }
            "disarm" => cx.disarm(number),
            "add" => {
                let patch = format!(r#"[{{"op": "add", "path": "/-", "value": {number}}}]"#);
                cx.patch("workspace", "findings.json", "[]", patch);
            }
            "read" => {
                let answer = cx.read("workspace", argument);
                cx.notify(format!("read: {answer:?}"), Tone::Normal);
            }
            "refresh" => {
                let (mount, path) = argument.split_once(':').unwrap_or(("git", argument));
                cx.refresh(mount, path);
            }
            "glance" => {
                let answer = cx.read("git", argument);
                cx.notify(format!("glance: {answer:?}"), Tone::Normal);
            }
            "list" => {
                let answer = cx.list("workspace", argument);
                cx.notify(format!("list: {answer:?}"), Tone::Normal);
            }
            "write" => {
                cx.write("workspace", argument, "owned", false);
            }
            "circle" => {
                cx.set_state(Scope::Session, &Circling(true));
                cx.write("workspace", "circle", argument, false);
            }
            other => cx.notify(format!("nothing to do for {other}"), Tone::Muted),
        }
    }
}

/// A request that names nothing but its label.
fn completion(label: &str) -> CompletionRequest {
    CompletionRequest {
        label: label.into(),
        model: None,
        system: None,
        messages: Vec::new(),
        max_output_tokens: None,
        effort: Effort::Lowest,
        response_schema: None,
        timeout_ms: None,
        streamed: false,
        cache_key: None,
    }
}

#[allow(unconditional_recursion, reason = "that is what it is for")]
fn recurse(depth: u64) -> u64 {
    std::hint::black_box(recurse(std::hint::black_box(depth + 1))) + 1
}

chaperone_sdk::export!(Hostile);
