//! What is told to the other side when a request cannot be served.

use serde::Serialize;
use serde_json::value::RawValue;

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fault {
    /// Which kind it is: one of [`Code`].
    pub code: i32,
    /// What is wrong, and how to mend it.
    pub message: String,
}

/// The kinds of errors, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    /// The line is not JSON.
    Parse = -32700,
    /// The line is JSON, but no request.
    InvalidRequest = -32600,
    /// There is no such method.
    UnknownMethod = -32601,
    /// The method does not take these parameters.
    InvalidParams = -32602,
    /// Whoever asked does not want the answer any more.
    Cancelled = -32800,
    /// There was no `initialize` before.
    NotInitialized = -32002,
    /// No session of this id is open.
    UnknownSession = -32001,
    /// A session of this id is open already.
    SessionOpen = -32003,
    /// Anything else, such as a configuration with faults.
    Other = -32000,
}

impl Code {
    /// Every kind.
    pub const ALL: [Code; 9] = [
        Code::Parse,
        Code::InvalidRequest,
        Code::UnknownMethod,
        Code::InvalidParams,
        Code::Cancelled,
        Code::NotInitialized,
        Code::UnknownSession,
        Code::SessionOpen,
        Code::Other,
    ];
}

impl Fault {
    /// An error of this kind.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code: code as i32, message: message.into() }
    }

    /// Parameters that cannot be taken. `place` is the path in them, such as `entries[3].body`.
    pub fn params(place: &str, message: impl std::fmt::Display) -> Self {
        Self::new(Code::InvalidParams, format!("params.{place}: {message}"))
    }

    /// Whatever has no code of its own.
    pub fn other(error: impl std::fmt::Display) -> Self {
        Self::new(Code::Other, error.to_string())
    }
}

/// Reads a message's parameters, or its result; `what` is its name there. Missing ones are an empty object. An error
/// names the place.
pub fn read<'raw, T: serde::Deserialize<'raw>>(what: &str, raw: Option<&'raw RawValue>) -> Result<T, Fault> {
    let text = raw.map_or("{}", RawValue::get);
    // A list would pass for an object with its members in order.
    if !text.starts_with('{') {
        return Err(Fault::new(Code::InvalidParams, format!("{what}: must be an object")));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = match error.path().to_string().as_str() {
            "." => what.to_owned(),
            path => format!("{what}.{path}"),
        };
        // The place in the text is of no use to who made it with a serialiser, and the path is there.
        let inner = error.into_inner();
        let told = inner.to_string();
        let told = told.rsplit_once(" at line ").map_or(told.as_str(), |(told, _)| told);
        let told = match told {
            _ if inner.is_data() => told.to_owned(),
            // The line is JSON: what is missing here is one of several variants, not any value.
            "expected value" => "must be a text, or an object with one member".to_owned(),
            told => format!("cannot be read: {told}"),
        };
        Fault::new(Code::InvalidParams, format!("{path}: {told}"))
    })
}
