//! Which monitors there are: the files of the project, then those of the user.

mod excludes;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use chaperone_sdk::{Context, FileError, Location};
use serde::{Deserialize, Serialize};

use crate::definition::{self, Collector, Escalate, Monitor, Trigger};
use crate::evidence::git;
use crate::evidence::selection::Selection;
use crate::fault::{Fault, Report};
use crate::scope::Subject;
use crate::trust::{self, Fingerprint, Standing, Words};
use crate::waiting::Waiting;
use crate::when::When;
use crate::{patterns, precheck, proposals, rules};

/// The mounts that hold monitors, the first one first: where both have a monitor of one name, the first one's counts.
pub const MOUNTS: [&str; 2] = ["project", "user"];

/// The folder of monitors in each mount.
pub const FOLDER: &str = "monitors";

/// How the name of a monitor file ends.
pub const SUFFIX: &str = ".monitor.json";

/// All monitors, and what is wrong with their files: what a hook needs to know to decide that nothing is to be done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Roster {
    /// The project's, then the user's, each by file name. Names are unique.
    pub monitors: Vec<Listed>,
    /// By file, in the same order.
    pub faults: Vec<Fault>,
    /// Monitors of the project that are not trusted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untrusted: Vec<Untrusted>,
}

/// A monitor of the project that is not trusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Untrusted {
    /// Its name.
    pub name: String,
    /// When it would look.
    pub event: Trigger,
    /// Why it is not trusted.
    pub reason: trust::Reason,
    /// What it would do.
    pub would: String,
    /// What it is now.
    pub fingerprint: Fingerprint,
}

/// What is to be known of a monitor without its files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// The mount of its file.
    pub mount: String,
    /// The path of its file.
    pub file: String,
    /// What it watches for. May be empty.
    pub description: String,
    /// When it looks.
    pub event: Trigger,
    /// What must have happened.
    pub when: When,
    /// Whose work it looks at.
    pub scope: Subject,
    /// Monitors whose steer makes it keep out of the turn.
    pub excludes: Vec<String>,
    /// After how many steers in a row it escalates.
    pub ceiling: NonZeroU32,
    /// How.
    pub escalate: Escalate,
    /// How often at most its judge is asked within one user prompt.
    pub max_per_prompt: NonZeroU32,
    /// What its judge is shown.
    pub shows: Selection,
    /// What is decided before its judge is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub precheck: Vec<precheck::Rule>,
    /// States in which it does not look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exempt: Vec<Waiting>,
    /// Whether it may refuse a tool call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocks: bool,
    /// Whether it writes clean verdicts down.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub records_clean: bool,
    /// Whether it may act.
    pub trust: Standing,
    /// Why it never looks, such as for want of patterns. None: it is in order.
    pub inactive: Option<String>,
}

impl Roster {
    /// The monitor of that name.
    pub fn find(&self, name: &str) -> Option<&Listed> {
        self.monitors.iter().find(|monitor| monitor.name == name)
    }

    /// The files of monitors that cannot be used, by the name that each would have, with the gravest fault of each.
    pub fn out_of_service(&self) -> impl Iterator<Item = (&str, &Fault)> {
        let mut seen = BTreeSet::new();
        self.faults.iter().filter(|fault| fault.is_error()).filter_map(move |fault| {
            let name = fault.file.strip_prefix(FOLDER)?.strip_prefix('/')?.strip_suffix(SUFFIX)?;
            let is_of = |listed: &Listed| *listed.mount == *fault.mount && *listed.file == *fault.file;
            let is_used = self.monitors.iter().any(is_of);
            (!is_used && seen.insert((&fault.mount, &fault.file))).then_some((name, fault))
        })
    }

    /// Adds what is wrong with a file that several monitors may name.
    fn report(&mut self, faults: impl IntoIterator<Item = Fault>) {
        for fault in faults {
            if !self.faults.contains(&fault) {
                self.faults.push(fault);
            }
        }
    }
}

impl Listed {
    /// The routing entry of a monitor.
    pub fn new(monitor: &Monitor, mount: &str, file: &str, inactive: Option<String>) -> Self {
        Self {
            name: monitor.name.clone(),
            mount: mount.into(),
            file: file.into(),
            description: monitor.description.clone(),
            event: monitor.event,
            when: monitor.when.clone(),
            scope: monitor.scope.clone(),
            excludes: monitor.classify.excludes.clone(),
            ceiling: monitor.ceiling,
            escalate: monitor.escalate,
            max_per_prompt: monitor.classify.max_per_prompt,
            shows: monitor.classify.shows.clone(),
            precheck: monitor.classify.precheck.clone(),
            exempt: monitor.classify.exempt.clone(),
            blocks: monitor.blocks(),
            records_clean: monitor.actions.on_clean.as_ref().is_some_and(|action| action.write.is_some()),
            trust: Standing::Own,
            inactive,
        }
    }
}

/// Reads every monitor, and the files that it names. `words` is what the user said of the project's monitors.
pub fn discover(cx: &Context, words: &Words) -> Roster {
    let mut roster = Roster::default();
    for mount in MOUNTS {
        let names = match cx.list(mount, FOLDER) {
            Ok(names) => names,
            Err(FileError::NotFound) => continue,
            Err(error) => {
                roster.faults.push(unreadable(mount, FOLDER, &error));
                continue;
            }
        };
        for name in names.iter().filter(|name| name.ends_with(SUFFIX)) {
            admit(cx, &mut roster, words, mount, &format!("{FOLDER}/{name}"));
        }
    }
    excludes::check(&mut roster);
    roster
}

/// Reads a listed monitor's file again.
///
/// # Errors
/// Where the file can no longer be used, or is no longer this monitor's.
pub fn load(cx: &Context, listed: &Listed) -> Result<Monitor, Fault> {
    let Listed { mount, file, name, .. } = listed;
    let text = cx.read(mount, file).map_err(|error| unreadable(mount, file, &error))?;
    match definition::parse(mount, file, &text) {
        (Some(monitor), _) if monitor.name == *name => Ok(monitor),
        (Some(monitor), _) => {
            let mut report = Report::new(mount, file);
            let message = format!("was `{name}`, and is now `{}`", monitor.name);
            report.error("/name", message, "try again: the list of monitors is read anew");
            Err(report.into_faults().pop().expect("an error was reported"))
        }
        (None, faults) => Err(faults.into_iter().find(Fault::is_error).expect("only an error leaves no monitor")),
    }
}

/// Adds the monitor of a file to the roster, or what is wrong with it.
fn admit(cx: &Context, roster: &mut Roster, words: &Words, mount: &str, file: &str) {
    let text = match cx.read(mount, file) {
        Ok(text) => text,
        Err(error) => return roster.faults.push(unreadable(mount, file, &error)),
    };
    let (monitor, faults) = definition::parse(mount, file, &text);
    roster.faults.extend(faults);
    let Some(monitor) = monitor else { return };
    let is_trusted = |listed: &Listed| !matches!(listed.trust, Standing::Untrusted(_));
    // A monitor that came with a repository must not stand in the way of the user's own.
    roster.monitors.retain(|first| first.name != monitor.name || first.mount == mount || is_trusted(first));
    if let Some(first) = roster.find(&monitor.name) {
        let mut report = Report::new(mount, file);
        let message = format!("`{}` is already the name of {}:{}", monitor.name, first.mount, first.file);
        match first.mount == mount {
            true => report.error("/name", message, "give one of them another name"),
            false => report.remark("/name", format!("{message}, which is used"), "rename one of them to use both"),
        }
        return roster.faults.extend(report.into_faults());
    }
    check_grants(cx, roster, &monitor, mount, file);
    let inactive = check_lists(cx, roster, &monitor);
    let mut listed = Listed::new(&monitor, mount, file, inactive);
    if let Some(fingerprint) = (mount == trust::FOREIGN).then(|| Fingerprint::read(cx, file, &monitor)).flatten() {
        listed.trust = trust::standing(words, &monitor.name, &fingerprint);
        if let Standing::Untrusted(reason) = &listed.trust {
            listed.inactive = Some(reason.to_string());
            roster.untrusted.push(Untrusted {
                name: monitor.name.clone(),
                event: monitor.event,
                reason: reason.clone(),
                would: trust::would_do(&monitor),
                fingerprint,
            });
        }
    }
    roster.monitors.push(listed);
}

/// Warns of evidence that the host does not give out.
fn check_grants(cx: &Context, roster: &mut Roster, monitor: &Monitor, mount: &str, file: &str) {
    let shown = &monitor.classify.shows.collectors;
    let Some(index) = shown.iter().position(|collector| *collector == Collector::GitStatus) else { return };
    if let Some(reason) = git::refusal(cx) {
        let mut report = Report::new(mount, file);
        let message = format!("`git_status` is not available: {reason}");
        let mend = "write git = \"read\" under [plugin.grants.files] of chaperone.toml";
        report.warning(format!("/classify/context/{index}"), message, mend);
        roster.report(report.into_faults());
    }
}

/// Reads the patterns and rules of a monitor. The result says why it cannot work with them.
fn check_lists(cx: &Context, roster: &mut Roster, monitor: &Monitor) -> Option<String> {
    let Location { mount, path } = &monitor.patterns;
    let mut inactive = None;
    match patterns::load(cx, &monitor.patterns) {
        Ok(list) => {
            roster.report(list.faults);
            if list.entries.is_empty() {
                inactive = Some(format!("there are no patterns in {mount}:{path}"));
                let mut report = Report::new(mount, path);
                report.warning("", "has no usable pattern, so the monitor never looks", "add a pattern");
                roster.report(report.into_faults());
            }
        }
        Err(fault) => {
            inactive = Some(format!("{mount}:{path}: {}", fault.message));
            roster.report([fault]);
        }
    }
    match rules::load(cx, &monitor.instructions) {
        Ok(list) => roster.report(list.faults),
        Err(fault) => {
            inactive.get_or_insert_with(|| format!("{}:{}: {}", fault.mount, fault.file, fault.message));
            roster.report([fault]);
        }
    }
    match proposals::load(cx, &monitor.patterns) {
        Ok(list) => roster.report(list.faults),
        Err(fault) => roster.report([fault]),
    }
    inactive
}

/// The fault of a file or folder that the host did not give out.
pub fn unreadable(mount: &str, path: &str, error: &FileError) -> Fault {
    let (message, mend) = match error {
        FileError::NotFound => ("is missing".to_owned(), "make the file, or correct the path that leads to it"),
        FileError::Denied(reason) => {
            (format!("may not be read: {reason}"), "grant it under [plugin.grants.files] of chaperone.toml")
        }
        FileError::TooLarge(bytes) => (format!("is too large to be read: {bytes} bytes"), "make it smaller"),
        FileError::NotUtf8 => ("is not UTF-8 text".to_owned(), "save it as UTF-8"),
        FileError::NotJson(reason) | FileError::Conflict(reason) | FileError::Io(reason) => {
            (format!("cannot be read: {reason}"), "see to that cause")
        }
    };
    let mut report = Report::new(mount, path);
    report.error("", message, mend);
    report.into_faults().pop().expect("one was reported")
}
