//! What can be typed after `/config:auto-goal`.

use chaperone_sdk::text::nearest;

/// What the command is called: its name, and its aliases.
pub const NAMES: [&str; 3] = ["config:auto-goal", "auto-goal", "pi-auto-goal-config"];

/// The words that can follow.
pub const WORDS: [&str; 8] = ["enable", "disable", "status", "reset", "model", "log", "why", "cost"];

/// How many judgements the log shows where nothing is said.
const LOG_COUNT: u32 = 20;

/// What the user asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// The settings panel.
    Panel,
    /// Judge stops, or do not.
    Enable(bool),
    /// The configuration in force, and how often the agent was sent back.
    Status,
    /// Forget how often the agent was sent back.
    Reset,
    /// Who judges.
    ShowModel,
    /// Let another model judge: what was typed.
    SetModel(String),
    /// The latest judgements, at most so many.
    Log(u32),
    /// How a judgement came about: the one of that number, or the latest one of the session.
    Why(Option<String>),
    /// What the judge has cost.
    Cost,
}

/// Why a line means nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misspelt {
    /// The first word is none of the command's.
    #[error("`{word}` means nothing here; {}", match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("type nothing for the settings, or one of {}", WORDS.join(", ")),
    })]
    Word {
        /// What was typed.
        word: String,
        /// What was probably meant.
        meant: Option<&'static str>,
    },
    /// The log is to have so many judgements.
    #[error("`{0}` is no number of judgements; type a whole number from 1, or nothing for {LOG_COUNT}")]
    Count(String),
    /// More was typed than means something.
    #[error("`{0}` means nothing behind `{1}`")]
    TooMuch(String, String),
}

/// Reads what was typed behind the command's name.
///
/// # Errors
/// What is wrong with it, in words for the user.
pub fn parse(arguments: &str) -> Result<Command, Misspelt> {
    let mut words = arguments.split_whitespace();
    let first = words.next();
    let command = match first {
        None => Command::Panel,
        Some("enable") => Command::Enable(true),
        Some("disable") => Command::Enable(false),
        Some("status") => Command::Status,
        Some("reset") => Command::Reset,
        Some("model") => words.next().map_or(Command::ShowModel, |model| Command::SetModel(model.into())),
        Some("log") => Command::Log(words.next().map_or(Ok(LOG_COUNT), count)?),
        Some("why") => Command::Why(words.next().map(str::to_owned)),
        Some("cost") => Command::Cost,
        Some(word) => return Err(Misspelt::Word { word: word.into(), meant: nearest(word, &WORDS) }),
    };
    match words.next() {
        None => Ok(command),
        Some(word) => Err(Misspelt::TooMuch(word.into(), first.unwrap_or_default().into())),
    }
}

fn count(word: &str) -> Result<u32, Misspelt> {
    word.parse().ok().filter(|count| *count >= 1).ok_or_else(|| Misspelt::Count(word.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_the_command_is_understood() {
        for (line, command) in [
            ("", Command::Panel),
            ("  ", Command::Panel),
            ("enable", Command::Enable(true)),
            (" disable ", Command::Enable(false)),
            ("status", Command::Status),
            ("reset", Command::Reset),
            ("model", Command::ShowModel),
            ("model  openrouter/qwen/qwen3", Command::SetModel("openrouter/qwen/qwen3".into())),
            ("model default", Command::SetModel("default".into())),
            ("log", Command::Log(20)),
            ("log 3", Command::Log(3)),
            ("why", Command::Why(None)),
            ("why #12", Command::Why(Some("#12".into()))),
            ("cost", Command::Cost),
        ] {
            assert_eq!(parse(line), Ok(command), "{line:?}");
        }
    }

    #[test]
    fn what_means_nothing_is_told_with_what_was_meant() {
        let error = |line: &str| parse(line).unwrap_err().to_string();
        assert_eq!(error("enabel"), "`enabel` means nothing here; did you mean `enable`?");
        assert_eq!(
            error("colour"),
            "`colour` means nothing here; type nothing for the settings, or one of enable, disable, status, reset, model, \
             log, why, cost"
        );
        assert_eq!(error("enable now"), "`now` means nothing behind `enable`");
        assert_eq!(error("model a/b c"), "`c` means nothing behind `model`");
        for count in ["0", "-1", "1.5", "all", "99999999999"] {
            let told = format!("`{count}` is no number of judgements; type a whole number from 1, or nothing for 20");
            assert_eq!(error(&format!("log {count}")), told);
        }
    }
}
