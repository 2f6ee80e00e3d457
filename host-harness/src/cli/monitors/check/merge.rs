//! One list of faults from two judges.

use chaperone_contract::Location;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::files::{Kind, MonitorFile};
use super::schema::{self, Breach};

/// What a fault means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The file, or the part of it, is not used.
    Error,
    /// It is used, though perhaps not as its author meant.
    Warning,
    /// All is as it was meant; for whoever asks.
    Note,
}

/// One thing that is wrong with a file, in the form that the plugin has for it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Fault {
    pub mount: String,
    /// Its path in the mount.
    pub file: String,
    /// A JSON pointer; empty for the whole file.
    pub pointer: String,
    pub message: String,
    pub mend: String,
    pub severity: Severity,
}

impl Fault {
    fn is_in(&self, file: &MonitorFile) -> bool {
        file.is(&self.mount, &self.file)
    }

    /// Whether it says what a breach says: at its place or below, or around it and naming it.
    fn covers(&self, breach: &Breach) -> bool {
        let is_below = |pointer: &str, parent: &str| {
            pointer.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let (parent, key) = breach.pointer.rsplit_once('/').unwrap_or(("", ""));
        is_below(&self.pointer, &breach.pointer)
            || (self.pointer == parent && !key.is_empty() && names(&self.message, key))
    }
}

fn names(message: &str, key: &str) -> bool {
    message.split(|character: char| !character.is_alphanumeric() && character != '_').any(|word| word == key)
}

/// All that the plugin says, and what only the schemas say.
pub fn merged(of_plugin: Vec<Fault>, files: &[MonitorFile]) -> Vec<Fault> {
    let mut merged = of_plugin.clone();
    for file in files {
        let of_file: Vec<_> = of_plugin.iter().filter(|fault| fault.is_in(file)).collect();
        let severity = severity(&of_plugin, file);
        let only_here = breaches(file).into_iter().filter(|breach| !of_file.iter().any(|fault| fault.covers(breach)));
        merged.extend(only_here.map(|Breach { pointer, message, mend }| {
            let (mount, path) = (file.location.mount.clone(), file.location.path.clone());
            Fault { mount, file: path, pointer, message, mend, severity }
        }));
    }
    merged
}

fn breaches(file: &MonitorFile) -> Vec<Breach> {
    match serde_json::from_str::<Value>(&file.text) {
        Ok(value) => {
            let value = if file.kind == Kind::Definition { without_nulls(value) } else { value };
            schema::breaches(file.kind, &value)
        }
        Err(error) => vec![Breach {
            pointer: String::new(),
            message: format!("is not JSON: {error}"),
            mend: "mend it at that line and column".into(),
        }],
    }
}

/// A definition without the fields that are `null`: the plugin takes them for absent. In a template, `null` is a value.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let there = members.into_iter().filter(|(_, value)| !value.is_null());
            there
                .map(|(key, value)| if key == "template" { (key, value) } else { (key, without_nulls(value)) })
                .collect()
        }
        other => other,
    }
}

/// What the plugin has read and lets pass is a warning. It does not read the lists of a monitor that it cannot use: there,
/// nobody but the schema has looked.
fn severity(of_plugin: &[Fault], file: &MonitorFile) -> Severity {
    let is_faulty = |owner: &Location| {
        of_plugin
            .iter()
            .any(|fault| fault.severity == Severity::Error && fault.mount == owner.mount && fault.file == owner.path)
    };
    let is_list = file.owners != [file.location.clone()];
    if is_list && file.owners.iter().all(is_faulty) { Severity::Error } else { Severity::Warning }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(path: &str) -> Location {
        Location { mount: "project".into(), path: path.into() }
    }

    fn file(path: &str, kind: Kind, owner: &str, text: &str) -> MonitorFile {
        MonitorFile { location: location(path), kind, text: text.into(), owners: vec![location(owner)] }
    }

    fn fault(file: &str, pointer: &str, message: &str, severity: Severity) -> Fault {
        let [mount, file, pointer, message] = ["project", file, pointer, message].map(String::from);
        Fault { mount, file, pointer, message, mend: "the plugin's".into(), severity }
    }

    fn told(faults: &[Fault]) -> Vec<(&str, &str, Severity)> {
        faults.iter().map(|fault| (fault.pointer.as_str(), fault.message.as_str(), fault.severity)).collect()
    }

    #[test]
    fn where_both_say_something_the_plugin_is_heard() {
        let text = r#"{"name": "x", "event": "never", "classify": {"prompt": "p"}, "extra": 1}"#;
        let definition = file("m.json", Kind::Definition, "m.json", text);
        let of_plugin = vec![
            fault("m.json", "/event", "`never` is not known", Severity::Error),
            fault("m.json", "/patterns/path", "is missing", Severity::Error),
            fault("m.json", "/extra", "has no effect", Severity::Warning),
        ];
        assert_eq!(merged(of_plugin.clone(), &[definition]), of_plugin);
    }

    #[test]
    fn what_is_null_is_absent_but_for_a_template() {
        let template = r#"{"a": null}"#;
        let text = r#"{"name": "x", "classify": {"prompt": "p", "model": null}, "patterns": {"path": "p.json"},
            "actions": null, "ceiling": null, "when": " every( 2 ) "}"#;
        assert_eq!(merged(Vec::new(), &[file("m.json", Kind::Definition, "m.json", text)]), []);
        let write =
            serde_json::json!({"on_flag": {"write": {"path": "g.json", "array_field": null, "template": {"a": null}}}});
        let kept = without_nulls(write);
        assert_eq!(kept["on_flag"]["write"]["template"].to_string().replace(':', ": "), template);
        assert_eq!(kept["on_flag"]["write"].as_object().unwrap().len(), 2);
    }

    #[test]
    fn what_only_the_schema_says_is_a_warning_where_the_plugin_lets_it_pass() {
        let text = r#"[{"id": "a", "description": "b", "source": "dream"}, {"id": 5}]"#;
        let patterns = file("p.json", Kind::Patterns, "m.json", text);
        let of_plugin = vec![fault("p.json", "/1", "has no description, and is left out", Severity::Error)];
        let merged = merged(of_plugin, &[patterns]);
        let told = told(&merged);
        assert_eq!(told[0], ("/1", "has no description, and is left out", Severity::Error));
        let mut others: Vec<_> = told[1..].iter().map(|(pointer, _, severity)| (*pointer, *severity)).collect();
        others.sort_by_key(|(pointer, _)| *pointer);
        assert_eq!(others, [("/0/source", Severity::Warning), ("/1/id", Severity::Warning)]);
    }

    #[test]
    fn in_a_list_that_the_plugin_has_not_read_it_is_an_error() {
        let files = [
            file("m.json", Kind::Definition, "m.json", r#"{"name": "x"}"#),
            file("p.json", Kind::Patterns, "m.json", "[1,"),
            file("i.json", Kind::Rules, "m.json", r#"[{"text": ""}]"#),
        ];
        let of_plugin =
            ["/classify/prompt", "/patterns/path"].map(|p| fault("m.json", p, "is missing", Severity::Error));
        let merged = merged(of_plugin.to_vec(), &files);
        assert_eq!(
            told(&merged[2..]),
            [
                ("", "is not JSON: EOF while parsing a value at line 1 column 3", Severity::Error),
                ("/0/text", "is empty", Severity::Error),
            ]
        );
    }

    #[test]
    fn what_is_no_json_is_told_once() {
        let broken = file("m.json", Kind::Definition, "m.json", "{,}");
        let of_plugin = vec![fault("m.json", "", "is not JSON: …", Severity::Error)];
        assert_eq!(merged(of_plugin.clone(), &[broken]), of_plugin);
    }
}
