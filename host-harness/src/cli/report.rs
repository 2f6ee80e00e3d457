//! What a run prints while it goes on.

use std::io::{self, Write};

use clap::ValueEnum;

use super::json;
use super::summary::Summary;
use super::timeline::Timeline;
use crate::drive::{HookRun, Note, Observer};
use crate::files::Change;
use crate::session::TimedStep;

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A timeline for people
    Text,
    /// One JSON object a line
    Json,
}

/// Prints what happens, and counts it.
pub struct Report<'out> {
    pub summary: Summary,
    out: Box<dyn Write + 'out>,
    form: Form,
    /// The first error of writing; an observer cannot return it.
    error: Option<io::Error>,
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
        Self { summary: Summary::default(), out, form, error: None }
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
            Form::Text(timeline) => timeline.summary(&mut self.out, &self.summary),
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
        self.summary.hook(run);
        let result = match &mut self.form {
            Form::Text(timeline) => timeline.hook(&mut self.out, run),
            Form::Json { session } => json::hook(&mut self.out, session.as_deref(), run),
        };
        self.keep(result);
    }

    fn changed(&mut self, _: &str, change: &Change) {
        if let Form::Text(timeline) = &mut self.form {
            let result = timeline.changed(&mut self.out, change);
            self.keep(result);
        }
    }

    fn note(&mut self, plugin: &str, note: &Note) {
        self.summary.note(note);
        if let Form::Text(timeline) = &mut self.form {
            let result = timeline.note(&mut self.out, plugin, note);
            self.keep(result);
        }
    }
}
