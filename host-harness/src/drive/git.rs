//! Asking git.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use chaperone_contract::FileError;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::time::timeout;

/// How long git may take. The limit is that of the documents of pi-behavior-monitors.
const LIMIT: Duration = Duration::from_secs(5);

/// How much of what git says is kept, in bytes. A judge is shown a small part of it.
const LONGEST: u64 = 64 << 10;

/// What `git status` says of the working tree that a folder is in: the branch, and one line for each file that has
/// changed or is not tracked.
///
/// # Errors
/// `not-found` where the folder is in no repository; else `io`, in git's words, or because it took too long.
pub async fn status(folder: &Path) -> Result<String, FileError> {
    status_by(OsStr::new("git"), folder).await
}

async fn status_by(git: &OsStr, folder: &Path) -> Result<String, FileError> {
    let mut command = Command::new(git);
    command
        // What a repository brings along is not run for a look at it, and paths are as people write them.
        .args(["-c", "core.fsmonitor=false", "-c", "core.quotePath=false"])
        // A lock that is held for a moment would make the agent's own git fail.
        .arg("--no-optional-locks")
        .args(["status", "--porcelain=v1", "--branch", "--untracked-files=normal"])
        .current_dir(folder)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    match timeout(LIMIT, said_by(command)).await {
        Ok(said) => said,
        Err(_) => Err(FileError::Io(format!("git did not answer in {} s", LIMIT.as_secs()))),
    }
}

async fn said_by(mut command: Command) -> Result<String, FileError> {
    let mut git = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => FileError::Io("git cannot be run here: it is not on the PATH".into()),
        _ => FileError::Io(format!("git cannot be run: {error}")),
    })?;
    let io = |error: io::Error| FileError::Io(format!("git broke off: {error}"));
    let (said, complaint) = tokio::try_join!(beginning(git.stdout.take()), beginning(git.stderr.take())).map_err(io)?;
    if said.len() as u64 == LONGEST {
        // There is more than it can get rid of.
        let whole_lines = said.rsplit_once('\n').map_or(said.as_str(), |(lines, _)| lines);
        return Ok(format!("{whole_lines}\n[… the rest is left out …]\n"));
    }
    if git.wait().await.map_err(io)?.success() {
        return Ok(said);
    }
    let words = complaint.lines().find(|line| !line.trim().is_empty()).unwrap_or("git failed");
    match words.contains("not a git repository") {
        true => Err(FileError::NotFound),
        false => Err(FileError::Io(words.trim_start_matches("fatal: ").to_owned())),
    }
}

/// As much as is kept of what somebody writes.
async fn beginning(pipe: Option<impl AsyncRead + Unpin>) -> io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(LONGEST).read_to_end(&mut bytes).await?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;

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

    /// A program in the place of git.
    fn impostor(folder: &Path, script: &str) -> PathBuf {
        let path = folder.join("impostor");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[tokio::test]
    async fn the_branch_and_what_has_changed_are_told() {
        let folder = repository();
        fs::write(folder.path().join("committed"), "1").unwrap();
        git(folder.path(), &["add", "committed"]);
        git(folder.path(), &["commit", "--quiet", "--message=a"]);
        assert_eq!(status(folder.path()).await, Ok("## main\n".into()));
        fs::write(folder.path().join("committed"), "2").unwrap();
        fs::create_dir(folder.path().join("inside")).unwrap();
        fs::write(folder.path().join("größe.txt"), "").unwrap();
        let told = "## main\n M committed\n?? größe.txt\n";
        assert_eq!(status(&folder.path().join("inside")).await, Ok(told.into()));
    }

    #[tokio::test]
    async fn a_look_takes_no_lock_and_runs_nothing_that_the_repository_brings_along() {
        let folder = repository();
        let touched = folder.path().join("touched");
        let monitor = impostor(folder.path(), &format!("touch '{}'", touched.display()));
        git(folder.path(), &["config", "core.fsmonitor", monitor.to_str().unwrap()]);
        fs::write(folder.path().join(".git/index.lock"), "").unwrap();
        let told = status(folder.path()).await.unwrap();
        assert!(told.contains("?? impostor"), "{told}");
        assert!(!touched.exists());
    }

    #[tokio::test]
    async fn a_folder_without_a_repository_has_no_status() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(status(folder.path()).await, Err(FileError::NotFound));
    }

    #[tokio::test]
    async fn what_git_complains_about_is_passed_on() {
        let folder = repository();
        fs::write(folder.path().join(".git/index"), "broken").unwrap();
        let Err(FileError::Io(words)) = status(folder.path()).await else { panic!("an error") };
        assert!(words.contains("index"), "{words}");
        let gone = status(&folder.path().join("gone")).await;
        assert!(matches!(gone, Err(FileError::Io(_))), "{gone:?}");
    }

    #[tokio::test]
    async fn a_machine_without_git_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let Err(FileError::Io(words)) = status_by(OsStr::new("no-such-git"), folder.path()).await else {
            panic!("an error")
        };
        assert!(words.contains("PATH"), "{words}");
    }

    /// Time is not waited for: with nothing else to do, a paused clock moves on by itself.
    #[tokio::test(start_paused = true)]
    async fn git_that_hangs_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let impostor = impostor(folder.path(), "exec sleep 1000");
        let answer = status_by(impostor.as_os_str(), folder.path()).await;
        assert_eq!(answer, Err(FileError::Io("git did not answer in 5 s".into())));
    }

    #[tokio::test]
    async fn of_an_endless_answer_whole_lines_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let impostor = impostor(folder.path(), "yes '?? some/file'");
        let told = status_by(impostor.as_os_str(), folder.path()).await.unwrap();
        assert!((told.len() as u64) < LONGEST + 64);
        assert!(told.ends_with("\n?? some/file\n[… the rest is left out …]\n"), "{}", &told[told.len() - 80..]);
    }
}
