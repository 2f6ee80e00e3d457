//! One case, once: a session of the real host, and what the watcher said at its end.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use chaperone_contract::{Effect, Event, Location, Mode, ModelId, Snapshot, Timestamp, Usage};

use crate::cases::Case;
use crate::cli::cases::repository;
use crate::cli::last_word::LastWord;
use crate::cli::setup::{self, Ground};
use crate::config;
use crate::drive::{HookRun, Note, Observer, Session, Setup};
use crate::files::{Change, Overlay, Repository, Storage};
use crate::llm::Provider;
use crate::plugin::Plugin;
use crate::session::Step;

/// What all trials have in common.
pub struct Bench<'b> {
    /// The plugin, with its grants and limits.
    pub plugin: config::Plugin,
    /// Its code.
    pub component: Arc<Plugin>,
    /// An empty folder. Everything that is written stays in memory.
    pub folder: &'b Path,
    /// Who answers model calls.
    pub provider: Arc<dyn Provider>,
    /// Answers the calls that name no model.
    pub judge: Option<ModelId>,
}

/// A file that a session finds.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    pub location: Location,
    pub text: String,
}

/// What came of it.
#[derive(Debug)]
pub struct Trial {
    /// What the watcher said last.
    pub last: LastWord,
    /// A message was put before the agent.
    pub steered: bool,
    /// The calls of models.
    pub calls: Vec<CallSeen>,
    /// Hooks that failed, and why.
    pub failures: Vec<String>,
}

/// A call of a model that came to its end.
#[derive(Debug)]
pub struct CallSeen {
    pub took: Duration,
    pub usage: Option<Usage>,
    pub ok: bool,
}

impl Bench<'_> {
    /// Takes a case through the plugin, in a project that holds these files.
    ///
    /// # Errors
    /// Where the files cannot be put there, or no plugin has the case's command.
    pub async fn run(&self, case: &Case, files: &[File]) -> Result<Trial> {
        let begin = case.branch.first().map_or(0, |first| first.entry.timestamp);
        let mut seen = Seen::of(&case.watcher);
        let mut session = self.open(case.id(), begin, files, repository(case), &mut seen)?;
        for step in &case.steps() {
            // The session's end comes after the command, which the user ran before it.
            if matches!(&step.step, Step::Event(Event::SessionEnd))
                && let Some(line) = &case.command
            {
                run_command(&mut session, line, &mut seen).await.with_context(|| case.place.clone())?;
            }
            session.feed(step, &mut seen).await?;
        }
        Ok(seen.trial)
    }

    /// A session of the plugin in a project of these files and this repository, before anything happens in it.
    ///
    /// # Errors
    /// Where the files cannot be put there.
    pub fn open(
        &self,
        id: String,
        begin: Timestamp,
        files: &[File],
        repository: Repository,
        observer: &mut dyn Observer,
    ) -> Result<Session> {
        let storage = Storage::Memory(Overlay::new());
        let ground = Ground { project: self.folder, user: Some(self.folder.join("home")), repository, storage };
        let running = setup::running(&self.plugin, self.component.clone(), &ground);
        for File { location, text } in files {
            let written = running.files.write(location, text, false);
            written.map_err(|error| anyhow::anyhow!("cannot write {}: {error:?}", location.path))?;
        }
        // The same in each run, since it may be shown to the judge.
        let snapshot = Snapshot { mode: Mode::Rpc, ..Snapshot::new(id, "/home/dev/project", begin) };
        let setup = Setup { judge: self.judge.clone(), ..Setup::new(snapshot, vec![running], self.provider.clone()) };
        Ok(Session::new(setup, observer)?)
    }
}

async fn run_command(session: &mut Session, line: &str, seen: &mut Seen<'_>) -> Result<()> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    if !session.command(name, rest.trim(), seen)? {
        bail!("there is no command `/{name}` here; correct the `command` of the case");
    }
    Ok(session.quiet(seen).await?)
}

/// Keeps what one watcher does.
struct Seen<'w> {
    watcher: &'w str,
    trial: Trial,
}

impl<'w> Seen<'w> {
    fn of(watcher: &'w str) -> Self {
        let trial = Trial { last: LastWord::NONE, steered: false, calls: Vec::new(), failures: Vec::new() };
        Self { watcher, trial }
    }
}

impl Observer for Seen<'_> {
    fn hook(&mut self, run: &HookRun<'_>) {
        let committed = match run.result {
            Ok(committed) => committed,
            Err(failure) => return self.trial.failures.push(format!("{}: {failure}", run.event.name())),
        };
        for effect in &committed.effects {
            self.trial.last.hear(self.watcher, effect);
            self.trial.steered |= matches!(effect, Effect::Inject(_));
        }
    }

    fn changed(&mut self, _: &str, _: &Change) {}

    fn note(&mut self, _: &str, note: &Note) {
        if let Note::Answered { usage, ok, took, .. } = note {
            self.trial.calls.push(CallSeen { took: *took, usage: usage.clone(), ok: *ok });
        }
    }
}

#[cfg(test)]
mod tests {
    use chaperone_contract::{Delivery, Injection, Reply};

    use super::*;
    use crate::transaction::{Cause, Committed, Failure};

    /// What is seen of hooks with these effects.
    fn seen(hooks: impl IntoIterator<Item = Effect>) -> Trial {
        let mut seen = Seen::of("hedge");
        for effect in hooks {
            let result = Ok(Committed { reply: Reply::Nothing, effects: vec![effect] });
            seen.hook(&hook(&result));
        }
        seen.trial
    }

    fn hook(result: &Result<Committed, Failure>) -> HookRun<'_> {
        HookRun { plugin: "monitors", event: &Event::AgentEnd, entry: None, result, took: Duration::ZERO }
    }

    #[test]
    fn what_the_agent_would_have_heard_and_what_broke_down_is_kept() {
        let message = Injection {
            custom_type: "steer".into(),
            content: "Go on.".into(),
            display: true,
            details: None,
            delivery: Delivery::Steer,
            trigger_turn: true,
        };
        assert!(seen([Effect::Inject(message)]).steered);
        let mut seen = Seen::of("hedge");
        let broken = Err(Failure { cause: Cause::Trapped("unreachable".into()), log: Vec::new() });
        seen.hook(&hook(&broken));
        assert_eq!(seen.trial.failures.len(), 1);
        assert!(seen.trial.failures[0].starts_with("agent_end: "), "{:?}", seen.trial.failures);
    }
}
