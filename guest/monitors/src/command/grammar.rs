//! What can be typed after `/monitors`.

use crate::seeding::Wanted;

/// What the user asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// All monitors, and whether watching is on.
    List,
    /// Watch again.
    On,
    /// Pause all monitors for this session.
    Off,
    /// The words that can be typed.
    Help,
    /// What is wrong with the monitors' files.
    Check,
    /// Put bundled monitors into the project.
    Init(Wanted),
    /// How a finding came about: its id or the beginning of it, or the number of a judgement.
    Why(String),
    /// A finding was no fault.
    Wrong(String),
    /// The latest judgements.
    Log {
        /// Of this monitor only.
        monitor: Option<String>,
        /// How many at most.
        count: u32,
    },
    /// What the judges cost.
    Cost,
    /// Which monitors of the project are not trusted.
    ListTrust,
    /// Trust one, or all (none).
    Trust(Option<String>),
    /// Trust one no longer, or none any more (none).
    Untrust(Option<String>),
    /// Something about one monitor.
    Monitor {
        /// Its name.
        name: String,
        /// What about it.
        verb: Verb,
    },
}

/// What is asked of one monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verb {
    /// What it is, and how it stands.
    Inspect,
    /// Its rules, or a change of them.
    Rules(Option<Edit>),
    /// Its patterns, or what is to become of those that it proposes.
    Patterns(Option<Ruling>),
    /// Silence it for this session.
    Dismiss,
    /// Forget all that is remembered of it.
    Reset,
}

/// A change of a monitor's rules. Numbers count from 1, as the list shows them.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    /// Put this text behind the others.
    Add(String),
    /// Take one out.
    Remove(usize),
    /// Put this text in the place of one.
    Replace(usize, String),
}

/// What is to become of patterns that were proposed or learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// They become patterns.
    Approve(Which),
    /// They do not, and are not proposed again.
    Reject(Which),
    /// The one that was learned last is taken out again.
    Undo,
}

/// Which of the proposed patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The one of that number in the list, from 1.
    Number(usize),
    /// All of them.
    All,
}

/// Why a line means nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misspelt {
    /// The first word is neither a word of the command nor a monitor.
    #[error("Unknown monitor: {word}\nAvailable: {}", if .available.is_empty() { "none".into() } else { .available.join(", ") })]
    Monitor {
        /// What was typed.
        word: String,
        /// The monitors there are.
        available: Vec<String>,
    },
    /// The word after a monitor's name means nothing.
    #[error("Unknown subcommand: {word}\nAvailable: {}", VERBS.join(", "))]
    Subcommand {
        /// What was typed.
        word: String,
    },
    /// The word after `rules` means nothing.
    #[error("Unknown rules action: {word}\nAvailable: {}", EDITS.join(", "))]
    RulesAction {
        /// What was typed.
        word: String,
    },
    /// The word after `patterns` means nothing.
    #[error("Unknown patterns action: {word}\nAvailable: {}", RULINGS.join(", "))]
    PatternsAction {
        /// What was typed.
        word: String,
    },
    /// The edit lacks something, or its number is none.
    #[error("Usage: /monitors {name} {form}")]
    Usage {
        /// The monitor.
        name: String,
        /// How the edit is written.
        form: &'static str,
    },
    /// The command lacks something, or its number is none.
    #[error("Usage: /monitors {form}")]
    Form {
        /// How the command is written.
        form: &'static str,
    },
    /// There is no such monitor, where only a monitor can stand.
    #[error("Unknown monitor: {word}")]
    NoMonitor {
        /// What was typed.
        word: String,
    },
}

impl Misspelt {
    /// What was typed in the place of a monitor's name.
    pub fn monitor(&self) -> Option<&str> {
        match self {
            Self::Monitor { word, .. } | Self::NoMonitor { word } => Some(word),
            _ => None,
        }
    }
}

/// The words that stand on their own.
pub const WORDS: [&str; 11] = ["on", "off", "check", "init", "log", "why", "wrong", "cost", "trust", "untrust", "help"];
/// The words that follow a monitor's name.
pub const VERBS: [&str; 4] = ["rules", "patterns", "dismiss", "reset"];
/// The words that follow `rules`.
pub const EDITS: [&str; 3] = ["add", "remove", "replace"];
/// The words that follow `patterns`.
pub const RULINGS: [&str; 3] = ["approve", "reject", "undo"];
/// Stands for all of a list.
pub const ALL: &str = "all";

/// How many judgements the log shows where nothing is said.
pub const LOG_COUNT: u32 = 20;

/// Reads what was typed after `/monitors`. A monitor's name beats a word of the command; words that nothing asks for are
/// ignored; the text of a rule is taken as it stands between the blanks around it.
///
/// # Errors
/// What is wrong with the line, in words for the user.
pub fn parse(arguments: &str, monitors: &[&str]) -> Result<Command, Misspelt> {
    let (first, rest) = split(arguments);
    if !monitors.contains(&first) {
        return match first {
            "" => Ok(Command::List),
            "on" => Ok(Command::On),
            "off" => Ok(Command::Off),
            "help" => Ok(Command::Help),
            "check" => Ok(Command::Check),
            "init" => Ok(Command::Init(wanted(rest))),
            "cost" => Ok(Command::Cost),
            "log" => log(rest),
            "why" => finding(rest, "why <finding>").map(Command::Why),
            "wrong" => finding(rest, "wrong <finding>").map(Command::Wrong),
            "trust" => match split(rest).0 {
                "" => Ok(Command::ListTrust),
                name if monitors.contains(&name) => Ok(Command::Trust(Some(name.into()))),
                ALL => Ok(Command::Trust(None)),
                word => Err(Misspelt::NoMonitor { word: word.into() }),
            },
            "untrust" => match split(rest).0 {
                "" => Err(Misspelt::Form { form: "untrust <name>|all" }),
                name if monitors.contains(&name) => Ok(Command::Untrust(Some(name.into()))),
                ALL => Ok(Command::Untrust(None)),
                word => Err(Misspelt::NoMonitor { word: word.into() }),
            },
            _ => Err(Misspelt::Monitor {
                word: first.into(),
                available: monitors.iter().map(|&name| name.into()).collect(),
            }),
        };
    }
    let verb = match split(rest) {
        ("", _) => Verb::Inspect,
        ("rules", rest) => Verb::Rules(edit(rest, first)?),
        ("patterns", rest) => Verb::Patterns(ruling(rest, first)?),
        ("dismiss", _) => Verb::Dismiss,
        ("reset", _) => Verb::Reset,
        (word, _) => return Err(Misspelt::Subcommand { word: word.into() }),
    };
    Ok(Command::Monitor { name: first.into(), verb })
}

fn wanted(names: &str) -> Wanted {
    match split(names) {
        ("", _) => Wanted::Usual,
        (ALL, "") => Wanted::All,
        _ => Wanted::Named(names.split_whitespace().map(Into::into).collect()),
    }
}

fn edit(text: &str, name: &str) -> Result<Option<Edit>, Misspelt> {
    let usage = |form| Misspelt::Usage { name: name.into(), form };
    match split(text) {
        ("", _) => Ok(None),
        ("add", "") => Err(usage("rules add <text>")),
        ("add", text) => Ok(Some(Edit::Add(text.into()))),
        ("remove", rest) => {
            number(split(rest).0).map(|number| Some(Edit::Remove(number))).ok_or_else(|| usage("rules remove <number>"))
        }
        ("replace", rest) => match split(rest) {
            (word, text) if !text.is_empty() => number(word).map(|number| Some(Edit::Replace(number, text.into()))),
            _ => None,
        }
        .ok_or_else(|| usage("rules replace <number> <text>")),
        (word, _) => Err(Misspelt::RulesAction { word: word.into() }),
    }
}

fn ruling(text: &str, name: &str) -> Result<Option<Ruling>, Misspelt> {
    let which = |rest, form| match split(rest).0 {
        ALL => Ok(Which::All),
        word => number(word).map(Which::Number).ok_or(Misspelt::Usage { name: name.into(), form }),
    };
    match split(text) {
        ("", _) => Ok(None),
        ("approve", rest) => Ok(Some(Ruling::Approve(which(rest, "patterns approve <number>|all")?))),
        ("reject", rest) => Ok(Some(Ruling::Reject(which(rest, "patterns reject <number>|all")?))),
        ("undo", _) => Ok(Some(Ruling::Undo)),
        (word, _) => Err(Misspelt::PatternsAction { word: word.into() }),
    }
}

/// `log`, with a monitor, a number, or both.
fn log(text: &str) -> Result<Command, Misspelt> {
    let form = || Misspelt::Form { form: "log [<name>] [<number>]" };
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let count = match words.last() {
        Some(word) if word.bytes().all(|byte| byte.is_ascii_digit()) => {
            let count = number(word).and_then(|count| u32::try_from(count).ok()).ok_or_else(form)?;
            words.pop();
            count
        }
        _ => LOG_COUNT,
    };
    match words.as_slice() {
        [] => Ok(Command::Log { monitor: None, count }),
        [name] => Ok(Command::Log { monitor: Some((*name).into()), count }),
        _ => Err(form()),
    }
}

fn finding(text: &str, form: &'static str) -> Result<String, Misspelt> {
    match split(text).0 {
        "" => Err(Misspelt::Form { form }),
        finding => Ok(finding.into()),
    }
}

/// The first word, and what follows it, both without blanks around them.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim_start()),
        None => (text, ""),
    }
}

/// A whole number from 1, of digits alone.
fn number(word: &str) -> Option<usize> {
    let digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|&number| digits && number > 0)
}

#[cfg(test)]
#[path = "grammar_tests.rs"]
mod tests;
