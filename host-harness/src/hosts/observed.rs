//! What plugins ask for while an event is taken through them, and only the host can carry out.

use std::collections::BTreeMap;

use chaperone_contract::{Effect, Injection, Level, Line, Notice};

use crate::drive::{HookRun, Note, Observer};
use crate::files::Change;

/// The user is shown no more than this, in characters.
const MAX_SHOWN: usize = 4_000;

#[derive(Default)]
pub(super) struct Observed {
    /// Messages for the agent.
    pub injections: Vec<Injection>,
    /// What was decided about held calls: none, it runs; else why it does not.
    pub decided: BTreeMap<String, Option<String>>,
    /// The agent is to be stopped.
    pub has_aborted: bool,
    /// For whoever operates the program.
    pub remarks: Vec<String>,
    shown: Vec<Shown>,
}

/// What the user is shown.
enum Shown {
    Passing(String),
    Notice(Notice),
}

impl Observed {
    /// What the user sees beside the conversation: what passed by, and the titles of blocks.
    pub fn shown(&self) -> Option<String> {
        let mut lines: Vec<String> = Vec::new();
        for shown in &self.shown {
            let line = match shown {
                Shown::Passing(text) => text.clone(),
                Shown::Notice(notice) => text_of(&notice.title),
            };
            // What passes by and stays elsewhere is in one place here.
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        cut(&lines.join("\n"))
    }

    pub fn forget_shown(&mut self) {
        self.shown.clear();
    }

    /// Takes all that was shown, with what a user could expand.
    pub fn take_in_full(&mut self) -> String {
        let lines = std::mem::take(&mut self.shown).into_iter().flat_map(|shown| match shown {
            Shown::Passing(text) => vec![text],
            Shown::Notice(notice) => std::iter::once(&notice.title).chain(&notice.details).map(text_of).collect(),
        });
        cut(&lines.collect::<Vec<_>>().join("\n")).unwrap_or_default()
    }
}

fn text_of(line: &Line) -> String {
    line.iter().map(|span| span.text.as_str()).collect()
}

fn cut(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    Some(match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    })
}

impl Observer for Observed {
    fn hook(&mut self, run: &HookRun<'_>) {
        let effects = match run.result {
            Ok(committed) => &committed.effects,
            Err(failure) => {
                self.remarks.push(format!("{} failed in {}: {}", run.plugin, run.event.name(), failure.cause));
                return;
            }
        };
        for effect in effects {
            match effect {
                Effect::Inject(message) => self.injections.push(message.clone()),
                Effect::Abort => self.has_aborted = true,
                Effect::Notify { text, .. } => self.shown.push(Shown::Passing(text.clone())),
                Effect::Show(notice) => self.shown.push(Shown::Notice(notice.clone())),
                Effect::Log { level: Level::Warn | Level::Error, message } => {
                    self.remarks.push(format!("{}: {message}", run.plugin));
                }
                // There is no place for the rest, or the driver has carried it out.
                _ => {}
            }
        }
    }

    fn changed(&mut self, _: &str, _: &Change) {}

    fn note(&mut self, plugin: &str, note: &Note) {
        match note {
            Note::Denied { effect } => {
                self.remarks.push(format!("{plugin} is not granted `{effect}`; it was not carried out"));
            }
            Note::Quarantined { failures } => {
                self.remarks.push(format!("{plugin} failed {failures} times in a row and is set aside"));
            }
            Note::RanAway { hooks } => {
                self.remarks.push(format!("{plugin} answered its own answers {hooks} times and is set aside"));
            }
            Note::Decided { call_id, refusal } => _ = self.decided.insert(call_id.clone(), refusal.clone()),
            Note::Answered { .. } => {}
        }
    }
}
