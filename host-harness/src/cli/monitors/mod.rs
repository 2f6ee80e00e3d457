//! `chaperone monitors`: what `/monitors` offers, for the shell.
//!
//! The plugin itself answers, so that no rule about monitors stands here; only [`mod@check`] knows more than it, which is
//! where in a file a fault is.

mod check;
pub mod component;
mod shell;
mod test;
pub mod trust;

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Subcommand, ValueHint};

use super::remember::{self, Access};
use super::report::Format;
use super::{Status, setup, style};
use check::files;
use component::{Monitors, Root, Said};
use shell::in_shell;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    place: Place,
}

/// Whose monitors are meant.
#[derive(clap::Args)]
struct Place {
    /// The folder to work in; by default the current one
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    cwd: Option<PathBuf>,
    /// The configuration; by default `chaperone.toml` of the project, if there is one
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
}

#[derive(Subcommand)]
#[command(disable_help_subcommand = true)]
enum Verb {
    /// Lists all monitors, and how they stand
    List,
    /// Says what a monitor watches, and how many rules and patterns it has
    Show {
        /// The monitor
        #[arg(value_parser = name)]
        name: String,
    },
    /// Lists the rules that a monitor's judge follows, or changes them
    #[command(disable_help_subcommand = true)]
    Rules {
        /// The monitor
        #[arg(value_parser = name)]
        name: String,
        #[command(subcommand)]
        edit: Option<Edit>,
    },
    /// Lists what a monitor looks for and what it proposes, or decides about that
    #[command(disable_help_subcommand = true)]
    Patterns {
        /// The monitor
        #[arg(value_parser = name)]
        name: String,
        #[command(subcommand)]
        ruling: Option<Ruling>,
    },
    /// Lists the latest judgements of the project, with their numbers
    Log {
        /// Only those of this monitor
        #[arg(value_parser = name)]
        name: Option<String>,
        /// How many
        #[arg(short = 'n', long = "number", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
        count: Option<u32>,
    },
    /// Says how a finding came about: question, evidence, answer, and what became of it
    Why {
        /// The finding's id, the beginning of it, or the number of the judgement
        #[arg(value_parser = name)]
        finding: String,
    },
    /// Counts a finding as no fault, and says how to add a rule
    Wrong {
        /// The finding's id, the beginning of it, or the number of the judgement
        #[arg(value_parser = name)]
        finding: String,
    },
    /// Says what each monitor of the project has cost, and how often it was wrong
    Cost,
    /// Lists the monitors of the project that are not trusted and what they would do, or trusts them
    Trust {
        /// The monitor, or `all`
        #[arg(value_parser = name)]
        name: Option<String>,
    },
    /// Trusts a monitor of the project no longer
    Untrust {
        /// The monitor, or `all`
        #[arg(value_parser = name)]
        name: String,
    },
    /// Adds bundled monitors to the project, or to the folder that --cwd names; keeps files that are there
    Init {
        /// Which ones, or `all`; by default fragility, hedge and work-quality
        #[arg(value_parser = name)]
        names: Vec<String>,
    },
    /// Says what is wrong with the files of all monitors, and where
    Check {
        /// How the output looks
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
    },
    /// Takes a recorded session through the monitors, and shows what one of them does
    Test(test::Arguments),
}

#[derive(Subcommand)]
enum Edit {
    /// Adds a rule
    Add {
        /// The rule, word for word; behind `--`, words may begin with a hyphen
        #[arg(required = true, value_parser = text)]
        text: Vec<String>,
    },
    /// Removes a rule
    Remove {
        /// Its number in the list
        #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        number: u32,
    },
    /// Puts another rule in the place of one
    Replace {
        /// Its number in the list
        #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        number: u32,
        /// The rule, word for word; behind `--`, words may begin with a hyphen
        #[arg(required = true, value_parser = text)]
        text: Vec<String>,
    },
}

#[derive(Subcommand)]
enum Ruling {
    /// Lets a proposed pattern become a pattern
    Approve {
        /// Its number in the list, or `all`
        #[arg(value_name = "N", value_parser = which)]
        which: String,
    },
    /// Refuses a proposed pattern for good
    Reject {
        /// Its number in the list, or `all`
        #[arg(value_name = "N", value_parser = which)]
        which: String,
    },
    /// Takes the pattern that was learned last out again
    Undo,
}

fn which(text: &str) -> Result<String, String> {
    let is_number = text.parse::<u32>().is_ok_and(|number| number > 0);
    match is_number || text == "all" {
        true => Ok(text.into()),
        false => Err("write a number from 1, or `all`".into()),
    }
}

/// What can be a monitor's name is the plugin's to say; what is more than one word would be another line to it.
fn name(text: &str) -> Result<String, String> {
    match text.split_whitespace().eq([text]) {
        true => Ok(text.into()),
        false => Err("a name is a single word".into()),
    }
}

fn text(text: &str) -> Result<String, String> {
    match text.trim().is_empty() {
        true => Err("a rule says something".into()),
        false => Ok(text.into()),
    }
}

pub fn monitors(arguments: &Arguments) -> Result<Status> {
    let place = &arguments.place;
    match &arguments.verb {
        Verb::List => list(place),
        Verb::Show { name } => about(place, name, "", LOOKS),
        Verb::Rules { name, edit: None } => about(place, name, " rules", LOOKS),
        Verb::Rules { name, edit: Some(edit) } => about(place, name, &format!(" rules {}", line(edit)), CHANGES),
        Verb::Patterns { name, ruling: None } => about(place, name, " patterns", LOOKS),
        Verb::Patterns { name, ruling: Some(ruling) } => {
            about(place, name, &format!(" patterns {}", words(ruling)), CHANGES)
        }
        Verb::Log { name, count } => {
            let name = name.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
            let count = count.map(|count| format!(" {count}")).unwrap_or_default();
            ask(place, &format!("log{name}{count}"), LOOKS)
        }
        Verb::Why { finding } => ask(place, &format!("why {finding}"), LOOKS),
        Verb::Wrong { finding } => ask(place, &format!("wrong {finding}"), REMEMBERS),
        Verb::Cost => ask(place, "cost", LOOKS),
        Verb::Trust { name: None } => ask(place, "trust", LOOKS),
        Verb::Trust { name: Some(name) } => ask(place, &format!("trust {name}"), REMEMBERS),
        Verb::Untrust { name } => ask(place, &format!("untrust {name}"), REMEMBERS),
        Verb::Init { names } => init(names, place),
        Verb::Check { format } => check::check(&mut open(place, Root::Found, LOOKS)?, *format),
        Verb::Test(arguments) => test::test(arguments, place),
    }
}

fn list(place: &Place) -> Result<Status> {
    let mut monitors = open(place, Root::Found, LOOKS)?;
    let status = tell(&monitors.ask("")?)?;
    for said in monitors.said_at_start() {
        if let Said::Line { text, .. } = said {
            anstream::eprintln!("{}warning:{} {}", style::WARNING, style::RESET, shown(text));
        }
    }
    if files::definitions(monitors.files()).is_empty() {
        anstream::eprintln!("`chaperone monitors init` adds three to start with, `init all` all eleven");
    }
    Ok(status)
}

/// A folder that is named gets the monitors itself; otherwise the project does, which may be further up.
fn init(names: &[String], place: &Place) -> Result<Status> {
    let root = if place.cwd.is_some() { Root::Here } else { Root::Found };
    let mut monitors = open(place, root, CHANGES)?;
    let status = tell(&monitors.ask(&format!("init {}", names.join(" ")))?)?;
    let (muted, reset) = (style::MUTED, style::RESET);
    let root = monitors.project.root.display().to_string();
    anstream::eprintln!("{muted}The project is {}{reset}", style::plain(&root));
    Ok(status)
}

/// Asks about one monitor.
fn about(place: &Place, name: &str, rest: &str, hand: Hand) -> Result<Status> {
    let mut monitors = open(place, Root::Found, hand)?;
    monitors.check_is_no_word(name)?;
    tell(&monitors.ask(&format!("{name}{rest}"))?)
}

/// Asks what `/monitors` is asked with this line. A monitor's name beats the words of the command, so none may be called
/// like the one that is meant.
fn ask(place: &Place, line: &str, hand: Hand) -> Result<Status> {
    let mut monitors = open(place, Root::Found, hand)?;
    let word = line.split(' ').next().unwrap_or_default();
    monitors.check_is_no_monitor(word)?;
    tell(&monitors.ask(line)?)
}

/// What a command may change.
#[derive(Clone, Copy)]
struct Hand {
    /// Files of the project and of the user.
    files: bool,
    /// What is remembered of the project.
    memory: Access,
}

const LOOKS: Hand = Hand { files: false, memory: Access::Read };
const REMEMBERS: Hand = Hand { files: false, memory: Access::Write };
/// Who changes a monitor's files keeps the trust in it.
const CHANGES: Hand = Hand { files: true, memory: Access::Try };

fn open(place: &Place, root: Root, hand: Hand) -> Result<Monitors> {
    let project = root.of(setup::project(place.cwd.as_deref())?, place.cwd.as_deref())?;
    let config = setup::config(place.config.as_deref(), &project)?;
    let memory = remember::of_project(&config, &project, hand.memory)?;
    Monitors::open(&config, project, &setup::storage(hand.files)?, memory)
}

fn words(ruling: &Ruling) -> String {
    match ruling {
        Ruling::Approve { which } => format!("approve {which}"),
        Ruling::Reject { which } => format!("reject {which}"),
        Ruling::Undo => "undo".into(),
    }
}

fn line(edit: &Edit) -> String {
    match edit {
        Edit::Add { text } => format!("add {}", text.join(" ")),
        Edit::Remove { number } => format!("remove {number}"),
        Edit::Replace { number, text } => format!("replace {number} {}", text.join(" ")),
    }
}

/// A text of the plugin, for the shell.
fn shown(text: &str) -> String {
    style::plain(&in_shell(text)).into_owned()
}

/// Prints what the plugin says: errors on stderr, all else on stdout.
fn tell(all: &[Said]) -> Result<Status> {
    let mut status = Status::Fine;
    for said in all {
        match said {
            Said::Error(text) => {
                status = Status::Failed;
                anstream::eprintln!("{}error:{} {}", style::ERROR, style::RESET, shown(text));
            }
            Said::Line { text, tone } => {
                let mut out = style::out();
                for line in shown(text).lines() {
                    writeln!(out, "{}{line}{}", style::tone(*tone), style::RESET)?;
                }
            }
            Said::Notice(notice) => {
                let mut out = style::out();
                let details = notice.details.iter().map(|line| ("  ", line));
                for (indent, line) in std::iter::once(("", &notice.title)).chain(details) {
                    write!(out, "{indent}")?;
                    for span in line {
                        write!(out, "{}{}{}", style::tone(span.tone), shown(&span.text), style::RESET)?;
                    }
                    writeln!(out)?;
                }
            }
        }
    }
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word_so_that_it_cannot_become_another_line() {
        assert_eq!(name("work-quality"), Ok("work-quality".into()));
        for bad in ["", " ", "hedge rules", " hedge", "hedge\n"] {
            assert!(name(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_text_of_a_rule_is_handed_on_as_it_stands() {
        let text = vec!["two  blanks,\na break".into(), "--and".into(), "\"quotes\"".into()];
        let expected = "two  blanks,\na break --and \"quotes\"";
        assert_eq!(line(&Edit::Add { text: text.clone() }), format!("add {expected}"));
        assert_eq!(line(&Edit::Replace { number: 2, text }), format!("replace 2 {expected}"));
        assert_eq!(line(&Edit::Remove { number: 12 }), "remove 12");
    }
}
