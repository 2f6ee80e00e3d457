//! `chaperone monitors check`: all that is wrong with the files of monitors, with its place.
//!
//! Two judges look at each file. The plugin knows what a monitor needs in order to work, and its word counts. The JSON
//! Schemas that editors use also know what the plugin does not care about, such as a misspelt `source` of a pattern.

pub mod files;
mod merge;
mod place;
mod schema;

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use super::component::{Monitors, Said};
use super::shell::in_shell;
use crate::cli::report::Format;
use crate::cli::{Status, style};
use crate::project;
use files::Kind;
use merge::{Fault, Severity};
use place::Place;

/// The kind of notice in which the plugin says what is wrong.
const NOTICE: &str = "monitor-check";

/// The notice's data.
#[derive(Deserialize)]
struct Answer {
    faults: Vec<Fault>,
}

/// A fault as it is told; its form in JSON.
#[derive(Debug, PartialEq, Serialize)]
struct Told {
    file: String,
    /// None: there is no such file, or it cannot be read.
    line: Option<usize>,
    column: Option<usize>,
    pointer: String,
    severity: Severity,
    message: String,
    mend: String,
}

/// Tells all faults. Failed, if one of them is an error.
pub fn check(monitors: &mut Monitors, format: Format) -> Result<Status> {
    let of_plugin = ask(monitors)?;
    let files = files::find(monitors.files());
    let faults = merge::merged(of_plugin, &files);
    let current = env::current_dir().and_then(|folder| folder.canonicalize()).ok();
    let mut told: Vec<Told> = faults
        .into_iter()
        .map(|fault| {
            let path = path(monitors, &fault.mount, &fault.file);
            let text = files.iter().find(|file| file.is(&fault.mount, &fault.file)).map(|file| file.text.as_str());
            Told::new(fault, &shown(&path, current.as_deref()), text)
        })
        .collect();
    told.sort_by(|a, b| (&a.file, a.line, a.column, &a.pointer).cmp(&(&b.file, b.line, b.column, &b.pointer)));
    let mut out = style::out();
    match format {
        Format::Text => text(&mut out, &told, files.iter().filter(|file| file.kind == Kind::Definition).count())?,
        Format::Json => {
            for fault in &told {
                serde_json::to_writer(&mut out, fault).map_err(io::Error::from)?;
                out.write_all(b"\n")?;
            }
        }
    }
    let has_error = told.iter().any(|fault| fault.severity == Severity::Error);
    Ok(if has_error { Status::Failed } else { Status::Fine })
}

/// What the plugin finds.
fn ask(monitors: &mut Monitors) -> Result<Vec<Fault>> {
    let said = monitors.ask("check")?;
    let notice = said.into_iter().find_map(|said| match said {
        Said::Notice(notice) if notice.custom_type == NOTICE => notice.data,
        _ => None,
    });
    let data = notice.context("the plugin says nothing about its files")?;
    let answer: Answer =
        serde_json::from_str(&data).context("the plugin's answer about its files means nothing here")?;
    Ok(answer.faults)
}

impl Told {
    fn new(fault: Fault, file: &str, text: Option<&str>) -> Self {
        let Fault { pointer, severity, .. } = fault;
        let [message, mend] = [fault.message, fault.mend].map(|text| in_shell(&text).into_owned());
        let place = text.map(|text| place::of(text, &pointer));
        let (line, column) = place.map(|Place { line, column }| (line, column)).unzip();
        Self { file: file.into(), line, column, pointer, severity, message, mend }
    }
}

/// Where a file of a mount is on the disk.
fn path(monitors: &Monitors, mount: &str, file: &str) -> PathBuf {
    let folder = match mount {
        "project" => Some(monitors.project.config_dir.clone()),
        "user" => project::user_dir(),
        _ => Some(monitors.project.root.clone()),
    };
    folder.unwrap_or_else(|| PathBuf::from(mount)).join(file)
}

/// A path, from the current folder where it is below it.
fn shown(path: &Path, current: Option<&Path>) -> String {
    let below = current.and_then(|current| path.strip_prefix(current).ok());
    below.unwrap_or(path).display().to_string()
}

fn text(out: &mut dyn Write, told: &[Told], monitors: usize) -> io::Result<()> {
    let reset = style::RESET;
    for Told { file, line, column, pointer, severity, message, mend } in told {
        let place = line.zip(*column).map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
        let (style, word) = match severity {
            Severity::Error => (style::ERROR, "error"),
            Severity::Warning => (style::WARNING, "warning"),
            Severity::Note => (style::MUTED, "note"),
        };
        let pointer = if pointer.is_empty() { String::new() } else { format!(" {pointer}:") };
        let [file, pointer, message, mend] = [file, &pointer, message, mend].map(|text| style::plain(text));
        writeln!(out, "{}{file}{place}{reset}: {style}{word}:{reset}{pointer} {message}", style::HEADING)?;
        writeln!(out, "    {mend}")?;
    }
    let count = |severity| told.iter().filter(|fault| fault.severity == severity).count();
    let monitors = counted(monitors, "monitor");
    if told.is_empty() {
        return writeln!(out, "{monitors}, no faults");
    }
    let errors = counted(count(Severity::Error), "error");
    writeln!(out, "{monitors}, {errors}, {}", counted(count(Severity::Warning), "warning"))
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_the_current_folder_where_they_are_below_it() {
        let current = Some(Path::new("/w/a"));
        assert_eq!(shown(Path::new("/w/a/.pi/monitors/x.json"), current), ".pi/monitors/x.json");
        assert_eq!(shown(Path::new("/w/.pi/monitors/x.json"), current), "/w/.pi/monitors/x.json");
        assert_eq!(shown(Path::new("/w/ab/x.json"), current), "/w/ab/x.json");
    }

    #[test]
    fn a_fault_of_a_file_that_is_not_there_has_no_place() {
        let fault = Fault {
            mount: "project".into(),
            file: "monitors/p.json".into(),
            pointer: String::new(),
            message: "is missing".into(),
            mend: "make it".into(),
            severity: Severity::Error,
        };
        let told = Told::new(fault, ".pi/monitors/p.json", None);
        assert_eq!((told.line, told.column), (None, None));
        let mut out = Vec::new();
        text(&mut anstream::StripStream::new(&mut out), &[told], 1).unwrap();
        let expected = ".pi/monitors/p.json: error: is missing\n    make it\n1 monitor, 1 error, 0 warnings\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
