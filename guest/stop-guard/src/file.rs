//! The configuration's file, which people and the settings panel both write.

use chaperone_sdk::{Context, FileError, RequestId};
use serde_json::{Value, json};

use crate::config::{Config, Fault, Field, Rejected};

/// The mount that it is in: pi's agent folder.
pub const MOUNT: &str = "user";

/// Where it is in there.
pub const PATH: &str = "extensions/pi-auto-goal/config.json";

/// Reads it. Without a file, the defaults hold.
///
/// # Errors
/// All that is wrong with it, or why it cannot be read.
pub fn load(cx: &Context) -> Result<Config, Rejected> {
    match cx.read(MOUNT, PATH) {
        Ok(text) => Config::parse(&text),
        Err(FileError::NotFound) => Ok(Config::default()),
        Err(error) => Err(Fault::Unreadable(unreadable(&error)).into()),
    }
}

/// Effect. Puts one field into it; whatever else stands there stays as it is.
pub fn write(cx: &mut Context, field: Field, value: &Value) -> RequestId {
    let patch = json!([{"op": "add", "path": format!("/{}", field.name()), "value": value}]);
    cx.patch(MOUNT, PATH, "{}", patch.to_string())
}

fn unreadable(error: &FileError) -> String {
    match error {
        FileError::NotFound => "it is not there".into(),
        FileError::Denied(reason) => reason.clone(),
        FileError::TooLarge(bytes) => format!("it has {bytes} bytes"),
        FileError::NotUtf8 => "it is not UTF-8 text".into(),
        FileError::NotJson(reason) | FileError::Conflict(reason) | FileError::Io(reason) => reason.clone(),
    }
}
