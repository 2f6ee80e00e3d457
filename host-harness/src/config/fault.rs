//! What is wrong with a configuration, told so that it can be mended.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

/// As much of a line as is shown, in characters.
const LINE_LIMIT: usize = 120;

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The operating system's words.
        source: io::Error,
    },
    /// Its content is wrong: all that is, in the order of the text.
    #[error("{}", join(.0))]
    Faulty(Vec<Fault>),
}

fn join(faults: &[Fault]) -> String {
    faults.iter().map(Fault::to_string).collect::<Vec<_>>().join("\n\n")
}

/// One thing that is wrong in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The file.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// The offending text within its line; empty where something is missing.
    pub text: String,
    /// The line that it stands in.
    pub source_line: String,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub mend: String,
}

impl Fault {
    pub(super) fn new(file: &str, text: &str, span: Range<usize>, message: String, mend: String) -> Fault {
        let start = text.floor_char_boundary(span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let end = text.floor_char_boundary(span.end).clamp(start, line_end);
        Fault {
            file: file.to_owned(),
            line: text[..line_start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            text: text[start..end].trim_end().to_owned(),
            source_line: text[line_start..line_end].trim_end().to_owned(),
            message,
            mend,
        }
    }

    /// Leaves out what stands behind the offending text in its line.
    pub(super) fn hide_what_follows(&mut self) {
        let shown = self.column - 1 + self.text.chars().count();
        self.source_line = self.source_line.chars().take(shown).chain(" = …".chars()).collect();
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { file, line, column, message, mend, .. } = self;
        writeln!(f, "{file}:{line}:{column}: {message}")?;
        let margin = " ".repeat(line.to_string().len());
        let shown: String = self.source_line.chars().take(LINE_LIMIT).collect();
        // Tabs stay tabs, so that the marks stand below the text wherever the terminal puts it.
        let before = self.source_line.chars().take(column - 1);
        let indent: String = before.map(|character| if character == '\t' { '\t' } else { ' ' }).collect();
        writeln!(f, "{margin} |")?;
        writeln!(f, "{line} | {shown}")?;
        if *column <= LINE_LIMIT {
            let marks = self.text.chars().count().clamp(1, LINE_LIMIT + 1 - column);
            writeln!(f, "{margin} | {indent}{}", "^".repeat(marks))?;
        }
        write!(f, "{margin} = {mend}")
    }
}
