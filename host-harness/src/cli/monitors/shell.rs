//! What the plugin says of its command, for those who read it in a shell.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// A line that adds a rule, with its text to the end.
static RULE: LazyLock<Regex> = LazyLock::new(|| {
    let line = format!(r"(?m)^{COMMAND} (?P<name>\S+) rules add (?P<text>.+)$");
    Regex::new(&line).expect("it is a regular expression, as tests show")
});

/// `/monitors NAME rules …` and `patterns`: the shell has the words the other way round.
static ABOUT_ONE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?P<name>\S+) (?P<verb>rules|patterns)\b"));

/// The words that stand at the same place in the shell. The others have to do with a session that goes on.
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?P<verb>check|init|log|why|wrong|cost|trust|untrust)\b"));

/// The command with what follows it, but not the folder `.pi/monitors`.
fn pattern(rest: &str) -> Regex {
    Regex::new(&format!(r"(?m)(?P<before>^|[\s(`]){COMMAND} {rest}"))
        .expect("it is a regular expression, as tests show")
}

const COMMAND: &str = "/monitors";

/// The text with each `/monitors …` as it is typed in the shell, where the shell has it.
pub fn in_shell(text: &str) -> Cow<'_, str> {
    if !text.contains(COMMAND) {
        return text.into();
    }
    // What the shell would take apart is put in quotes.
    let text = RULE.replace_all(text, |line: &Captures| {
        let rule = &line["text"];
        format!("chaperone monitors rules {} add {}", &line["name"], shlex::try_quote(rule).unwrap_or(rule.into()))
    });
    let text = ABOUT_ONE.replace_all(&text, "${before}chaperone monitors ${verb} ${name}");
    WORD.replace_all(&text, "${before}chaperone monitors ${verb}").into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_as_the_shell_has_them() {
        for (said, read) in [
            ("(some are not trusted: /monitors trust)", "(some are not trusted: chaperone monitors trust)"),
            ("/monitors trust <name>|all activates them", "chaperone monitors trust <name>|all activates them"),
            ("see /monitors hedge rules", "see chaperone monitors rules hedge"),
            ("a\n/monitors hedge rules add X; $1\nb", "a\nchaperone monitors rules hedge add 'X; $1'\nb"),
            ("Usage: /monitors m rules add <text>", "Usage: chaperone monitors rules m add <text>"),
            ("Usage: /monitors m patterns reject <n>|all", "Usage: chaperone monitors patterns m reject <n>|all"),
            ("/monitors log rules names it", "chaperone monitors rules log names it"),
        ] {
            assert_eq!(in_shell(said), read);
        }
    }

    #[test]
    fn what_the_shell_does_not_have_stays_as_it_is() {
        for text in [
            "`/monitors hedge reset` brings it back",
            "/monitors off",
            "Written to .pi/monitors: init, check",
            "/home/me/.pi/monitors check",
            "/monitors initially",
            "",
        ] {
            assert_eq!(in_shell(text), text);
        }
    }
}
