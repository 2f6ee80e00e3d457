//! The state of the repository, from the real git to the judge.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use chaperone::drive::{Dialogs, Session, Setup};
use chaperone::files::{Access, Repository};
use chaperone::record::Recorder;
use chaperone::replay::replay;
use chaperone_contract::*;
use chaperone_tests::stage::{self, Judge, Seen, Silence, Stage};
use serde_json::json;

use crate::faults::play::{Play, monitor, put};
use crate::tape::Tape;

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=A", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]).args(arguments);
    let output = command.current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A project in a repository that ignores what belongs to the monitors.
fn repository() -> Stage {
    let stage = Stage::bare();
    git(&stage.project(), &["init", "--quiet"]);
    stage.put(".gitignore", ".pi\n.gitignore\n");
    stage
}

/// A session of the guest that does what it is told.
struct Guest {
    session: Session,
    runtime: tokio::runtime::Runtime,
}

impl Guest {
    fn on(stage: &Stage, repository: Repository, read: Access) -> Self {
        let mut plugin = stage.plugin("hostile", stage::hostile(), stage.dry());
        let files = Arc::get_mut(&mut plugin.files).unwrap();
        files.mount_repository("git", repository, read);
        let setup = Setup::new(stage::snapshot(), vec![plugin], Arc::new(Silence));
        let session = Session::new(setup, &mut Seen::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { session, runtime }
    }

    /// Begins `/hostile line`, and says what was shown by then.
    fn begin(&mut self, line: &str) -> String {
        let mut seen = Seen::default();
        let _runtime = self.runtime.enter();
        self.session.command("hostile", line, &mut seen).unwrap();
        shown(&seen)
    }

    /// Waits for what is under way.
    fn quiet(&mut self) -> String {
        let mut seen = Seen::default();
        self.runtime.block_on(self.session.quiet(&mut seen)).unwrap();
        shown(&seen)
    }

    /// Runs `/hostile line` to its end.
    fn does(&mut self, line: &str) -> String {
        let begun = self.begin(line);
        format!("{begun}{}", self.quiet())
    }
}

fn shown(seen: &Seen) -> String {
    seen.notices().into_iter().filter(|notice| *notice != "about to misbehave").collect()
}

#[test]
fn a_judge_is_shown_what_git_says_when_it_is_asked() {
    let stage = repository();
    put(&stage, &[monitor("m", json!({"classify": {"context": ["assistant_text", "git_status"]}}))]);
    let mut play = Play::on(Arc::new(stage), Dialogs::Unavailable);
    play.stage.put("left-behind.txt", "");
    play.answers(&["FLAG:left-behind.txt is left behind"]);
    play.exchange("commit it", "Committed.");
    let evidence = play.evidence();
    assert!(evidence.contains("## No commits yet on main\n?? left-behind.txt\n</evidence>"), "{evidence}");
    assert_eq!(play.steers(), ["[m] left-behind.txt is left behind. S."]);
}

#[test]
fn a_look_is_no_reason_to_ask_the_plugin_anew_what_it_is() {
    let stage = repository();
    put(&stage, &[monitor("m", json!({"classify": {"context": ["git_status"]}}))]);
    let mut play = Play::on(Arc::new(stage), Dialogs::Unavailable);
    play.answers(&["CLEAN", "CLEAN"]);
    play.exchange("one", "Done.");
    assert_eq!(play.calls().len(), 1);
    play.seen.clear();
    play.exchange("two", "Done as well.");
    assert_eq!(play.calls().len(), 1);
    assert!(play.seen.hooks.iter().all(|hook| hook.event != Event::Describe));
}

#[test]
fn a_project_without_a_repository_is_judged_all_the_same() {
    let mut play = Play::with(json!({"classify": {"context": ["git_status"]}}));
    play.answers(&["CLEAN"]);
    play.exchange("go", "Done.");
    assert!(play.evidence().contains("(not available: the project is in no git repository)"), "{}", play.evidence());
}

#[test]
fn a_session_with_it_comes_out_the_same_when_it_is_run_again_elsewhere() {
    let stage = repository();
    put(&stage, &[monitor("m", json!({"classify": {"context": ["git_status"]}}))]);
    stage.put("new.txt", "");
    let (tape, mut seen) = (Tape::default(), Seen::default());
    let recorder = Recorder::new(Box::new(tape.clone())).unwrap();
    let plugin = stage.plugin("monitors", stage::monitors(), stage.dry());
    let mut session = stage.recorded_session(vec![plugin], Arc::new(Judge("CLEAN")), Some(recorder), &mut seen);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        session.command("monitors", "trust all", &mut seen).unwrap();
        let user = EntryBody::User(vec![Content::Text("go".into())]);
        session.append(Arc::new(Entry { id: "u".into(), timestamp: 0, body: user })).unwrap();
        let answer = AssistantMessage {
            content: vec![Content::Text("Done.".into())],
            stop_reason: StopReason::Stop,
            usage: None,
            model: None,
            error: None,
        };
        let body = EntryBody::Assistant(answer);
        session.append(Arc::new(Entry { id: "a".into(), timestamp: 0, body })).unwrap();
        session.event(&Event::AgentEnd, &mut seen).unwrap();
        session.quiet(&mut seen).await.unwrap();
    });
    session.finish().unwrap();
    assert!(seen.failures().is_empty(), "{:?}", seen.failures());
    drop(stage);
    let text = String::from_utf8(tape.content()).unwrap();
    assert!(text.contains("refresh") && text.contains("?? new.txt"), "{text}");
    let report = replay(text.as_bytes(), |_| Ok(stage::monitors())).unwrap();
    assert!(report.difference.is_none(), "{:?}", report.difference);
}

#[test]
fn the_file_is_there_once_it_was_made_and_stays_as_it_was() {
    let stage = repository();
    let mut guest = Guest::on(&stage, Repository::Of(stage.project()), Access::All);
    assert_eq!(guest.does("glance status"), "glance: Err(NotFound)");
    assert_eq!(guest.begin("refresh status"), "", "the hook does not wait for git");
    assert!(!guest.session.is_quiet());
    assert_eq!(guest.quiet(), "stored 1: Ok(())");
    stage.put("a", "");
    assert_eq!(guest.does("glance status"), r###"glance: Ok("## No commits yet on main\n")"###);
    assert_eq!(guest.does("refresh status"), "stored 2: Ok(())");
    assert_eq!(guest.does("glance status"), r###"glance: Ok("## No commits yet on main\n?? a\n")"###);
    std::fs::remove_dir_all(stage.project().join(".git")).unwrap();
    assert_eq!(guest.does("refresh status"), "stored 3: Err(NotFound)");
    assert_eq!(guest.does("glance status"), "glance: Err(NotFound)", "what is no longer true is gone");
}

#[test]
fn what_is_not_granted_or_not_the_hosts_to_make_is_refused_with_the_reason() {
    let stage = repository();
    let mut guest = Guest::on(&stage, Repository::Of(stage.project()), Access::None);
    let refusal = guest.does("refresh status");
    assert!(refusal.contains("`read` on `git:status` is not granted"), "{refusal}");
    let mut guest = Guest::on(&stage, Repository::Of(stage.project()), Access::All);
    assert_eq!(guest.does("refresh config"), "stored 1: Err(NotFound)");
    let refusal = guest.does("refresh workspace:a");
    assert!(refusal.contains("`workspace:a` is on the disk"), "{refusal}");
    let refusal = guest.does("refresh nowhere:status");
    assert!(refusal.contains("no mount `nowhere` is granted"), "{refusal}");
}

#[test]
fn where_git_cannot_be_asked_the_reason_or_what_was_written_down_is_the_answer() {
    let stage = Stage::bare();
    let mut guest = Guest::on(&stage, Repository::Said("## main\n".into()), Access::All);
    assert_eq!(guest.begin("refresh status"), "stored 1: Ok(())");
    assert_eq!(guest.does("glance status"), r###"glance: Ok("## main\n")"###);
    let mut guest = Guest::on(&stage, Repository::OutOfReach("long ago".into()), Access::All);
    assert_eq!(guest.begin("refresh status"), r#"stored 1: Err(Io("long ago"))"#);
}

#[test]
fn who_cannot_wait_any_longer_gets_an_answer_at_once() {
    let stage = repository();
    let mut guest = Guest::on(&stage, Repository::Of(stage.project()), Access::All);
    guest.begin("refresh status");
    let mut seen = Seen::default();
    let now = std::time::Instant::now();
    assert!(!guest.runtime.block_on(guest.session.quiet_until(now - Duration::from_secs(1), &mut seen)).unwrap());
    guest.session.give_up(&mut seen).unwrap();
    assert_eq!(shown(&seen), r#"stored 1: Err(Io("it took too long"))"#);
    assert!(guest.session.is_quiet());
    assert_eq!(guest.begin("refresh status"), r#"stored 2: Err(Io("it took too long"))"#, "nor does it begin anew");
    assert_eq!(guest.quiet(), "", "nothing comes late");
}
