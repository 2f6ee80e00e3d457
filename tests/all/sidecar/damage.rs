//! Conversations with faults in them: whatever a client sends, the sidecar answers and goes on.

use chaperone_tests::readers::{self, conversation};
use serde_json::{Value, json};

use super::chaos::damage;
use crate::readers::Chance;

/// How often a conversation is damaged.
const CASES: usize = 100;

fn lines(messages: &[Value]) -> Vec<u8> {
    messages.iter().map(|message| format!("{message}\n")).collect::<String>().into_bytes()
}

#[test]
fn a_conversation_with_damaged_bytes() {
    let whole = [lines(&conversation())];
    let mut chance = Chance(7);
    readers::sidecar(&whole[0]);
    for _ in 0..CASES {
        readers::sidecar(&chance.damaged(&whole));
    }
}

#[test]
fn a_conversation_in_another_order_with_messages_twice_and_others_missing() {
    let mut chance = Chance(3);
    for _ in 0..CASES {
        let mut messages = conversation();
        for _ in 0..=chance.below(12) {
            let (here, there) = (chance.below(messages.len()), chance.below(messages.len()));
            match chance.below(3) {
                0 => messages.swap(here, there),
                1 => messages.insert(there, messages[here].clone()),
                _ => drop(messages.remove(here)),
            }
        }
        readers::sidecar(&lines(&messages));
    }
}

#[test]
fn a_conversation_with_values_of_the_wrong_kind_and_methods_that_nobody_knows() {
    let mut chance = Chance(5);
    for _ in 0..CASES {
        let mut messages = conversation();
        for _ in 0..=chance.below(6) {
            let index = chance.below(messages.len());
            match (chance.below(4), messages[index].as_object_mut()) {
                (0, Some(message)) => _ = message.insert("method".into(), json!("session/unheard_of")),
                (1, Some(message)) => {
                    let id = chance.pick(&[json!(1), json!("x"), json!(null), json!(1.5)]).clone();
                    message.insert("id".into(), id);
                }
                _ => damage(&mut messages[index], &mut chance),
            }
        }
        readers::sidecar(&lines(&messages));
    }
}

#[test]
fn numbers_beyond_all_bounds_and_documents_without_a_floor() {
    let huge = ["1e999", "-1e999", "99999999999999999999999999", "0.1e-400", "9223372036854775808"];
    let deep = [format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)), "{\"a\":".repeat(50_000)];
    let mut text = lines(&conversation()[..2]);
    for odd in huge.into_iter().chain(deep.iter().map(String::as_str)) {
        for line in [
            format!(r#"{{"jsonrpc":"2.0","id":{odd},"method":"session/quiet","params":{{"session":"s"}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":5,"method":"session/quiet","params":{odd}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":5,"method":"session/quiet","params":{{"session":{odd}}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":5,"method":"session/quiet","params":{{"session":"s","more":{odd}}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{odd}}}"#),
            format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"id":{odd}}}}}"#),
            odd.to_owned(),
        ] {
            text.extend_from_slice(line.as_bytes());
            text.push(b'\n');
        }
    }
    readers::sidecar(&text);
}
