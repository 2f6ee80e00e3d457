//! What can be typed after `/monitors`.

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
    /// Put the bundled monitors into the project.
    Init,
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
    /// Its patterns.
    Patterns,
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
    /// The edit lacks something, or its number is none.
    #[error("Usage: /monitors {name} rules {form}")]
    Usage {
        /// The monitor.
        name: String,
        /// How the edit is written.
        form: &'static str,
    },
}

/// The words that stand on their own.
pub const WORDS: [&str; 5] = ["on", "off", "check", "init", "help"];
/// The words that follow a monitor's name.
pub const VERBS: [&str; 4] = ["rules", "patterns", "dismiss", "reset"];
/// The words that follow `rules`.
pub const EDITS: [&str; 3] = ["add", "remove", "replace"];

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
            "init" => Ok(Command::Init),
            _ => Err(Misspelt::Monitor {
                word: first.into(),
                available: monitors.iter().map(|&name| name.into()).collect(),
            }),
        };
    }
    let verb = match split(rest) {
        ("", _) => Verb::Inspect,
        ("rules", rest) => Verb::Rules(edit(rest, first)?),
        ("patterns", _) => Verb::Patterns,
        ("dismiss", _) => Verb::Dismiss,
        ("reset", _) => Verb::Reset,
        (word, _) => return Err(Misspelt::Subcommand { word: word.into() }),
    };
    Ok(Command::Monitor { name: first.into(), verb })
}

fn edit(text: &str, name: &str) -> Result<Option<Edit>, Misspelt> {
    let usage = |form| Misspelt::Usage { name: name.into(), form };
    match split(text) {
        ("", _) => Ok(None),
        ("add", "") => Err(usage("add <text>")),
        ("add", text) => Ok(Some(Edit::Add(text.into()))),
        ("remove", rest) => {
            number(split(rest).0).map(|number| Some(Edit::Remove(number))).ok_or_else(|| usage("remove <number>"))
        }
        ("replace", rest) => match split(rest) {
            (word, text) if !text.is_empty() => number(word).map(|number| Some(Edit::Replace(number, text.into()))),
            _ => None,
        }
        .ok_or_else(|| usage("replace <number> <text>")),
        (word, _) => Err(Misspelt::RulesAction { word: word.into() }),
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
