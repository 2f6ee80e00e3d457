//! `chaperone monitors test`: what one monitor makes of a recorded session.

use std::path::PathBuf;

use anyhow::Result;

use super::component::{Monitors, Said};
use super::trust::{Trust, Word};
use super::{Place, tell};
use crate::cli::remember::{self, Access};
use crate::cli::report::{Format, Report};
use crate::cli::setup::Ground;
use crate::cli::watch::{Watch, Watched, watch};
use crate::cli::{Status, setup, style};

#[derive(clap::Args)]
pub struct Arguments {
    /// The monitor
    #[arg(value_parser = super::name)]
    name: String,
    /// A session file of the pi agent
    session: PathBuf,
    #[command(flatten)]
    judge: setup::Judge,
    /// The branch that ends at this entry; by default the newest
    #[arg(long, value_name = "ID")]
    leaf: Option<String>,
    /// Let all monitors of the project act. By default, those that `chaperone monitors trust` was told; with a scripted
    /// judge, all
    #[arg(long)]
    trust_project: bool,
    /// Write files, instead of showing what would be written
    #[arg(long)]
    write: bool,
}

/// Takes the session through all monitors, since one of them may keep another out. A monitor that runs on command is run
/// at the session's end.
pub fn test(arguments: &Arguments, place: &Place) -> Result<Status> {
    let Arguments { name, session, judge, leaf, trust_project, write } = arguments;
    let project = setup::project(place.cwd.as_deref())?;
    let config = setup::config(place.config.as_deref(), &project)?;
    let memory = remember::of_project(&config, &project, Access::Read)?;
    let mut monitors = Monitors::open(&config, project.clone(), &setup::storage(false)?, memory)?;
    monitors.check_is_no_word(name)?;
    let answer = monitors.ask(name)?;
    if answer.iter().any(|said| matches!(said, Said::Error(_))) {
        return tell(&answer);
    }
    let provider = setup::provider(&config, &[], judge)?;
    let watched = Watched::read(session, leaf.as_deref())?;
    let on_command = if monitors.has_command(name) { std::slice::from_ref(name) } else { &[] };
    let mut report = Report::new(Format::Text, Box::new(style::out()), *write).about(name);
    report.session(&watched.title, &watched.subtitle(&*provider), false);
    let ground = Ground::recorded(&project, setup::storage(*write)?);
    let mut plugins = setup::plugins(&config, &[monitors.plugin().into()], &ground)?;
    Trust::of(Word::of(*trust_project, &config, judge), &config, &project)?.tell(&mut plugins);
    let judge = judge.model(&*provider);
    let watchers =
        Watch { project: &project, plugins, provider, judge, commands: on_command, memory: None, recorder: None };
    watch(&watched, watchers, &mut report)?;
    report.finish()?;
    Ok(if report.summary.failures == 0 { Status::Fine } else { Status::Failed })
}
