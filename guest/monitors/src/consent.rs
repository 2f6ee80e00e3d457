//! Asking the user whom to trust, and keeping the answer: of the project, in the user's own store, never in the repository.

use chaperone_sdk::{Answer, Mode, Prompt, Scope, Tone};

use crate::definition::Monitor;
use crate::desk::Desk;
use crate::errand::Errand;
use crate::memory::Habits;
use crate::roster::{self, Listed, Untrusted};
use crate::trust::{self, Fingerprint, Reason, Standing, Word, Words};

/// Asks whether the project's monitors are trusted, or, where there is nobody to be asked, says that they are not.
pub fn offer(desk: &mut Desk) {
    let new: Vec<&Untrusted> =
        desk.watch.roster.untrusted.iter().filter(|monitor| monitor.reason != Reason::Refused).collect();
    if new.is_empty() {
        return;
    }
    if desk.cx.session().mode == Mode::OneShot {
        return tell(desk);
    }
    let lines: Vec<String> = new.iter().map(|monitor| line(monitor)).collect();
    let words = new.iter().map(|monitor| (monitor.name.clone(), Word::Trusted(monitor.fingerprint.clone()))).collect();
    let id = desk.cx.ask(Prompt::Confirm((
        "Trust the monitors of this project?".into(),
        format!(
            "They came with its files, and are inactive until you trust them:\n{}\nEach judgement is a call of a language \
             model. With no, this is not asked again until their files change; /monitors trust does it at any time.",
            lines.join("\n")
        ),
    )));
    told(desk);
    desk.watch.sent(id, Errand::TrustOffer(words));
}

/// The user has answered the offer. Files that were changed meanwhile are not what was asked about.
pub fn answered(desk: &mut Desk, words: Words, answer: &Answer) {
    match answer {
        Answer::Confirmed(true) => {
            let names: Vec<String> = words.keys().cloned().collect();
            say(desk, words);
            desk.cx.notify(format!("Trusted: {}", names.join(", ")), Tone::Success);
        }
        Answer::Confirmed(false) => {
            let declined = |word| match word {
                Word::Trusted(fingerprint) => Word::Declined(fingerprint),
                word => word,
            };
            say(desk, words.into_iter().map(|(name, word)| (name, declined(word))).collect());
        }
        _ => {
            desk.watch.told_untrusted.clear();
            tell(desk);
        }
    }
}

/// Tells of the monitors that are not trusted, as far as that was not told before with the same content.
pub fn tell(desk: &mut Desk) {
    let is_news = |monitor: &&Untrusted| {
        monitor.reason != Reason::Refused
            && desk.watch.told_untrusted.get(&monitor.name) != Some(&monitor.fingerprint.seal())
    };
    let lines: Vec<String> = desk
        .watch
        .roster
        .untrusted
        .iter()
        .filter(is_news)
        .map(|Untrusted { name, reason, .. }| {
            format!("[{name}] Inactive: {reason}; /monitors trust says what it would do")
        })
        .collect();
    for line in lines {
        desk.cx.notify(line, Tone::Warning);
    }
    told(desk);
}

fn told(desk: &mut Desk) {
    let seal = |monitor: &Untrusted| (monitor.name.clone(), monitor.fingerprint.seal());
    desk.watch.told_untrusted = desk.watch.roster.untrusted.iter().map(seal).collect();
}

/// `/monitors trust`: who is not trusted, and what each would do.
pub fn list(desk: &mut Desk) {
    let roster = &desk.watch.roster;
    let mut text = String::new();
    if roster.untrusted.is_empty() {
        text.push_str("No monitor of this project waits to be trusted.");
    } else {
        text.push_str("Not trusted, and inactive:");
        for monitor in &roster.untrusted {
            text.push_str(&format!("\n  {}", line(monitor)));
        }
        text.push_str("\n/monitors trust <name>|all activates them; look at their files first");
    }
    let trusted: Vec<&str> = roster
        .monitors
        .iter()
        .filter(|listed| matches!(listed.trust, Standing::Trusted(_)))
        .map(|listed| listed.name.as_str())
        .collect();
    if !trusted.is_empty() {
        text.push_str(&format!("\nTrusted with their present files: {}", trusted.join(", ")));
    }
    desk.cx.notify(text, Tone::Normal);
}

/// `/monitors trust <name>`, or all.
pub fn trust(desk: &mut Desk, name: Option<&str>) {
    refresh(desk);
    let untrusted = desk.watch.roster.untrusted.iter().filter(|monitor| name.is_none_or(|name| monitor.name == name));
    let words: Words =
        untrusted.map(|monitor| (monitor.name.clone(), Word::Trusted(monitor.fingerprint.clone()))).collect();
    if words.is_empty() {
        let text = match name {
            Some(name) => match desk.watch.roster.find(name) {
                Some(listed) if listed.trust == Standing::Own => {
                    format!("[{name}] is in your own folder, and needs no trust")
                }
                _ => format!("[{name}] is trusted already"),
            },
            None => "No monitor of this project waits to be trusted.".into(),
        };
        return desk.cx.notify(text, Tone::Normal);
    }
    let names: Vec<String> = words.keys().cloned().collect();
    say(desk, words);
    desk.cx.notify(format!("Trusted: {}", names.join(", ")), Tone::Success);
}

/// `/monitors untrust <name>`, or all.
pub fn untrust(desk: &mut Desk, name: Option<&str>) {
    let Some(name) = name else { return untrust_all(desk) };
    let is_of_project = desk.watch.roster.untrusted.iter().any(|monitor| monitor.name == name)
        || desk.watch.roster.find(name).is_some_and(|listed| listed.trust != Standing::Own);
    if !is_of_project {
        return desk.cx.notify(format!("[{name}] is in your own folder, and needs no trust"), Tone::Error);
    }
    say(desk, Words::from([(name.to_owned(), Word::Withdrawn)]));
    desk.drop_steers(Some(name));
    desk.cx.notify(format!("[{name}] is no longer trusted, and inactive"), Tone::Normal);
}

fn untrust_all(desk: &mut Desk) {
    let roster = &desk.watch.roster;
    let trusted = roster.monitors.iter().filter(|listed| matches!(listed.trust, Standing::Trusted(_)));
    let names: Vec<String> = trusted.map(|listed| listed.name.clone()).collect();
    if names.is_empty() {
        return desk.cx.notify("No monitor of this project is trusted.", Tone::Normal);
    }
    say(desk, names.iter().map(|name| (name.clone(), Word::Withdrawn)).collect());
    names.iter().for_each(|name| desk.drop_steers(Some(name)));
    desk.cx.notify(format!("No longer trusted, and inactive: {}", names.join(", ")), Tone::Normal);
}

/// Whether a monitor is trusted as its files are now: then it stays so when the user, or what he allowed, changes them.
pub fn holds(desk: &Desk, listed: &Listed, monitor: &Monitor) -> bool {
    matches!(listed.trust, Standing::Trusted(_)) && trust::check(desk.cx, listed, monitor).is_ok()
}

/// A monitor's files were changed with the user's consent: what they are now is what is trusted.
pub fn renew(desk: &mut Desk, name: &str) {
    let Some(listed) = desk.watch.roster.find(name).cloned() else { return };
    let Ok(monitor) = roster::load(desk.cx, &listed) else { return };
    let Some(fingerprint) = Fingerprint::read(desk.cx, &listed.file, &monitor) else { return };
    let mut habits: Habits = desk.cx.state(Scope::Project);
    habits.trust.insert(name.into(), Word::Trusted(fingerprint.clone()));
    desk.cx.set_state(Scope::Project, &habits);
    if let Some(listed) = desk.watch.roster.monitors.iter_mut().find(|listed| listed.name == name) {
        listed.trust = Standing::Trusted(fingerprint);
    }
}

/// Keeps trust in those of these monitors that are trusted as they are for being bundled: a later program may bundle
/// others.
pub fn adopt<'n>(desk: &mut Desk, names: impl Iterator<Item = &'n str>) {
    refresh(desk);
    let mut habits: Habits = desk.cx.state(Scope::Project);
    let before = habits.clone();
    for name in names {
        let Some(listed) = desk.watch.roster.find(name).filter(|listed| matches!(listed.trust, Standing::Trusted(_)))
        else {
            continue;
        };
        let Ok(monitor) = roster::load(desk.cx, listed) else { continue };
        if let Some(fingerprint) = Fingerprint::read(desk.cx, &listed.file, &monitor) {
            habits.trust.insert(name.into(), Word::Trusted(fingerprint));
        }
    }
    if habits != before {
        desk.cx.set_state(Scope::Project, &habits);
    }
}

fn say(desk: &mut Desk, words: Words) {
    let mut habits: Habits = desk.cx.state(Scope::Project);
    habits.trust.extend(words);
    desk.cx.set_state(Scope::Project, &habits);
    desk.watch.roster = roster::discover(desk.cx, &habits.trust);
    told(desk);
}

/// Lists the monitors anew, as their files are now.
fn refresh(desk: &mut Desk) {
    let habits: Habits = desk.cx.state(Scope::Project);
    desk.watch.roster = roster::discover(desk.cx, &habits.trust);
}

fn line(Untrusted { name, event, reason, would, .. }: &Untrusted) -> String {
    format!("{name} [{event}] — {would} ({reason})")
}
