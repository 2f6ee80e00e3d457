//! `chaperone run`: recorded sessions through the plugins.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};

use super::monitors::trust::{Trust, Word};
use super::report::{Format, Report};
use super::setup::Ground;
use super::watch::{Watch, Watched, watch};
use super::{Status, remember, setup, style};
use crate::record::Recorder;

#[derive(clap::Args)]
pub struct Arguments {
    /// Session files of the pi agent
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<PathBuf>,
    /// Only this plugin; may be given several times
    #[arg(long = "plugin", value_name = "NAME")]
    plugins: Vec<String>,
    #[command(flatten)]
    judge: setup::Judge,
    /// How the output looks
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The configuration; by default `chaperone.toml` of the project, if there is one
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The project that the plugins see; by default the current folder's
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The branch that ends at this entry; by default the newest
    #[arg(long, value_name = "ID")]
    leaf: Option<String>,
    /// A command to run at the end of each session, such as `work-quality`; may be given several times
    #[arg(long = "command", value_name = "LINE")]
    commands: Vec<String>,
    /// Write files, instead of showing what would be written
    #[arg(long)]
    write: bool,
    /// Keep what plugins remember, and the traces of their judgements, as a live session does
    #[arg(long)]
    remember: bool,
    /// Let all monitors of the project act. By default, those that `chaperone monitors trust` was told; with a scripted
    /// judge, all
    #[arg(long, conflicts_with = "remember")]
    trust_project: bool,
    /// Record every hook to this file, for `chaperone replay`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<Status> {
    let project = setup::project(arguments.cwd.as_deref())?;
    let config = setup::config(arguments.config.as_deref(), &project)?;
    let provider = setup::provider(&config, &arguments.plugins, &arguments.judge)?;
    // Before an older recording is replaced, all that is needed for a new one must be there.
    let load = |storage| setup::plugins(&config, &arguments.plugins, &Ground::recorded(&project, storage));
    load(setup::storage(false)?)?;
    let word = Word::of(arguments.trust_project, &config, &arguments.judge);
    let trust = if arguments.remember { None } else { Some(Trust::of(word, &config, &project)?) };
    let memory = if arguments.remember { remember::of_sessions(&config, &project)? } else { None };
    let read = |path: &PathBuf| Watched::read(path, arguments.leaf.as_deref());
    let sessions = arguments.sessions.iter().map(read).collect::<Result<Vec<_>>>()?;
    let mut recorder = arguments.record.as_deref().map(create).transpose()?;
    let mut report = Report::new(arguments.format, Box::new(style::out()), arguments.write);
    for watched in &sessions {
        report.session(&watched.title, &watched.subtitle(&*provider), sessions.len() > 1);
        // Each session stands alone: what one would have written, another does not find.
        let mut plugins = load(setup::storage(arguments.write)?)?;
        if let Some(trust) = &trust {
            trust.tell(&mut plugins);
        }
        let watchers = Watch {
            project: &project,
            plugins,
            memory: memory.clone(),
            provider: provider.clone(),
            judge: arguments.judge.model(&*provider),
            commands: &arguments.commands,
            recorder: recorder.take(),
        };
        recorder = watch(watched, watchers, &mut report)?;
    }
    report.finish()?;
    if report.summary.is_unanswered() {
        anstream::eprintln!("{}error:{} no model call was answered, so nothing was judged", style::ERROR, style::RESET);
    }
    let has_failed = report.summary.failures > 0 || report.summary.is_unanswered();
    Ok(if has_failed { Status::Failed } else { Status::Fine })
}

fn create(path: &Path) -> Result<Recorder> {
    if is_of_another_kind(path) {
        bail!("{} is there and is no recording; name another file for --record", path.display());
    }
    let missing = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
    let mend = missing.map(|folder| format!("; make the folder {} first", folder.display())).unwrap_or_default();
    Recorder::create(path).map_err(|error| anyhow!("cannot write the recording {}: {error}{mend}", path.display()))
}

/// Whether a recording would replace a file that is none, such as a session.
fn is_of_another_kind(path: &Path) -> bool {
    let begin = b"{\"recording\":";
    let Some(mut file) = File::open(path).ok().filter(|_| path.is_file()) else { return false };
    let mut begun = Vec::with_capacity(begin.len());
    let read = file.by_ref().take(begin.len() as u64).read_to_end(&mut begun);
    read.is_ok() && !begun.is_empty() && begun != begin
}
