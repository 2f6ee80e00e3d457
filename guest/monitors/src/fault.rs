//! What is wrong with a file: where, why, and how to mend it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// What a fault means for its file.
    Severity {
        /// The file, or the entry that the fault is in, is not used.
        Error = "error",
        /// It is used, though perhaps not as its author meant.
        Warning = "warning",
        /// All is as it was meant; for whoever asks.
        Note = "note",
    }
}

/// One thing that is wrong with one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The mount that the file is in, such as `project`.
    pub mount: Box<str>,
    /// The file's path in the mount.
    pub file: Box<str>,
    /// The place in the file, a JSON pointer (RFC 6901); empty for the whole file.
    pub pointer: Box<str>,
    /// What is wrong, without a full stop at its end.
    pub message: Box<str>,
    /// What to do about it, without a full stop at its end.
    pub mend: Box<str>,
    /// What it means.
    pub severity: Severity,
}

impl Fault {
    /// Whether somebody should see to it.
    pub fn is_to_be_mended(&self) -> bool {
        self.severity != Severity::Note
    }

    /// Whether the file, or the entry that the fault is in, is not used.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// One line: `project:monitors/x.monitor.json#/when: what is wrong (what to do)`.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mount, file, pointer, message, mend, .. } = self;
        write!(f, "{mount}:{file}")?;
        if !pointer.is_empty() {
            write!(f, "#{pointer}")?;
        }
        write!(f, ": {message} ({mend})")
    }
}

impl std::error::Error for Fault {}

/// The faults of one file, as they are found.
#[derive(Debug)]
pub struct Report<'a> {
    mount: &'a str,
    file: &'a str,
    faults: Vec<Fault>,
}

impl<'a> Report<'a> {
    /// For a file of a mount.
    pub fn new(mount: &'a str, file: &'a str) -> Self {
        Self { mount, file, faults: Vec::new() }
    }

    /// Notes an error.
    pub fn error(&mut self, pointer: impl Into<String>, message: impl Into<String>, mend: impl Into<String>) {
        self.note(Severity::Error, pointer.into(), message.into(), mend.into());
    }

    /// Notes a warning.
    pub fn warning(&mut self, pointer: impl Into<String>, message: impl Into<String>, mend: impl Into<String>) {
        self.note(Severity::Warning, pointer.into(), message.into(), mend.into());
    }

    /// Notes what nobody has to mend.
    pub fn remark(&mut self, pointer: impl Into<String>, message: impl Into<String>, mend: impl Into<String>) {
        self.note(Severity::Note, pointer.into(), message.into(), mend.into());
    }

    /// Notes the keys that stand more than once in a document.
    pub fn repeated(&mut self, pointers: Vec<String>) {
        for pointer in pointers {
            self.warning(pointer, "stands there more than once, and the last one counts", "keep the one that is meant");
        }
    }

    /// Whether an error was noted.
    pub fn has_error(&self) -> bool {
        self.faults.iter().any(Fault::is_error)
    }

    /// What was noted, in that order.
    pub fn into_faults(self) -> Vec<Fault> {
        self.faults
    }

    fn note(&mut self, severity: Severity, pointer: String, message: String, mend: String) {
        let (mount, file) = (self.mount.into(), self.file.into());
        let [pointer, message, mend] = [pointer, message, mend].map(String::into_boxed_str);
        self.faults.push(Fault { mount, file, pointer, message, mend, severity });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_file_place_cause_and_mend_in_one_line() {
        let mut report = Report::new("project", "monitors/x.monitor.json");
        report.warning("/when", "is odd", "write `always`");
        assert!(!report.has_error());
        report.error("", "is no JSON", "mend it");
        assert!(report.has_error());
        let lines: Vec<String> = report.into_faults().iter().map(Fault::to_string).collect();
        assert_eq!(
            lines,
            [
                "project:monitors/x.monitor.json#/when: is odd (write `always`)",
                "project:monitors/x.monitor.json: is no JSON (mend it)"
            ]
        );
    }
}
