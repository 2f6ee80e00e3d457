//! `chaperone monitors test`: what one monitor makes of a session, recorded or made up.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;

use super::component::{Monitors, Said};
use super::trust::{Trust, Word};
use super::{Place, tell};
use crate::cases::Case;
use crate::cli::cases::{choose, is_file_of_cases, read, repository};
use crate::cli::remember::{self, Access};
use crate::cli::report::{Format, Report};
use crate::cli::setup::Ground;
use crate::cli::style::{self, HEADING, MUTED, RESET};
use crate::cli::watch::{Watch, Watched, watch};
use crate::cli::{Status, setup};
use crate::files::Repository;

#[derive(clap::Args)]
pub struct Arguments {
    /// The monitor
    #[arg(value_parser = super::name)]
    name: String,
    /// A session file of the pi agent, or a file of labelled cases (*.yaml)
    session: PathBuf,
    #[command(flatten)]
    judge: setup::Judge,
    /// The case of a file of cases; may be left out where it has only one
    #[arg(long, value_name = "RULE/NAME")]
    case: Option<String>,
    /// The branch of a session that ends at this entry; by default the newest
    #[arg(long, value_name = "ID")]
    leaf: Option<String>,
    /// Show what the judge is asked, word for word
    #[arg(long)]
    show_question: bool,
    /// Let all monitors of the project act. By default, those that `chaperone monitors trust` was told; with a scripted
    /// judge, all
    #[arg(long)]
    trust_project: bool,
    /// Write files, instead of showing what would be written
    #[arg(long)]
    write: bool,
}

/// Takes the session through all monitors, since one of them may keep another out. A monitor that runs on command is run
/// at the session's end, unless the case says what is.
pub fn test(arguments: &Arguments, place: &Place) -> Result<Status> {
    let Arguments { name, session, judge, leaf, show_question, trust_project, write, .. } = arguments;
    let project = setup::project(place.cwd.as_deref())?;
    let config = setup::config(place.config.as_deref(), &project)?;
    let word = Word::of(*trust_project, &config, judge);
    let memory = match word {
        Word::All => None,
        Word::Kept => remember::of_project(&config, &project, Access::Read)?,
    };
    let mut monitors = Monitors::open(&config, project.clone(), &setup::storage(false)?, memory)?;
    monitors.check_is_no_word(name)?;
    if word == Word::All {
        monitors.ask("trust all")?;
    }
    let answer = monitors.ask(name)?;
    if answer.iter().any(|said| matches!(said, Said::Error(_))) {
        return tell(&answer);
    }
    let provider = setup::provider(&config, &[], judge)?;
    let case = case(arguments)?;
    let watched = match &case {
        Some(case) => Watched::of_case(session, case),
        None => Watched::read(session, leaf.as_deref())?,
    };
    let mut ground = Ground::recorded(&project, setup::storage(*write)?);
    if let Some(case) = &case {
        ground.repository = repository(case);
    }
    let own = monitors.has_command(name).then(|| name.clone());
    let command = case.as_ref().and_then(|case| case.command.clone()).or(own);
    let mut report = Report::new(Format::Text, Box::new(style::out()), *write).about(name);
    if *show_question {
        report = report.with_questions();
    }
    report.session(&watched.title, &watched.subtitle(&*provider), false);
    let mut plugins = setup::plugins(&config, &[monitors.plugin().into()], &ground)?;
    Trust::of(word, &config, &project)?.tell(&mut plugins);
    let judge = judge.model(&*provider);
    let commands = command.as_slice();
    let watchers = Watch { project: &project, plugins, provider, judge, commands, memory: None, recorder: None };
    watch(&watched, watchers, &mut report)?;
    report.finish()?;
    let mut out = style::out();
    if let Some(case) = &case {
        expected(&mut out, name, case, &report)?;
    }
    if report.last_word().has_never_looked() {
        never_looked(&mut out, name, &answer)?;
    }
    if let Repository::OutOfReach(reason) = &ground.repository
        && report.has_shown(&format!("(not available: {reason})"))
    {
        let mend = match &case {
            Some(_) => "write it under `git_status` of the case",
            None => "a case can bring one along, see docs/eval.md",
        };
        writeln!(out, "\nThe judge was shown no git_status: {reason}; {mend}")?;
    }
    Ok(if report.summary.failures == 0 { Status::Fine } else { Status::Failed })
}

/// The case that is meant. None: the session was recorded.
fn case(Arguments { session, case, leaf, .. }: &Arguments) -> Result<Option<Case>> {
    match (is_file_of_cases(session), case, leaf) {
        (false, Some(_), _) => crate::cli::usage("--case belongs to a file of cases (*.yaml)"),
        (true, _, Some(_)) => crate::cli::usage("--leaf belongs to a session file, a case has one branch"),
        (false, None, _) => Ok(None),
        (true, case, None) => choose(session, read(std::slice::from_ref(session))?, case.as_deref()).map(Some),
    }
}

/// Holds what was said last against the label, below the figures.
fn expected(out: &mut dyn Write, name: &str, case: &Case, report: &Report<'_>) -> Result<()> {
    let Case { expect, watcher, why, .. } = case;
    if watcher != name {
        writeln!(out, "\n  expected   nothing: the case is about {}", style::plain(watcher))?;
        return Ok(());
    }
    let said = report.last_word().said;
    let style = if expect.is_met_by(said) { style::ADDED } else { style::ERROR };
    writeln!(out, "\n  expected   {expect}  {MUTED}{}{RESET}", style::plain(why))?;
    writeln!(out, "  said       {style}{said}{style:#}")?;
    Ok(())
}

/// Says what would have made the monitor look, in the words in which the plugin told about it.
fn never_looked(out: &mut dyn Write, name: &str, about: &[Said]) -> Result<()> {
    let lines = about.iter().filter_map(|said| match said {
        Said::Line { text, .. } => Some(text.lines()),
        Said::Error(_) | Said::Notice(_) => None,
    });
    let line = |begin: &str| lines.clone().flatten().find(|line| line.starts_with(begin)).map(style::plain);
    let name = style::plain(name);
    if let Some(inactive) = line("state: inactive") {
        writeln!(out, "\n{HEADING}{name} could not look{RESET}\n  {inactive}")?;
    } else {
        writeln!(out, "\n{HEADING}{name} never looked{RESET}: the agent was never in a state in which it does")?;
        if let Some(event) = line("event: ") {
            writeln!(out, "  {event}")?;
        }
    }
    Ok(())
}
