//! How typed state is stored: JSON, with a place for what could not be read.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What `state.set` is given.
#[derive(Serialize, Deserialize)]
pub struct Stored<T> {
    pub value: T,
    /// An earlier value that no longer parsed, kept for whoever can read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<String>,
}

/// What became of a stored value.
pub enum Loaded<T> {
    Absent,
    Fresh(Stored<T>),
    /// It does not parse as `T`: the value as text, and why.
    Unreadable {
        raw: String,
        reason: String,
    },
}

pub fn load<T: DeserializeOwned>(bytes: Option<Vec<u8>>) -> Loaded<T> {
    let Some(bytes) = bytes else { return Loaded::Absent };
    match serde_json::from_slice(&bytes) {
        Ok(stored) => Loaded::Fresh(stored),
        Err(error) => {
            Loaded::Unreadable { raw: String::from_utf8_lossy(&bytes).into_owned(), reason: error.to_string() }
        }
    }
}
