//! The YAML of a file of cases.

use std::collections::BTreeMap;

use chaperone_contract::StopReason;
use serde::Deserialize;
use serde_json::Value;
use serde_saphyr::{Location, MessageFormatter as _, Spanned, UserMessageFormatter};

use super::fault::{CaseError, CaseErrors, Fault};
use super::{Case, Expect, transcript};

/// What is wrong, and where.
pub(super) type Fallible<T> = Result<T, (Location, Fault)>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    watcher: Spanned<String>,
    rule: Spanned<String>,
    cases: Vec<Spanned<CaseText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseText {
    name: Spanned<String>,
    language: Spanned<String>,
    expect: Expect,
    why: Spanned<String>,
    git_status: Option<Spanned<String>>,
    transcript: Vec<Spanned<TurnText>>,
    command: Option<Spanned<String>>,
}

/// One turn of a transcript. Which keys go together, [`transcript`] says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TurnText {
    pub user: Option<Spanned<String>>,
    pub assistant: Option<Spanned<String>>,
    pub calls: Option<Spanned<Vec<CallText>>>,
    pub stop: Option<Spanned<StopText>>,
    pub result: Option<Spanned<String>>,
    pub error: Option<Spanned<bool>>,
    pub details: Option<Spanned<Value>>,
    pub custom: Option<Spanned<String>>,
    #[serde(rename = "type")]
    pub custom_type: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallText {
    pub tool: String,
    pub arguments: Option<Spanned<Value>>,
}

/// Why a message ended, where no call of a tool says it.
#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StopText {
    Stop,
    Length,
    Aborted,
    Error,
}

impl From<StopText> for StopReason {
    fn from(text: StopText) -> Self {
        match text {
            StopText::Stop => Self::Stop,
            StopText::Length => Self::Length,
            StopText::Aborted => Self::Aborted,
            StopText::Error => Self::Error,
        }
    }
}

/// As much of a file as tells which case a line belongs to, whatever else is wrong with it.
#[derive(Deserialize)]
struct Outline {
    cases: Vec<Spanned<Heading>>,
}

#[derive(Deserialize)]
struct Heading {
    name: Option<String>,
}

/// Reads the cases of a file; `file` names it in errors.
///
/// # Errors
/// All faults, each with its place and its mend; of what is no YAML or has a wrong key, the first alone.
pub fn parse(file: &str, text: &str) -> Result<Vec<Case>, CaseErrors> {
    let at = |location: Location, case: Option<String>, fault| CaseError {
        file: file.to_owned(),
        line: location.line(),
        column: location.column(),
        case,
        fault,
    };
    let parsed: FileText = serde_saphyr::from_str(text).map_err(|error| {
        let fault = Fault::Yaml(UserMessageFormatter.format_message(error.without_snippet()).into_owned());
        let location = error.location().unwrap_or(Location::UNKNOWN);
        CaseErrors(vec![at(location, name_of_case_at(text, location), fault)])
    })?;
    let mut faults = Vec::new();
    let mut of_file = |read: Fallible<String>| {
        let keep = |(location, fault)| faults.push(at(location, None, fault));
        read.map_err(keep).unwrap_or_default()
    };
    let watcher = of_file(filled(parsed.watcher, "watcher"));
    let rule = of_file(kebab(parsed.rule, "rule"));
    if parsed.cases.is_empty() {
        faults.push(at(Location::UNKNOWN, None, Fault::NoCases));
    }
    let mut cases: Vec<Case> = Vec::with_capacity(parsed.cases.len());
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for Spanned { value, referenced, .. } in parsed.cases {
        let (name, place, line) = (value.name.value.clone(), value.name.referenced, referenced.line());
        match lines.get(&name) {
            Some(first) => faults.push(at(place, Some(name.clone()), Fault::Twice(name.clone(), *first))),
            None => _ = lines.insert(name.clone(), line),
        }
        match case_of(value, &watcher, &rule) {
            Ok(case) => cases.push(Case { place: format!("{file}:{line}"), ..case }),
            Err((location, fault)) => faults.push(at(location, Some(name), fault)),
        }
    }
    if faults.is_empty() { Ok(cases) } else { Err(CaseErrors(faults)) }
}

fn case_of(text: CaseText, watcher: &str, rule: &str) -> Fallible<Case> {
    Ok(Case {
        watcher: watcher.to_owned(),
        rule: rule.to_owned(),
        name: kebab(text.name, "name")?,
        language: language(text.language)?,
        expect: text.expect,
        why: filled(text.why, "why")?,
        git_status: text.git_status.map(status).transpose()?,
        command: text.command.map(command).transpose()?,
        branch: transcript::branch(text.transcript)?,
        place: String::new(),
    })
}

fn filled(text: Spanned<String>, key: &'static str) -> Fallible<String> {
    match text.value.trim() {
        "" => Err((text.referenced, Fault::Empty(key))),
        filled => Ok(filled.to_owned()),
    }
}

fn command(text: Spanned<String>) -> Fallible<String> {
    Ok(filled(text, "command")?.trim_start_matches('/').to_owned())
}

/// As it was written: a line can begin with a blank.
fn status(text: Spanned<String>) -> Fallible<String> {
    let written = text.value.clone();
    filled(text, "git_status").map(|_| written)
}

/// Words with hyphens between them, in any script; lower-case where there is such a thing.
fn kebab(text: Spanned<String>, key: &'static str) -> Fallible<String> {
    // Marks that combine with a letter are no letters, and needed to write many languages.
    let beyond_ascii = |char: char| !char.is_ascii() && !char.is_whitespace() && !char.is_control();
    let fits = |char: char| !char.is_uppercase() && (char.is_ascii_alphanumeric() || beyond_ascii(char));
    match text.value.split('-').all(|word| !word.is_empty() && word.chars().all(fits)) {
        true => Ok(text.value),
        false => Err((text.referenced, Fault::NotKebab { key, text: text.value })),
    }
}

/// A primary subtag has two or three letters; registered longer ones do not exist (RFC 5646, 2.2.1).
fn language(text: Spanned<String>) -> Fallible<String> {
    match matches!(text.value.len(), 2..=3) && text.value.chars().all(|char| char.is_ascii_lowercase()) {
        true => Ok(text.value),
        false => Err((text.referenced, Fault::Language(text.value))),
    }
}

/// The name of the last case that begins at or before a place.
fn name_of_case_at(text: &str, place: Location) -> Option<String> {
    let outline: Outline = serde_saphyr::from_str(text).ok()?;
    let before = |case: &Spanned<Heading>| case.referenced.line() <= place.line();
    let case = outline.cases.into_iter().take_while(before).last()?;
    case.value.name
}
