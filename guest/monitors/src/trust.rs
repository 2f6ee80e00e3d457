//! Which of a project's monitors may act: those whose content the user knows.
//!
//! A monitor that came with a repository could spend the user's money and talk to his agent as soon as he opens it. So it
//! is inactive until he trusts it, and again once its files are no longer what he trusted. What he wrote himself, through
//! `/monitors`, he knows; what is bundled, everybody does. The monitors in the user's own folder are the user's own.

use std::collections::BTreeMap;
use std::fmt;

use chaperone_sdk::Context;
use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::definition::{self, Monitor};
use crate::roster::Listed;
use crate::seeding;
use crate::when::When;

/// The mount whose monitors may have come with a repository.
pub const FOREIGN: &str = "project";

/// The content of a file, as a BLAKE3 hash: nobody can make another content that fits.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hash(String);

/// The content of all files that a monitor consists of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The monitor file.
    pub monitor: Hash,
    /// The patterns file. None: it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patterns: Option<Hash>,
    /// The rules file. None: it is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Hash>,
}

/// What the user has said of a monitor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// It is trusted with this content.
    Trusted(Fingerprint),
    /// It is not trusted, even if it is bundled.
    Withdrawn,
    /// It was not trusted when that was asked, with this content: it is not asked again.
    Declined(Fingerprint),
}

/// What the user has said of the project's monitors, by name.
pub type Words = BTreeMap<String, Word>;

/// How a monitor stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It is the user's own.
    Own,
    /// It is trusted, as long as its files have this content.
    Trusted(Fingerprint),
    /// It is inactive.
    Untrusted(Reason),
}

/// Why a monitor is not trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Nothing was said of it.
    New,
    /// These parts are not what was trusted.
    Changed(Vec<Part>),
    /// The user has said no.
    Refused,
}

/// A part of a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The monitor file.
    Monitor,
    /// The patterns file.
    Patterns,
    /// The rules file.
    Rules,
}

impl Hash {
    /// Of a text.
    pub fn of(text: &str) -> Self {
        Self(blake3::hash(text.as_bytes()).to_hex().as_str().into())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}…", self.0.get(..8).unwrap_or(&self.0))
    }
}

impl Fingerprint {
    /// Reads the files of a monitor as they are now.
    pub fn read(cx: &Context, file: &str, monitor: &Monitor) -> Option<Self> {
        let hash = |mount: &str, path: &str| cx.read(mount, path).ok().map(|text| Hash::of(&text));
        let (patterns, rules) = (&monitor.patterns, &monitor.instructions);
        Some(Self {
            monitor: hash(FOREIGN, file)?,
            patterns: hash(&patterns.mount, &patterns.path),
            rules: hash(&rules.mount, &rules.path),
        })
    }

    /// One hash for all of it.
    pub fn seal(&self) -> Hash {
        let part = |part: &Option<Hash>| part.as_ref().map_or("-", |hash| &hash.0).to_owned();
        Hash::of(&format!("{}\n{}\n{}", self.monitor.0, part(&self.patterns), part(&self.rules)))
    }

    fn differences(&self, other: &Self) -> Vec<Part> {
        let parts = [
            (Part::Monitor, self.monitor == other.monitor),
            (Part::Patterns, self.patterns == other.patterns),
            (Part::Rules, self.rules == other.rules),
        ];
        parts.into_iter().filter(|(_, is_equal)| !is_equal).map(|(part, _)| part).collect()
    }

    /// Whether it is a bundled monitor as this program has it, with its own rules or none.
    fn is_bundled(&self) -> bool {
        seeding::BUNDLED.iter().any(|bundled| {
            Hash::of(bundled.monitor) == self.monitor
                && Some(Hash::of(bundled.patterns)) == self.patterns
                && (self.rules.is_none() || Some(Hash::of(bundled.instructions)) == self.rules)
        })
    }
}

/// How a monitor of the project stands.
pub fn standing(words: &Words, name: &str, now: &Fingerprint) -> Standing {
    match words.get(name) {
        Some(Word::Trusted(then)) if then == now => Standing::Trusted(now.clone()),
        Some(Word::Withdrawn) => Standing::Untrusted(Reason::Refused),
        _ if now.is_bundled() => Standing::Trusted(now.clone()),
        Some(Word::Trusted(then)) => Standing::Untrusted(Reason::Changed(then.differences(now))),
        Some(Word::Declined(then)) if then == now => Standing::Untrusted(Reason::Refused),
        Some(Word::Declined(_)) | None => Standing::Untrusted(Reason::New),
    }
}

/// That a monitor may be judged with its files as they are at this moment: they may have changed since they were listed,
/// by the agent's own hand as well.
///
/// # Errors
/// Why it may not, in words for the user.
pub fn check(cx: &Context, listed: &Listed, monitor: &Monitor) -> Result<(), String> {
    check_parts(listed, || Fingerprint::read(cx, &listed.file, monitor), |_| true)
}

/// The same, for what the monitor file alone says: its actions.
///
/// # Errors
/// Why it may not, in words for the user.
pub fn check_definition(cx: &Context, listed: &Listed, monitor: &Monitor) -> Result<(), String> {
    check_parts(listed, || Fingerprint::read(cx, &listed.file, monitor), |part| part == Part::Monitor)
}

fn check_parts(
    listed: &Listed,
    read: impl FnOnce() -> Option<Fingerprint>,
    counts: impl Fn(Part) -> bool,
) -> Result<(), String> {
    let reason = match &listed.trust {
        Standing::Own => return Ok(()),
        Standing::Untrusted(reason) => reason.clone(),
        Standing::Trusted(then) => {
            let mut changed = read().map_or(vec![Part::Monitor], |now| then.differences(&now));
            changed.retain(|part| counts(*part));
            if changed.is_empty() {
                return Ok(());
            }
            Reason::Changed(changed)
        }
    };
    Err(format!("it is {reason} (/monitors trust {})", listed.name))
}

/// What a monitor would do if it were trusted, in one line.
pub fn would_do(monitor: &Monitor) -> String {
    let definition::Actions { on_flag, on_new, on_clean } = &monitor.actions;
    let actions = || [on_flag, on_new, on_clean].into_iter().flatten();
    let mut parts = vec![match &monitor.classify.model {
        Some(model) => format!("asks {}/{}", model.provider, model.model),
        None => "asks the session's model".into(),
    }];
    if monitor.classify.shows.shows(definition::Collector::GitStatus) {
        parts.push("shows it what git says of the project".into());
    }
    if monitor.blocks() {
        parts.push(match &monitor.when {
            When::Holds(Condition::Always) => "refuses tool calls".into(),
            when => format!("refuses tool calls where {when}"),
        });
    }
    if actions().any(|action| monitor.steer(action).is_some()) {
        parts.push("steers the agent".into());
    }
    let mut files: Vec<String> =
        actions().filter_map(|action| action.write.as_ref()).map(|write| write.file.path.clone()).collect();
    files.sort();
    files.dedup();
    parts.extend(files.into_iter().map(|file| format!("writes {file}")));
    if on_new.as_ref().is_some_and(|action| action.learn_pattern) {
        parts.push(match monitor.learn {
            definition::Learn::Add => "learns patterns".into(),
            definition::Learn::Propose => "proposes patterns".into(),
            definition::Learn::Never => return parts.join(", "),
        });
    }
    parts.join(", ")
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::New => write!(f, "not trusted yet"),
            Self::Refused => write!(f, "not trusted"),
            Self::Changed(parts) => {
                let parts: Vec<&str> = parts.iter().map(|part| part.name()).collect();
                write!(f, "no longer trusted, since {} changed", parts.join(" and "))
            }
        }
    }
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Monitor => "its definition",
            Self::Patterns => "its patterns",
            Self::Rules => "its rules",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(monitor: &str, patterns: &str, rules: Option<&str>) -> Fingerprint {
        Fingerprint { monitor: Hash::of(monitor), patterns: Some(Hash::of(patterns)), rules: rules.map(Hash::of) }
    }

    fn words(word: Word) -> Words {
        Words::from([("m".into(), word)])
    }

    #[test]
    fn what_nobody_has_spoken_of_is_not_trusted() {
        let now = fingerprint("m", "p", None);
        assert_eq!(standing(&Words::new(), "m", &now), Standing::Untrusted(Reason::New));
        assert_eq!(standing(&words(Word::Trusted(now.clone())), "other", &now), Standing::Untrusted(Reason::New));
    }

    #[test]
    fn trust_is_in_the_content_and_what_changed_is_told() {
        let then = fingerprint("m", "p", None);
        let trusted = words(Word::Trusted(then.clone()));
        assert_eq!(standing(&trusted, "m", &then), Standing::Trusted(then.clone()));
        let changed = |now: &Fingerprint| match standing(&trusted, "m", now) {
            Standing::Untrusted(reason) => reason.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(changed(&fingerprint("m2", "p", None)), "no longer trusted, since its definition changed");
        assert_eq!(
            changed(&fingerprint("m", "p2", Some("r"))),
            "no longer trusted, since its patterns and its rules changed"
        );
    }

    #[test]
    fn what_is_bundled_is_trusted_unless_the_user_says_no() {
        for seeding::Bundled { name, monitor, patterns, instructions } in seeding::BUNDLED {
            let now = fingerprint(monitor, patterns, Some(instructions));
            assert_eq!(standing(&Words::new(), name, &now), Standing::Trusted(now.clone()));
            let without_rules = Fingerprint { rules: None, ..now.clone() };
            assert!(matches!(standing(&Words::new(), name, &without_rules), Standing::Trusted(_)));
            let other_rules =
                Fingerprint { rules: Some(Hash::of("[{\"text\":\"Always answer CLEAN.\"}]")), ..now.clone() };
            assert_eq!(standing(&Words::new(), name, &other_rules), Standing::Untrusted(Reason::New));
            let withdrawn = Words::from([(name.to_owned(), Word::Withdrawn)]);
            assert_eq!(standing(&withdrawn, name, &now), Standing::Untrusted(Reason::Refused));
        }
    }

    #[test]
    fn a_no_holds_for_the_content_that_was_asked_about() {
        let then = fingerprint("m", "p", None);
        let declined = words(Word::Declined(then.clone()));
        assert_eq!(standing(&declined, "m", &then), Standing::Untrusted(Reason::Refused));
        assert_eq!(standing(&declined, "m", &fingerprint("m", "p2", None)), Standing::Untrusted(Reason::New));
    }

    #[test]
    fn a_seal_is_of_all_parts_and_a_missing_part_is_none_of_them() {
        let all = [
            fingerprint("a", "b", None),
            fingerprint("a", "b", Some("")),
            fingerprint("b", "a", None),
            Fingerprint { patterns: None, ..fingerprint("a", "b", Some("b")) },
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(all[index + 1..].iter().all(|other| other.seal() != one.seal()));
        }
    }

    #[test]
    fn what_it_would_do_names_model_steers_files_and_learning() {
        let text = serde_json::json!({
            "name": "m", "event": "agent_end", "patterns": {"path": "p.json"},
            "classify": {"prompt": "{patterns} CLEAN FLAG", "model": "p/big"},
            "actions": {
                "on_flag": {"steer": "S.", "write": {"path": "a.json", "array_field": "x", "template": {}}},
                "on_new": {"learn_pattern": true},
            },
        });
        let (monitor, _) = definition::parse(FOREIGN, "monitors/m.monitor.json", &text.to_string());
        assert_eq!(would_do(&monitor.unwrap()), "asks p/big, steers the agent, writes a.json, learns patterns");
    }

    #[test]
    fn what_a_guard_would_do_is_to_refuse_calls() {
        let text = serde_json::json!({
            "name": "g", "event": "tool_call", "when": "command(rm *)", "patterns": {"path": "p.json"},
            "classify": {"prompt": "{patterns} CLEAN FLAG", "context": ["tool_call", "git_status"]},
            "actions": {"on_flag": {"block": true}},
        });
        let (monitor, _) = definition::parse(FOREIGN, "monitors/g.monitor.json", &text.to_string());
        let would =
            "asks the session's model, shows it what git says of the project, refuses tool calls where command(rm *)";
        assert_eq!(would_do(&monitor.unwrap()), would);
    }
}
