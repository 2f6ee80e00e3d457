//! `chaperone eval`: how well a watcher judges, measured on labelled transcripts.

mod monitors;
mod report;
mod score;
mod statistics;
mod stop_guard;
mod trial;

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use futures_util::StreamExt as _;
use futures_util::stream;
use indicatif::{ProgressBar, ProgressStyle};

use super::report::Format;
use super::{Status, cases, setup, style};
use crate::cases::Case;
use crate::config::{BUILTINS, Config};
use monitors::Shelf;
use score::{Report, Tried};
use trial::{Bench, File};

/// The folder of the cases of all plugins.
const CASES: &str = "tests/judge-cases";
/// The plugin whose watchers are files.
const MONITORS: &str = "monitors";
/// The plugin that has a configuration of its own.
const STOP_GUARD: &str = "stop-guard";

#[derive(clap::Args)]
pub struct Arguments {
    /// The built-in plugin
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(BUILTINS))]
    plugin: String,
    /// Only the cases of these watchers
    #[arg(value_name = "NAME")]
    watchers: Vec<String>,
    /// Files of cases, or folders of them; by default `tests/judge-cases/PLUGIN`
    #[arg(long, value_name = "PATH", num_args = 1..)]
    cases: Vec<PathBuf>,
    /// Only the cases of this rule; may be given several times
    #[arg(long = "rule", value_name = "RULE")]
    rules: Vec<String>,
    /// Only the cases in this language; may be given several times
    #[arg(long = "language", value_name = "TAG")]
    languages: Vec<String>,
    #[command(flatten)]
    judge: setup::Judge,
    /// The configuration that has the providers; by default `chaperone.toml` of the project, if there is one
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A folder of monitors, measured in the place of the bundled ones
    #[arg(long, value_name = "DIR")]
    monitors: Option<PathBuf>,
    /// A configuration of the stop guard, such as its `config.json`, measured in the place of the defaults
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// How many cases are judged at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=256))]
    concurrency: u32,
    /// How often each case is judged
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// How the output looks
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Fails where the accuracy is below this share, such as 0.9
    #[arg(long, value_name = "ACCURACY", value_parser = accuracy)]
    fail_under: Option<f64>,
}

fn accuracy(text: &str) -> Result<f64, String> {
    let share: Option<f64> = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "an accuracy is a share from 0 to 1, such as 0.9".into())
}

pub fn eval(arguments: &Arguments) -> Result<Status> {
    let Arguments { plugin, concurrency, repeat, .. } = arguments;
    if arguments.monitors.is_some() && plugin != MONITORS {
        super::usage("--monitors belongs to `chaperone eval monitors`");
    }
    if arguments.settings.is_some() && plugin != STOP_GUARD {
        super::usage("--settings belongs to `chaperone eval stop-guard`");
    }
    let cases = chosen(arguments, read(arguments)?)?;
    let config = config(arguments)?;
    let provider = setup::provider(&config, &[], &arguments.judge)?;
    let judge = arguments.judge.model(&*provider);
    let judge_name = match &judge {
        Some(model) => format!("{}/{}", model.provider, model.model),
        None => provider.name().to_owned(),
    };
    let folder = tempfile::tempdir().context("cannot make an empty folder")?;
    let settings = arguments.settings.as_deref().map(stop_guard::settings).transpose()?;
    let with_files = with_files(arguments, settings.as_ref(), &cases, folder.path())?;
    let own = config.plugins.into_iter().next().context("a configuration has a plugin")?;
    let component = setup::component(&own.component)?;
    let bench = Bench { plugin: own, component, folder: folder.path(), provider, judge };
    if let Some((path, settings)) = arguments.settings.as_deref().zip(settings.as_ref()) {
        setup::block_on(stop_guard::check(&bench, path, settings))??;
    }
    if arguments.monitors.is_some() {
        setup::block_on(monitors::check(&bench, &with_files))??;
    }
    let tried = setup::block_on(try_all(&bench, &with_files, *concurrency, *repeat))??;
    let report = Report::new(plugin.clone(), judge_name, *repeat, &tried);
    let mut out = style::out();
    match arguments.format {
        Format::Text => report::print(&report, &mut out)?,
        Format::Json => writeln!(out, "{}", serde_json::to_string(&report)?)?,
    }
    Ok(verdict(&report, arguments.fail_under))
}

/// The providers of the project or the user, and the built-in plugin alone, as it is granted what it needs.
fn config(arguments: &Arguments) -> Result<Config> {
    let config = setup::config(arguments.config.as_deref(), &setup::project(None)?)?;
    let mut plugins = Config::default().plugins;
    plugins.retain(|plugin| plugin.name == arguments.plugin);
    for plugin in &mut plugins {
        // Judgement is measured, not speed: a busy machine must not change what comes out.
        plugin.limits.hook_ms = 10_000;
    }
    Ok(Config { plugins, ..config })
}

/// The cases of all files that are named, or of the folder of the plugin.
fn read(arguments: &Arguments) -> Result<Vec<Case>> {
    let of_plugin = [Path::new(CASES).join(&arguments.plugin)];
    let paths = if arguments.cases.is_empty() { &of_plugin[..] } else { &arguments.cases };
    let cases = cases::read(paths)?;
    // Of monitors, the files tell who there is. Nothing would ever be heard of another watcher, which counts as clean.
    let is_foreign = |case: &&Case| arguments.plugin != MONITORS && case.watcher != arguments.plugin;
    if let Some(Case { place, watcher, .. }) = cases.iter().find(is_foreign) {
        let plugin = &arguments.plugin;
        bail!(
            "{place}: `{plugin}` has no watcher `{watcher}`, it judges as `{plugin}`; correct the `watcher`, or name other cases"
        );
    }
    Ok(cases)
}

/// The cases that are meant.
fn chosen(arguments: &Arguments, mut cases: Vec<Case>) -> Result<Vec<Case>> {
    keep(&mut cases, "watcher", &arguments.watchers, |case| &case.watcher)?;
    keep(&mut cases, "rule", &arguments.rules, |case| &case.rule)?;
    keep(&mut cases, "language", &arguments.languages, |case| &case.language)?;
    Ok(cases)
}

/// Leaves the cases that have what is wanted, where anything is. Each wish must have at least one.
fn keep(cases: &mut Vec<Case>, kind: &str, wanted: &[String], of: fn(&Case) -> &String) -> Result<()> {
    let there: BTreeSet<&String> = cases.iter().map(of).collect();
    if let Some(missing) = wanted.iter().find(|wanted| !there.contains(wanted)) {
        let there: Vec<&str> = there.into_iter().map(String::as_str).collect();
        bail!("no case that is left has the {kind} `{missing}`; there is {}", there.join(", "));
    }
    cases.retain(|case| wanted.is_empty() || wanted.contains(of(case)));
    Ok(())
}

/// A case, and the files that its session finds.
type Scene<'c> = (&'c Case, Vec<File>);

/// Each case with the files of its watcher, where a watcher is files or has settings. `folder` is empty, and stays so.
fn with_files<'c>(
    arguments: &Arguments,
    settings: Option<&File>,
    cases: &'c [Case],
    folder: &Path,
) -> Result<Vec<Scene<'c>>> {
    let shelf = match &arguments.monitors {
        Some(own) => Some(Shelf::of(own)?),
        None if arguments.plugin == MONITORS => Some(Shelf::bundled(folder)?),
        None => None,
    };
    let files = |case: &Case| match &shelf {
        Some(shelf) => shelf.only(&case.watcher).with_context(|| case.place.clone()),
        None => Ok(settings.cloned().into_iter().collect()),
    };
    cases.iter().map(|case| Ok((case, files(case)?))).collect()
}

/// Tries each case `repeat` times, `concurrency` trials at a time.
async fn try_all<'c>(bench: &Bench<'_>, scenes: &[Scene<'c>], concurrency: u32, repeat: u32) -> Result<Vec<Tried<'c>>> {
    let progress = progress(scenes.len() as u64 * u64::from(repeat));
    let trials = scenes.iter().enumerate().flat_map(|(at, scene)| (0..repeat).map(move |_| (at, scene)));
    let running = trials.map(|(at, (case, files))| async move { (at, bench.run(case, files).await) });
    let mut running = stream::iter(running).buffer_unordered(concurrency as usize);
    let mut tried: Vec<Tried<'c>> = scenes.iter().map(|(case, _)| Tried { case, trials: Vec::new() }).collect();
    while let Some((at, trial)) = running.next().await {
        tried[at].trials.push(trial?);
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(tried)
}

fn progress(trials: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(trials);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} judged, {eta} left") {
        bar.set_style(style);
    }
    bar
}

/// Whether all went well, with what did not on stderr.
fn verdict(report: &Report, fail_under: Option<f64>) -> Status {
    let mut status = Status::Fine;
    let mut fail = |message: &str| {
        status = Status::Failed;
        anstream::eprintln!("{}error:{} {}", style::ERROR, style::RESET, style::plain(message));
    };
    for (case, failure) in report.failures() {
        fail(&format!("case `{case}`: the plugin failed in {failure}"));
    }
    if let Some(void) = report.void() {
        fail(&void.to_string());
    }
    if let (Some(wanted), Some(accuracy)) = (fail_under, report.score.accuracy)
        && accuracy < wanted
    {
        fail(&format!("the accuracy is {accuracy:.3}, below {wanted}"));
    }
    status
}
