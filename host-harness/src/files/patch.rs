//! JSON Patch (RFC 6902) on the text of a file.

use json_patch::jsonptr::Pointer;
use json_patch::{Patch, PatchErrorKind, PatchOperation};
use serde_json::Value;

use super::rewrite::rewrite;

/// As deep as a document may be nested, so that it can be read again: what serde_json reads.
const DEPTH_LIMIT: usize = 127;
/// How much `copy` operations may add to a document, in bytes; a few of them could otherwise double it without end.
const COPY_LIMIT: usize = super::SIZE_LIMIT as usize;
/// As much of a value as an error quotes, in characters.
const QUOTE_LIMIT: usize = 60;

/// Why a patch left a file as it was. The texts are to stand after the file's name and a colon.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Unpatched {
    /// The file is no JSON document.
    NotJson(String),
    /// The patch or the initial document cannot be used, or does not fit.
    Conflict(String),
}

/// The text of a file after the patch. `old` is its text before; none: the document starts as `initial`.
///
/// What the patch does not touch keeps its text: layout, number spelling, key order. What it adds is indented as the
/// file is, with two spaces in a new one. The file ends in a line break.
pub(super) fn patched(old: Option<&str>, initial: &str, patch: &str) -> Result<String, Unpatched> {
    let Patch(operations) = serde_json::from_str(patch)
        .map_err(|error| Unpatched::Conflict(format!("the patch is not a JSON Patch (RFC 6902): {}", place(&error))))?;
    let before: Value = match old {
        Some(text) => serde_json::from_str(text).map_err(|error| Unpatched::NotJson(place(&error)))?,
        None => serde_json::from_str(initial)
            .map_err(|error| Unpatched::Conflict(format!("the initial document is not JSON: {}", place(&error))))?,
    };
    let mut after = before.clone();
    let mut copied = 0;
    for (index, operation) in operations.iter().enumerate() {
        apply(&mut after, operation, &mut copied).map_err(|why| {
            let (name, path) = (name(operation), operation.path());
            let of = operations.len();
            Unpatched::Conflict(format!("operation {} of {of}, `{name}` at `{path}`: {why}", index + 1))
        })?;
    }
    let text = match old {
        Some(text) if before == after => return Ok(text.to_owned()),
        Some(text) => rewrite(Some((text, &before)), &after),
        None => rewrite(None, &after),
    };
    // What could not be read back would be lost to everyone.
    match serde_json::from_str::<Value>(&text) {
        Ok(read_back) if read_back == after => Ok(text),
        Ok(_) => Err(Unpatched::Conflict("the result does not survive being written".to_owned())),
        Err(error) => Err(Unpatched::Conflict(format!("the result is not JSON that can be read: {}", place(&error)))),
    }
}

fn apply(document: &mut Value, operation: &PatchOperation, copied: &mut usize) -> Result<(), String> {
    let depth_of_value = match operation {
        PatchOperation::Add(add) => depth(&add.value),
        PatchOperation::Replace(replace) => depth(&replace.value),
        PatchOperation::Move(mov) => document.pointer(mov.from.as_str()).map_or(0, depth),
        PatchOperation::Copy(copy) => match document.pointer(copy.from.as_str()) {
            Some(source) => {
                *copied += weight(source);
                if *copied > COPY_LIMIT {
                    return Err(format!("the copies add more than {COPY_LIMIT} bytes"));
                }
                depth(source)
            }
            None => 0,
        },
        PatchOperation::Remove(_) | PatchOperation::Test(_) => 0,
    };
    if operation.path().count() + depth_of_value > DEPTH_LIMIT {
        return Err(format!("the result would be nested more than {DEPTH_LIMIT} deep"));
    }
    // `-` names the place after the last element, where there is nothing to take away.
    let taken = match operation {
        PatchOperation::Remove(remove) => Some(&remove.path),
        PatchOperation::Move(mov) => Some(&mov.from),
        _ => None,
    };
    if let Some(path) = taken
        && names_the_end_of_an_array(document, path)
    {
        return Err(format!("there is nothing at `{path}`"));
    }
    json_patch::patch(document, std::slice::from_ref(operation)).map_err(|error| match error.kind {
        PatchErrorKind::TestFailed => {
            let there = document.pointer(operation.path().as_str()).map(quote).unwrap_or_default();
            match operation {
                PatchOperation::Test(test) => format!("{there} is there, not {}", quote(&test.value)),
                _ => format!("{there} is there"),
            }
        }
        PatchErrorKind::InvalidPointer if matches!(operation, PatchOperation::Add(_) | PatchOperation::Copy(_)) => {
            "there is no place for a value".to_owned()
        }
        PatchErrorKind::InvalidPointer => "there is nothing at this path".to_owned(),
        PatchErrorKind::InvalidFromPointer => "there is nothing at its `from` path".to_owned(),
        PatchErrorKind::CannotMoveInsideItself => "a value cannot be moved into itself".to_owned(),
        _ => error.to_string(),
    })
}

fn names_the_end_of_an_array(document: &Value, path: &Pointer) -> bool {
    path.split_back().is_some_and(|(parent, last)| {
        last.encoded() == "-" && document.pointer(parent.as_str()).is_some_and(Value::is_array)
    })
}

fn name(operation: &PatchOperation) -> &'static str {
    match operation {
        PatchOperation::Add(_) => "add",
        PatchOperation::Remove(_) => "remove",
        PatchOperation::Replace(_) => "replace",
        PatchOperation::Move(_) => "move",
        PatchOperation::Copy(_) => "copy",
        PatchOperation::Test(_) => "test",
    }
}

/// Levels of arrays and objects.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// About as many bytes as it has when written.
fn weight(value: &Value) -> usize {
    match value {
        Value::Array(items) => 2 + items.iter().map(weight).sum::<usize>(),
        Value::Object(members) => 2 + members.iter().map(|(key, value)| key.len() + 4 + weight(value)).sum::<usize>(),
        Value::String(text) => text.len() + 2,
        _ => 8,
    }
}

fn quote(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(QUOTE_LIMIT) {
        Some((cut, _)) => format!("`{}…`", &text[..cut]),
        None => format!("`{text}`"),
    }
}

/// What is wrong, led by where: `line 3, column 5: trailing comma`.
fn place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    format!("line {}, column {}: {what}", error.line(), error.column().max(1))
}

#[cfg(test)]
mod tests;
