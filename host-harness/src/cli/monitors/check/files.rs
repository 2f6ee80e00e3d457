//! The files of monitors: definitions, and the lists that they name.

use chaperone_contract::Location;
use serde_json::Value;

use crate::transaction::ReadFiles;

/// The mounts with monitors, in the order in which they count.
const MOUNTS: [&str; 2] = ["project", "user"];
const FOLDER: &str = "monitors";
const SUFFIX: &str = ".monitor.json";

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A monitor.
    Definition,
    /// What it looks for, or proposes to look for.
    Patterns,
    /// The user's rules for its judge.
    Rules,
}

/// A file of one or more monitors.
#[derive(Debug)]
pub struct MonitorFile {
    pub location: Location,
    pub kind: Kind,
    pub text: String,
    /// The definitions that name it; of a definition, itself.
    pub owners: Vec<Location>,
}

impl MonitorFile {
    /// Whether it is the file of this mount and path.
    pub fn is(&self, mount: &str, path: &str) -> bool {
        is(&self.location, mount, path)
    }
}

fn is(location: &Location, mount: &str, path: &str) -> bool {
    location.mount == mount && location.path == path
}

/// The definitions of all mounts.
pub fn definitions(files: &dyn ReadFiles) -> Vec<Location> {
    let mut definitions = Vec::new();
    for mount in MOUNTS {
        let folder = Location { mount: mount.into(), path: FOLDER.into() };
        let names = files.entries(&folder).unwrap_or_default();
        let names = names.iter().filter(|name| name.ends_with(SUFFIX));
        definitions.extend(names.map(|name| Location { path: format!("{FOLDER}/{name}"), ..folder.clone() }));
    }
    definitions
}

/// All files that can be read, each once.
pub fn find(files: &dyn ReadFiles) -> Vec<MonitorFile> {
    let mut found: Vec<MonitorFile> = Vec::new();
    for location in definitions(files) {
        let Ok(text) = files.read(&location) else { continue };
        let lists = lists(&location, &text);
        found.push(MonitorFile {
            owners: vec![location.clone()],
            location: location.clone(),
            kind: Kind::Definition,
            text,
        });
        for (kind, list) in lists {
            if let Some(known) = found.iter_mut().find(|file| file.location == list) {
                known.owners.push(location.clone());
            } else if let Ok(text) = files.read(&list) {
                found.push(MonitorFile { location: list, kind, text, owners: vec![location.clone()] });
            }
        }
    }
    found
}

/// The lists that a definition names, or would by default; also one that is not in order itself.
fn lists(definition: &Location, text: &str) -> Vec<(Kind, Location)> {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let stem = definition.path.strip_suffix(SUFFIX).and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    let name = value["name"].as_str().unwrap_or(stem);
    let path = |field: &str, default: String| value[field]["path"].as_str().map_or(default, str::to_owned);
    let patterns = path("patterns", format!("{stem}.patterns.json"));
    let rules = path("instructions", format!("{name}.instructions.json"));
    let proposals = patterns.strip_suffix(".json").unwrap_or(&patterns);
    let proposals = format!("{}.proposed.json", proposals.strip_suffix(".patterns").unwrap_or(proposals));
    [(Kind::Patterns, patterns), (Kind::Patterns, proposals), (Kind::Rules, rules)]
        .into_iter()
        .filter_map(|(kind, path)| {
            Some((kind, Location { path: beside(&definition.path, &path)?, ..definition.clone() }))
        })
        .collect()
}

/// Goes along a path from the folder of a file. None: it leaves the mount.
fn beside(file: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in path.trim().split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            name => parts.push(name),
        }
    }
    (!path.starts_with(['/', '~'])).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use chaperone_contract::FileError;

    use super::*;

    /// Files by mount and path.
    struct Files(BTreeMap<&'static str, &'static str>);

    impl ReadFiles for Files {
        fn read(&self, file: &Location) -> Result<String, FileError> {
            let key = format!("{}:{}", file.mount, file.path);
            self.0.get(key.as_str()).map(|text| (*text).into()).ok_or(FileError::NotFound)
        }

        fn entries(&self, folder: &Location) -> Result<Vec<String>, FileError> {
            let prefix = format!("{}:{}/", folder.mount, folder.path);
            Ok(self.0.keys().filter_map(|key| key.strip_prefix(prefix.as_str()).map(str::to_owned)).collect())
        }
    }

    fn found(files: &[(&'static str, &'static str)]) -> Vec<(String, Kind, usize)> {
        let files = find(&Files(files.iter().copied().collect()));
        let name = |location: &Location| format!("{}:{}", location.mount, location.path);
        files.iter().map(|file| (name(&file.location), file.kind, file.owners.len())).collect()
    }

    #[test]
    fn a_monitor_is_its_definition_and_the_lists_that_it_names() {
        let definition = r#"{"name": "n", "patterns": {"path": "../p.json"}}"#;
        let files = found(&[
            ("project:monitors/a.monitor.json", definition),
            ("project:monitors/b.monitor.json", definition),
            ("project:monitors/n.instructions.json", "[]"),
            ("project:monitors/unrelated.json", "[]"),
            ("project:p.json", "[]"),
            ("user:monitors/u.monitor.json", r#"{"instructions": {"path": "./sub/i.json"}}"#),
            ("user:monitors/sub/i.json", "[]"),
            ("user:monitors/u.patterns.json", "[]"),
        ]);
        let expected = [
            ("project:monitors/a.monitor.json", Kind::Definition, 1),
            ("project:p.json", Kind::Patterns, 2),
            ("project:monitors/n.instructions.json", Kind::Rules, 2),
            ("project:monitors/b.monitor.json", Kind::Definition, 1),
            ("user:monitors/u.monitor.json", Kind::Definition, 1),
            ("user:monitors/u.patterns.json", Kind::Patterns, 1),
            ("user:monitors/sub/i.json", Kind::Rules, 1),
        ];
        assert_eq!(files, expected.map(|(name, kind, owners)| (name.to_owned(), kind, owners)));
    }

    #[test]
    fn a_definition_that_is_no_json_still_has_lists() {
        let files = found(&[("project:monitors/a.monitor.json", "{"), ("project:monitors/a.patterns.json", "[]")]);
        assert_eq!(files.len(), 2);
    }

    #[test]
    fn a_path_out_of_the_mount_leads_to_no_file() {
        assert_eq!(beside("monitors/a.json", "../../x.json"), None);
        assert_eq!(beside("monitors/a.json", "/etc/passwd"), None);
        assert_eq!(beside("monitors/a.json", "../x/./y.json"), Some("x/y.json".into()));
    }
}
