//! What went wrong, in words for the user.

use chaperone_contract::{FileError, LlmError};

/// Why a judge gave no answer.
pub fn no_answer(error: &LlmError) -> String {
    error.to_string()
}

/// Why a file was not written, to be put behind "since".
pub fn not_written(error: &FileError) -> String {
    match error {
        FileError::NotFound => "the folder is missing".into(),
        FileError::Denied(reason) => format!("the file may not be written: {reason}"),
        FileError::TooLarge(bytes) => format!("the file is too large: {bytes} bytes"),
        FileError::NotUtf8 => "the file is not UTF-8 text".into(),
        FileError::NotJson(reason) => format!("the file is not JSON: {reason}"),
        FileError::Conflict(reason) => format!("the file was changed meanwhile: {reason}"),
        FileError::Io(reason) => format!("the file cannot be written: {reason}"),
    }
}
