use chaperone_sdk::{AssistantMessage, Content, EntryBody, ToolResult};
use proptest::prelude::*;

use super::*;
use crate::samples::*;

const TOOL_RESULTS: usize = Limit::of(Collector::ToolResults).items as usize;
const TOOL_CALLS: usize = Limit::of(Collector::ToolCalls).items as usize;
const TOOL_CHARACTERS: usize = Limit::of(Collector::ToolCalls).characters as usize;
const TEXT_CHARACTERS: usize = Limit::of(Collector::UserText).characters as usize;

/// What collects from the entries since the user's message.
const SINCE_USER: [Collector; 5] = [
    Collector::UserText,
    Collector::AssistantText,
    Collector::ToolResults,
    Collector::ToolCalls,
    Collector::CustomMessages,
];

fn collected(bodies: Vec<EntryBody>, collector: Collector) -> String {
    Window::new(&branch(bodies)).text(collector).to_owned()
}

#[test]
fn user_text_is_the_latest_user_message() {
    let bodies = vec![user("old"), assistant("a1", &[]), user("new"), assistant("a2", &[])];
    assert_eq!(collected(bodies, Collector::UserText), "new");
    assert_eq!(collected(vec![user("q1")], Collector::UserText), "q1", "also before the agent has answered");
    assert_eq!(collected(vec![assistant("a", &[])], Collector::UserText), "");
    let parts = vec![Content::Text("one ".into()), Content::Image("image/png".into()), Content::Text("two".into())];
    assert_eq!(collected(vec![EntryBody::User(parts)], Collector::UserText), "one two");
}

#[test]
fn d03_assistant_text_is_the_message_that_has_just_ended() {
    let bodies = vec![user("q1"), assistant("a1", &[]), user("q2"), assistant("a2", &[])];
    assert_eq!(collected(bodies, Collector::AssistantText), "a2");
}

#[test]
fn assistant_text_is_text_alone_and_skips_messages_without_any() {
    let mut thinking = assistant("said", &[("1", "bash", "{}")]);
    if let EntryBody::Assistant(AssistantMessage { content, .. }) = &mut thinking {
        content.insert(0, Content::Thinking("thought".into()));
    }
    let bodies = vec![user("q"), thinking, result("1", "bash", "ok"), assistant("  ", &[("2", "bash", "{}")])];
    assert_eq!(collected(bodies, Collector::AssistantText), "said");
    let none_in_this_prompt = vec![user("q1"), assistant("a1", &[]), user("q2"), assistant("", &[("1", "bash", "{}")])];
    assert_eq!(collected(none_in_this_prompt, Collector::AssistantText), "");
}

#[test]
fn tool_results_carry_the_tools_name_and_error_status() {
    let bodies = vec![user("q"), result("1", "read", "fine"), result("2", "bash", ""), failure("3", "bash", "exit 1")];
    assert_eq!(collected(bodies, Collector::ToolResults), "---\n[read] fine\n---\n---\n[bash ERROR] exit 1\n---");
}

#[test]
fn tool_results_are_the_last_five_oldest_first() {
    let bodies = std::iter::once(user("q")).chain((1..=7).map(|n| result("x", "t", &format!("r{n}"))));
    let text = collected(bodies.collect(), Collector::ToolResults);
    let expected: Vec<String> = (3..=7).map(|n| format!("---\n[t] r{n}\n---")).collect();
    assert_eq!(text, expected.join("\n"));
}

#[test]
fn a_failure_without_words_and_an_image_are_still_results() {
    let mut image = result("2", "read", "");
    if let EntryBody::ToolResult(ToolResult { content, .. }) = &mut image {
        content.push(Content::Image("image/png".into()));
    }
    let text = collected(vec![user("q"), failure("1", "bash", ""), image], Collector::ToolResults);
    assert_eq!(text, "---\n[bash ERROR] \n---\n---\n[read] [image: image/png]\n---");
}

#[test]
fn d08_evidence_from_earlier_prompts_is_left_out() {
    let bodies = vec![
        user("old"),
        assistant("", &[("1", "bash", "{}")]),
        failure("1", "bash", "OLD"),
        custom("note", "OLD"),
        user("new"),
        assistant("answer", &[]),
    ];
    let entries = branch(bodies);
    let window = Window::new(&entries);
    for collector in [Collector::ToolResults, Collector::ToolCalls, Collector::CustomMessages] {
        assert_eq!(window.text(collector), "", "{collector}");
    }
    assert_eq!(window.user().map(|entry| entry.id.as_str()), Some("e4"));
    assert_eq!(window.newest().map(|entry| entry.id.as_str()), Some("e5"));
}

#[test]
fn d09_tool_calls_keep_their_order_and_limit() {
    let parallel = vec![
        user("q"),
        assistant("both", &[("1", "A", r#"{ "x": 1 }"#), ("2", "B", "{}")]),
        result("1", "A", "ra"),
        failure("2", "B", "rb"),
    ];
    assert_eq!(
        collected(parallel, Collector::ToolCalls),
        "[call A] {\"x\":1}\n[call B] {}\n[result A] ra\n[result B ERROR] rb"
    );

    let calls: Vec<(String, String)> = (0..30).map(|n| (n.to_string(), format!("t{n}"))).collect();
    let calls: Vec<(&str, &str, &str)> = calls.iter().map(|(id, name)| (id.as_str(), name.as_str(), "{}")).collect();
    let text = collected(vec![user("q"), assistant("", &calls)], Collector::ToolCalls);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + TOOL_CALLS);
    assert_eq!(lines[0], "[… 10 earlier calls and results left out …]");
    assert_eq!((lines[1], lines[20]), ("[call t10] {}", "[call t29] {}"));
}

#[test]
fn d10_custom_messages_are_those_of_extensions() {
    let bodies = vec![user("go"), custom("monitor-steer", "Fix it."), assistant("a", &[]), custom("note", "hello")];
    assert_eq!(collected(bodies, Collector::CustomMessages), "[monitor-steer] Fix it.\n[note] hello");
}

#[test]
fn d27_every_part_is_bounded_and_keeps_its_end() {
    let long = format!("{}THE END", "é".repeat(50_000));
    let bodies = vec![
        user(&long),
        assistant(&long, &[("1", "write", &format!("{{\"text\":\"{long}\"}}"))]),
        result("1", "write", &long),
        custom("note", &long),
    ];
    let entries = branch(bodies);
    let window = Window::new(&entries);
    for collector in SINCE_USER {
        let text = window.text(collector);
        assert!(text.contains("THE END"), "{collector}");
        assert!(text.contains("characters left out"), "{collector}");
        assert!(text.chars().count() < TEXT_CHARACTERS + 100, "{collector}");
    }
    assert!(window.text(Collector::ToolResults).chars().count() < TOOL_CHARACTERS + 100);
}

#[test]
fn evidence_is_what_the_context_lists_in_its_order() {
    let entries = branch([user("q"), assistant("a", &[])]);
    let window = Window::new(&entries);
    let evidence =
        window.evidence(&Selection::new([Collector::AssistantText, Collector::ToolResults, Collector::UserText]));
    assert_eq!(
        evidence.blocks(),
        [
            (Collector::AssistantText, "a".into()),
            (Collector::ToolResults, "".into()),
            (Collector::UserText, "q".into())
        ]
    );
}

#[test]
fn d02_equal_evidence_has_an_equal_digest_and_other_evidence_another() {
    let context = [Collector::UserText, Collector::AssistantText];
    let digest = |bodies: [EntryBody; 2], context: &[Collector]| {
        Window::new(&branch(bodies)).evidence(&Selection::new(context)).digest()
    };
    let first = digest([user("q"), assistant("bad", &[])], &context);
    assert_eq!(first, digest([user("q"), assistant("bad", &[])], &context));
    assert_ne!(first, digest([user("q"), assistant("still bad", &[])], &context));
    assert_ne!(first, digest([user("q"), assistant("bad", &[])], &[Collector::UserText]));
    assert_ne!(
        digest([user("ab"), assistant("c", &[])], &context),
        digest([user("a"), assistant("bc", &[])], &context)
    );
    assert_ne!(digest([user("x"), assistant("", &[])], &context), digest([user(""), assistant("x", &[])], &context));
}

#[test]
fn digests_are_the_same_on_every_machine() {
    let entries = branch([user("q"), assistant("a", &[])]);
    let digest =
        Window::new(&entries).evidence(&Selection::new([Collector::UserText, Collector::AssistantText])).digest();
    assert_eq!(digest.to_string(), "23683351b62f45621db1be5abc7ec6aa");
    let json = serde_json::to_string(&digest).unwrap();
    assert_eq!(serde_json::from_str::<Digest>(&json).unwrap(), digest);
}

fn any_body() -> impl Strategy<Value = EntryBody> {
    let text = ".{0,8}";
    prop_oneof![
        text.prop_map(|text| user(&text)),
        (text, proptest::collection::vec((text, text), 0..6)).prop_map(|(text, calls)| {
            let calls: Vec<(&str, &str, &str)> = calls.iter().map(|(a, b)| (a.as_str(), "t", b.as_str())).collect();
            assistant(&text, &calls)
        }),
        text.prop_map(|text| result("1", "t", &text)),
        text.prop_map(|text| failure("1", "t", &text)),
        text.prop_map(|text| custom("c", &text)),
        text.prop_map(EntryBody::Compaction),
        text.prop_map(EntryBody::Other),
    ]
}

proptest! {
    #[test]
    fn any_branch_can_be_collected_within_the_limits(bodies in proptest::collection::vec(any_body(), 0..30)) {
        let entries = branch(bodies);
        let window = Window::new(&entries);
        let says_something = |entry: &&Entry| match &entry.body {
            EntryBody::ToolResult(ToolResult { is_error, content, .. }) => {
                *is_error || matches!(&content[..], [Content::Text(text)] if !text.trim().is_empty())
            }
            _ => false,
        };
        let results = window.entries().iter().filter(says_something).count().min(TOOL_RESULTS);
        let fences = window.text(Collector::ToolResults).split('\n').filter(|line| *line == "---").count();
        prop_assert_eq!(fences, 2 * results);
        for &collector in Collector::ALL {
            prop_assert!(window.text(collector).chars().count() <= TOOL_CALLS * (TOOL_CHARACTERS + 100));
        }
        let items = |entry: &Entry| match &entry.body {
            EntryBody::Assistant(message) => message.content.len() - 1,
            EntryBody::ToolResult(_) => 1,
            _ => 0,
        };
        let happened: usize = window.entries().iter().map(items).sum();
        let text = window.text(Collector::ToolCalls);
        let marker = format!("[… {} earlier calls and results left out …]\n", happened.saturating_sub(TOOL_CALLS));
        prop_assert_eq!(text.starts_with(&marker), happened > TOOL_CALLS);
    }
}

#[test]
fn limits_of_a_file_replace_the_usual_ones() {
    let bodies =
        std::iter::once(user("q")).chain((1..=7).map(|n| result("x", "t", &format!("r{n}{}", "-".repeat(50)))));
    let entries = branch(bodies);
    let window = Window::new(&entries);
    let mut selection = Selection::new([Collector::ToolResults]);
    selection.limits.insert(Collector::ToolResults, Limit { items: 2, characters: 10 });
    let evidence = window.evidence(&selection);
    let shown = &evidence.blocks()[0].1;
    assert!(shown.contains("r6") && shown.contains("r7") && !shown.contains("r5"), "{shown}");
    assert!(shown.contains("[… 42 characters left out …]"), "{shown}");
    assert_ne!(evidence.digest(), window.evidence(&Selection::new([Collector::ToolResults])).digest());
}

#[test]
fn the_budget_is_kept_by_cutting_the_largest_parts() {
    let entries = branch([user("short"), assistant(&"a".repeat(10_000), &[]), custom("n", &"b".repeat(10_000))]);
    let window = Window::new(&entries);
    let context = [Collector::UserText, Collector::AssistantText, Collector::CustomMessages];
    let selection = Selection { budget: 1_000, ..Selection::new(context) };
    let evidence = window.evidence(&selection);
    let sizes: Vec<usize> = evidence.blocks().iter().map(|(_, text)| text.chars().count()).collect();
    assert_eq!(evidence.blocks()[0].1, "short");
    assert!(sizes[1..].iter().all(|size| (490..560).contains(size)), "{sizes:?}");
    assert!(evidence.blocks()[2].1.contains("characters left out"));
}

#[test]
fn a_call_that_waits_is_evidence_of_its_own() {
    let entries = branch([user("q")]);
    let call =
        chaperone_sdk::ToolCall { id: "1".into(), name: "bash".into(), arguments: r#"{ "command": "rm" }"#.into() };
    let window = Window::new(&entries).before(&call);
    assert_eq!(window.text(Collector::ToolCall), r#"[call bash] {"command":"rm"}"#);
    assert_eq!(Window::new(&entries).text(Collector::ToolCall), "");
}

#[test]
fn history_is_what_stands_before_the_users_message() {
    let earlier = branch([user("old"), assistant("did it", &[])]);
    let entries = branch([user("again"), assistant("a", &[])]);
    let window = Window::new(&entries).after(&earlier);
    assert_eq!(window.text(Collector::ConversationHistory), "[user] old\n[agent] did it");
    assert_eq!(Window::new(&entries).text(Collector::ConversationHistory), "");
}
