//! A guest that misbehaves on command.
//!
//! `/hostile WHAT` first asks for effects, so that tests can see that a hook which fails has none, and then does what the
//! argument says.

use chaperone_sdk::{CompletionRequest, Context, Description, Effort, Hook, Level, Plugin, Scope, Tone};
use serde::{Deserialize, Serialize};

/// The guest.
pub struct Hostile;

#[derive(Default, Serialize, Deserialize)]
struct Calls {
    count: u32,
}

impl Plugin for Hostile {
    fn describe(_: &mut Context) -> Description {
        chaperone_sdk::describe("hostile", "1", "Misbehaves on command", [Hook::AgentEnd, Hook::Context])
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

    fn command(cx: &mut Context, _: String, what: String) {
        cx.notify("about to misbehave", Tone::Normal);
        cx.set_state(Scope::Branch, &Calls { count: 999 });
        cx.log(Level::Info, format!("doing {what}"));
        match what.as_str() {
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
                cx.complete(CompletionRequest {
                    label: "hostile".into(),
                    model: None,
                    system: None,
                    messages: Vec::new(),
                    max_output_tokens: None,
                    effort: Effort::Lowest,
                    response_schema: None,
                    timeout_ms: None,
                    streamed: false,
                    cache_key: None,
                });
            }
            "escape" => match cx.read("workspace", "../outside.txt") {
                Ok(text) => cx.notify(format!("escaped: {text}"), Tone::Error),
                Err(error) => cx.notify(format!("held: {error:?}"), Tone::Success),
            },
            other => cx.notify(format!("nothing to do for {other}"), Tone::Muted),
        }
    }
}

#[allow(unconditional_recursion, reason = "that is what it is for")]
fn recurse(depth: u64) -> u64 {
    std::hint::black_box(recurse(std::hint::black_box(depth + 1))) + 1
}

chaperone_sdk::export!(Hostile);
