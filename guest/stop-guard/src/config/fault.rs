//! What is wrong with a configuration: which field, what stands there, and what is allowed.

use std::fmt;

use chaperone_sdk::text::{beginning, nearest};
use serde_json::Value;

use super::{AUTO, Field};
use crate::verdict::Decision;

/// The most characters of a value that a fault quotes.
const QUOTED: usize = 60;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The file is there, and cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// It holds no JSON.
    #[error("it is not JSON: {0}")]
    NotJson(String),
    /// It holds something else.
    #[error("it is {0}, not an object in braces")]
    NoObject(String),
    /// There is no such field.
    #[error("`{name}` is not a field; {}", match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("there are {}", Field::NAMES.join(", ")),
    })]
    Unknown {
        /// As it stands there.
        name: String,
        /// The field that was probably meant.
        meant: Option<&'static str>,
    },
    /// It cannot be told which one is meant.
    #[error("`{0}` stands there more than once; keep the one that is meant")]
    Repeated(String),
    /// A field may not be that.
    #[error("`{}` is {value}; it may be {}{}", field.name(), field.allowed(), or_rather(meant))]
    Value {
        /// The field.
        field: Field,
        /// What stands there, as JSON; a long one is cut.
        value: String,
        /// The value that was probably meant.
        meant: Option<&'static str>,
    },
}

fn or_rather(meant: &Option<&str>) -> String {
    meant.map_or_else(String::new, |meant| format!("; did you mean \"{meant}\"?"))
}

impl Fault {
    pub(super) fn no_object(value: &Value) -> Self {
        Self::NoObject(quoted(value))
    }

    pub(super) fn unknown(name: &str) -> Self {
        Self::Unknown { name: beginning(name, QUOTED), meant: nearest(name, Field::NAMES) }
    }

    pub(super) fn repeated(name: &str) -> Self {
        Self::Repeated(beginning(name, QUOTED))
    }

    pub(super) fn value(field: Field, value: &Value) -> Self {
        let meant = match (field, value) {
            (Field::ForcedDecision, Value::String(word)) => {
                nearest(word, &[AUTO, Decision::Continue.word(), Decision::Stop.word()])
            }
            _ => None,
        };
        Self::Value { field, value: quoted(value), meant }
    }
}

fn quoted(value: &Value) -> String {
    beginning(&value.to_string(), QUOTED)
}

/// Why a configuration is not used. There is at least one fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// In the order of the file.
    pub faults: Vec<Fault>,
}

impl From<Fault> for Rejected {
    fn from(fault: Fault) -> Self {
        Self { faults: vec![fault] }
    }
}

/// All faults on one line.
impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: Vec<String> = self.faults.iter().map(Fault::to_string).collect();
        f.write_str(&faults.join("; "))
    }
}

impl std::error::Error for Rejected {}
