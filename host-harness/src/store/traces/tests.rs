use std::time::Duration;

use super::*;

const DAY: u64 = 24 * 60 * 60 * 1000;

fn owner(session: &str) -> Owner {
    Owner { plugin: "monitors".into(), session: session.into(), project: "/project".into() }
}

fn call(request_id: RequestId, question: &str, outcome: Result<&str, LlmError>) -> CallTrace {
    let usage = Usage { input: 100, output: 5, cache_read: 1, cache_write: 2, total: 108 };
    let model = ModelId { provider: "p".into(), model: "m".into() };
    CallTrace {
        request_id,
        request: CompletionRequest {
            label: "hedge".into(),
            model: None,
            system: Some("instructions".into()),
            messages: vec![PromptMessage { role: Role::User, text: question.into() }],
            max_output_tokens: None,
            effort: Effort::Lowest,
            response_schema: None,
            timeout_ms: None,
            streamed: false,
            cache_key: None,
        },
        model: Some(model.clone()),
        outcome: outcome.map(|text| Completion {
            text: text.into(),
            stop_reason: StopReason::Stop,
            usage: Some(usage),
            model,
            parts: Vec::new(),
        }),
        duration_ms: 250,
    }
}

fn judged(request: RequestId, verdict: Verdict, answer: &str) -> Kept {
    let judgement = Judgement {
        watcher: "hedge".into(),
        verdict,
        description: (verdict != Verdict::Clean).then(|| answer.into()),
        request: Some(request),
        entry: Some("e9".into()),
    };
    Kept::Judgement(judgement, Some(Box::new(call(request, "evidence", Ok(answer)))))
}

fn decided(subject: Subject, outcome: &str, finding: Option<&str>) -> Kept {
    let decision = Decision {
        watcher: "hedge".into(),
        subject,
        outcome: outcome.into(),
        detail: Some("why".into()),
        finding: finding.map(Into::into),
        evidence: Some("1f".into()),
    };
    Kept::Decision(decision)
}

fn spared() -> Kept {
    let reason = "exempt: waiting_on_user".into();
    Kept::Sparing(Sparing { watcher: "hedge".into(), reason, entry: Some("e10".into()) })
}

fn query(selection: Selection) -> TraceQuery {
    TraceQuery { selection, watcher: None, limit: 100, texts: true }
}

fn keep(store: &Store, session: &str, kept: &[Kept]) {
    store.keep(&owner(session), &Policy::default(), kept, 1_000, 2_000).unwrap();
}

#[test]
fn a_judgement_is_kept_with_question_answer_and_consequences() {
    let store = Store::in_memory().unwrap();
    keep(&store, "s", &[judged(4, Verdict::Flag, "FLAG:x"), decided(Subject::Call(4), "shown", Some("hedge-1a"))]);
    keep(&store, "s", &[decided(Subject::Call(4), "steered", None)]);
    let traces = store.traces(&owner("s"), &query(Selection::Session)).unwrap();
    assert_eq!(traces.len(), 1);
    let trace = &traces[0];
    assert_eq!((trace.watcher.as_str(), trace.verdict, trace.at), ("hedge", Some(Verdict::Flag), 1_000));
    assert_eq!(trace.system.as_deref(), Some("instructions"));
    assert_eq!(trace.messages[0].text, "evidence");
    assert_eq!(trace.answer.as_deref(), Some("FLAG:x"));
    assert_eq!(trace.entry.as_deref(), Some("e9"));
    assert_eq!(trace.usage.as_ref().unwrap().total, 108);
    assert_eq!((trace.duration_ms, trace.stop_reason), (Some(250), Some(StopReason::Stop)));
    assert_eq!(trace.evidence.as_deref(), Some("1f"));
    let words: Vec<&str> = trace.consequences.iter().map(|consequence| consequence.outcome.as_str()).collect();
    assert_eq!(words, ["shown", "steered"]);
}

#[test]
fn it_is_found_by_number_and_by_the_beginning_of_a_finding_from_any_session_of_the_project() {
    let store = Store::in_memory().unwrap();
    keep(&store, "one", &[judged(1, Verdict::Flag, "a"), decided(Subject::Call(1), "shown", Some("hedge-abc"))]);
    keep(&store, "one", &[judged(2, Verdict::Flag, "b"), decided(Subject::Call(2), "shown", Some("hedge-abd"))]);
    let found = |selection| -> Vec<TraceId> {
        store.traces(&owner("two"), &query(selection)).unwrap().iter().map(|trace| trace.id).collect()
    };
    assert_eq!(found(Selection::Finding("hedge-abd".into())), [2]);
    assert_eq!(found(Selection::Finding("hedge-ab".into())), [1, 2]);
    assert_eq!(found(Selection::Finding("hedge-%".into())), [] as [TraceId; 0]);
    assert_eq!(found(Selection::Id(1)), [1]);
    assert_eq!(found(Selection::Session), [] as [TraceId; 0]);
    assert_eq!(found(Selection::Project), [1, 2]);
    let others = Owner { project: "/other".into(), ..owner("one") };
    assert_eq!(store.traces(&others, &query(Selection::Id(1))).unwrap(), [], "another project's");
    let others = Owner { plugin: "other".into(), ..owner("one") };
    assert_eq!(store.traces(&others, &query(Selection::Session)).unwrap(), [], "another plugin's");
}

#[test]
fn the_newest_ones_are_read_and_texts_only_if_asked_for() {
    let store = Store::in_memory().unwrap();
    (1..=5).for_each(|request| keep(&store, "s", &[judged(request, Verdict::Clean, "CLEAN")]));
    let traces =
        store.traces(&owner("s"), &TraceQuery { limit: 2, texts: false, ..query(Selection::Session) }).unwrap();
    let ids: Vec<TraceId> = traces.iter().map(|trace| trace.id).collect();
    assert_eq!(ids, [4, 5]);
    assert_eq!((&traces[0].system, &traces[0].messages, &traces[0].answer), (&None, &Vec::new(), &None));
    assert_eq!(traces[0].verdict, Some(Verdict::Clean));
    let of_other = TraceQuery { watcher: Some("other".into()), ..query(Selection::Session) };
    assert_eq!(store.traces(&owner("s"), &of_other).unwrap(), []);
}

#[test]
fn accounts_count_calls_tokens_verdicts_and_consequences() {
    let store = Store::in_memory().unwrap();
    let failed = Kept::Call(Box::new(call(3, "q", Err(LlmError::TimedOut))));
    keep(&store, "s", &[judged(1, Verdict::Clean, "CLEAN"), judged(2, Verdict::New, "NEW:a"), failed]);
    keep(&store, "s", &[decided(Subject::Call(2), "wrong", None), spared()]);
    keep(&store, "other", &[judged(1, Verdict::Clean, "CLEAN")]);
    let account = |whole_project| store.accounts(&owner("s"), whole_project).unwrap().pop().unwrap();
    let session = account(false);
    assert_eq!((session.calls, session.failed, session.spared, session.clean, session.new), (3, 1, 1, 1, 1));
    assert_eq!((session.usage.input, session.usage.output, session.duration_ms), (200, 10, 750));
    let tally = |outcome: &str| Tally { outcome: outcome.into(), count: 1 };
    assert_eq!(session.outcomes, [tally("spared"), tally("wrong")]);
    assert_eq!((account(true).calls, account(true).clean), (4, 2));
}

#[test]
fn secrets_are_left_out_before_anything_is_written_and_without_content_no_text_is() {
    let secret = ["sk-", "ant-abcdefghijklmnopqrstuvwxyz"].concat();
    for (content, expected) in
        [(Content::Full, Some(secret.as_str())), (Content::Redacted, Some("[redacted]")), (Content::None, None)]
    {
        let store = Store::in_memory().unwrap();
        let policy = Policy { content, ..Policy::default() };
        let judgement = Judgement {
            watcher: "w".into(),
            verdict: Verdict::Flag,
            description: Some(secret.clone()),
            request: Some(1),
            entry: None,
        };
        let mut call = call(1, &secret, Ok(&secret));
        call.request.system = Some(secret.clone());
        let decision = Decision {
            watcher: "w".into(),
            subject: Subject::Call(1),
            outcome: "learned".into(),
            detail: Some(secret.clone()),
            finding: None,
            evidence: None,
        };
        let kept = [Kept::Judgement(judgement, Some(Box::new(call))), Kept::Decision(decision)];
        store.keep(&owner("s"), &policy, &kept, 0, 0).unwrap();
        let trace = store.traces(&owner("s"), &query(Selection::Session)).unwrap().pop().unwrap();
        let message = trace.messages.first().map(|message| message.text.as_str());
        let detail = trace.consequences[0].detail.as_deref();
        for text in [trace.system.as_deref(), message, trace.answer.as_deref(), trace.description.as_deref(), detail] {
            assert_eq!(text, expected, "{content:?}");
        }
        assert_eq!(trace.verdict, Some(Verdict::Flag), "that is always kept");
    }
}

#[test]
fn what_is_too_old_goes_with_its_consequences() {
    let store = Store::in_memory().unwrap();
    let policy = Policy { keep: Duration::from_secs(30 * 24 * 60 * 60), ..Policy::default() };
    let kept = [judged(1, Verdict::Flag, "a"), decided(Subject::Call(1), "shown", Some("hedge-1"))];
    store.keep(&owner("s"), &policy, &kept, 0, 10 * DAY).unwrap();
    store.keep(&owner("s"), &policy, &[judged(2, Verdict::Flag, "b")], 0, 11 * DAY).unwrap();
    store.prune_traces(&policy, 40 * DAY).unwrap();
    assert_eq!(store.traces(&owner("s"), &query(Selection::Session)).unwrap().len(), 2, "30 days are kept");
    store.prune_traces(&policy, 40 * DAY + 1).unwrap();
    let left = store.traces(&owner("s"), &query(Selection::Session)).unwrap();
    assert_eq!(left.iter().map(|trace| trace.id).collect::<Vec<_>>(), [2]);
    assert_eq!(store.traces(&owner("s"), &query(Selection::Finding("hedge".into()))).unwrap(), []);
    let count: i64 =
        store.connection.lock().unwrap().query_row("SELECT COUNT(*) FROM consequence", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 0);
}

#[test]
fn the_oldest_go_while_all_together_are_too_large() {
    let store = Store::in_memory().unwrap();
    let policy = Policy { max_bytes: 10_000, ..Policy::default() };
    for request in 1..=10 {
        let large = Kept::Call(Box::new(call(request, &"x".repeat(2_000), Ok("CLEAN"))));
        store.keep(&owner("s"), &policy, &[large], 0, 0).unwrap();
    }
    store.prune_traces(&policy, 0).unwrap();
    let left = store.traces(&owner("s"), &query(Selection::Session)).unwrap();
    assert_eq!(left.iter().map(|trace| trace.id).collect::<Vec<_>>(), [7, 8, 9, 10]);
    keep(&store, "s", &[judged(11, Verdict::Clean, "CLEAN")]);
    let newest = store.traces(&owner("s"), &query(Selection::Session)).unwrap().pop().unwrap();
    assert_eq!(newest.id, 11, "no number is used twice");
}

#[test]
fn a_judgement_that_was_not_needed_has_a_trace_with_the_reason() {
    let store = Store::in_memory().unwrap();
    keep(&store, "s", &[spared()]);
    let trace = store.traces(&owner("s"), &query(Selection::Session)).unwrap().pop().unwrap();
    assert_eq!((trace.verdict, trace.duration_ms, trace.entry.as_deref()), (None, None, Some("e10")));
    let consequence = &trace.consequences[0];
    assert_eq!(
        (consequence.outcome.as_str(), consequence.detail.as_deref()),
        ("spared", Some("exempt: waiting_on_user"))
    );
}

#[test]
fn a_decision_on_what_is_not_there_is_dropped() {
    let store = Store::in_memory().unwrap();
    keep(&store, "s", &[decided(Subject::Call(9), "steered", None), decided(Subject::Trace(9), "wrong", None)]);
    assert_eq!(store.traces(&owner("s"), &query(Selection::Project)).unwrap(), []);
}

#[test]
fn a_store_of_the_first_version_gets_the_tables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch(super::super::STATE_TABLE).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    drop(connection);
    let store = Store::open(&path).unwrap();
    keep(&store, "s", &[judged(1, Verdict::Clean, "CLEAN")]);
    assert_eq!(store.traces(&owner("s"), &query(Selection::Session)).unwrap().len(), 1);
}
