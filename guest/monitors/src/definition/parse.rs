//! From the text of a file to a [`Monitor`], with every fault on the way.

use chaperone_sdk::Location;
use chaperone_sdk::document::{self, Document, pointer_to};
use serde_json::{Map, Value};

use super::classify;
use super::fields::{Fields, kind};
use super::*;
use crate::condition::ConditionError;
use crate::fault::{Fault, Report};
use crate::glob::Glob;
use crate::{finding, template};

const ROOT: &[&str] = &[
    "$schema",
    "name",
    "description",
    "event",
    "when",
    "scope",
    "classify",
    "patterns",
    "instructions",
    "actions",
    "ceiling",
    "escalate",
];
const SCOPE: &[&str] = &["target", "filter"];
const FILTER: &[&str] = &["agent_type", "step_name", "workflow"];
const PATTERNS: &[&str] = &["path", "learn", "max_learned"];
const INSTRUCTIONS: &[&str] = &["path"];
const ACTIONS: &[&str] = &["on_flag", "on_new", "on_clean"];
const ACTION: &[&str] = &["steer", "block", "learn_pattern", "write"];
const WRITE: &[&str] = &["path", "merge", "array_field", "template", "schema"];

/// Reads a monitor file. Finds all faults; the monitor is there only if none of them is an error.
///
/// `file` is the file's path in `mount`: the files that it names are resolved from its folder.
pub fn parse(mount: &str, file: &str, text: &str) -> (Option<Monitor>, Vec<Fault>) {
    let mut report = Report::new(mount, file);
    let monitor = read(&mut report, mount, file, text).filter(|_| !report.has_error());
    (monitor, report.into_faults())
}

fn read(report: &mut Report, mount: &str, file: &str, text: &str) -> Option<Monitor> {
    let members = match document::parse(text) {
        Ok(Document { value: Value::Object(members), repeated }) => {
            report.repeated(repeated);
            members
        }
        Ok(Document { value, .. }) => {
            report.error("", format!("is {}, not an object", kind(&value)), "write one object in braces");
            return None;
        }
        Err(error) => {
            report.error("", format!("is not JSON: {error}"), "mend it at that line and column");
            return None;
        }
    };
    let root = Fields::root(&members);
    root.warn_of_others(report, ROOT);
    let event = root.choice(report, "event", Trigger::ALL, Trigger::word, Trigger::MessageEnd);
    let name = name(report, &root, event);
    let scope = subject(report, &root);
    let folder = Folder { mount, path: file.rsplit_once('/').map_or("", |(folder, _)| folder) };
    let patterns = root.object(report, "patterns");
    patterns.warn_of_others(report, PATTERNS);
    let instructions = root.object(report, "instructions");
    instructions.warn_of_others(report, INSTRUCTIONS);
    let patterns_path = patterns.required_text(report, "path", "name the file that lists the patterns");
    let instructions_path = match instructions.text(report, "path") {
        Some(path) if !path.trim().is_empty() => Some(path.to_owned()),
        _ => name.as_ref().map(|name| format!("{name}.instructions.json")),
    };
    let description = description(report, &root);
    let when = when(report, &root);
    let actions = actions(report, &root, event, scope.target);
    let at_rest = classify::AtRest {
        event,
        counts: matches!(when, When::Every(_)),
        steers: scope.target == Target::Main && actions.steer(),
    };
    let classify = classify::read(report, &root, &at_rest);
    let patterns_file = patterns_path.and_then(|path| folder.resolve(report, patterns.pointer("path"), path));
    let learn = learn(report, &patterns);
    if learn == Learn::Propose && !actions.on_new.as_ref().is_some_and(|action| action.learn_pattern) {
        let message = "has no effect: nothing is learned without actions.on_new.learn_pattern";
        report.warning(patterns.pointer("learn"), message, "write \"learn_pattern\": true in actions.on_new");
    }
    let max_learned = patterns.count(report, "max_learned", DEFAULT_MAX_LEARNED);
    let instructions_file =
        instructions_path.and_then(|path| folder.resolve(report, instructions.pointer("path"), &path));
    let ceiling = root.count(report, "ceiling", DEFAULT_CEILING);
    let escalate = root.choice(report, "escalate", Escalate::ALL, Escalate::word, Escalate::Ask);
    Some(Monitor {
        name: name?,
        description,
        event,
        when,
        scope,
        classify: classify?,
        patterns: patterns_file?,
        learn,
        max_learned,
        instructions: instructions_file?,
        actions,
        ceiling,
        escalate,
    })
}

/// Files of version 0.1 know only `true` and `false`, and mean `true` where they say nothing.
fn learn(report: &mut Report, patterns: &Fields) -> Learn {
    match patterns.value("learn") {
        None | Some(Value::Bool(true)) => Learn::Add,
        Some(Value::Bool(false)) => Learn::Never,
        Some(Value::String(word)) if word.trim() == "propose" => Learn::Propose,
        Some(Value::String(word)) if matches!(word.trim(), "true" | "false") => {
            report.warning(patterns.pointer("learn"), "is a word in quotes", "write it without the quotes");
            if word.trim() == "true" { Learn::Add } else { Learn::Never }
        }
        Some(other) => {
            let message = format!("{other} is neither true, false nor \"propose\"");
            report.error(patterns.pointer("learn"), message, "write true, false or \"propose\"");
            Learn::Never
        }
    }
}

fn name(report: &mut Report, root: &Fields, event: Trigger) -> Option<String> {
    let mend = "begin with a letter or digit and go on with letters, digits, dots, underscores and hyphens";
    let name = match root.value("name") {
        Some(Value::Number(number)) => {
            report.warning("/name", "is a number", "write it in quotes");
            number.to_string()
        }
        _ => root.required_text(report, "name", "give the monitor a name")?.to_owned(),
    };
    if !is_name(&name) {
        report.error("/name", format!("`{name}` cannot be typed as one word of a command"), mend);
        return None;
    }
    if event == Trigger::Command && name == RESERVED_COMMAND {
        report.error(
            "/name",
            format!("`/{RESERVED_COMMAND}` is the command that manages all monitors"),
            "choose another name",
        );
        return None;
    }
    Some(name)
}

fn description(report: &mut Report, root: &Fields) -> String {
    match root.value("description") {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => {
            report.warning("/description", format!("is {}, not a text", kind(other)), "write it in quotes");
            other.to_string()
        }
    }
}

fn when(report: &mut Report, root: &Fields) -> When {
    let Some(text) = root.text(report, "when") else { return When::ALWAYS };
    text.parse().unwrap_or_else(|error: ConditionError| {
        report.error("/when", error.to_string(), error.mend());
        When::ALWAYS
    })
}

fn subject(report: &mut Report, root: &Fields) -> Subject {
    let scope = root.object(report, "scope");
    scope.warn_of_others(report, SCOPE);
    let target = scope.choice(report, "target", Target::ALL, Target::word, Target::Main);
    let filter = scope.object(report, "filter");
    filter.warn_of_others(report, FILTER);
    let names = filter.texts(report, "agent_type");
    Subject {
        target,
        agent_type: names.map(|names| names.into_iter().map(|(_, name)| name.to_owned()).collect()),
        step_name: glob(report, &filter, "step_name"),
        workflow: glob(report, &filter, "workflow"),
    }
}

fn glob(report: &mut Report, filter: &Fields, key: &str) -> Option<Glob> {
    let text = filter.text(report, key)?;
    text.parse()
        .inspect_err(|error| report.error(filter.pointer(key), format!("`{text}`: {error}"), "close the bracket"))
        .ok()
}

fn actions(report: &mut Report, root: &Fields, event: Trigger, target: Target) -> Actions {
    let actions = root.object(report, "actions");
    actions.warn_of_others(report, ACTIONS);
    let mut action = |key| action(report, &actions, key, event, target);
    Actions { on_flag: action("on_flag"), on_new: action("on_new"), on_clean: action("on_clean") }
}

fn action(report: &mut Report, actions: &Fields, key: &str, event: Trigger, target: Target) -> Option<Action> {
    let action = actions.object(report, key);
    if !action.is_present() {
        return None;
    }
    action.warn_of_others(report, ACTION);
    let steer = action.text(report, "steer").map(str::trim).filter(|text| !text.is_empty());
    let idle = if key == "on_clean" {
        Some("there is nothing to say about a clean verdict")
    } else {
        (target != Target::Main).then_some("only the main agent can be steered")
    };
    let is_meant_to_be_filled = |word: &&str| {
        finding::PLACEHOLDERS.contains(word)
            || template::BUILT_IN.contains(word)
            || Collector::from_word(word).is_some()
    };
    for word in steer.into_iter().flat_map(template::placeholders).filter(is_meant_to_be_filled) {
        let message = format!("`{{{word}}}` stays as it is: nothing is put into a steer");
        report.warning(action.pointer("steer"), message, "remove it: what was found stands before the steer");
    }
    if let (Some(_), Some(reason)) = (steer, idle) {
        report.warning(action.pointer("steer"), format!("has no effect: {reason}"), "remove it");
    }
    let learn_pattern = action.flag(report, "learn_pattern", false);
    if learn_pattern && key != "on_new" {
        report.warning(action.pointer("learn_pattern"), "has no effect: only on_new learns", "remove it");
    }
    let block = block(report, &action, key, event);
    Some(Action { steer: steer.map(str::to_owned), block, learn_pattern, write: write(report, &action) })
}

/// `true`, or the words of the refusal.
fn block(report: &mut Report, action: &Fields, key: &str, event: Trigger) -> Option<Block> {
    let pointer = action.pointer("block");
    let block = match action.value("block")? {
        Value::Bool(false) => return None,
        Value::Bool(true) => Block::WithSteer,
        Value::String(reason) if !reason.trim().is_empty() => Block::WithReason(reason.trim().to_owned()),
        other => {
            report.error(
                pointer,
                format!("is {}, not true, false or a reason", kind(other)),
                "write true, or what the agent is to be told in place of the tool's result",
            );
            return None;
        }
    };
    let idle = match (key, event) {
        ("on_clean", _) => "a clean verdict refuses nothing",
        (_, Trigger::ToolCall) => return Some(block),
        _ => "only a monitor whose event is tool_call can refuse a call",
    };
    report.warning(pointer, format!("has no effect: {idle}"), "remove it");
    None
}

fn write(report: &mut Report, action: &Fields) -> Option<Write> {
    let write = action.object(report, "write");
    if !write.is_present() {
        return None;
    }
    write.warn_of_others(report, WRITE);
    let path = write.required_text(report, "path", "name the JSON file, relative to the project");
    let file = path.and_then(|path| workspace_file(report, write.pointer("path"), path));
    let merge = write.choice(report, "merge", Merge::ALL, Merge::word, Merge::Append);
    let array_field = write.required_text(report, "array_field", "name the field of the file that holds the list");
    write.text(report, "schema");
    let template = entry_template(report, &write, merge);
    Some(Write { file: file?, merge, array_field: array_field?.to_owned(), template: template? })
}

fn entry_template(report: &mut Report, write: &Fields, merge: Merge) -> Option<Map<String, Value>> {
    let mend = "write the entry as an object, such as {\"id\": \"{finding_id}\", \"description\": \"{description}\"}";
    let pointer = write.pointer("template");
    let template = match write.value("template") {
        Some(Value::Object(template)) => template.clone(),
        Some(other) => {
            report.error(pointer, format!("is {}, not an object", kind(other)), mend);
            return None;
        }
        None => {
            report.error(pointer, "is missing", mend);
            return None;
        }
    };
    if merge == Merge::Upsert && template.get("id").is_none_or(Value::is_null) {
        report.error(
            pointer.as_str(),
            "has no `id`, by which an entry could be found again",
            "add an `id`, or write merge: append",
        );
    }
    for (key, value) in &template {
        warn_of_placeholders(report, &pointer_to(&pointer, key), value);
    }
    Some(template)
}

/// Warns of each placeholder of an entry's template that nothing is put into.
fn warn_of_placeholders(report: &mut Report, pointer: &str, template: &Value) {
    match template {
        Value::String(text) => {
            for word in template::placeholders(text).filter(|word| !finding::PLACEHOLDERS.contains(word)) {
                let message = format!("`{{{word}}}` is not a placeholder and stays as it is");
                report.warning(pointer, message, format!("write one of {}", finding::PLACEHOLDERS.join(", ")));
            }
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, item)| warn_of_placeholders(report, &format!("{pointer}/{index}"), item)),
        Value::Object(members) => {
            members.iter().for_each(|(key, item)| warn_of_placeholders(report, &pointer_to(pointer, key), item));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A finding's file: in the project, and never above it.
fn workspace_file(report: &mut Report, pointer: String, path: &str) -> Option<Location> {
    let resolved = if is_absolute(path) || path.split('/').any(|part| part == "..") { None } else { join("", path) };
    if resolved.is_none() {
        let message = format!("`{path}` must be relative to the project");
        report.error(pointer, message, "write a path from the project's folder, with / and without ..");
    }
    Some(Location { mount: WORKSPACE.into(), path: resolved? })
}

/// The folder of the monitor file.
struct Folder<'a> {
    mount: &'a str,
    path: &'a str,
}

impl Folder<'_> {
    fn resolve(&self, report: &mut Report, pointer: String, path: &str) -> Option<Location> {
        let resolved = if is_absolute(path) { None } else { join(self.path, path) };
        if resolved.is_none() {
            let message = format!("`{path}` is outside the folder that monitors may use");
            report.error(pointer, message, "write a path from the folder of this file, with /");
        }
        Some(Location { mount: self.mount.into(), path: resolved? })
    }
}

fn is_absolute(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':') && path.starts_with(|c: char| c.is_ascii_alphabetic());
    path.starts_with(['/', '~']) || path.contains('\\') || drive
}

/// Goes from a folder of a mount along a path. None if that leaves the mount, or ends at a folder.
fn join(folder: &str, path: &str) -> Option<String> {
    let path = path.trim();
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    let names_a_file = !matches!(path.rsplit('/').next(), None | Some("" | "." | ".."));
    (names_a_file && !parts.is_empty()).then(|| parts.join("/"))
}
