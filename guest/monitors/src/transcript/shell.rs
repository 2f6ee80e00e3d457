//! The commands that a line for a shell is made of. This is no shell: it knows quotes and what stands between commands,
//! which is enough to tell `git push` from a commit message that speaks of one.

/// How deep scripts within scripts are looked into.
const DEPTH: usize = 3;

/// What stands before a command and does not change which one it is.
const PREFIXES: [&str; 7] = ["sudo", "env", "command", "time", "nohup", "exec", "then"];

/// The programs that take a script as an argument.
const SHELLS: [&str; 5] = ["sh", "bash", "zsh", "dash", "ksh"];

/// Whether a program with this flag takes the next word as a script.
pub fn takes_script(program: &str, flag: &str) -> bool {
    let program = program.rsplit('/').next().unwrap_or(program);
    SHELLS.contains(&program) && flag.starts_with('-') && flag.ends_with('c')
}

/// The whole line, and each command in it, with single blanks between its words; also those of a script that a shell is
/// given, as in `sh -c 'a; b'`. What stands before a command, such as `sudo` or `A=1`, is left out of it.
pub fn commands(line: &str) -> Vec<String> {
    let mut found = vec![spaced(line)];
    collect(line, 0, &mut found);
    found.dedup();
    found
}

fn collect(line: &str, depth: usize, found: &mut Vec<String>) {
    for part in parts(line) {
        let words = words(&part);
        let start = words.iter().take_while(|word| is_prefix(word)).count();
        let words = &words[start..];
        if words.is_empty() {
            continue;
        }
        found.push(words.join(" "));
        if let [program, flag, script, ..] = words
            && depth < DEPTH
            && takes_script(program, flag)
        {
            collect(unquoted(script), depth + 1, found);
        }
    }
}

fn is_prefix(word: &str) -> bool {
    let assigns = word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    assigns || PREFIXES.contains(&word) || matches!(word, "(" | "{" | "!" | "do" | "if" | "while")
}

/// The line, parted at `;`, `&`, `|` and line ends that are not quoted.
fn parts(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    let mut escaped = false;
    for c in line.chars() {
        let is_plain = !escaped && quote.is_none();
        match c {
            ';' | '&' | '|' | '\n' if is_plain => {
                parts.push(String::new());
                continue;
            }
            '\\' if !escaped && quote != Some('\'') => {
                escaped = true;
                last(&mut parts).push(c);
                continue;
            }
            '\'' | '"' if is_plain => quote = Some(c),
            '\'' | '"' if !escaped && quote == Some(c) => quote = None,
            _ => {}
        }
        escaped = false;
        last(&mut parts).push(c);
    }
    parts
}

/// The words of a command; a quoted one is one word, with its quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut escaped = false;
    for c in command.chars() {
        match c {
            c if c.is_whitespace() && quote.is_none() && !escaped => {
                words.push(String::new());
                continue;
            }
            '\\' if !escaped && quote != Some('\'') => {
                escaped = true;
                last(&mut words).push(c);
                continue;
            }
            '\'' | '"' if quote.is_none() && !escaped => quote = Some(c),
            '\'' | '"' if quote == Some(c) && !escaped => quote = None,
            _ => {}
        }
        escaped = false;
        last(&mut words).push(c);
    }
    words.retain(|word| !word.is_empty());
    words
}

fn last(parts: &mut [String]) -> &mut String {
    parts.last_mut().expect("there is a first one, and none is taken out")
}

fn unquoted(word: &str) -> &str {
    let inside = |quote| word.strip_prefix(quote)?.strip_suffix(quote);
    inside('\'').or_else(|| inside('"')).unwrap_or(word)
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_holds_each_of_its_commands() {
        assert_eq!(commands("git  status"), ["git status"]);
        assert_eq!(
            commands("cd a && git commit -m 'x; y' || sudo rm -rf /tmp/z"),
            ["cd a && git commit -m 'x; y' || sudo rm -rf /tmp/z", "cd a", "git commit -m 'x; y'", "rm -rf /tmp/z"]
        );
        assert_eq!(commands("A=1 B_2= env make | tee log\npwd")[1..], ["make", "tee log", "pwd"]);
        assert_eq!(commands("")[..], [""]);
    }

    #[test]
    fn what_is_quoted_is_no_command_of_its_own() {
        let spoken = commands(r#"echo "then; rm -rf /" 'and | git push' a\;rm"#);
        assert!(spoken.iter().all(|command| command.starts_with("echo")), "{spoken:?}");
    }

    #[test]
    fn a_script_that_a_shell_is_given_is_looked_into() {
        assert_eq!(commands("bash -lc 'cd a; git push'")[1..], ["cd a", "git push"]);
        assert!(!commands("bash run.sh").contains(&"run.sh".to_owned()));
    }

    proptest! {
        #[test]
        fn any_text_has_commands_and_the_first_is_the_whole(line in r#"[a-c '"\\;|&=\n-]{0,30}"#) {
            let commands = commands(&line);
            prop_assert_eq!(&commands[0], &spaced(&line));
        }
    }
}
