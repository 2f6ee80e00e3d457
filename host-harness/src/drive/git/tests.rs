use std::fs;
use std::future::Future as _;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::pin::pin;
use std::task::{Context, Waker};

use super::*;

/// Runs git in a folder, as a person would.
fn git(folder: &Path, arguments: &[&str]) {
    let mut command = std::process::Command::new("git");
    command.args(["-c", "user.name=A", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]).args(arguments);
    let output = command.current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet"]);
    folder
}

/// Commits a file with this content.
fn commit(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).unwrap();
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--message=a"]);
}

async fn status(folder: &Path) -> Result<String, FileError> {
    Git::default().status(folder).await
}

/// A program that a file holds.
fn program(folder: &Path, name: &str, script: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A program in the place of git, that does this when it is asked for the status.
fn impostor(folder: &Path, script: &str) -> Git {
    let script = format!("case \"$*\" in *config*--get-regexp*) exit 1;; esac\n{script}");
    Git { program: program(folder, "impostor", &script).into(), ..Git::default() }
}

fn io(words: &str) -> Result<String, FileError> {
    Err(FileError::Io(words.into()))
}

#[tokio::test]
async fn the_branch_and_what_has_changed_are_told() {
    let folder = repository();
    commit(folder.path(), "committed", "1");
    assert_eq!(status(folder.path()).await, Ok("## main\n".into()));
    fs::write(folder.path().join("committed"), "2").unwrap();
    fs::create_dir(folder.path().join("inside")).unwrap();
    fs::write(folder.path().join("größe.txt"), "").unwrap();
    let told = "## main\n M committed\n?? größe.txt\n";
    assert_eq!(status(&folder.path().join("inside")).await, Ok(told.into()));
}

#[tokio::test]
async fn a_name_takes_one_line_whatever_is_in_it() {
    let folder = repository();
    fs::write(folder.path().join("a\n## main\u{1b}[2J\"<b>"), "").unwrap();
    let told = "## No commits yet on main\n?? \"a\\n## main\\033[2J\\\"<b>\"\n";
    assert_eq!(status(folder.path()).await, Ok(told.into()));
}

#[tokio::test]
async fn a_look_takes_no_lock_and_runs_nothing_that_the_repository_brings_along() {
    let folder = repository();
    let touched = folder.path().join("touched");
    let trap = program(folder.path(), "trap", &format!("touch '{}'\ncat", touched.display()));
    let trap = trap.to_str().unwrap();
    fs::write(folder.path().join(".gitattributes"), "a filter=one\nb filter=t=w.o\n").unwrap();
    fs::write(folder.path().join("b"), "1").unwrap();
    commit(folder.path(), "a", "1");
    git(folder.path(), &["config", "core.fsmonitor", trap]);
    git(folder.path(), &["config", "filter.one.clean", trap]);
    let included = format!("[filter \"t=w.o\"]\n\tprocess = {trap}\n\trequired\n");
    fs::write(folder.path().join(".git/more"), included).unwrap();
    git(folder.path(), &["config", "include.path", "more"]);
    // They have the size that git knows, so it has to read them.
    fs::write(folder.path().join("a"), "2").unwrap();
    fs::write(folder.path().join("b"), "2").unwrap();
    fs::write(folder.path().join(".git/index.lock"), "").unwrap();
    assert_eq!(status(folder.path()).await, Ok("## main\n M a\n M b\n".into()));
    assert!(!touched.exists());
}

#[tokio::test]
async fn filters_that_cannot_be_switched_off_are_the_end_of_it() {
    let folder = repository();
    let config = |text: &[u8]| fs::write(folder.path().join(".git/config"), text).unwrap();
    config(b"[filter \"\xff\"]\n\tclean = cat\n");
    assert_eq!(status(folder.path()).await, io("the repository defines a filter whose name is not UTF-8"));
    config(format!("[filter \"{}\"]\n\tclean = cat\n", "x".repeat(LONGEST as usize)).as_bytes());
    assert_eq!(status(folder.path()).await, io("the repository defines too many filters"));
    let old = Git {
        program: program(folder.path(), "old", "echo 'error: unknown option' >&2; exit 129").into(),
        ..Git::default()
    };
    assert_eq!(old.status(folder.path()).await, io("unknown option"));
}

#[tokio::test]
async fn a_folder_that_passes_itself_off_as_a_repository_is_none() {
    let folder = repository();
    let touched = folder.path().join("touched");
    let trap = program(folder.path(), "trap", &format!("touch '{}'", touched.display()));
    let bare = folder.path().join("bare");
    git(folder.path(), &["init", "--quiet", "--bare", "bare"]);
    git(&bare, &["config", "core.bare", "false"]);
    git(&bare, &["config", "core.worktree", ".."]);
    git(&bare, &["config", "core.fsmonitor", trap.to_str().unwrap()]);
    let Err(FileError::Io(words)) = status(&bare).await else { panic!("an error") };
    assert!(words.contains("bare repository"), "{words}");
    assert!(!touched.exists());
}

#[tokio::test]
async fn of_a_submodule_its_commit_is_looked_at() {
    let (folder, other) = (repository(), repository());
    commit(other.path(), "x", "1");
    let other = other.path().to_str().unwrap();
    git(folder.path(), &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "sub"]);
    git(folder.path(), &["commit", "--quiet", "--message=a"]);
    let sub = folder.path().join("sub");
    let touched = folder.path().join(".git/touched");
    let trap = program(&folder.path().join(".git"), "trap", &format!("touch '{}'\ncat", touched.display()));
    fs::write(sub.join(".gitattributes"), "x filter=one\n").unwrap();
    git(&sub, &["config", "filter.one.clean", trap.to_str().unwrap()]);
    fs::write(sub.join("x"), "2").unwrap();
    assert_eq!(status(folder.path()).await, Ok("## main\n".into()));
    assert!(!touched.exists());
    git(&sub, &["-c", "filter.one.clean=", "commit", "--quiet", "--all", "--message=b"]);
    assert_eq!(status(folder.path()).await, Ok("## main\n M sub\n".into()));
}

#[tokio::test]
async fn the_environment_leads_git_to_no_other_repository() {
    let folder = repository();
    let told = folder.path().join("told");
    let git = impostor(folder.path(), &format!("env > '{}'", told.display()));
    let _ = git.status(folder.path()).await;
    let environment = fs::read_to_string(told).unwrap();
    let set: Vec<&str> = environment.lines().filter(|line| line.starts_with("GIT_")).collect();
    assert!(set.contains(&"GIT_NO_LAZY_FETCH=1") && set.contains(&"GIT_ALLOW_PROTOCOL="), "{set:?}");
    // That these are all of them, git itself says.
    let local = std::process::Command::new("git").args(["rev-parse", "--local-env-vars"]).output().unwrap();
    let local = String::from_utf8(local.stdout).unwrap();
    let left: Vec<&str> = local.lines().filter(|name| !ELSEWHERE.contains(name)).collect();
    assert_eq!(left, <[&str; 0]>::default());
}

#[tokio::test]
async fn a_folder_without_a_repository_has_no_status() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(status(folder.path()).await, Err(FileError::NotFound));
    fs::write(folder.path().join(".git"), "gitdir: /nowhere/at/all\n").unwrap();
    assert_eq!(status(folder.path()).await, io("not a git repository: /nowhere/at/all"), "this one is broken");
}

#[tokio::test]
async fn what_git_complains_about_is_passed_on() {
    let folder = repository();
    fs::write(folder.path().join(".git/index"), "broken").unwrap();
    let Err(FileError::Io(words)) = status(folder.path()).await else { panic!("an error") };
    assert!(words.contains("index"), "{words}");
    fs::write(folder.path().join(".git/config"), "[broken\n").unwrap();
    assert_eq!(status(folder.path()).await, io("bad config line 1 in file .git/config"));
    let gone = folder.path().join("gone");
    assert_eq!(status(&gone).await, io(&format!("{} is no folder any more", gone.display())));
}

#[tokio::test]
async fn of_many_words_the_reason_is_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let said = |script: &str| impostor(folder.path(), script);
    let warned = "echo 'warning: unable to access x' >&2; echo >&2; echo 'fatal: it is broken' >&2; exit 128";
    assert_eq!(said(warned).status(folder.path()).await, io("it is broken"));
    assert_eq!(said("echo 'no idea' >&2; exit 1").status(folder.path()).await, io("no idea"));
    assert_eq!(said("exit 1").status(folder.path()).await, io("git failed"));
}

#[tokio::test]
async fn warnings_do_not_make_it_fail_however_many_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let git = impostor(folder.path(), "yes 'warning: x' | head -n 20000 >&2 && echo '## main'");
    assert_eq!(git.status(folder.path()).await, Ok("## main\n".into()));
}

#[tokio::test]
async fn a_machine_without_git_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let git = Git { program: "no-such-git".into(), ..Git::default() };
    assert_eq!(git.status(folder.path()).await, io("git cannot be run here: it is not on the PATH"));
}

/// Time is not waited for: with nothing else to do, a paused clock moves on by itself.
#[tokio::test(start_paused = true)]
async fn git_that_hangs_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(impostor(folder.path(), "exec sleep 1000").status(folder.path()).await, io("git did not answer in 5 s"));
}

#[tokio::test]
async fn git_that_is_given_up_ends_with_all_that_it_has_started() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let git = impostor(folder.path(), "trap '' TERM PIPE HUP\nexec 3> fifo\nsleep 1000 &\necho 'at work' >&3\nwait");
    let begins = tokio::task::spawn_blocking(move || {
        let mut reader = BufReader::new(fs::File::open(fifo).unwrap());
        reader.read_line(&mut String::new()).unwrap();
        reader
    });
    let mut reader = tokio::select! {
        status = git.status(folder.path()) => panic!("it has ended: {status:?}"),
        reader = begins => reader.unwrap(),
    };
    // That comes to an end once nobody is left who could write.
    reader.read_to_end(&mut Vec::new()).unwrap();
}

#[tokio::test]
async fn of_a_long_answer_whole_lines_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let told = impostor(folder.path(), "yes '?? some/file' | head -n 100000").status(folder.path()).await.unwrap();
    assert!((told.len() as u64) < LONGEST + 64);
    assert!(told.ends_with("\n?? some/file\n[… the rest is left out …]\n"), "{}", &told[told.len() - 80..]);
}

#[tokio::test]
async fn only_so_many_looks_go_on_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let git = impostor(folder.path(), "touch begun; echo '## main'");
    let others = git.turns.acquire_many(AT_ONCE.try_into().unwrap()).await.unwrap();
    let mut look = pin!(git.status(folder.path()));
    assert!(look.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert!(!folder.path().join("begun").exists());
    drop(others);
    assert_eq!(look.await, Ok("## main\n".into()));
    assert!(folder.path().join("begun").exists());
}
