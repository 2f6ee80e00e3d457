//! Asking git.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use chaperone_contract::FileError;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How long git may take. The limit is that of the documents of pi-behavior-monitors.
const LIMIT: Duration = Duration::from_secs(5);

/// How many looks go on at once; the others wait for their turn. A plugin can ask for as many as it likes.
const AT_ONCE: usize = 4;

/// How much of what git says is kept, in bytes. A judge is shown a small part of it.
const LONGEST: u64 = 64 << 10;

/// What would lead git to another repository than that of the folder, such as in a hook of git, and the configuration that
/// comes by the environment: `git rev-parse --local-env-vars`.
const ELSEWHERE: [&str; 15] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// The program git, as a session uses it.
pub struct Git {
    program: OsString,
    turns: Semaphore,
}

impl Default for Git {
    /// The one on the `PATH`.
    fn default() -> Self {
        Self { program: "git".into(), turns: Semaphore::new(AT_ONCE) }
    }
}

impl Git {
    /// What `git status` says of the working tree that a folder is in: the branch, and one line for each file that has
    /// changed or is not tracked. Nothing is run that the repository brings along, nothing is fetched, and no lock is taken
    /// that would make somebody else's git fail. Of a submodule, only its commit is looked at.
    ///
    /// # Errors
    /// `not-found` where the folder is in no repository; else `io`, in git's words, or because it took too long.
    pub async fn status(&self, folder: &Path) -> Result<String, FileError> {
        let _turn = self.turns.acquire().await;
        match timeout(LIMIT, self.look(folder)).await {
            Ok(status) => status,
            Err(_) => Err(FileError::Io(format!("git did not answer in {} s", LIMIT.as_secs()))),
        }
    }

    async fn look(&self, folder: &Path) -> Result<String, FileError> {
        if !folder.is_dir() {
            return Err(FileError::Io(format!("{} is no folder any more", folder.display())));
        }
        let filters = self.own_filters(folder).await?;
        let mut status = self.command(folder);
        status.args(["status", "--porcelain=v1", "--branch", "--untracked-files=normal", "--ignore-submodules=dirty"]);
        switch_off(&mut status, &filters);
        let Said { code, text, complaint } = said_by(status).await?;
        match code {
            Some(0) => Ok(text.into_whole_lines()),
            _ => Err(error(&complaint)),
        }
    }

    /// The filters that the repository's own configuration defines: programs that git would pass changed files through
    /// to compare them. Those that the user has set up for all repositories are none of them.
    async fn own_filters(&self, folder: &Path) -> Result<Vec<String>, FileError> {
        let mut config = self.command(folder);
        config.args([
            "config",
            "--null",
            "--show-scope",
            "--name-only",
            "--get-regexp",
            r"^filter\..*\.(clean|process)$",
        ]);
        let Said { code, text, complaint } = said_by(config).await?;
        match code {
            Some(0) => {}
            Some(1) => return Ok(Vec::new()),
            _ => return Err(error(&complaint)),
        }
        // One that is overlooked would run.
        let Kept::Whole(text) = text else {
            return Err(FileError::Io("the repository defines too many filters".into()));
        };
        if text.contains(char::REPLACEMENT_CHARACTER) {
            return Err(FileError::Io("the repository defines a filter whose name is not UTF-8".into()));
        }
        let mut words = text.split_terminator('\0');
        let mut filters = Vec::new();
        while let (Some(scope), Some(key)) = (words.next(), words.next()) {
            let name = key.strip_prefix("filter.").and_then(|key| key.rsplit_once('.'));
            if let ("local" | "worktree", Some((name, _))) = (scope, name) {
                filters.push(name.to_owned());
            }
        }
        Ok(filters)
    }

    fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg("--no-optional-locks")
            .args(["-c", "core.fsmonitor=false"])
            // A folder inside a repository could pass itself off as one, with a configuration that was committed.
            .args(["-c", "safe.bareRepository=explicit"])
            // Paths are as people write them.
            .args(["-c", "core.quotePath=false"])
            .current_dir(folder)
            .env("LC_ALL", "C")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_ALLOW_PROTOCOL", "")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        ELSEWHERE.iter().for_each(|name| _ = command.env_remove(name));
        #[cfg(unix)]
        command.process_group(0);
        command
    }
}

/// Makes git do without filters. Their names can hold any character, so they do not fit on the command line.
fn switch_off(command: &mut Command, filters: &[String]) {
    let settings =
        filters.iter().flat_map(|name| [(name, "clean", ""), (name, "process", ""), (name, "required", "false")]);
    command.env("GIT_CONFIG_COUNT", settings.clone().count().to_string());
    for (number, (name, key, value)) in settings.enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{number}"), format!("filter.{name}.{key}"));
        command.env(format!("GIT_CONFIG_VALUE_{number}"), value);
    }
}

/// A program that has ended.
struct Said {
    /// None: a signal has ended it.
    code: Option<i32>,
    text: Kept,
    complaint: Kept,
}

/// What is kept of what somebody writes.
enum Kept {
    Whole(String),
    /// There was more.
    Beginning(String),
}

impl Kept {
    fn text(&self) -> &str {
        let (Self::Whole(text) | Self::Beginning(text)) = self;
        text
    }

    fn into_whole_lines(self) -> String {
        match self {
            Self::Whole(text) => text,
            Self::Beginning(text) => {
                let whole_lines = text.rsplit_once('\n').map_or("", |(lines, _)| lines);
                format!("{whole_lines}\n[… the rest is left out …]\n")
            }
        }
    }
}

/// Why git failed. Its warnings and what it advises are left out.
fn error(complaint: &Kept) -> FileError {
    let lines = || complaint.text().lines().map(str::trim).filter(|line| !line.is_empty());
    let fatal = lines().find_map(|line| line.strip_prefix("fatal: ").or_else(|| line.strip_prefix("error: ")));
    match fatal.or_else(|| lines().next_back()).unwrap_or("git failed") {
        // One that is named is broken; that is another matter.
        words if words.starts_with("not a git repository (or any") => FileError::NotFound,
        words => FileError::Io(words.to_owned()),
    }
}

async fn said_by(mut command: Command) -> Result<Said, FileError> {
    let git = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => FileError::Io("git cannot be run here: it is not on the PATH".into()),
        _ => FileError::Io(format!("git cannot be run: {error}")),
    })?;
    let io = |error: io::Error| FileError::Io(format!("git broke off: {error}"));
    let mut git = Process(git);
    let (stdout, stderr) = (git.0.stdout.take(), git.0.stderr.take());
    let (text, complaint) = tokio::try_join!(beginning(stdout), beginning(stderr)).map_err(io)?;
    Ok(Said { code: git.0.wait().await.map_err(io)?.code(), text, complaint })
}

/// A program at work. Where nobody waits for it any more, it is ended with all that it has started.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.0.id().and_then(|id| rustix::process::Pid::from_raw(id.try_into().ok()?)) {
            // It may have ended just now.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

/// As much as is kept of what somebody writes, who can write it all.
async fn beginning(pipe: Option<impl AsyncRead + Unpin>) -> io::Result<Kept> {
    let Some(mut pipe) = pipe else { return Ok(Kept::Whole(String::new())) };
    let mut bytes = Vec::new();
    (&mut pipe).take(LONGEST).read_to_end(&mut bytes).await?;
    let left_out = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(if left_out == 0 { Kept::Whole(text) } else { Kept::Beginning(text) })
}

#[cfg(all(test, unix))]
mod tests;
