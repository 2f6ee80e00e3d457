//! The command line of the `chaperone` program.

mod cases;
mod diff;
mod eval;
mod focus;
mod hook;
mod json;
mod last_word;
mod monitors;
mod remember;
mod replay;
mod report;
mod run;
mod serve;
mod setup;
mod style;
mod summary;
mod timeline;
mod watch;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

/// Puts watchers beside coding agents that notice what goes wrong, and steer.
#[derive(Parser)]
#[command(name = "chaperone", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Takes recorded sessions through the plugins, and shows what they do
    Run(run::Arguments),
    /// Runs a recording again, and says where what comes out differs
    Replay(replay::Arguments),
    /// Watches live sessions, for an agent on the other end of a pipe: JSON-RPC on stdin and stdout
    Serve(serve::Arguments),
    /// What `/monitors` offers, for the shell
    Monitors(monitors::Arguments),
    /// Measures how well a watcher judges, on labelled transcripts
    Eval(eval::Arguments),
    /// Watches agents that run a command for each hook: Claude Code, Codex, Gemini CLI
    Hook(hook::Arguments),
}

/// How a command went that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// Nothing failed.
    Fine,
    /// Something failed, and was told.
    Failed,
}

/// Runs the program on its arguments. Exits with 0 when it ran, 1 when something failed, 2 for wrong usage; as a hook of
/// an agent always with 0, so that the agent goes on.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if hook::is_run_by_host(std::env::args_os()) => {
            // To the hosts, the code for wrong usage means that what is about to happen must not.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Err(error) => error.exit(),
    };
    let result = match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Replay(arguments) => replay::replay(&arguments),
        Command::Serve(arguments) => serve::serve_on_stdio(arguments),
        Command::Monitors(arguments) => monitors::monitors(&arguments),
        Command::Eval(arguments) => eval::eval(&arguments),
        Command::Hook(arguments) => hook::hook(arguments),
    };
    match result {
        Ok(Status::Fine) => ExitCode::SUCCESS,
        Ok(Status::Failed) => ExitCode::from(1),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("{}error:{} {}", style::ERROR, style::RESET, style::plain(&in_full(&error)));
            ExitCode::from(1)
        }
    }
}

/// An error with its causes, but for those that the one before has told already.
fn in_full(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// Ends the program with a message about its usage.
fn usage(message: &str) -> ! {
    Arguments::command().error(clap::error::ErrorKind::ArgumentConflict, message).exit()
}

/// Whoever read the output has seen enough, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_told_once() {
        let cause = || std::io::Error::other("no room");
        let error = anyhow::Error::from(cause()).context("cannot write x");
        assert_eq!(in_full(&error), "cannot write x: no room");
        let error = anyhow::Error::from(cause()).context("cannot write x: no room; make some");
        assert_eq!(in_full(&error), "cannot write x: no room; make some");
    }

    #[test]
    fn the_arguments_are_well_defined() {
        Arguments::command().debug_assert();
    }
}
