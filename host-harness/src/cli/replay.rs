//! `chaperone replay`: a recording again.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use similar::TextDiff;

use super::{Status, setup, style};
use crate::record::RecordedResult;
use crate::replay::{Difference, Ending};

#[derive(clap::Args)]
pub struct Arguments {
    /// A file that `chaperone run --record` or `chaperone serve --record` wrote
    recording: PathBuf,
    /// Another component in the place of a recorded one, to see what a new version does differently; may be given
    /// several times
    #[arg(long = "component", value_name = "NAME=FILE", value_parser = substitute)]
    components: Vec<(String, String)>,
}

fn substitute(text: &str) -> Result<(String, String), String> {
    let (name, file) = text.split_once('=').ok_or("should be NAME=FILE")?;
    Ok((name.into(), file.into()))
}

pub fn replay(arguments: &Arguments) -> Result<Status> {
    let path = arguments.recording.display();
    let file = File::open(&arguments.recording).with_context(|| format!("cannot read {path}"))?;
    let substitutes: HashMap<_, _> = arguments.components.iter().cloned().collect();
    let mut recorded_names = BTreeSet::new();
    let report = crate::replay::replay(BufReader::new(file), |recorded| {
        recorded_names.insert(recorded.name.clone());
        let source = substitutes.get(&recorded.name).unwrap_or(&recorded.source);
        setup::component(&setup::component_of_source(source)).map_err(|error| format!("{error:#}"))
    })
    .with_context(|| path.to_string())?;
    for plugin in &report.changed_components {
        anstream::eprintln!(
            "{}note:{} the component of `{}` is not the recorded one",
            style::WARNING,
            style::RESET,
            style::plain(plugin)
        );
    }
    if report.ending == Ending::CutOff {
        anstream::eprintln!(
            "{}note:{} the recording ends without its end: the process that wrote it was killed, or failed",
            style::WARNING,
            style::RESET
        );
    }
    match report.difference {
        None => {
            // A name that is not in the recording replaced nothing: that nothing differs would say nothing.
            if let Some((name, _)) = arguments.components.iter().find(|(name, _)| !recorded_names.contains(name)) {
                bail!(
                    "{path}: there is no plugin `{name}` in it; there is {}",
                    Vec::from_iter(recorded_names).join(", ")
                );
            }
            writeln!(style::out(), "{} hooks, no difference", report.hooks)?;
            Ok(Status::Fine)
        }
        Some(difference) => {
            show(&mut style::out(), &difference)?;
            Ok(Status::Failed)
        }
    }
}

fn show(out: &mut dyn Write, difference: &Difference) -> io::Result<()> {
    let Difference { line, plugin, event, recorded, now, unrecorded_reads } = difference;
    writeln!(out, "line {line}: `{}` answers {} differently", style::plain(plugin), event.name())?;
    for location in unrecorded_reads {
        let location = format!("{}:{}", location.mount, location.path);
        writeln!(out, "  it reads {}, which the recording does not have", style::plain(&location))?;
    }
    let (before, after) = (pretty(recorded), pretty(now));
    for hunk in TextDiff::from_lines(&before, &after).unified_diff().header("recorded", "now").iter_hunks() {
        for line in hunk.to_string().lines() {
            let style = match line.chars().next() {
                Some('+') => style::ADDED,
                Some('-') => style::REMOVED,
                _ => style::MUTED,
            };
            writeln!(out, "{style}{}{}", style::plain(line), style::RESET)?;
        }
    }
    Ok(())
}

fn pretty(result: &RecordedResult) -> String {
    serde_json::to_string_pretty(result).map_or_else(|error| error.to_string(), |text| text + "\n")
}
