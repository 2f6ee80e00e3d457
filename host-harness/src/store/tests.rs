use chaperone_contract::{Branch, Entry, EntryBody};

use super::*;

fn owner(session: &str) -> Owner {
    Owner { plugin: "monitors".into(), session: session.into(), project: "/project".into() }
}

fn branch(ids: &[&str]) -> Branch {
    ids.iter().map(|id| Entry { id: (*id).into(), timestamp: 0, body: EntryBody::Other("x".into()) }).collect()
}

fn value(history: &History, scope: Scope) -> Option<Vec<u8>> {
    history.current().get(scope).map(|value| value.to_vec())
}

#[test]
fn what_was_kept_is_found_by_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/state.db");
    let store = Store::open(&path).unwrap();
    let a = EntryId::from("a");
    commit(&store, &owner("s"), None, &[(Scope::Branch, (*b"root").into())]).unwrap();
    commit(&store, &owner("s"), Some(&a), &[(Scope::Branch, (*b"at a").into()), (Scope::Session, (*b"s").into())])
        .unwrap();
    commit(&store, &owner("s"), Some(&a), &[(Scope::Project, (*b"p").into())]).unwrap();
    drop(store);

    let store = Store::open(&path).unwrap();
    let mut history = store.history(&owner("s")).unwrap();
    history.follow(&branch(&["a", "b"]));
    assert_eq!(value(&history, Scope::Branch), Some(b"at a".to_vec()));
    assert_eq!(value(&history, Scope::Session), Some(b"s".to_vec()));
    history.follow(&branch(&["other"]));
    assert_eq!(value(&history, Scope::Branch), Some(b"root".to_vec()));
}

#[test]
fn the_project_scope_is_shared_by_sessions_and_the_others_are_not() {
    let store = Store::in_memory().unwrap();
    let all = [Scope::Branch, Scope::Session, Scope::Project].map(|scope| (scope, Arc::from(*b"v")));
    commit(&store, &owner("one"), None, &all).unwrap();
    let mut other = store.history(&owner("two")).unwrap();
    other.follow(&Branch::default());
    assert_eq!(value(&other, Scope::Branch), None);
    assert_eq!(value(&other, Scope::Session), None);
    assert_eq!(value(&other, Scope::Project), Some(b"v".to_vec()));
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = &path;
            scope.spawn(move || {
                let store = Store::open(path).unwrap();
                for step in 0..25 {
                    let leaf = format!("{writer}-{step}");
                    commit(&store, &owner("s"), Some(&leaf), &[(Scope::Branch, leaf.as_bytes().into())]).unwrap();
                }
            });
        }
    });
    let mut history = Store::open(&path).unwrap().history(&owner("s")).unwrap();
    for writer in 0..4 {
        let leaf = format!("{writer}-24");
        history.follow(&branch(&[&leaf]));
        assert_eq!(value(&history, Scope::Branch), Some(leaf.into_bytes()));
    }
}

#[test]
fn a_store_of_a_newer_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    drop(Store::open(&path).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(Store::open(&path), Err(StoreError::Newer { found: 99 })));
}

fn commit(
    store: &Store,
    owner: &Owner,
    leaf: Option<&EntryId>,
    changed: &[(Scope, Arc<[u8]>)],
) -> Result<(), StoreError> {
    store.commit(owner, &Left { leaf, changed, requests: &Requests::default(), until: 0 })
}

fn left(store: &Store, owner: &Owner, asked: &[(RequestId, Awaited)], over: &[RequestId]) {
    let requests = Requests { asked: asked.to_vec(), over: over.to_vec() };
    store.commit(owner, &Left { leaf: None, changed: &[], requests: &requests, until: 0 }).unwrap();
}

#[test]
fn what_is_not_answered_yet_is_known_to_the_next_process_and_no_id_is_given_twice() {
    let store = Store::in_memory().unwrap();
    assert_eq!(store.requests(&owner("s")).unwrap(), (vec![], 1));
    let timer = Awaited::Timer(u64::MAX);
    left(&store, &owner("s"), &[(1, Awaited::Completion), (2, Awaited::Answer), (3, timer)], &[]);
    left(&store, &owner("s"), &[(4, Awaited::Stored)], &[1]);
    left(&store, &owner("s"), &[], &[2, 4]);
    assert_eq!(store.requests(&owner("s")).unwrap(), (vec![(3, Awaited::Timer(i64::MAX as u64))], 5));
    assert_eq!(store.requests(&owner("other")).unwrap(), (vec![], 1));
}

#[test]
fn a_fork_has_what_stood_at_the_entries_that_it_shares_and_goes_its_own_way() {
    let store = Store::in_memory().unwrap();
    let set = |session: &str, leaf: &str, scope, text: &str| {
        let leaf = (!leaf.is_empty()).then(|| leaf.to_owned());
        commit(&store, &owner(session), leaf.as_ref(), &[(scope, text.as_bytes().into())]).unwrap();
    };
    let found = |session: &str, ids: &[&str]| {
        let mut history = store.history(&owner(session)).unwrap();
        history.follow(&branch(ids));
        [Scope::Branch, Scope::Session].map(|scope| value(&history, scope).map(|it| String::from_utf8(it).unwrap()))
    };
    set("old", "", Scope::Branch, "root");
    set("old", "a", Scope::Branch, "at a");
    set("old", "b", Scope::Branch, "at b");
    set("old", "a", Scope::Session, "session");
    left(&store, &owner("old"), &[(7, Awaited::Completion)], &[]);

    let a = EntryId::from("a");
    store.fork(&owner("old"), &owner("new"), &HashSet::from([&a])).unwrap();
    assert_eq!(found("new", &["a", "b"]), [Some("at a".into()), Some("session".into())], "b is not shared");
    assert_eq!(found("new", &[]), [Some("root".into()), Some("session".into())]);
    assert_eq!(store.requests(&owner("new")).unwrap(), (vec![(7, Awaited::Completion)], 8));

    set("new", "a", Scope::Branch, "new at a");
    store.fork(&owner("old"), &owner("new"), &HashSet::from([&a])).unwrap();
    assert_eq!(found("new", &["a"])[0], Some("new at a".into()), "what it has stays");
    assert_eq!(found("old", &["a", "b"]), [Some("at b".into()), Some("session".into())]);
}

#[test]
fn what_is_held_is_written_with_where_the_session_was_left_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let set = |store: &Store, text: &str| {
        let changed = [(Scope::Session, Arc::from(text.as_bytes()))];
        let requests = Requests { asked: vec![(1, Awaited::Completion)], over: Vec::new() };
        store.commit(&owner("s"), &Left { leaf: None, changed: &changed, requests: &requests, until: 0 }).unwrap();
    };
    let found = || {
        let store = Store::open(&path).unwrap();
        let next_request = store.requests(&owner("s")).unwrap().1;
        (value(&store.history(&owner("s")).unwrap(), Scope::Session), next_request, store.paused("s").unwrap())
    };
    let store = Store::open(&path).unwrap();
    store.hold();
    set(&store, "lost");
    drop(store);
    assert_eq!(found(), (None, 1, None));

    let store = Store::open(&path).unwrap();
    store.hold();
    set(&store, "kept");
    store.settle("s", "here").unwrap();
    assert_eq!(found(), (Some(b"kept".to_vec()), 2, Some("here".into())));
    set(&store, "at once");
    assert_eq!(found().0, Some(b"at once".to_vec()));
    assert_eq!(store.paused("other").unwrap(), None);
}

#[test]
fn a_store_of_an_older_program_gets_what_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    drop(Store::open(&path).unwrap());
    Connection::open(&path).unwrap().execute_batch("DROP TABLE paused; PRAGMA user_version = 3").unwrap();
    assert_eq!(Store::open(&path).unwrap().paused("s").unwrap(), None);
}

const DAY: u64 = 24 * 60 * 60 * 1000;

/// Everything that there can be of a session, to be remembered until then.
fn live(store: &Store, session: &str, until: Timestamp) {
    let all = [Scope::Branch, Scope::Session, Scope::Project].map(|scope| (scope, Arc::from(*b"v")));
    let requests = Requests { asked: vec![(1, Awaited::Completion)], over: Vec::new() };
    store.commit(&owner(session), &Left { leaf: None, changed: &all, requests: &requests, until }).unwrap();
    store.settle(session, "here").unwrap();
}

/// Whether a session is remembered: all of it, or nothing. What is of the project is always there.
fn is_remembered(store: &Store, session: &str) -> bool {
    let mut history = store.history(&owner(session)).unwrap();
    history.follow(&Branch::default());
    assert_eq!(value(&history, Scope::Project), Some(b"v".to_vec()), "{session}");
    let parts = [
        value(&history, Scope::Branch).is_some(),
        value(&history, Scope::Session).is_some(),
        store.requests(&owner(session)).unwrap() != (vec![], 1),
        store.paused(session).unwrap().is_some(),
    ];
    assert!(parts.iter().all(|part| *part == parts[0]), "{session}: {parts:?}");
    parts[0]
}

#[test]
fn a_session_is_forgotten_when_its_day_has_come_and_what_is_of_the_project_stays() {
    let store = Store::in_memory().unwrap();
    for (session, until) in [("old", DAY), ("new", 2 * DAY), ("touched", DAY), ("gone on with", DAY)] {
        live(&store, session, until);
    }
    store.touch("touched", 3 * DAY).unwrap();
    live(&store, "gone on with", 3 * DAY);
    store.touch("never heard of", 3 * DAY).unwrap();
    let remembered = |now| {
        store.prune_sessions(now, 0).unwrap();
        ["old", "new", "touched", "gone on with"].map(|session| is_remembered(&store, session))
    };
    assert_eq!(remembered(DAY), [true; 4], "it is the last moment");
    assert_eq!(remembered(DAY + 1), [false, true, true, true]);
    assert_eq!(remembered(2 * DAY + 1), [false, false, true, true]);
    assert_eq!(remembered(4 * DAY), [false; 4]);
}

#[test]
fn a_day_can_be_set_earlier_and_small_changes_are_not_written() {
    let store = Store::in_memory().unwrap();
    live(&store, "s", 9 * DAY);
    store.touch("s", 9 * DAY + 1).unwrap();
    let until = || -> u64 {
        let connection = store.connection();
        let until: i64 = connection.query_row("SELECT until FROM session", [], |row| row.get(0)).unwrap();
        until.cast_unsigned()
    };
    assert_eq!(until(), 9 * DAY);
    store.touch("s", 2 * DAY).unwrap();
    assert_eq!(until(), 2 * DAY);
    live(&store, "s", 5 * DAY);
    assert_eq!(until(), 5 * DAY);
}

#[test]
fn a_fork_is_remembered_by_itself() {
    let store = Store::in_memory().unwrap();
    live(&store, "old", DAY);
    store.fork(&owner("old"), &owner("new"), &HashSet::new()).unwrap();
    store.prune_sessions(DAY + 1, 2 * DAY).unwrap();
    assert!(!is_remembered(&store, "old"));
    assert_eq!(store.requests(&owner("new")).unwrap().1, 2);
    store.prune_sessions(2 * DAY + 1, 0).unwrap();
    assert_eq!(store.requests(&owner("new")).unwrap().1, 1);
}

#[test]
fn sessions_of_an_older_program_are_remembered_from_the_day_on_that_this_one_finds_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    live(&Store::open(&path).unwrap(), "s", DAY);
    Connection::open(&path).unwrap().execute_batch("DROP TABLE session; PRAGMA user_version = 4").unwrap();
    let store = Store::open(&path).unwrap();
    for (now, is_there) in [(8 * DAY, true), (9 * DAY, true), (9 * DAY + 1, false)] {
        store.prune_sessions(now, now + DAY).unwrap();
        assert_eq!(is_remembered(&store, "s"), is_there, "{now}");
    }
}
