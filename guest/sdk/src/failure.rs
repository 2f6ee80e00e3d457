//! What went wrong, in words for the user.

use chaperone_contract::{FileError, LlmError};

/// Why a judge gave no answer.
pub fn no_answer(error: &LlmError) -> String {
    match error {
        LlmError::UnknownModel(what) => format!("there is no such model: {what}"),
        LlmError::Authentication(reason) => format!("the key is missing or was refused: {reason}"),
        LlmError::RateLimited(_) => "the provider refuses for now, since it was asked too often".into(),
        LlmError::TimedOut => "the judge did not answer in time".into(),
        LlmError::Cancelled => "the call was ended early".into(),
        LlmError::AllowanceSpent(which) => format!("the allowance of this plugin is spent: {which}"),
        LlmError::Provider(reason) => format!("the provider says: {reason}"),
    }
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
