//! The settings of hosts: putting a command in for their hooks, and taking it out again. Everything else keeps its text.

use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};

use super::Host;
use super::event::Topic;

/// Whose settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of this project.
    Project,
    /// Those of the user, for all projects.
    User,
}

/// Why settings are left as they are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// They are no JSON.
    #[error("line {line}, column {column}: {what}; mend the file first, it was left as it is")]
    NotJson {
        /// From 1.
        line: usize,
        /// In characters, from 1.
        column: usize,
        /// What is wrong.
        what: String,
    },
    /// Something in them is of another kind than the host wants.
    #[error("{place} is no {expected}; mend the file first, it was left as it is")]
    OtherKind {
        /// Where in the document.
        place: String,
        /// What should be there.
        expected: &'static str,
    },
}

/// How long the hooks of an event may take, in seconds.
fn seconds(topic: Topic) -> u32 {
    match topic {
        Topic::SessionEnd => 3,
        // More than a hook gives itself, so that it can still answer when its time is over.
        _ => 60,
    }
}

/// The file with a host's settings. `variable` looks into the environment. None where the user has no home folder.
pub fn file(
    host: Host,
    scope: Scope,
    project: &Path,
    home: Option<&Path>,
    variable: impl Fn(&str) -> Option<PathBuf>,
) -> Option<PathBuf> {
    let (folder, moved_by, name) = match host {
        Host::ClaudeCode => (".claude", Some("CLAUDE_CONFIG_DIR"), "settings.json"),
        Host::Codex => (".codex", Some("CODEX_HOME"), "hooks.json"),
        Host::GeminiCli => (".gemini", None, "settings.json"),
    };
    let folder = match scope {
        Scope::Project => project.join(folder),
        Scope::User => match moved_by.and_then(variable).filter(|moved| !moved.as_os_str().is_empty()) {
            Some(moved) => moved,
            None => home?.join(folder),
        },
    };
    Some(folder.join(name))
}

/// The settings with this command for each event that watchers can use, in place of any earlier command of this program.
///
/// # Errors
/// Where the settings cannot be understood.
pub fn install(text: Option<&str>, host: Host, command: &str) -> Result<String, SettingsError> {
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
        return install(Some("{}\n"), host, command);
    };
    let root = parse(text, host)?;
    let document = object(root.value(), "the document")?;
    let hooks = document.object_value_or_create("hooks").ok_or_else(|| other_kind("`hooks`", "object"))?;
    for &(event, topic) in host.events() {
        let groups =
            hooks.array_value_or_create(event).ok_or_else(|| other_kind(&format!("`hooks.{event}`"), "list"))?;
        let wanted = handler(host, command, seconds(topic));
        let ours = ours(&groups, host);
        if let [only] = ours.as_slice()
            && serde_json::from_str::<serde_json::Value>(&only.to_string()).is_ok_and(|there| there == wanted)
        {
            continue;
        }
        ours.into_iter().for_each(take_out);
        groups.append(input(&serde_json::json!({ "hooks": [wanted] })));
    }
    Ok(root.to_string())
}

/// The settings without any command of this program. Lists and objects that are empty without it go as well.
///
/// # Errors
/// Where the settings cannot be understood.
pub fn uninstall(text: &str, host: Host) -> Result<String, SettingsError> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let root = parse(text, host)?;
    let document = object(root.value(), "the document")?;
    let Some(hooks) = document.object_value("hooks") else { return Ok(text.to_owned()) };
    let mut has_changed = false;
    for property in hooks.properties() {
        let Some(groups) = property.array_value() else { continue };
        let ours = ours(&groups, host);
        has_changed |= !ours.is_empty();
        let is_emptied = !ours.is_empty();
        ours.into_iter().for_each(take_out);
        if is_emptied && groups.elements().is_empty() {
            property.remove();
        }
    }
    if has_changed
        && hooks.properties().is_empty()
        && let Some(property) = document.get("hooks")
    {
        property.remove();
    }
    Ok(root.to_string())
}

/// The command line of a hook, for a shell.
pub fn command(program: &Path, host: Host, config: Option<&Path>) -> String {
    let mut words = vec![program.display().to_string(), "hook".into(), host.name().into()];
    if let Some(config) = config {
        words.extend(["--config".into(), config.display().to_string()]);
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word as shells read it.
fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "/._-:\\+@".contains(char);
    match word.chars().all(is_plain) && !word.is_empty() {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Whether a command line is a hook of this program for this host, wherever the program was.
fn is_ours(command: &str, host: Host) -> bool {
    let Some((program, rest)) = command.split_once(" hook ") else { return false };
    let program = program.trim_end_matches(['\'', '"']);
    let name = program.rsplit(['/', '\\', '\'', '"']).next().unwrap_or_default();
    let is_program = matches!(name.strip_suffix(".exe").unwrap_or(name), "chaperone");
    is_program && rest.split_whitespace().next() == Some(host.name())
}

fn handler(host: Host, command: &str, seconds: u32) -> serde_json::Value {
    match host {
        Host::ClaudeCode | Host::Codex => {
            serde_json::json!({ "type": "command", "command": command, "timeout": seconds })
        }
        Host::GeminiCli => serde_json::json!({
            "type": "command", "name": "chaperone", "command": command, "timeout": seconds * 1000,
        }),
    }
}

/// The handlers of this program in a list of groups.
fn ours(groups: &CstArray, host: Host) -> Vec<CstObject> {
    let objects = |list: Vec<CstNode>| list.into_iter().filter_map(|node| node.as_object());
    objects(groups.elements())
        .filter_map(|group| group.array_value("hooks"))
        .flat_map(|handlers| objects(handlers.elements()))
        .filter(|handler| {
            let command =
                handler.get("command").and_then(|command| command.value()?.as_string_lit()?.decoded_value().ok());
            command.is_some_and(|command| is_ours(&command, host))
        })
        .collect()
}

/// Takes a handler out of its group, and the group, if it was the last one in it.
fn take_out(handler: CstObject) {
    let handlers = handler.parent().and_then(|parent| parent.as_array());
    handler.remove();
    let Some(handlers) = handlers.filter(|handlers| handlers.elements().is_empty()) else { return };
    let group = handlers.parent().and_then(|property| property.parent()).and_then(|group| group.as_object());
    if let Some(group) = group {
        group.remove();
    }
}

fn parse(text: &str, host: Host) -> Result<CstRootNode, SettingsError> {
    // Gemini CLI reads its settings with comments in them, the others do not.
    if host != Host::GeminiCli {
        serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|error| {
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or_default().to_owned();
            SettingsError::NotJson { line: error.line(), column: error.column(), what }
        })?;
    }
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: false,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    CstRootNode::parse(text, &options).map_err(|error| SettingsError::NotJson {
        line: error.line_display(),
        column: error.column_display(),
        what: error.kind().to_string(),
    })
}

fn object(value: Option<CstNode>, place: &str) -> Result<CstObject, SettingsError> {
    value.and_then(|value| value.as_object()).ok_or_else(|| other_kind(place, "object"))
}

fn other_kind(place: &str, expected: &'static str) -> SettingsError {
    SettingsError::OtherKind { place: place.into(), expected }
}

fn input(value: &serde_json::Value) -> CstInputValue {
    match value {
        serde_json::Value::Null => CstInputValue::Null,
        serde_json::Value::Bool(flag) => CstInputValue::Bool(*flag),
        serde_json::Value::Number(number) => CstInputValue::Number(number.to_string()),
        serde_json::Value::String(text) => CstInputValue::String(text.clone()),
        serde_json::Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        serde_json::Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests;
