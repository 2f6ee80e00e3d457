//! A watcher in 30 lines: the agent says that it will do something next, and stops.

use chaperone_sdk::{Content, Context, Description, Entry, EntryBody, Hook, Plugin, Scope, StopReason};

/// The watcher.
pub struct Unfinished;

/// How often it has spoken up since the user's last message.
#[derive(Default, serde::Serialize, serde::Deserialize)]
struct Nudges(u32);

impl Plugin for Unfinished {
    fn describe(_: &mut Context) -> Description {
        let hooks = [Hook::Input, Hook::MessageEnd];
        chaperone_sdk::describe("unfinished", "1.0.0", "Sends the agent back when it only announces work", hooks)
    }

    fn input(cx: &mut Context, _: Vec<Content>) {
        cx.set_state(Scope::Branch, &Nudges(0));
    }

    fn message_end(cx: &mut Context, message: Entry) {
        let EntryBody::Assistant(message) = message.body else { return };
        let Some(Content::Text(text)) = message.content.last() else { return };
        let Nudges(nudges) = cx.state(Scope::Branch);
        let announces = ["I will now", "Next, I'll", "Let me"].iter().any(|start| text.contains(start));
        if message.stop_reason == StopReason::Stop && announces && nudges < 2 {
            cx.set_state(Scope::Branch, &Nudges(nudges + 1));
            cx.steer("unfinished", "You announced work and stopped. Do it now, or say what keeps you from it.");
        }
    }
}

chaperone_sdk::export!(Unfinished);
