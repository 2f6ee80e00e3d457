//! `/monitors …`: what the user asks about the monitors, and what is answered.

pub mod answers;
pub mod completion;
pub mod grammar;
pub mod patterns;
pub mod rules;
pub mod why;
pub mod wrong;

use chaperone_sdk::{Notice, Scope, Span, Tone, traces};

use crate::consent;
use crate::desk::Desk;
use crate::memory::{Habits, Notes};
use crate::roster::{self, Listed, Roster};
use crate::{fault, seeding};
use grammar::{Command, Verb};

/// The kind of notice that shows what is wrong with the files.
pub const CHECK_TYPE: &str = "monitor-check";

/// Does what a line asks for, and answers it.
pub fn run(desk: &mut Desk, arguments: &str) {
    let names: Vec<&str> = desk.watch.roster.monitors.iter().map(|listed| listed.name.as_str()).collect();
    match grammar::parse(arguments, &names) {
        Err(misspelt) => {
            let broken =
                misspelt.monitor().and_then(|word| desk.watch.roster.out_of_service().find(|(name, _)| *name == word));
            let text = match broken {
                Some((name, fault)) => format!("[{name}] is out of service: {fault}"),
                None => misspelt.to_string(),
            };
            desk.cx.notify(text, Tone::Error);
        }
        Ok(Command::List) => desk.cx.notify(answers::list(&desk.watch, &desk.memory), Tone::Normal),
        Ok(Command::Help) => desk.cx.notify(answers::HELP, Tone::Normal),
        Ok(Command::Check) => check(desk),
        Ok(Command::Init(wanted)) => seeding::init(desk, &wanted),
        Ok(Command::Why(finding)) => why::tell(desk, &finding),
        Ok(Command::Wrong(finding)) => wrong::mark(desk, &finding),
        Ok(Command::Log { monitor, count }) => {
            let text = traces::log(desk.cx, monitor.as_deref(), count);
            desk.cx.notify(text, Tone::Normal);
        }
        Ok(Command::Cost) => {
            let text = traces::cost::text(desk.cx);
            desk.cx.notify(text, Tone::Normal);
        }
        Ok(Command::ListTrust) => consent::list(desk),
        Ok(Command::Trust(name)) => consent::trust(desk, name.as_deref()),
        Ok(Command::Untrust(name)) => consent::untrust(desk, name.as_deref()),
        Ok(Command::On) => {
            desk.watch.off = false;
            desk.cx.notify("Monitors enabled", Tone::Normal);
        }
        Ok(Command::Off) => {
            desk.watch.off = true;
            desk.drop_steers(None);
            desk.cx.notify("All monitors paused for this session", Tone::Normal);
        }
        Ok(Command::Monitor { name, verb }) => {
            if let Some(listed) = desk.watch.roster.find(&name).cloned() {
                about(desk, &listed, verb);
            }
        }
    }
}

fn about(desk: &mut Desk, listed: &Listed, verb: Verb) {
    let name = &listed.name;
    match verb {
        Verb::Inspect => inspect(desk, listed),
        Verb::Rules(None) => rules::list(desk, listed),
        Verb::Rules(Some(edit)) => rules::edit(desk, listed, edit),
        Verb::Patterns(None) => patterns::list(desk, listed),
        Verb::Patterns(Some(ruling)) => patterns::rule(desk, listed, ruling),
        Verb::Dismiss => {
            dismiss(desk, name);
            desk.cx.notify(answers::dismissed(name), Tone::Normal);
        }
        Verb::Reset => {
            desk.watch.dismissed.remove(name);
            *desk.memory.notes(name) = Notes::default();
            desk.cx.notify(format!("[{name}] Reset"), Tone::Normal);
        }
    }
}

/// Silences a monitor for the session: nothing of it that is under way reaches the agent any more.
pub fn dismiss(desk: &mut Desk, name: &str) {
    desk.watch.dismissed.insert(name.into());
    desk.memory.notes(name).count = 0;
    desk.drop_steers(Some(name));
}

fn inspect(desk: &mut Desk, listed: &Listed) {
    let text = match roster::load(desk.cx, listed) {
        Ok(monitor) => {
            let rules = crate::rules::load(desk.cx, &monitor.instructions).map(|list| list.entries.len());
            let patterns = crate::patterns::load(desk.cx, &monitor.patterns).map(|list| list.entries.len());
            answers::inspect(listed, &desk.watch, &desk.memory, rules, patterns)
        }
        Err(fault) => return desk.cx.notify(format!("[{}] {fault}", listed.name), Tone::Error),
    };
    desk.cx.notify(text, Tone::Normal);
}

/// Reads all files again and tells what is wrong with them.
fn check(desk: &mut Desk) {
    let habits: Habits = desk.cx.state(Scope::Project);
    let roster = roster::discover(desk.cx, &habits.trust);
    let to_mend = roster.faults.iter().filter(|fault| fault.is_to_be_mended());
    let (errors, warnings): (Vec<_>, Vec<_>) = to_mend.partition(|fault| fault.is_error());
    let (title, tone) = answers::checked(roster.monitors.len(), errors.len(), warnings.len(), roster.untrusted.len());
    let details = roster.faults.iter().map(|fault| {
        let tone = match fault.severity {
            fault::Severity::Error => Tone::Error,
            fault::Severity::Warning => Tone::Warning,
            fault::Severity::Note => Tone::Muted,
        };
        vec![Span { text: fault.to_string(), tone }]
    });
    desk.cx.show(Notice {
        custom_type: CHECK_TYPE.into(),
        title: vec![Span { text: title.clone(), tone }],
        details: details.collect(),
        data: Some(serde_json::json!({ "faults": roster.faults }).to_string()),
    });
    let lines = roster.faults.iter().map(|fault| format!("\n{}: {fault}", fault.severity));
    desk.cx.notify(title + &lines.collect::<String>(), tone);
    desk.watch.told_faults = Some(digest(&roster));
    desk.watch.roster = roster;
}

/// Tells the user of faulty files: one line for each file, and only what was not told before.
pub fn tell_faults(desk: &mut Desk) {
    let digest = digest(&desk.watch.roster);
    if !desk.watch.roster.faults.iter().any(fault::Fault::is_to_be_mended) || desk.watch.told_faults == Some(digest) {
        return;
    }
    desk.watch.told_faults = Some(digest);
    for line in answers::faulty_files(&desk.watch.roster.faults) {
        desk.cx.notify(line, Tone::Warning);
    }
}

/// Equal for equal faults.
fn digest(roster: &Roster) -> u64 {
    use std::hash::Hasher;
    let mut hasher = siphasher::sip::SipHasher13::new();
    for fault::Fault { mount, file, pointer, message, .. } in &roster.faults {
        for part in [mount, file, pointer, message] {
            hasher.write(part.as_bytes());
            hasher.write_u8(0xff);
        }
    }
    hasher.finish()
}
