use super::*;

fn digest() -> Digest {
    "1f".parse().unwrap()
}

#[test]
fn a_memory_of_nothing_is_nothing() {
    assert_eq!(serde_json::to_string(&Memory::default()).unwrap(), "{}");
}

#[test]
fn what_is_remembered_comes_back() {
    let mut memory = Memory { prompt: Prompt::Entry("e1".into()), ..Memory::default() };
    memory.notes("m").back_off.failed();
    memory.notes("m").judged.push(digest());
    let judging = Judging { monitor: "m".into(), digest: digest(), entry: None };
    memory.run.judging.insert(4, judging);
    let json = serde_json::to_string(&memory).unwrap();
    assert_eq!(serde_json::from_str::<Memory>(&json).unwrap(), memory);
}

#[test]
fn a_new_prompt_forgets_what_was_judged_and_keeps_the_steers_in_a_row() {
    let mut memory = Memory::default();
    memory.turn_to(Prompt::Entry("e1".into()));
    *memory.notes("m") = Notes { count: 2, judged: vec![digest()], calls: 3, activations: 4, ..Notes::default() };
    memory.notes("n").calls = 1;
    memory.turn_to(Prompt::Entry("e1".into()));
    assert_eq!(memory.notes["m"].calls, 3, "the same prompt changes nothing");
    memory.prompt_may_be_old = true;
    memory.turn_to(Prompt::Entry("e2".into()));
    assert!(!memory.prompt_may_be_old);
    assert_eq!(memory.notes["m"], Notes { count: 2, ..Notes::default() });
    assert!(!memory.notes.contains_key("n"));
}

#[test]
fn refused_calls_are_counted_for_one_prompt() {
    let mut memory = Memory::default();
    *memory.notes("m") = Notes { count: 2, refuses: true, ..Notes::default() };
    memory.turn_to(Prompt::Entry("e1".into()));
    assert_eq!(memory.count("m"), 0);
}

#[test]
fn dropping_gives_up_what_concerns_one_monitor_or_all() {
    let call = |monitor: &str| Judging { monitor: monitor.into(), digest: digest(), entry: None };
    let looking = |monitors: &[&str]| Looking {
        monitors: monitors.iter().map(|&name| name.into()).collect(),
        entry: None,
        call: None,
    };
    let mut run = Run { waiting: vec!["a".into(), "b".into()], ..Run::default() };
    run.looking = [(3, looking(&["a", "b"])), (4, looking(&["a"]))].into();
    run.judging.insert(1, call("a"));
    run.judging.insert(2, call("b"));
    assert_eq!(run.drop(Some("a")).calls, [1]);
    assert_eq!(run.waiting, ["b"]);
    assert_eq!(run.looking, [(3, looking(&["b"]))].into());
    assert!(run.is_undecided("b") && !run.is_undecided("a"));
    assert_eq!(run.drop(None).calls, [2]);
    assert!(run.is_quiet());
}

#[test]
fn a_late_run_of_which_nothing_is_left_is_over() {
    let mut run = Run { ended: true, waiting: vec!["a".into(), "b".into()], ..Run::default() };
    run.drop(Some("a"));
    assert!(run.ended);
    run.drop(Some("b"));
    assert!(!run.ended);
}

#[test]
fn a_cause_is_told_once_and_the_list_of_told_ones_has_an_end() {
    let mut watch = Watch::default();
    assert!(watch.tells("1") && !watch.tells("1"));
    (2..40).for_each(|cause| assert!(watch.tells(&cause.to_string())));
    assert_eq!(watch.told.len(), TOLD_CAUSES);
}
