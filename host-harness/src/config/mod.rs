//! `chaperone.toml`: which plugins run, what each may do, and which models answer.
//!
//! Everything is checked when it is read; each fault is reported with its place and its mend, all of them at once.

mod fault;
mod nearest;
mod read;
mod sections;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files::{Access, Globs, Grant};
use crate::traces::Policy;

pub use fault::{ConfigError, Fault};

/// The usual name of the file.
pub const FILE_NAME: &str = "chaperone.toml";

/// What a `builtin:` component may be called.
pub const BUILTINS: &[&str] = chaperone_artifacts::NAMES;

/// The state of the project's repository, as a folder.
pub const REPOSITORY: &str = "git";

/// The folders that can be granted to a plugin.
pub const MOUNTS: [&str; 4] = ["workspace", "project", "user", REPOSITORY];

/// What the stop guard reads and writes in the user's folder.
const STOP_GUARD_FILES: &str = "extensions/pi-auto-goal/**";

/// Answers come from a script file; always there.
pub const SCRIPT_PROVIDER: &str = "script";
/// The agent on the other end of the pipe makes the calls; always there.
pub const HOST_PROVIDER: &str = "host";

/// The whole configuration. The default is what holds without a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// How models are called.
    pub llm: Llm,
    /// `[providers.NAME]`: who can be asked, by name.
    pub providers: BTreeMap<String, Provider>,
    /// `[[plugin]]`, in the order of the file, each name once. A file that names none has those of the default.
    pub plugins: Vec<Plugin>,
    /// `[trace]`: what is kept of judgements.
    pub trace: Policy,
    /// `[state]`: what is kept of sessions.
    pub state: State,
}

impl Default for Config {
    /// No providers, and every built-in plugin with the grants that it needs.
    fn default() -> Self {
        Config {
            llm: Llm::default(),
            providers: BTreeMap::new(),
            plugins: BUILTINS.iter().map(|name| Plugin::builtin(name)).collect(),
            trace: Policy::default(),
            state: State::default(),
        }
    }
}

impl Config {
    /// Reads a file.
    pub fn load(path: &Path) -> Result<Config, ConfigError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ConfigError::Unreadable { path: path.to_path_buf(), source })?;
        Config::parse(&path.display().to_string(), &text)
    }

    /// Reads the text of a file. `name` is its path, which errors name and relative paths start from. `~` is the home
    /// folder.
    pub fn parse(name: &str, text: &str) -> Result<Config, ConfigError> {
        let folder = Path::new(name).parent().unwrap_or(Path::new("")).to_path_buf();
        read::config(name, text, &read::Origin { folder, home: std::env::home_dir() })
    }
}

/// `[llm]`: how models are called.
#[derive(Clone, Debug, PartialEq)]
pub struct Llm {
    /// Who is asked where a request names nobody: [`SCRIPT_PROVIDER`], [`HOST_PROVIDER`], or one of the providers.
    /// None: whoever started the host decides.
    pub provider: Option<String>,
    /// How long a call may take where the request does not say, in milliseconds; 1 to 3,600,000.
    pub timeout_ms: u32,
}

impl Default for Llm {
    fn default() -> Self {
        Llm { provider: None, timeout_ms: 60_000 }
    }
}

/// `[state]`: what is kept of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// How long a session is remembered that nobody goes on with; a whole number of days, 1 to 3,650.
    pub keep: Duration,
}

impl Default for State {
    /// 90 days.
    fn default() -> Self {
        State { keep: Duration::from_secs(90 * 24 * 60 * 60) }
    }
}

/// `[providers.NAME]`: someone who answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Provider {
    /// How it is reached. In the file, the provider's name says it where `kind` does not.
    pub kind: ProviderKind,
    /// The model that is meant where a request names none.
    pub default_model: Option<String>,
    /// `[[providers.NAME.models]]`: what is known of its models, each name once.
    pub models: Vec<Model>,
}

/// How a provider is reached.
#[derive(Clone, Debug, PartialEq)]
pub enum ProviderKind {
    /// An endpoint that speaks OpenAI's protocol; local servers do.
    OpenAi(Endpoint),
    /// An endpoint that speaks Anthropic's protocol.
    Anthropic(Endpoint),
    /// Answers from a file.
    Script(PathBuf),
}

/// An HTTP endpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    /// None: the vendor's own address.
    pub base_url: Option<String>,
    /// Where the key is found.
    pub key: Key,
}

/// Where a key is found. The file never holds the key itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Key {
    /// In an environment variable: its name. Of the vendor's own address, the default is `OPENAI_API_KEY` or
    /// `ANTHROPIC_API_KEY`.
    Env(String),
    /// In a file: its path.
    File(PathBuf),
    /// Nowhere: the default of any other address, since the vendor's key is not for it.
    None,
}

/// What is known of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// What requests call it.
    pub name: String,
    /// How many tokens a prompt may have.
    pub context_window: Option<u32>,
    /// How many tokens an answer may have.
    pub max_output_tokens: Option<u32>,
    /// Whether it can think before it answers; false where the file does not say.
    pub reasons: bool,
}

/// `[[plugin]]`: a component, what it may do, and how far it may go.
#[derive(Clone, Debug, PartialEq)]
pub struct Plugin {
    /// Unique among the plugins: lower-case letters, digits and hyphens.
    pub name: String,
    /// Where its code is.
    pub component: Component,
    /// What it may do. In a file, nothing that is not granted.
    pub grants: Grants,
    /// How far it may go.
    pub limits: Limits,
}

impl Plugin {
    /// A built-in plugin with the grants that it needs: to ask any model 32 times a turn, to speak, and to read and write
    /// in all folders, or, for one that has only a configuration, in the folder of that. The repository's can only be read.
    fn builtin(name: &str) -> Plugin {
        let most = |mount| if mount == REPOSITORY { Grant::READ } else { Grant::READ_WRITE };
        let files = match name {
            "stop-guard" => {
                let own = Access::Globs(Globs::new([STOP_GUARD_FILES]).expect("it is a glob"));
                [("user".to_owned(), Grant { read: own.clone(), write: own })].into()
            }
            _ => MOUNTS.map(|mount| (mount.to_owned(), most(mount))).into(),
        };
        Plugin {
            name: name.to_owned(),
            component: Component::Builtin(name.to_owned()),
            grants: Grants { files, llm: Some(LlmGrant { calls_per_turn: 32, ..LlmGrant::default() }), inject: true },
            limits: Limits::default(),
        }
    }
}

/// Where a component is.
#[derive(Clone, Debug, PartialEq)]
pub enum Component {
    /// `builtin:NAME`: in the program, one of [`BUILTINS`].
    Builtin(String),
    /// In a file.
    File(PathBuf),
}

/// `[plugin.grants]`: what a plugin may do. The default is nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grants {
    /// By the name of the mount; one that is not here does not exist for the plugin.
    pub files: BTreeMap<String, Grant>,
    /// None: no model.
    pub llm: Option<LlmGrant>,
    /// Whether it may speak into the conversation, hold tool calls, and stop the agent.
    pub inject: bool,
}

/// `llm = …`: which models a plugin may ask, and how much. `true` grants the default.
#[derive(Clone, Debug, PartialEq)]
pub struct LlmGrant {
    /// The names of the models that it may ask.
    pub models: ModelNames,
    /// How many calls it may start between two messages of the user; 1 to 10,000.
    pub calls_per_turn: u32,
    /// How many tokens, in and out, its calls may use in a session. None: any number.
    pub tokens_per_session: Option<u64>,
}

impl Default for LlmGrant {
    /// Any model, 8 calls a turn, any number of tokens.
    fn default() -> Self {
        LlmGrant { models: ModelNames::any(), calls_per_turn: 8, tokens_per_session: None }
    }
}

/// Patterns for the names of models, where `*` stands for any characters.
#[derive(Clone, Debug)]
pub struct ModelNames {
    patterns: Vec<String>,
    set: globset::GlobSet,
}

impl ModelNames {
    /// Every name.
    pub fn any() -> ModelNames {
        ModelNames::new(vec!["*".to_owned()]).expect("`*` is a glob")
    }

    fn new(patterns: Vec<String>) -> Result<ModelNames, globset::Error> {
        let mut set = globset::GlobSetBuilder::new();
        for pattern in &patterns {
            set.add(globset::Glob::new(pattern)?);
        }
        Ok(ModelNames { set: set.build()?, patterns })
    }

    /// Whether the plugin may ask the model of this name.
    pub fn allow(&self, model: &str) -> bool {
        self.set.is_match(model)
    }

    /// As they stand in the file.
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }
}

impl PartialEq for ModelNames {
    fn eq(&self, other: &Self) -> bool {
        self.patterns == other.patterns
    }
}

/// `[plugin.limits]`: how far a plugin may go.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// How long a hook may run, in milliseconds; 1 to 60,000.
    pub hook_ms: u32,
    /// How much memory a hook may have, in MiB; 1 to 256.
    pub memory_mib: u32,
    /// After how many traps in a row the plugin is set aside; 1 to 1000.
    pub quarantine_after: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { hook_ms: 200, memory_mib: 64, quarantine_after: 3 }
    }
}

#[cfg(test)]
mod tests;
