//! The plugin that has the command `/monitors`, in a session of its own, ready to be asked.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use chaperone_contract::{Effect, Event, Mode, Notice, Scope, StartReason, Tone};

use crate::cli::setup::{self, Ground};
use crate::config::{self, Config};
use crate::drive::{HookRun, Memory, Note, Observer, Session, Setup};
use crate::files::{Change, Mounts, Storage};
use crate::project::{self, Project};

const COMMAND: &str = "monitors";

/// How long a hook may run at least: no agent waits for it, and the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(10);

/// Which folder is the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// The one that is found from the working folder upwards.
    Found,
    /// The working folder itself, whatever is above it.
    Here,
}

impl Root {
    /// The project, where `found` is the one that is found from `cwd` upwards.
    pub fn of(self, found: Project, cwd: Option<&Path>) -> Result<Project> {
        match self {
            Root::Found => Ok(found),
            Root::Here => {
                let cwd = cwd.unwrap_or(Path::new("."));
                let root = cwd.canonicalize().with_context(|| cwd.display().to_string())?;
                Ok(Project { config_dir: root.join(project::CONFIG_FOLDER), root })
            }
        }
    }
}

/// The plugin, after its session has begun.
pub struct Monitors {
    pub project: Project,
    session: Session,
    at_start: Vec<Said>,
}

/// One thing that the plugin says to the user.
#[derive(Debug)]
pub enum Said {
    /// What was asked for cannot be done.
    Error(String),
    /// A line, or several.
    Line {
        text: String,
        tone: Tone,
    },
    Notice(Notice),
}

impl Monitors {
    /// Loads the plugin: the built-in one where the configuration has it, else the first that has the command.
    pub fn open(config: &Config, project: Project, storage: &Storage, memory: Option<Memory>) -> Result<Self> {
        let found = Self::find(config, project, storage, memory)?;
        found.with_context(|| {
            format!(
                "no plugin of the configuration has the command `/{COMMAND}`; add a [[plugin]] with component = \
                 \"builtin:{COMMAND}\""
            )
        })
    }

    /// The same; none where no plugin has the command.
    pub fn find(config: &Config, project: Project, storage: &Storage, memory: Option<Memory>) -> Result<Option<Self>> {
        let is_builtin = |plugin: &&config::Plugin| plugin.component == config::Component::Builtin(COMMAND.into());
        let candidates = match config.plugins.iter().find(is_builtin) {
            Some(builtin) => std::slice::from_ref(builtin),
            None => &config.plugins,
        };
        let ground = Ground::live(&project, storage.clone());
        for candidate in candidates {
            let mut plugins = setup::plugins(config, std::slice::from_ref(&candidate.name), &ground)?;
            for plugin in &mut plugins {
                plugin.limits.time = plugin.limits.time.max(PATIENCE);
            }
            let now = jiff::Timestamp::now().as_millisecond().try_into().unwrap_or(0);
            let snapshot = setup::snapshot("monitors", &project, Mode::OneShot, now);
            let memory = memory.clone();
            let setup = Setup { memory, ..Setup::new(snapshot, plugins, Arc::new(setup::Nobody::default())) };
            let mut heard = Heard::default();
            let mut session = Session::new(setup, &mut heard)?;
            heard.said()?;
            if has_command(&session, COMMAND) {
                let at_start = setup::block_on(start(&mut session))??;
                return Ok(Some(Self { project, session, at_start }));
            }
        }
        Ok(None)
    }

    /// What it remembers of the project.
    pub fn remembered_of_project(&self) -> Option<Arc<[u8]>> {
        self.session.plugins()[0].history.current().get(Scope::Project).cloned()
    }

    /// The plugin's name.
    pub fn plugin(&self) -> &str {
        &self.session.plugins()[0].name
    }

    /// What it said when the session began, such as what is wrong with files.
    pub fn said_at_start(&self) -> &[Said] {
        &self.at_start
    }

    /// Its folders, as it sees them.
    pub fn files(&self) -> &Mounts {
        &self.session.plugins()[0].files
    }

    /// Whether it has this command.
    pub fn has_command(&self, name: &str) -> bool {
        has_command(&self.session, name)
    }

    /// Runs `/monitors` with this line.
    pub fn ask(&mut self, line: &str) -> Result<Vec<Said>> {
        let mut heard = Heard::default();
        let session = &mut self.session;
        setup::block_on(async {
            session.command(COMMAND, line, &mut heard)?;
            session.quiet(&mut heard).await
        })??;
        heard.said()
    }

    /// That a name is not one of the words of `/monitors` that have nothing to do with a single monitor, such as `init`.
    /// A monitor may be called like one of them.
    pub fn check_is_no_word(&mut self, name: &str) -> Result<()> {
        let is_monitor = !self.completions(&format!("{name} "))?.is_empty();
        if !is_monitor && self.completions(name)?.iter().any(|value| value == name) {
            bail!("no monitor is called `{name}`, which is a word of `/{COMMAND}` itself");
        }
        Ok(())
    }

    /// That no monitor is called like a word of `/monitors`, which would then mean the monitor.
    pub fn check_is_no_monitor(&mut self, word: &str) -> Result<()> {
        let verbs = self.completions(&format!("{word} "))?;
        if verbs.contains(&format!("{word} dismiss")) {
            bail!("a monitor is called `{word}`, like the word of `/{COMMAND}`; give it another name");
        }
        Ok(())
    }

    fn completions(&mut self, prefix: &str) -> Result<Vec<String>> {
        let mut heard = Heard::default();
        let items = self.session.complete_command(COMMAND, prefix, &mut heard)?;
        heard.said()?;
        Ok(items.into_iter().map(|item| item.value).collect())
    }
}

fn has_command(session: &Session, name: &str) -> bool {
    let descriptions = session.plugins().iter().filter_map(|plugin| plugin.description());
    descriptions.flat_map(|description| &description.commands).any(|command| command.name == name)
}

async fn start(session: &mut Session) -> Result<Vec<Said>> {
    let mut heard = Heard::default();
    session.event(&Event::SessionStart { reason: StartReason::New }, &mut heard)?;
    session.quiet(&mut heard).await?;
    heard.said()
}

/// Keeps what a plugin says.
#[derive(Default)]
struct Heard {
    said: Vec<Said>,
    failure: Option<anyhow::Error>,
}

impl Heard {
    /// What it said.
    ///
    /// # Errors
    /// Where a hook broke down.
    fn said(self) -> Result<Vec<Said>> {
        match self.failure {
            Some(failure) => Err(failure),
            None => Ok(self.said),
        }
    }
}

impl Observer for Heard {
    fn hook(&mut self, run: &HookRun<'_>) {
        let committed = match run.result {
            Ok(committed) => committed,
            Err(failure) => {
                let error = anyhow!("the plugin `{}` failed in {}: {failure}", run.plugin, run.event.name());
                self.failure.get_or_insert(error);
                return;
            }
        };
        self.said.extend(committed.effects.iter().filter_map(|effect| match effect {
            Effect::Notify { text, tone: Tone::Error } => Some(Said::Error(text.clone())),
            Effect::Notify { text, tone } => Some(Said::Line { text: text.clone(), tone: *tone }),
            Effect::Show(notice) => Some(Said::Notice(notice.clone())),
            _ => None,
        }));
    }

    fn changed(&mut self, _: &str, _: &Change) {}

    fn note(&mut self, _: &str, _: &Note) {}
}
