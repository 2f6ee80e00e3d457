//! A session that is over, recorded or made up, and the plugins that watch it.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use chaperone_contract::{Event, Mode, ModelId, Timestamp};
use indicatif::{ProgressBar, ProgressStyle};

use super::report::Report;
use super::{setup, style};
use crate::cases::Case;
use crate::drive::{Memory, Running, Session, Setup};
use crate::llm::Provider;
use crate::project::Project;
use crate::record::Recorder;
use crate::session::{self, Leaf, ReadError, Recorded, Step, TimedStep};

/// Sessions with more steps than this get a progress bar.
const LONG: usize = 2_000;

/// One branch of a session, as a host meets it.
pub struct Watched {
    /// The file's name, with that of the case.
    pub title: String,
    /// The session's.
    id: String,
    begin: Timestamp,
    /// Where it was recorded, or what it is for.
    origin: String,
    entries: usize,
    steps: Vec<TimedStep>,
}

impl Watched {
    /// Reads the branch that ends at `leaf`, or the newest. What of the file could not be read is told on stderr.
    pub fn read(path: &Path, leaf: Option<&str>) -> Result<Self> {
        let recorded = session::read(path).map_err(with_mend)?;
        let leaf = leaf.map_or(Leaf::Newest, |id| Leaf::Id(id.into()));
        let branch = recorded.branch(&leaf).with_context(|| path.display().to_string())?;
        if !recorded.report.is_clean() {
            let (warning, reset) = (style::WARNING, style::RESET);
            let told = format!("{}: {}", path.display(), recorded.report);
            anstream::eprintln!("{warning}warning:{reset} {}", style::plain(&told));
        }
        let (entries, steps) = (branch.len(), session::steps(&branch));
        let Recorded { id, cwd, created, .. } = recorded;
        Ok(Self { title: name(path), id, begin: created.unwrap_or(0), origin: cwd, entries, steps })
    }

    /// The transcript of a case, as `chaperone eval` takes it through a watcher.
    pub fn of_case(path: &Path, case: &Case) -> Self {
        Self {
            title: format!("{}: {}", name(path), case.id()),
            id: case.id(),
            begin: case.branch.first().map_or(0, |first| first.entry.timestamp),
            origin: format!("a case of `{}`", case.watcher),
            entries: case.branch.len(),
            steps: case.steps(),
        }
    }

    /// What there is to say about it beside its name.
    pub fn subtitle(&self, provider: &dyn Provider) -> String {
        format!("{} entries, {}, judged by `{}`", self.entries, self.origin, provider.name())
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn with_mend(error: ReadError) -> anyhow::Error {
    match error {
        ReadError::Unreadable { .. } => {
            anyhow!("{error}; name a session file of pi, which keeps them below ~/.pi/agent/sessions")
        }
        ReadError::NotASession { .. } => error.into(),
    }
}

/// Who watches, and how.
pub struct Watch<'w> {
    /// What the plugins see.
    pub project: &'w Project,
    /// Who watches.
    pub plugins: Vec<Running>,
    /// Who answers model calls.
    pub provider: Arc<dyn Provider>,
    /// Answers the calls that name no model; none: the session's own.
    pub judge: Option<ModelId>,
    /// What the user types before the session ends, with or without a slash.
    pub commands: &'w [String],
    /// Where states and traces are kept; none: they end with the session.
    pub memory: Option<Memory>,
    /// Where every hook is written down, if anywhere.
    pub recorder: Option<Recorder>,
}

/// Takes the session through the plugins. Hands the recorder back, for the next one.
pub fn watch(watched: &Watched, watch: Watch<'_>, report: &mut Report<'_>) -> Result<Option<Recorder>> {
    setup::block_on(follow(watched, watch, report))?
}

async fn follow(watched: &Watched, watch: Watch<'_>, report: &mut Report<'_>) -> Result<Option<Recorder>> {
    let Watch { project, plugins, provider, judge, commands, memory, recorder } = watch;
    let snapshot = setup::snapshot(&watched.id, project, Mode::Interactive, watched.begin);
    let setup = Setup { judge, memory, recorder, ..Setup::new(snapshot, plugins, provider) };
    let mut session = Session::new(setup, report)?;
    let progress = progress(watched.steps.len());
    for step in &watched.steps {
        // The session's end comes after the commands, which the user ran before it.
        if matches!(&step.step, Step::Event(Event::SessionEnd)) {
            for line in commands {
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
        let descriptions = session.plugins().iter().filter_map(Running::description);
        let known: BTreeSet<_> =
            descriptions.flat_map(|description| &description.commands).map(|command| command.name.as_str()).collect();
        bail!("no plugin has a command `/{name}`; there is {}", Vec::from_iter(known).join(", "));
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
