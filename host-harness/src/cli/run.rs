//! `chaperone run`: recorded sessions through the plugins.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use chaperone_contract::{Agent, AgentKind, Mode, ModelId, Snapshot};
use indicatif::{ProgressBar, ProgressStyle};

use super::report::{Format, Report};
use super::setup::{self, ProviderName};
use super::{Status, style};
use crate::drive::{Session, Setup};
use crate::llm::Provider;
use crate::project::Project;
use crate::record::Recorder;
use crate::session::{self, Leaf, Recorded, TimedStep};

/// Sessions with more steps than this get a progress bar.
const LONG: usize = 2_000;

#[derive(clap::Args)]
pub struct Arguments {
    /// Session files of the pi agent
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<PathBuf>,
    /// Only this plugin; may be given several times
    #[arg(long = "plugin", value_name = "NAME")]
    plugins: Vec<String>,
    /// Who answers model calls
    #[arg(long, value_enum)]
    provider: Option<ProviderName>,
    /// The answers of the provider `script`
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    script: Option<PathBuf>,
    /// The provider's model for calls that name none; by default the session's own, if it is this provider's
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
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
    /// Record every hook to this file, for `chaperone replay`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<Status> {
    if arguments.provider.is_some_and(|provider| provider != ProviderName::Script) && arguments.script.is_some() {
        super::usage("--script belongs to the provider `script`");
    }
    let project = setup::project(arguments.cwd.as_deref())?;
    let config = setup::config(arguments.config.as_deref(), &project)?;
    let provider =
        setup::provider(&config, arguments.provider, arguments.script.as_deref(), arguments.model.as_deref())?;
    let mut recorder = match &arguments.record {
        Some(path) => Some(Recorder::create(path).with_context(|| format!("cannot write {}", path.display()))?),
        None => None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let out: Box<dyn Write> = Box::new(anstream::AutoStream::auto(std::io::stdout().lock()));
    let mut report = Report::new(arguments.format, out, arguments.write);
    for path in &arguments.sessions {
        let recorded = session::read(path)?;
        let leaf = arguments.leaf.clone().map_or(Leaf::Newest, Leaf::Id);
        let branch = recorded.branch(&leaf).with_context(|| path.display().to_string())?;
        warn_of(path, &recorded);
        let steps = session::steps(&branch);
        report.session(&title(path), &subtitle(&recorded, branch.len(), &*provider), arguments.sessions.len() > 1);
        // Each session stands alone: what one would have written, another does not find.
        let storage = setup::storage(arguments.write)?;
        let watched = Watched { recorded: &recorded, steps: &steps };
        let plugins = setup::plugins(&config, &arguments.plugins, &project, &storage)?;
        recorder = runtime.block_on(watch(arguments, &project, watched, plugins, &provider, recorder, &mut report))?;
    }
    report.finish()?;
    Ok(if report.summary.failures == 0 { Status::Fine } else { Status::Failed })
}

struct Watched<'run> {
    recorded: &'run Recorded,
    steps: &'run [TimedStep],
}

async fn watch(
    arguments: &Arguments,
    project: &Project,
    watched: Watched<'_>,
    plugins: Vec<crate::drive::Running>,
    provider: &Arc<dyn Provider>,
    recorder: Option<Recorder>,
    report: &mut Report<'_>,
) -> Result<Option<Recorder>> {
    let Watched { recorded, steps } = watched;
    let snapshot = Snapshot {
        session_id: recorded.id.clone(),
        cwd: project.root.display().to_string(),
        mode: Mode::Interactive,
        agent: Agent { kind: AgentKind::Main, name: None, workflow: None, step: None },
        model: None,
        leaf: None,
        branch_length: 0,
        idle: true,
        input_pending: false,
        now: recorded.created.unwrap_or(0),
    };
    let judge = arguments.model.clone().map(|model| ModelId { provider: provider.name().into(), model });
    let setup = Setup { judge, recorder, ..Setup::new(snapshot, plugins, provider.clone()) };
    let mut session = Session::new(setup, report)?;
    let progress = progress(steps.len());
    for step in steps {
        // The session's end comes after the commands, which the user ran before it.
        if matches!(&step.step, session::Step::Event(chaperone_contract::Event::SessionEnd)) {
            for line in &arguments.commands {
                run_command(&mut session, line, report).await?;
            }
        }
        report.step(step);
        session.feed(step, report).await?;
        report.check()?;
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(session.finish()?)
}

async fn run_command(session: &mut Session, line: &str, report: &mut Report<'_>) -> Result<()> {
    let line = line.trim().trim_start_matches('/');
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    report.command(line);
    if !session.command(name, rest.trim(), report)? {
        let known: BTreeMap<_, _> = session
            .plugins()
            .iter()
            .filter_map(|plugin| plugin.description())
            .flat_map(|description| &description.commands)
            .map(|command| (command.name.as_str(), ()))
            .collect();
        bail!("no plugin has a command `/{name}`; there is {}", known.into_keys().collect::<Vec<_>>().join(", "));
    }
    Ok(session.quiet(report).await?)
}

fn progress(steps: usize) -> ProgressBar {
    if steps < LONG || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(steps as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} steps, {eta} left") {
        bar.set_style(style);
    }
    bar
}

fn title(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn subtitle(recorded: &Recorded, entries: usize, provider: &dyn Provider) -> String {
    format!("{entries} entries, {}, judged by `{}`", recorded.cwd, provider.name())
}

/// Says on stderr what of a session could not be read.
fn warn_of(path: &Path, recorded: &Recorded) {
    if recorded.report.is_clean() {
        return;
    }
    anstream::eprintln!("{}warning:{} {}: {}", style::WARNING, style::RESET, path.display(), recorded.report);
}
