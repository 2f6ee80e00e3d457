//! What a run prints while it goes on.

use std::io::{self, Write};

use chaperone_contract::{Effect, EntryBody};
use clap::ValueEnum;

use super::last_word::LastWord;
use super::summary::{self, Summary};
use super::timeline::Timeline;
use super::{focus, json};
use crate::drive::{HookRun, Note, Observer};
use crate::files::Change;
use crate::session::{Step, TimedStep};
use crate::transaction::Committed;

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}

/// Prints what happens, and counts it.
pub struct Report<'out> {
    pub summary: Summary,
    out: Box<dyn Write + 'out>,
    form: Form,
    focus: Option<Focus>,
    /// The first error of writing; an observer cannot return it.
    error: Option<io::Error>,
}

/// Leaves out everything but what one monitor did.
struct Focus {
    monitor: String,
    share: Share,
    last: LastWord,
    /// The texts of its questions.
    asked: Vec<String>,
}

impl Focus {
    fn hear(&mut self, part: &Committed) {
        for effect in &part.effects {
            self.last.hear(&self.monitor, effect);
            if let Effect::Complete(call) = effect {
                self.asked.extend(call.request.messages.iter().map(|message| message.text.clone()));
            }
        }
    }
}

/// What the monitor has of the latest hook.
#[derive(PartialEq)]
enum Share {
    Nothing,
    Something,
    /// It was judged: what the hook wrote is its own.
    Judgement,
}

enum Form {
    Text(Timeline),
    Json {
        /// Names the session in each line, where there are several.
        session: Option<String>,
    },
}

impl<'out> Report<'out> {
    pub fn new(format: Format, out: Box<dyn Write + 'out>, writes: bool) -> Self {
        let form = match format {
            Format::Text => Form::Text(Timeline::new(writes)),
            Format::Json => Form::Json { session: None },
        };
        Self { summary: Summary::default(), out, form, focus: None, error: None }
    }

    /// Tells and counts only what one monitor does, below what the user says.
    pub fn about(self, monitor: &str) -> Self {
        let focus = Focus { monitor: monitor.into(), share: Share::Nothing, last: LastWord::NONE, asked: Vec::new() };
        Self { focus: Some(focus), ..self }
    }

    /// Shows each question to a model in full, where the output is for people.
    pub fn with_questions(mut self) -> Self {
        if let Form::Text(timeline) = &mut self.form {
            timeline.shows_questions = true;
        }
        self
    }

    /// What the monitor that this is about said last.
    pub fn last_word(&self) -> &LastWord {
        self.focus.as_ref().map_or(&LastWord::NONE, |focus| &focus.last)
    }

    /// Whether its judge was shown this text.
    pub fn has_shown(&self, text: &str) -> bool {
        self.focus.iter().flat_map(|focus| &focus.asked).any(|asked| asked.contains(text))
    }

    /// Another session begins.
    pub fn session(&mut self, title: &str, subtitle: &str, is_one_of_several: bool) {
        let result = match &mut self.form {
            Form::Text(timeline) => timeline.session(&mut self.out, title, subtitle),
            Form::Json { session } => {
                *session = is_one_of_several.then(|| title.to_owned());
                Ok(())
            }
        };
        self.keep(result);
    }

    /// A step of the session is about to be fed.
    pub fn step(&mut self, step: &TimedStep) {
        let is_of_user = matches!(&step.step, Step::Append(entry) if matches!(entry.body, EntryBody::User(_)));
        if self.focus.is_some() && !is_of_user {
            return;
        }
        if let Form::Text(timeline) = &mut self.form {
            let result = timeline.step(&mut self.out, step);
            self.keep(result);
        }
    }

    /// A command is about to run.
    pub fn command(&mut self, line: &str) {
        if let Form::Text(timeline) = &mut self.form {
            let result = timeline.command(&mut self.out, line);
            self.keep(result);
        }
    }

    /// Everything has run.
    ///
    /// # Errors
    /// The first error of writing, now or earlier.
    pub fn finish(&mut self) -> io::Result<()> {
        let result = match &mut self.form {
            Form::Text(_) => summary::print(&self.summary, &mut self.out),
            Form::Json { .. } => json::summary(&mut self.out, &self.summary),
        };
        self.keep(result);
        let result = self.out.flush();
        self.keep(result);
        self.check()
    }

    /// # Errors
    /// The first error of writing so far.
    pub fn check(&mut self) -> io::Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }

    fn keep(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
    }
}

impl Observer for Report<'_> {
    fn hook(&mut self, run: &HookRun<'_>) {
        let narrowed;
        let run = match (&mut self.focus, run.result) {
            (Some(focus), Ok(committed)) => {
                let part = focus::narrow(committed, &focus.monitor);
                focus.share = match &part {
                    None => Share::Nothing,
                    Some(part) if focus::is_judged(part, &focus.monitor) => Share::Judgement,
                    Some(_) => Share::Something,
                };
                let Some(part) = part else { return };
                focus.hear(&part);
                narrowed = Ok(part);
                &HookRun { result: &narrowed, ..*run }
            }
            (None, _) | (_, Err(_)) => run,
        };
        self.summary.hook(run);
        let result = match &mut self.form {
            Form::Text(timeline) => timeline.hook(&mut self.out, run),
            Form::Json { session } => json::hook(&mut self.out, session.as_deref(), run),
        };
        self.keep(result);
    }

    fn changed(&mut self, _: &str, change: &Change) {
        if self.focus.as_ref().is_some_and(|focus| focus.share != Share::Judgement) {
            return;
        }
        if let Form::Text(timeline) = &mut self.form {
            let result = timeline.changed(&mut self.out, change);
            self.keep(result);
        }
    }

    fn note(&mut self, plugin: &str, note: &Note) {
        let is_left_out = self.focus.as_ref().is_some_and(|focus| match note {
            Note::Answered { label, .. } => *label != focus.monitor,
            Note::Denied { .. } | Note::Decided { .. } => focus.share == Share::Nothing,
            Note::Quarantined { .. } | Note::RanAway { .. } => false,
        });
        if is_left_out {
            return;
        }
        self.summary.note(plugin, note);
        if let Form::Text(timeline) = &mut self.form {
            let result = timeline.note(&mut self.out, plugin, note);
            self.keep(result);
        }
    }
}
