//! Files of labelled transcripts, for the commands that try watchers on them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};

use crate::cases::{self, Case};
use crate::files::Repository;

/// The cases of these files, and of the files in these folders.
///
/// # Errors
/// All faults of all files, a line for each.
pub fn read(paths: &[PathBuf]) -> Result<Vec<Case>> {
    let mut read: Vec<Case> = Vec::new();
    let mut faults: Vec<String> = Vec::new();
    for path in paths {
        for file in files_at(path)? {
            let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            match cases::parse(&file.display().to_string(), &text) {
                Ok(cases) => read.extend(cases),
                Err(errors) => faults.push(errors.to_string()),
            }
        }
    }
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    for case in &read {
        let (place, id) = (&case.place, case.id());
        match known.get(&id) {
            Some(first) => {
                faults
                    .push(format!("{place}: `{id}` is there already, at {first}; give one of the cases another name"));
            }
            None => _ = known.insert(id, place),
        }
    }
    match faults.is_empty() {
        true => Ok(read),
        false => bail!("{}", faults.join("\n")),
    }
}

/// Whether a file holds cases, by its name.
pub fn is_file_of_cases(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// The file, or the files of the folder, sorted.
fn files_at(path: &Path) -> Result<Vec<PathBuf>> {
    let mend = "name files or folders of cases with --cases";
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let entries =
        std::fs::read_dir(path).map_err(|error| anyhow!("no cases at {}: {error}; {mend}", path.display()))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.retain(|file| is_file_of_cases(file));
    if files.is_empty() {
        bail!("there is no file of cases (*.yaml) in {}; {mend}", path.display());
    }
    files.sort();
    Ok(files)
}

/// The case that is meant: by its id, or by its name where only one has it. Where nothing is said, the only one.
///
/// # Errors
/// Where that is none, or not one; with those there are.
pub fn choose(file: &Path, cases: Vec<Case>, meant: Option<&str>) -> Result<Case> {
    let ids: Vec<String> = cases.iter().map(Case::id).collect();
    let is_meant = |case: &Case| meant.is_none_or(|meant| case.id() == meant || case.name == meant);
    let mut fitting: Vec<Case> = cases.into_iter().filter(is_meant).collect();
    let there = || format!("there is {}", ids.join(", "));
    match (fitting.pop().filter(|_| fitting.is_empty()), meant) {
        (Some(case), _) => Ok(case),
        (None, None) => bail!("{} has several cases, name one with --case: {}", file.display(), there()),
        (None, Some(meant)) if fitting.is_empty() => {
            bail!("{} has no case `{meant}`: {}", file.display(), there())
        }
        (None, Some(meant)) => bail!("{} has several cases `{meant}`, write RULE/NAME: {}", file.display(), there()),
    }
}

/// The state of the repository in which a case plays.
pub fn repository(case: &Case) -> Repository {
    match &case.git_status {
        Some(said) => Repository::Said(said.clone()),
        None => Repository::OutOfReach("the case has no `git_status`".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(ids: &[(&str, &str)]) -> Vec<Case> {
        let case = |(rule, name): &(&str, &str)| {
            let text = format!(
                "watcher: w\nrule: {rule}\ncases:\n  - {{ name: {name}, language: en, expect: clean, why: w, transcript: \
                 [{{ user: a }}, {{ assistant: b }}] }}\n"
            );
            cases::parse("c.yaml", &text).unwrap().remove(0)
        };
        ids.iter().map(case).collect()
    }

    fn chosen(ids: &[(&str, &str)], meant: Option<&str>) -> Result<String, String> {
        choose(Path::new("c.yaml"), cases(ids), meant).map(|case| case.id()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_only_case_need_not_be_named_and_a_name_is_enough_where_it_is_unique() {
        assert_eq!(chosen(&[("r", "a")], None), Ok("r/a".into()));
        let three = [("r", "a"), ("r", "b"), ("s", "b")];
        assert_eq!(chosen(&three, Some("a")), Ok("r/a".into()));
        assert_eq!(chosen(&three, Some("s/b")), Ok("s/b".into()));
        let there = "there is r/a, r/b, s/b";
        assert_eq!(chosen(&three, None), Err(format!("c.yaml has several cases, name one with --case: {there}")));
        assert_eq!(chosen(&three, Some("b")), Err(format!("c.yaml has several cases `b`, write RULE/NAME: {there}")));
        assert_eq!(chosen(&three, Some("c")), Err(format!("c.yaml has no case `c`: {there}")));
    }
}
