//! Agents that run a command for each hook: Claude Code, Codex and Gemini CLI.
//!
//! Each hook is a process of its own. It reads one event as JSON, takes the session's watchers through what has happened
//! since the last one, and writes its decision as JSON. What a host can be told, and how its events become the
//! contract's hooks, is in `docs/hosts.md`.
//!
//! - [`event`] is what every host tells, [`answer`] what can be told to it; `claude_code`, `codex` and `gemini` read and
//!   write them in the words of one host. They also read its [`transcript`].
//! - [`told`] knows what the watchers have been told of a session, and works out what is new.
//! - [`delivery`] decides which of the plugins' messages go out with which answer.
//! - [`live`] takes one event through the watchers, under the session's lock.
//! - [`settings`] puts the command into a host's settings, and takes it out again.

pub mod answer;
mod claude_code;
mod codex;
pub mod delivery;
pub mod event;
mod gemini;
pub mod live;
mod observed;
pub mod settings;
pub mod told;
mod tools;
pub mod transcript;

use std::io;
use std::path::Path;

use serde_json::Value;

use answer::Answer;
use event::{EventError, HookEvent, Topic};
use transcript::{Tail, Transcript, Whose};

/// An agent that runs a command for each hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    GeminiCli,
}

impl Host {
    /// All of them.
    pub const ALL: [Host; 3] = [Host::ClaudeCode, Host::Codex, Host::GeminiCli];

    /// As the command line calls it.
    pub fn name(self) -> &'static str {
        match self {
            Host::ClaudeCode => "claude-code",
            Host::Codex => "codex",
            Host::GeminiCli => "gemini-cli",
        }
    }

    /// As people call it.
    pub fn title(self) -> &'static str {
        match self {
            Host::ClaudeCode => "Claude Code",
            Host::Codex => "Codex CLI",
            Host::GeminiCli => "Gemini CLI",
        }
    }

    /// Who makes the models that it runs on, by the name that providers have here.
    pub fn vendor(self) -> &'static str {
        match self {
            Host::ClaudeCode => "anthropic",
            Host::Codex => "openai",
            Host::GeminiCli => "google",
        }
    }

    /// What it calls the events that watchers can use.
    fn events(self) -> &'static [(&'static str, Topic)] {
        match self {
            Host::ClaudeCode => claude_code::EVENTS,
            Host::Codex => codex::EVENTS,
            Host::GeminiCli => gemini::EVENTS,
        }
    }

    /// Reads what it wrote to the hook's stdin.
    ///
    /// # Errors
    /// Where it is no event of this host.
    pub fn event(self, text: &str) -> Result<HookEvent, EventError> {
        let fields = event::Fields::parse(text)?;
        match self {
            Host::ClaudeCode => claude_code::event(&fields),
            Host::Codex => codex::event(&fields),
            Host::GeminiCli => gemini::event(&fields),
        }
    }

    /// Reads the file with its transcript; of a long one, the end.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn read(self, path: &Path) -> io::Result<Tail> {
        match self {
            Host::ClaudeCode | Host::GeminiCli => transcript::read(path),
            Host::Codex => codex::read(path),
        }
    }

    /// Takes in its transcript, of which `text` is the part from byte `start` on.
    pub fn transcript(self, text: &str, start: u64, whose: Whose) -> Transcript {
        match self {
            Host::ClaudeCode => claude_code::transcript(text, whose),
            Host::Codex => codex::transcript(text, start),
            Host::GeminiCli => gemini::transcript(text),
        }
    }

    /// What it reads from the hook's stdout; none: nothing is printed.
    pub fn decision(self, event: &HookEvent, answer: &Answer) -> Option<Value> {
        match self {
            Host::ClaudeCode => claude_code::decision(event, answer),
            Host::Codex => codex::decision(event, answer),
            Host::GeminiCli => gemini::decision(event, answer),
        }
    }

    /// How often in a row the agent may be sent back when it is about to stop. Claude Code goes over hooks that do it
    /// more often than 8 times, unless `CLAUDE_CODE_STOP_HOOK_BLOCK_CAP` says otherwise; the others have no limit, so
    /// they get the same one.
    pub fn send_back_cap(self, variable: impl Fn(&str) -> Option<String>) -> u32 {
        const USUAL: u32 = 8;
        match self {
            Host::ClaudeCode => {
                let named = variable("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP");
                named.and_then(|cap| cap.trim().parse().ok()).unwrap_or(USUAL)
            }
            Host::Codex | Host::GeminiCli => USUAL,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cap_of_claude_code_can_be_set() {
        assert_eq!(Host::ClaudeCode.send_back_cap(|_| None), 8);
        assert_eq!(Host::ClaudeCode.send_back_cap(|_| Some("3".into())), 3);
        assert_eq!(Host::ClaudeCode.send_back_cap(|_| Some("many".into())), 8);
        assert_eq!(Host::Codex.send_back_cap(|_| Some("3".into())), 8);
    }
}
