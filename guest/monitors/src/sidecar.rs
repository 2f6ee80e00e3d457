//! The lists beside a monitor file: JSON arrays that people and programs both add to.

use chaperone_sdk::Json;
use chaperone_sdk::document::{self, Document};
use serde_json::{Value, json};

use crate::fault::{Fault, Report};

/// A list that was read, with what is wrong in it. Entries that cannot be used are left out here, never in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Sidecar<T> {
    /// What can be used, in the file's order.
    pub entries: Vec<T>,
    /// What is wrong with the others.
    pub faults: Vec<Fault>,
    /// The file's first entry, whatever it is.
    first: Option<Value>,
}

impl<T> Default for Sidecar<T> {
    /// What a missing file counts as.
    fn default() -> Self {
        Self { entries: Vec::new(), faults: Vec::new(), first: None }
    }
}

/// A change of a JSON file, as `files.patch` wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What a missing file starts as.
    pub initial: Json,
    /// The JSON Patch. Where the file is no longer what it was when the patch was made, it conflicts.
    pub patch: Json,
}

impl<T> Sidecar<T> {
    /// Reads a list.
    ///
    /// # Errors
    /// Where the file as a whole cannot be used; such a file must not be written.
    pub fn parse(
        mount: &str,
        file: &str,
        text: &str,
        mut entry: impl FnMut(&mut Report, usize, &Value) -> Option<T>,
    ) -> Result<Self, Fault> {
        let mut report = Report::new(mount, file);
        match document::parse(text) {
            Ok(Document { value: Value::Array(values), repeated }) => {
                report.repeated(repeated);
                let entries = values.iter().enumerate().filter_map(|(i, value)| entry(&mut report, i, value)).collect();
                return Ok(Self { entries, faults: report.into_faults(), first: values.into_iter().next() });
            }
            Ok(_) => report.error("", "is not a list", "put the entries into brackets"),
            Err(error) => report.error("", format!("is not JSON: {error}"), "mend it at that line and column"),
        }
        Err(report.into_faults().pop().expect("an error was reported"))
    }

    /// Puts an entry behind the others.
    ///
    /// An addition alone would also go through on a file that has become an object; the test of the first entry makes
    /// sure that it is still a list.
    pub fn append(&self, entry: &Value) -> Change {
        let guard = match &self.first {
            Some(first) => json!({"op": "test", "path": "/0", "value": first}),
            None => json!({"op": "test", "path": "", "value": []}),
        };
        Change { initial: "[]".into(), patch: json!([guard, {"op": "add", "path": "/-", "value": entry}]).to_string() }
    }
}
