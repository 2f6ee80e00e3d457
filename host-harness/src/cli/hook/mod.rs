//! `chaperone hook`: one event of a host in, one decision out; and the settings that make a host call it.
//!
//! Whatever goes wrong, the agent goes on: what there is to say about it goes to stderr, the user sees it where a session
//! or a prompt begins, and the program exits with 0.

mod install;

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use chaperone_contract::Timestamp;
use clap::{Subcommand, ValueEnum};

use super::setup::{Ground, Judge, Nobody, ProviderName};
use super::{Status, in_full, setup, style};
use crate::config::{self, Config};
use crate::files::{Locks, Storage};
use crate::hosts::Host;
use crate::hosts::answer::Answer;
use crate::hosts::event::{HookEvent, Moment};
use crate::hosts::live::{self, Outcome, Surroundings, Watchers};
use crate::llm::Provider;
use crate::project::Project;
use crate::store::Store;

/// No event is larger than this, in bytes.
const MAX_EVENT: u64 = 16 << 20;

/// Where a session ends, hosts wait for a hook no longer than 3 seconds.
const AT_END: Duration = Duration::from_millis(2_500);

#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Answers one event of Claude Code, which is on stdin
    ClaudeCode(Live),
    /// Answers one event of Codex CLI, which is on stdin
    Codex(Live),
    /// Answers one event of Gemini CLI, which is on stdin
    GeminiCli(Live),
    /// Puts the command into a host's settings
    Install(install::Install),
    /// Takes the command out of a host's settings
    Uninstall(install::Uninstall),
}

#[derive(clap::Args)]
struct Live {
    #[command(flatten)]
    judge: Judge,
    /// The configuration; by default `chaperone.toml` of the project, if there is one
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// How long the answer may take; less than the host's own limit
    #[arg(long, value_name = "SECONDS", default_value = "50", value_parser = clap::value_parser!(u64).range(1..=3600))]
    within: u64,
}

/// A host, on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum HostName {
    ClaudeCode,
    Codex,
    GeminiCli,
}

impl From<HostName> for Host {
    fn from(name: HostName) -> Self {
        match name {
            HostName::ClaudeCode => Host::ClaudeCode,
            HostName::Codex => Host::Codex,
            HostName::GeminiCli => Host::GeminiCli,
        }
    }
}

pub fn hook(arguments: Arguments) -> Result<Status> {
    match arguments.action {
        Action::ClaudeCode(live) => answer(Host::ClaudeCode, &live),
        Action::Codex(live) => answer(Host::Codex, &live),
        Action::GeminiCli(live) => answer(Host::GeminiCli, &live),
        Action::Install(arguments) => return install::install(&arguments),
        Action::Uninstall(arguments) => return install::uninstall(&arguments),
    }
    Ok(Status::Fine)
}

/// Whether it is a host that runs the program.
pub fn is_run_by_host(arguments: impl Iterator<Item = OsString>) -> bool {
    let words: Vec<_> = arguments.skip(1).take(2).collect();
    words.first().is_some_and(|word| word == "hook")
        && words.get(1).is_some_and(|word| Host::ALL.iter().any(|host| word == host.name()))
}

/// Reads an event and prints the answer to it.
fn answer(host: Host, live: &Live) {
    let started = Instant::now();
    let event = match read_event(host) {
        Ok(event) => event,
        Err(error) => return tell(&in_full(&error)),
    };
    let Outcome { answer, remarks } = watch(host, &event, live, started).unwrap_or_else(|error| {
        let error = in_full(&error);
        let is_beginning = matches!(event.moment, Moment::SessionStart(_) | Moment::Prompt(_));
        let answer = match is_beginning {
            true => Answer::shows(format!("chaperone does not watch: {error}")),
            false => Answer::default(),
        };
        Outcome { answer, remarks: vec![error] }
    });
    remarks.iter().for_each(|remark| tell(remark));
    if let Some(decision) = host.decision(&event, &answer) {
        // A host that is gone needs no answer.
        let _ = writeln!(std::io::stdout().lock(), "{decision}");
    }
}

fn tell(text: &str) {
    anstream::eprintln!("chaperone: {}", style::plain(text));
}

fn read_event(host: Host) -> Result<HookEvent> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MAX_EVENT + 1).read_to_end(&mut bytes).context("stdin cannot be read")?;
    if bytes.len() as u64 > MAX_EVENT {
        bail!("the event on stdin has more than {} MiB", MAX_EVENT >> 20);
    }
    Ok(host.event(&String::from_utf8_lossy(&bytes))?)
}

fn watch(host: Host, event: &HookEvent, live: &Live, started: Instant) -> Result<Outcome> {
    let path = Store::path_of_user()?;
    let locks = Locks::of_user().context("cannot make a folder for locks")?;
    let within = Duration::from_secs(live.within);
    let around = Surroundings {
        store: Arc::new(Store::open(&path).with_context(|| path.display().to_string())?),
        locks: locks.clone(),
        send_back_cap: host.send_back_cap(|name| std::env::var(name).ok()),
        deadline: started + if event.moment == Moment::SessionEnd { within.min(AT_END) } else { within },
        now: now(),
    };
    let load = || watchers(host, event, live, locks);
    setup::block_on(live::answer(host, event, &around, load))?
}

fn watchers(host: Host, event: &HookEvent, live: &Live, locks: Locks) -> Result<Watchers> {
    let project = setup::project(Some(&event.cwd))?;
    let config = setup::config(live.config.as_deref(), &project)?;
    if live.config.is_none() {
        refuse_foreign_code(&config, &project)?;
    }
    let provider = provider(host, &config, &live.judge)?;
    Ok(Watchers {
        plugins: setup::plugins(&config, &[], &Ground::live(&project, Storage::Disk(locks)))?,
        judge: live.judge.model(&*provider),
        provider,
        project: project.root.display().to_string(),
        traces: config.trace,
        keep: config.state.keep,
    })
}

/// Nobody has started the program in this project: the host does, wherever the user works. Code that came with a
/// repository does not run by itself.
fn refuse_foreign_code(config: &Config, project: &Project) -> Result<()> {
    let is_foreign = |plugin: &&config::Plugin| matches!(plugin.component, config::Component::File(_));
    if let Some(plugin) = config.plugins.iter().find(is_foreign) {
        let file = project.root.join(config::FILE_NAME).display().to_string();
        bail!(
            "{file} brings code of its own, the component of `{}`; if you trust it, say so with `hook install --config {file}`",
            plugin.name
        );
    }
    Ok(())
}

/// Who answers: as for `run`, else whoever makes the agent's own models, if there is a key, else nobody.
fn provider(host: Host, config: &Config, judge: &Judge) -> Result<Arc<dyn Provider>> {
    if let Some(contradiction) = judge.contradiction() {
        bail!("{contradiction}");
    }
    if judge.names_somebody(config) {
        return setup::provider(config, &[], judge);
    }
    match own_provider(host).filter(|(_, key)| is_set(key)) {
        Some((name, _)) => setup::provider(config, &[], &judge.clone().asking(name)),
        None => Ok(Arc::new(Nobody(mend(host)))),
    }
}

/// Whoever makes the agent's own models, and the variable with the key for them.
fn own_provider(host: Host) -> Option<(ProviderName, &'static str)> {
    match host {
        Host::ClaudeCode => Some((ProviderName::Anthropic, "ANTHROPIC_API_KEY")),
        Host::Codex => Some((ProviderName::Openai, "OPENAI_API_KEY")),
        Host::GeminiCli => None,
    }
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// What gives a host's watchers somebody to ask.
fn mend(host: Host) -> String {
    let configure = format!("name a provider under `[llm]` in {}", config::FILE_NAME);
    match own_provider(host) {
        Some((_, key)) => format!("set {key} where {} runs, or {configure}", host.title()),
        None => configure,
    }
}

fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    since.as_millis() as Timestamp
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_from_people() {
        let is = |line: &str| is_run_by_host(line.split(' ').map(OsString::from));
        assert!(is("chaperone hook claude-code --nonsense"));
        assert!(!is("chaperone hook install claude-code --nonsense"));
        assert!(!is("chaperone run hook claude-code"));
    }
}
