//! `/monitors wrong <finding>`: what a judge found was no fault.

use chaperone_sdk::{Answer, Decision, Mode, Prompt, Subject, Tone, Verdict, traces};

use super::grammar::Edit;
use super::{rules, why};
use crate::decision;
use crate::desk::Desk;
use crate::errand::Errand;
use chaperone_sdk::text::one_line;

/// As much of a description as stands in the rule that is offered, in characters.
const DESCRIPTION: usize = 200;

/// Counts a finding as wrong, and offers a rule so that it is not found again.
pub fn mark(desk: &mut Desk, finding: &str) {
    let trace = match why::find(desk, finding, false) {
        Ok(trace) => trace,
        Err(reason) => return desk.cx.notify(reason, Tone::Error),
    };
    let name = trace.watcher.as_str();
    if !matches!(trace.verdict, Some(Verdict::Flag | Verdict::New)) {
        let text = format!("[{name}] #{} is no finding: {}", trace.id, traces::verdict(&trace));
        return desk.cx.notify(text, Tone::Error);
    }
    let became = |outcome: &str| trace.consequences.iter().any(|consequence| consequence.outcome == outcome);
    if became(decision::WRONG) {
        return desk.cx.notify(format!("[{name}] #{} counts as wrong already", trace.id), Tone::Normal);
    }
    desk.cx.decided(Decision {
        watcher: name.into(),
        subject: Subject::Trace(trace.id),
        outcome: decision::WRONG.into(),
        detail: None,
        finding: traces::finding(&trace).map(str::to_owned),
        evidence: None,
    });
    let mut text = format!("[{name}] Counted as wrong: {}", traces::verdict(&trace));
    if became(decision::LEARNED) {
        text.push_str(&format!("\nIt became a pattern; /monitors {name} patterns undo takes the latest one out again"));
    }
    if became(decision::PROPOSED) {
        text.push_str(&format!("\nIt proposed a pattern; /monitors {name} patterns reject <n> refuses it"));
    }
    let is_there = desk.watch.roster.find(name).is_some();
    let asks = is_there && desk.cx.session().mode != Mode::OneShot;
    let rule = rule(trace.description.as_deref().unwrap_or_default());
    if is_there && !asks {
        text.push_str(&how(name, &rule));
    }
    desk.cx.notify(text, Tone::Normal);
    if asks {
        let title = format!("[{name}] Add a rule, so that this is not found again?");
        let id = desk.cx.ask(Prompt::Input((title, rule)));
        desk.watch.sent(id, Errand::RuleOffer { monitor: name.into() });
    }
}

/// The user has worded the rule, or does not want one.
pub fn answered(desk: &mut Desk, name: &str, answer: &Answer) {
    match answer {
        Answer::Entered(text) if !text.trim().is_empty() => match desk.watch.roster.find(name).cloned() {
            Some(listed) => rules::edit(desk, &listed, Edit::Add(text.trim().into())),
            None => desk.cx.notify(format!("[{name}] the monitor is no longer there"), Tone::Error),
        },
        Answer::Unavailable => {
            let text = format!("[{name}] So that it is not found again:{}", how(name, "<what is no fault>"));
            desk.cx.notify(text, Tone::Normal);
        }
        _ => {}
    }
}

fn rule(description: &str) -> String {
    let description: String = one_line(description).chars().take(DESCRIPTION).collect();
    format!("This is no fault: {}", description.trim_end())
}

fn how(name: &str, rule: &str) -> String {
    format!("\n/monitors {name} rules add {rule}")
}
