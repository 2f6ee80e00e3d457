//! JSON-RPC 2.0: what surrounds every message.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::serve::errors::{Code, Fault};

/// Names a request. Whoever asks chooses it, and no two requests that wait for an answer share one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Id {
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Id::Number(number) => write!(f, "{number}"),
            Id::Text(text) => write!(f, "{text:?}"),
        }
    }
}

/// A message that came in.
#[derive(Debug)]
pub enum Incoming<'line> {
    /// It waits for an answer.
    Request {
        /// Names it.
        id: Id,
        /// What is asked for.
        method: String,
        /// With what.
        params: Option<&'line RawValue>,
    },
    /// It waits for none.
    Notification {
        /// What it is about.
        method: String,
        /// What it says.
        params: Option<&'line RawValue>,
    },
    /// An answer to a request of this side.
    Response {
        /// The request's.
        id: Id,
        /// What came of it.
        outcome: Result<&'line RawValue, ErrorIn>,
    },
}

/// An error that the other side answers with.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ClientError"))]
pub struct ErrorIn {
    /// Which kind it is.
    pub code: i64,
    /// What is wrong.
    #[serde(default)]
    pub message: String,
    /// Of a model call: the contract's `llm-error`, where it says more than the message.
    #[serde(default)]
    pub data: Option<serde_json::Value>,
}

/// The members of a message, each as it stands.
#[derive(Default, Deserialize)]
struct Members<'line> {
    #[serde(default, borrow, deserialize_with = "present")]
    jsonrpc: Option<&'line RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    id: Option<&'line RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    method: Option<&'line RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    params: Option<&'line RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    result: Option<&'line RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    error: Option<&'line RawValue>,
}

/// `null` is there; only what is missing is not.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Takes a line apart. An error comes with the id that its answer is to name, where the line has one.
pub fn incoming(line: &str) -> Result<Incoming<'_>, (Option<Id>, Fault)> {
    if line.trim_ascii_start().starts_with('[') {
        let told = "batches are not served; send one message a line";
        return Err((None, Fault::new(Code::InvalidRequest, told)));
    }
    let members: Members<'_> = serde_json::from_str(line).map_err(|error| match error.is_data() {
        true => {
            (None, Fault::new(Code::InvalidRequest, format!("a message is an object with each member once: {error}")))
        }
        false => (None, Fault::new(Code::Parse, format!("the line is not JSON: {error}"))),
    })?;
    let id = match members.id.map(|raw| serde_json::from_str::<Id>(raw.get())) {
        None => None,
        Some(Ok(id)) => Some(id),
        Some(Err(_)) => {
            let told = "`id` must be a text, or a whole number of at most 63 bits";
            return Err((None, Fault::new(Code::InvalidRequest, told)));
        }
    };
    // An answer with a fault is not answered under its id, which belongs to a request of this side.
    let is_answer = members.method.is_none() && (members.result.is_some() || members.error.is_some());
    let asked = if is_answer { None } else { id.clone() };
    let wrong = |told: &str| (asked.clone(), Fault::new(Code::InvalidRequest, told));
    if members.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
        return Err(wrong("`jsonrpc` must be \"2.0\""));
    }
    let Some(method) = members.method else {
        return match (id.clone(), members.result, members.error) {
            (Some(id), Some(result), None) => Ok(Incoming::Response { id, outcome: Ok(result) }),
            (Some(id), None, Some(error)) => match serde_json::from_str(error.get()) {
                Ok(error) => Ok(Incoming::Response { id, outcome: Err(error) }),
                Err(_) => Err(wrong("`error` must have a `code` and a `message`")),
            },
            (_, None, None) => Err(wrong("`method` is missing")),
            _ => Err(wrong("an answer has an `id`, and a `result` or an `error`")),
        };
    };
    let Ok(method) = serde_json::from_str(method.get()) else { return Err(wrong("`method` must be a text")) };
    Ok(match id {
        Some(id) => Incoming::Request { id, method, params: members.params },
        None => Incoming::Notification { method, params: members.params },
    })
}

/// A request, on its way out.
#[derive(Debug, Serialize)]
pub struct RequestLine<'p, P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'static str,
    params: &'p P,
}

impl<'p, P> RequestLine<'p, P> {
    /// A request of this method.
    pub fn new(id: u64, method: &'static str, params: &'p P) -> Self {
        Self { jsonrpc: "2.0", id, method, params }
    }
}

/// A notification, on its way out.
#[derive(Debug, Serialize)]
pub struct NotificationLine<'p, P> {
    jsonrpc: &'static str,
    method: &'static str,
    params: &'p P,
}

impl<'p, P> NotificationLine<'p, P> {
    /// A notification of this method.
    pub fn new(method: &'static str, params: &'p P) -> Self {
        Self { jsonrpc: "2.0", method, params }
    }
}

/// An answer, on its way out.
#[derive(Debug, Serialize)]
pub struct ResponseLine<'r, R> {
    jsonrpc: &'static str,
    /// `null` where the request's could not be made out.
    id: Option<&'r Id>,
    #[serde(flatten)]
    outcome: OutcomeOut<'r, R>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum OutcomeOut<'r, R> {
    Result(&'r R),
    Error(&'r Fault),
}

impl<'r, R> ResponseLine<'r, R> {
    /// An answer to a request.
    pub fn new(id: Option<&'r Id>, outcome: Result<&'r R, &'r Fault>) -> Self {
        let outcome = match outcome {
            Ok(result) => OutcomeOut::Result(result),
            Err(fault) => OutcomeOut::Error(fault),
        };
        Self { jsonrpc: "2.0", id, outcome }
    }
}
