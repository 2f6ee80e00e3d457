use chaperone_contract::{ToolCall, ToolResult};

use super::likeness::calls_tools;
use super::*;

const NOW: Timestamp = 1_000;

fn entry(id: &str, at: Timestamp, body: EntryBody) -> BranchEntry {
    BranchEntry { entry: Arc::new(Entry { id: id.into(), timestamp: at, body }), model: None }
}

fn user(id: &str, at: Timestamp) -> BranchEntry {
    entry(id, at, EntryBody::User(vec![Content::Text(format!("do {id}"))]))
}

fn answer(id: &str, at: Timestamp, text: &str) -> BranchEntry {
    entry(id, at, EntryBody::Assistant(message(vec![Content::Text(text.into())])))
}

fn calls(id: &str, at: Timestamp, call: &str) -> BranchEntry {
    let call = ToolCall { id: call.into(), name: "bash".into(), arguments: "{}".into() };
    entry(id, at, EntryBody::Assistant(message(vec![Content::ToolCall(call)])))
}

fn message(content: Vec<Content>) -> AssistantMessage {
    AssistantMessage { content, stop_reason: StopReason::Stop, usage: None, model: None, error: None }
}

fn outcome(call: &str) -> ToolResult {
    ToolResult { call_id: call.into(), tool_name: "bash".into(), content: vec![], is_error: false, details: None }
}

fn result(id: &str, at: Timestamp, call: &str) -> BranchEntry {
    entry(id, at, EntryBody::ToolResult(outcome(call)))
}

fn stop(text: &str) -> Moment {
    Moment::Stop { words: LastWords::Last(text.into()), sent_back: false }
}

/// The steps in short: `+ID` for an entry that joins the branch, the hook's name for the rest.
fn told(news: &News) -> String {
    let steps = news.steps.iter().map(|step| match &step.step {
        Step::Append(entry) => format!("+{}", if entry.id.starts_with("early-") { "early" } else { &entry.id }),
        Step::Model(model) => format!("model {}", model.model),
        Step::Event(event) => event.name().into(),
    });
    steps.collect::<Vec<_>>().join(" ")
}

fn known(news: &News) -> Vec<&str> {
    news.known.entries().iter().map(|entry| entry.id.as_str()).collect()
}

#[test]
fn a_run_is_told_piece_by_piece_and_each_piece_once() {
    let mut state = Told::default();
    let mut file = Vec::new();
    let news = state.news(file.clone(), &Moment::SessionStart(StartReason::New), NOW);
    assert_eq!((news.start, told(&news).as_str()), (Some(StartReason::New), ""));
    let news = state.news(file.clone(), &Moment::Prompt("do u".into()), NOW);
    assert_eq!((news.start, told(&news).as_str()), (None, ""));
    state.tell_prompt("do u");

    file.extend([user("u", 1), calls("a1", 2, "c")]);
    let before_tool = Moment::BeforeTool(ToolCall { id: "c".into(), name: "bash".into(), arguments: "{}".into() });
    let news = state.news(file.clone(), &before_tool, NOW);
    assert_eq!(
        told(&news),
        "agent_start turn_start +u message_end",
        "its prompt was told, its answer may get more parts"
    );
    assert!(state.tell_call("c") && !state.tell_call("c"));

    let news = state.news(file.clone(), &Moment::AfterTool(outcome("c")), NOW);
    assert_eq!(told(&news), "+a1 message_end", "the call was told");
    assert_eq!(known(&news), ["u"]);
    assert!(state.tell_result("c"));

    file.extend([result("r", 3, "c"), answer("a2", 4, "Done.")]);
    let news = state.news(file.clone(), &stop("Done."), NOW);
    assert_eq!(told(&news), "+r message_end turn_end turn_start +a2 message_end turn_end agent_end");
    assert_eq!(news.settles, Some(SettledReason::Finished));
    let again = state.news(file, &stop("Done."), NOW);
    assert_eq!((told(&again).as_str(), again.settles), ("", None));
    assert_eq!(known(&again), ["u", "a1", "r", "a2"]);
}

#[test]
fn last_words_that_the_transcript_lacks_are_told_at_once_and_keep_their_id() {
    let mut state = Told::default();
    let mut file = vec![user("u", 1)];
    let news = state.news(file.clone(), &stop("Done."), NOW);
    assert_eq!(told(&news), "input agent_start turn_start +u message_end +early message_end turn_end agent_end");
    let id = state.newest.clone().unwrap().entry;

    let again = state.news(file.clone(), &stop("Done."), NOW);
    assert_eq!(told(&again), "", "a second hook for the same event");
    assert_eq!(known(&again), ["u", id.as_str()]);

    file.extend([answer("a", 2, "Done.\n"), user("u2", 3)]);
    let news = state.news(file, &stop("More."), NOW);
    assert_eq!(known(&news), ["u", id.as_str()], "the entry has come, and is called as it was told");
    assert_eq!(told(&news), "input agent_start turn_start +u2 message_end +early message_end turn_end agent_end");
}

#[test]
fn results_that_come_late_stand_before_the_answer_that_was_told_early() {
    let mut state = Told::default();
    let mut file = vec![user("u", 1), calls("a1", 2, "c")];
    assert!(told(&state.news(file.clone(), &stop("Done."), NOW)).ends_with("+early message_end turn_end agent_end"));
    let id = state.newest.clone().unwrap().entry;
    file.push(result("r", 3, "c"));
    let news = state.news(file.clone(), &Moment::Other, NOW);
    assert_eq!((told(&news).as_str(), known(&news)), ("", vec!["u", "a1", "r", id.as_str()]));
    file.push(answer("a2", 4, "Done."));
    let news = state.news(file, &Moment::Other, NOW);
    assert_eq!((told(&news).as_str(), known(&news)), ("", vec!["u", "a1", "r", id.as_str()]));
}

#[test]
fn a_prompt_that_the_transcript_lacks_stands_before_the_answer_to_it() {
    let mut state = Told::default();
    let mut file = vec![user("u", 1), answer("a", 2, "One.")];
    state.news(file.clone(), &stop("One."), NOW);
    state.news(file.clone(), &Moment::Prompt("do u2".into()), NOW);
    state.tell_prompt("do u2");
    let news = state.news(file.clone(), &stop("Two."), NOW);
    assert_eq!(told(&news), "agent_start turn_start +early message_end +early message_end turn_end agent_end");
    file.extend([user("u2", 3), answer("a2", 4, "Two.")]);
    let news = state.news(file, &Moment::SessionEnd, NOW);
    assert_eq!((told(&news).as_str(), news.known.entries().len()), ("", 4));
}

#[test]
fn the_same_words_after_another_prompt_are_other_words() {
    let mut state = Told::default();
    let mut file = vec![user("u", 1), answer("a", 2, "Done.")];
    state.news(file.clone(), &stop("Done."), NOW);
    file.push(user("u2", 3));
    let news = state.news(file, &stop("Done."), NOW);
    assert!(told(&news).ends_with("+u2 message_end +early message_end turn_end agent_end"), "{}", told(&news));
}

#[test]
fn of_joined_words_only_the_last_are_new() {
    let mut state = Told::default();
    let joined = |text: &str| Moment::Stop { words: LastWords::Joined(text.into()), sent_back: false };
    let file = vec![user("u", 1), answer("a1", 2, "First."), user("u2", 3)];
    let news = state.news(file, &joined("First.\nSecond."), NOW);
    let Step::Append(newest) = &news.steps.iter().rev().find(|step| matches!(step.step, Step::Append(_))).unwrap().step
    else {
        unreachable!("it was looked for")
    };
    assert_eq!(text_of(newest), "Second.");
    let mut state = Told::default();
    let file = vec![user("u", 1), answer("a1", 2, "First."), answer("a2", 3, "Second.")];
    let news = state.news(file, &joined("First.\nSecond."), NOW);
    assert!(told(&news).contains("+a2") && !told(&news).contains("+early"), "{}", told(&news));
}

#[test]
fn what_was_there_before_is_known_and_not_told() {
    let file = vec![user("u", 1), answer("a", 2, "Done."), user("u2", 3), answer("a2", 4, "Done too.")];
    let first = |moment: Moment| Told::default().news(file.clone(), &moment, NOW);
    let news = first(Moment::SessionStart(StartReason::Resume));
    assert_eq!((news.start, known(&news).len(), told(&news).as_str()), (Some(StartReason::Resume), 4, ""));
    let news = first(stop("Done too."));
    assert_eq!((news.start, known(&news).len()), (Some(StartReason::Resume), 2), "the latest prompt is news");
    assert!(told(&news).starts_with("input agent_start turn_start +u2"));
    let news = first(Moment::Prompt("do u3".into()));
    assert_eq!((known(&news).len(), told(&news).as_str()), (4, ""));
}

#[test]
fn a_prompt_that_is_in_the_transcript_already_is_told_with_what_it_starts() {
    let mut state = Told::default();
    let file = vec![user("u", 1)];
    assert_eq!(
        told(&state.news(file, &Moment::Prompt("do u".into()), NOW)),
        "input agent_start turn_start +u message_end"
    );
}

#[test]
fn a_prompt_that_is_sent_while_the_agent_works_does_not_end_its_run() {
    let mut state = Told::default();
    let mut file = vec![user("u", 1), answer("a", 2, "I begin with")];
    state.news(vec![], &Moment::Prompt("do u".into()), NOW);
    state.tell_prompt("do u");
    let queued = state.news(file.clone(), &Moment::Prompt("and do that, too".into()), NOW);
    assert_eq!(told(&queued), "agent_start turn_start +u message_end");
    file[1] = calls("a", 2, "c");
    file.push(result("r", 3, "c"));
    let news = state.news(file, &Moment::AfterTool(outcome("c")), NOW);
    assert_eq!(told(&news), "+a message_end tool_start tool_end +r message_end turn_end");
}

#[test]
fn another_branch_is_noticed_and_only_what_is_younger_is_told() {
    let mut state = Told::default();
    state.news(vec![user("u", 1), answer("a", 2, "One."), user("u2", 3), answer("a2", 4, "Two.")], &stop("Two."), NOW);
    let file = vec![user("u", 1), answer("a", 2, "One."), user("u3", 5), answer("a3", 6, "Three.")];
    let news = state.news(file, &stop("Three."), NOW);
    assert!(news.moved);
    assert_eq!(known(&news), ["u", "a"]);
    assert!(told(&news).contains("+u3") && told(&news).contains("+a3"));
}

#[test]
fn what_the_agent_was_sent_back_with_is_not_the_users_word() {
    let mut state = Told::default();
    let mut file = vec![user("u", 1), answer("a", 2, "Done?")];
    state.news(file.clone(), &stop("Done?"), NOW);
    state.send_back("Prove it.");
    assert!(state.was_sent_back_with("Prove it.\n"));
    file.push(entry("f", 3, EntryBody::User(vec![Content::Text("Prove it.".into())])));
    file.push(answer("a2", 4, "Proven."));
    let news = state.news(file, &stop("Proven."), NOW);
    assert_eq!(told(&news), "agent_start turn_start +f message_end +a2 message_end turn_end agent_end");
    let Some(Step::Append(feedback)) =
        news.steps.iter().map(|step| &step.step).find(|step| matches!(step, Step::Append(_)))
    else {
        panic!("nothing joined the branch")
    };
    assert!(matches!(&feedback.body, EntryBody::Custom(message) if message.custom_type == FEEDBACK));
}

#[test]
fn a_failure_is_told_once_and_is_no_end_of_work() {
    let mut state = Told::default();
    let file = vec![user("u", 1)];
    let failed = Moment::Failed("overloaded".into());
    let news = state.news(file.clone(), &failed, NOW);
    assert!(told(&news).ends_with("+early message_end turn_end agent_end agent_settled"), "{}", told(&news));
    assert_eq!(told(&state.news(file, &failed, NOW)), "");
}

#[test]
fn what_is_remembered_does_not_grow_without_end() {
    let mut state = Told::default();
    for number in 0..10_000 {
        state.tell_call(&format!("c{number}"));
        state.tell_result(&format!("c{number}"));
        state.send_back(&format!("text {number}"));
        state.tell_prompt(&format!("prompt {number}"));
    }
    assert!(serde_json::to_string(&state).unwrap().len() < 20_000);
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    /// A conversation of whole runs, as a host would write it.
    fn conversation() -> impl Strategy<Value = Vec<BranchEntry>> {
        proptest::collection::vec(0..3_usize, 1..5).prop_map(|runs| {
            let mut file = Vec::new();
            for (run, tools) in runs.into_iter().enumerate() {
                let at = |offset: usize| (run * 100 + offset + 1) as Timestamp;
                file.push(user(&format!("u{run}"), at(0)));
                for tool in 0..tools {
                    let call = format!("c{run}-{tool}");
                    file.push(calls(&format!("a{run}-{tool}"), at(tool * 2 + 1), &call));
                    file.push(result(&format!("r{run}-{tool}"), at(tool * 2 + 2), &call));
                }
                file.push(answer(&format!("z{run}"), at(50), &format!("Answer {run}.")));
            }
            file
        })
    }

    proptest! {
        #[test]
        fn however_late_the_transcript_is_each_entry_joins_the_branch_once(
            file in conversation(),
            lags in proptest::collection::vec(0..4_usize, 64),
        ) {
            let mut state = Told::default();
            state.news(Vec::new(), &Moment::SessionStart(StartReason::New), NOW);
            let mut joined: Vec<String> = Vec::new();
            let mut ends = 0;
            let mut hear = |seen: usize, moment: &Moment, state: &mut Told| {
                let news = state.news(file[..seen].to_vec(), moment, NOW);
                for step in &news.steps {
                    match &step.step {
                        Step::Append(entry) => joined.push(entry.id.clone()),
                        Step::Event(Event::AgentEnd) => ends += 1,
                        _ => {}
                    }
                }
            };
            let mut written = 0;
            for (at, lag) in (0..file.len()).zip(lags.iter().cycle()) {
                // What the file has at this moment: it lags behind, but never loses what it had.
                written = written.max((at + 1).saturating_sub(*lag));
                match &file[at].entry.body {
                    EntryBody::User(_) => {
                        hear(written.min(at), &Moment::Prompt(text_of(&file[at].entry)), &mut state);
                        state.tell_prompt(&text_of(&file[at].entry));
                    }
                    EntryBody::ToolResult(result) => {
                        hear(written, &Moment::AfterTool(result.clone()), &mut state);
                        state.tell_result(&result.call_id);
                    }
                    EntryBody::Assistant(message) if !calls_tools(message) => {
                        hear(written, &stop(&text_of(&file[at].entry)), &mut state);
                    }
                    _ => {}
                }
            }
            hear(file.len(), &Moment::SessionEnd, &mut state);
            let mut once = joined.clone();
            once.sort();
            once.dedup();
            prop_assert_eq!(once.len(), joined.len(), "{:?}", joined);
            let runs = file.iter().filter(|entry| matches!(entry.entry.body, EntryBody::User(_))).count();
            prop_assert_eq!(ends, runs, "{:?}", joined);
        }
    }
}

#[test]
fn a_fork_goes_on_from_what_was_told_of_its_parent() {
    let mut parent = Told::default();
    let file = vec![user("u", 1), answer("a", 2, "One."), user("u2", 3)];
    parent.tell_prompt("never written");
    parent.news(file.clone(), &stop("Two."), NOW);
    let early = parent.newest.clone().unwrap().entry;

    let begins = Moment::SessionStart(StartReason::Fork);
    let mut fork = parent.clone().forked();
    let mut copied = file.clone();
    copied.push(answer("a2", 4, "Two."));
    let news = fork.news(copied.clone(), &begins, NOW);
    assert_eq!((news.start, told(&news).as_str(), news.moved), (Some(StartReason::Fork), "", false));
    assert_eq!(known(&news), ["u", "a", "u2", early.as_str()], "they are called as the parent's are");
    copied.push(user("u3", 5));
    let news = fork.news(copied, &stop("Three."), NOW);
    assert!(told(&news).starts_with("input agent_start"), "{}", told(&news));

    let mut earlier = parent.forked();
    let news = earlier.news(file[..2].to_vec(), &begins, NOW);
    assert_eq!((told(&news).as_str(), news.moved, known(&news)), ("", false, vec!["u", "a"]));
}
