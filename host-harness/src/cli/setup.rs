//! From configuration to plugins and providers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use chaperone_contract::{LlmError, Mode, ModelId, ModelInfo, Snapshot, Timestamp};
use clap::ValueEnum;

use crate::config::{self, Config, ProviderKind};
use crate::drive::{Grants, Running};
use crate::files::{Folder, Locks, Mounts, Overlay, Repository, Storage};
use crate::llm::http::{Http, HttpConfig, Key, Kind, ModelConfig};
use crate::llm::script::{Script, ScriptError};
use crate::llm::{Answer, BoxFuture, Call, Provider, Providers};
use crate::plugin::{Cache, Components, Plugin};
use crate::project::{self, Project};
use crate::store::Store;
use crate::transaction::Limits;

/// What the command line says about who answers model calls.
#[derive(Clone, Default, clap::Args)]
pub struct Judge {
    /// Who answers model calls
    #[arg(long, value_enum)]
    provider: Option<ProviderName>,
    /// The answers of the provider `script`
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    script: Option<PathBuf>,
    /// The provider's model for calls that name none; by default the session's own, if it is this provider's
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

impl Judge {
    /// Whether a script answers the calls that name nobody.
    pub fn is_script(&self, config: &Config) -> bool {
        match (self.provider, &self.script) {
            (Some(ProviderName::Script), _) | (None, Some(_)) => true,
            (Some(_), _) => false,
            (None, None) => match config.llm.provider.as_deref() {
                Some(config::SCRIPT_PROVIDER) => true,
                Some(name) => {
                    config.providers.get(name).is_some_and(|provider| matches!(provider.kind, ProviderKind::Script(_)))
                }
                None => false,
            },
        }
    }

    /// The model that is meant, by its full name.
    pub fn model(&self, provider: &dyn Provider) -> Option<ModelId> {
        self.model.clone().map(|model| ModelId { provider: provider.name().into(), model })
    }

    /// What contradicts itself.
    pub fn contradiction(&self) -> Option<&'static str> {
        let is_other = self.provider.is_some_and(|name| name != ProviderName::Script);
        (self.script.is_some() && is_other).then_some("--script belongs to the provider `script`")
    }

    /// Whether somebody is named, here or in the configuration.
    pub fn names_somebody(&self, config: &Config) -> bool {
        self.provider.is_some() || self.script.is_some() || config.llm.provider.is_some()
    }

    /// As it is, with this provider.
    pub fn asking(self, provider: ProviderName) -> Self {
        Self { provider: Some(provider), ..self }
    }

    /// Ends the program, or fails, where what it says cannot be meant: before anybody depends on it.
    pub fn check(&self) -> Result<()> {
        if let Some(script) = &self.script {
            self.read_script(script)?;
        }
        Ok(())
    }

    fn read_script(&self, script: &Path) -> Result<Script> {
        if let Some(contradiction) = self.contradiction() {
            super::usage(contradiction);
        }
        match Script::read(script) {
            Err(error @ ScriptError::Read { .. }) => bail!("{error}; --script takes a YAML file of answers"),
            read => Ok(read?),
        }
    }
}

/// Who answers model calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProviderName {
    /// Answers from a file
    Script,
    /// An endpoint that speaks OpenAI's protocol
    Openai,
    /// An endpoint that speaks Anthropic's protocol
    Anthropic,
    /// The agent that is connected, with its own models
    Host,
}

/// The configuration in a file that the user names, in `chaperone.toml` of the project, or the default.
pub fn config(named: Option<&Path>, project: &Project) -> Result<Config> {
    let of_project = project.root.join("chaperone.toml");
    match named {
        Some(path) => Ok(Config::load(path)?),
        None if of_project.exists() => {
            let config = Config::load(&of_project)?;
            refuse_foreign_wishes(&config, &of_project)?;
            Ok(config)
        }
        None => Ok(Config::default()),
    }
}

/// A file that came with a repository must not decide by itself where the user's keys and conversations are sent, nor
/// give code of its own a hand in the user's files outside of the project.
fn refuse_foreign_wishes(config: &Config, path: &Path) -> Result<()> {
    const USUAL_KEYS: [&str; 2] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];
    let refuse = |wish: String| -> Result<()> {
        bail!("{path} {wish}; if you trust it, say so with --config {path}", path = path.display())
    };
    for (name, provider) in &config.providers {
        let (ProviderKind::OpenAi(endpoint) | ProviderKind::Anthropic(endpoint)) = &provider.kind else { continue };
        if let Some(url) = &endpoint.base_url {
            return refuse(format!("sends what the provider `{name}` is asked to {url}"));
        }
        match &endpoint.key {
            config::Key::Env(variable) if !USUAL_KEYS.contains(&variable.as_str()) => {
                return refuse(format!("takes the key of the provider `{name}` from the variable {variable}"));
            }
            config::Key::File(file) => {
                return refuse(format!("takes the key of the provider `{name}` from the file {}", file.display()));
            }
            config::Key::Env(_) | config::Key::None => {}
        }
    }
    for plugin in &config.plugins {
        if matches!(plugin.component, config::Component::File(_)) && plugin.grants.files.contains_key("user") {
            return refuse(format!("grants the component of `{}` the files of the user", plugin.name));
        }
    }
    Ok(())
}

/// The project of a folder, which must be one.
pub fn project(cwd: Option<&Path>) -> Result<Project> {
    let cwd = cwd.unwrap_or(Path::new("."));
    if !cwd.is_dir() {
        bail!("{} is not a folder", cwd.display());
    }
    Ok(Project::of(cwd))
}

/// That a configuration has all the plugins that are named.
fn check_names(config: &Config, named: &[String]) -> Result<()> {
    for name in named {
        if !config.plugins.iter().any(|plugin| plugin.name == *name) {
            let names: Vec<_> = config.plugins.iter().map(|plugin| plugin.name.as_str()).collect();
            bail!("there is no plugin `{name}`; there is {}", names.join(", "));
        }
    }
    Ok(())
}

/// Loads the plugins of a configuration, or those of them that are named.
pub fn plugins(config: &Config, only: &[String], ground: &Ground<'_>) -> Result<Vec<Running>> {
    check_names(config, only)?;
    let named = config.plugins.iter().filter(|plugin| only.is_empty() || only.contains(&plugin.name));
    named.map(|plugin| load(plugin, ground)).collect()
}

/// Loads the plugins of a configuration, each for itself: one that cannot be loaded comes with the reason.
pub fn each_plugin<'c>(
    config: &'c Config,
    ground: &Ground<'_>,
) -> Vec<Result<Running, (&'c config::Plugin, anyhow::Error)>> {
    let each = |plugin| load(plugin, ground).map_err(|error| (plugin, error));
    config.plugins.iter().map(each).collect()
}

fn load(plugin: &config::Plugin, ground: &Ground<'_>) -> Result<Running> {
    let code = component(&plugin.component).with_context(|| format!("plugin `{}`", plugin.name))?;
    Ok(running(plugin, code, ground))
}

/// Where plugins' states are kept: in the file that is named, or the user's own.
pub fn store(named: Option<&Path>) -> Result<Store> {
    let path = match named {
        Some(path) => path.to_path_buf(),
        None => Store::path_of_user().context("name a file with --state")?,
    };
    Store::open(&path).with_context(|| path.display().to_string())
}

/// The circumstances of a session of the main agent, before its first entry.
pub fn snapshot(session: &str, project: &Project, mode: Mode, now: Timestamp) -> Snapshot {
    Snapshot { mode, ..Snapshot::new(session, project.root.display().to_string(), now) }
}

/// Runs what a session does to its end.
pub fn block_on<T>(future: impl Future<Output = T>) -> Result<T> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future))
}

/// Where the plugins' files go: to the disk, or into memory over it.
pub fn storage(writes: bool) -> Result<Storage> {
    Ok(match writes {
        true => Storage::Disk(Locks::of_user().context("cannot make a folder for locks")?),
        false => Storage::Memory(Overlay::new()),
    })
}

/// Why the state of the repository of a recorded session cannot be told.
const RECORDED: &str = "the session was recorded, and the repository has changed since";

/// What of the machine can be granted.
pub struct Ground<'g> {
    /// The root of the project.
    pub project: &'g Path,
    /// The user's own folder; none where there is no home.
    pub user: Option<PathBuf>,
    /// The state of the project's repository.
    pub repository: Repository,
    /// Where written files go.
    pub storage: Storage,
}

impl<'g> Ground<'g> {
    /// Of a session that goes on.
    pub fn live(project: &'g Project, storage: Storage) -> Self {
        Self {
            project: &project.root,
            user: project::user_dir(),
            repository: Repository::Of(project.root.clone()),
            storage,
        }
    }

    /// Of a session that is over: its files are as good as any, but the repository has moved on.
    pub fn recorded(project: &'g Project, storage: Storage) -> Self {
        Self { repository: Repository::OutOfReach(RECORDED.into()), ..Self::live(project, storage) }
    }
}

/// A plugin with what its configuration grants it.
pub fn running(plugin: &config::Plugin, code: Arc<Plugin>, ground: &Ground<'_>) -> Running {
    let mut mounts = Mounts::new(ground.storage.clone());
    for (name, grant) in &plugin.grants.files {
        let folder = match name.as_str() {
            config::REPOSITORY => {
                mounts.mount_repository(name, ground.repository.clone(), grant.read.clone());
                continue;
            }
            "workspace" => Folder::at(ground.project),
            "project" => Folder::inside(ground.project, project::CONFIG_FOLDER),
            _ => match &ground.user {
                Some(folder) => Folder::at(folder),
                None => continue,
            },
        };
        mounts.mount(name, folder, grant.clone());
    }
    let config::Limits { hook_ms, memory_mib, quarantine_after } = plugin.limits;
    let mut running = Running::new(&plugin.name, source(&plugin.component), code, mounts);
    running.grants = Grants { inject: plugin.grants.inject, llm: plugin.grants.llm.clone() };
    running.quarantine_after = quarantine_after;
    running.limits = Limits {
        time: Duration::from_millis(hook_ms.into()),
        memory: (memory_mib as usize) << 20,
        ..Limits::default()
    };
    running
}

/// Loads a component, once in this process.
pub fn component(component: &config::Component) -> Result<Arc<Plugin>> {
    static COMPONENTS: LazyLock<Components> = LazyLock::new(|| Components::new(Cache::of_user()));
    Ok(match component {
        config::Component::Builtin(name) => {
            let Some(builtin) = chaperone_artifacts::builtin(name) else {
                bail!("there is no built-in component `{name}`; there is {}", chaperone_artifacts::NAMES.join(", "));
            };
            COMPONENTS.of_content(builtin.component, builtin.digest.into())?
        }
        config::Component::File(path) => COMPONENTS.load(path).with_context(|| path.display().to_string())?,
    })
}

/// A component's source as configuration and recordings write it.
pub fn source(component: &config::Component) -> String {
    match component {
        config::Component::Builtin(name) => format!("builtin:{name}"),
        config::Component::File(path) => path.display().to_string(),
    }
}

/// A component from its source.
pub fn component_of_source(source: &str) -> config::Component {
    match source.strip_prefix("builtin:") {
        Some(name) => config::Component::Builtin(name.into()),
        None => config::Component::File(PathBuf::from(source)),
    }
}

/// Who answers a recorded session, which has no host: as [`provider_with_host`] says.
pub fn provider(config: &Config, only: &[String], judge: &Judge) -> Result<Arc<dyn Provider>> {
    let name = judge.provider.is_none().then_some(config.llm.provider.as_deref()).flatten();
    if judge.script.is_none() && (judge.provider == Some(ProviderName::Host) || name == Some(config::HOST_PROVIDER)) {
        bail!("the provider `host` is an agent that is connected; a recorded session has none, name another");
    }
    provider_with_host(config, only, judge, None)
}

/// Who answers: what the command line says, else what the configuration says, else the host where there is one. Where
/// none of the plugins that take part (`only` these, or all) may ask, nobody need say anything.
///
/// Beside the one that is named, all that are configured can be asked, and the host.
pub fn provider_with_host(
    config: &Config,
    only: &[String],
    judge: &Judge,
    host: Option<Arc<dyn Provider>>,
) -> Result<Arc<dyn Provider>> {
    let Judge { provider: named, script, model } = judge;
    let (named, model) = (*named, model.as_deref());
    if let Some(script) = script {
        return Ok(Arc::new(judge.read_script(script)?));
    }
    let name = match named {
        Some(ProviderName::Script) => "script",
        Some(ProviderName::Openai) => "openai",
        Some(ProviderName::Anthropic) => "anthropic",
        Some(ProviderName::Host) => config::HOST_PROVIDER,
        None => match (&config.llm.provider, &host) {
            (Some(name), _) => name,
            (None, Some(_)) => config::HOST_PROVIDER,
            (None, None) => "none",
        },
    };
    let mut taking_part = config.plugins.iter().filter(|plugin| only.is_empty() || only.contains(&plugin.name));
    if name == "none" && taking_part.all(|plugin| plugin.grants.llm.is_none()) {
        return Ok(Arc::new(Nobody::default()));
    }
    if name == "none" {
        bail!(
            "nobody answers model calls: name a script with --script FILE, or a provider with --provider or `llm.provider`"
        );
    }
    let default = match config.providers.get(name) {
        Some(provider) => configured(config, name, provider, model)?,
        None => match name {
            "script" => bail!("--provider script needs --script FILE"),
            "openai" => endpoint(config, name, Kind::OpenAi, "OPENAI_API_KEY", model)?,
            "anthropic" => endpoint(config, name, Kind::Anthropic, "ANTHROPIC_API_KEY", model)?,
            config::HOST_PROVIDER => match &host {
                Some(host) => host.clone(),
                None => {
                    bail!("the provider `host` lends no models; say which it has when it connects, or name another")
                }
            },
            other => bail!("there is no provider `{other}` here; configure it under [providers.{other}]"),
        },
    };
    let others = config
        .providers
        .iter()
        .filter(|(other, _)| *other != name)
        .map(|(other, provider)| configured(config, other, provider, None))
        .chain(host.filter(|_| name != config::HOST_PROVIDER).map(Ok))
        .collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(Providers::new(default, others)?))
}

fn endpoint(config: &Config, name: &str, kind: Kind, key: &str, model: Option<&str>) -> Result<Arc<dyn Provider>> {
    let mut endpoint = HttpConfig::new(name, kind, Key::Env(key.into()));
    endpoint.timeout_ms = config.llm.timeout_ms;
    endpoint.default_model = model.map(Into::into);
    Ok(Arc::new(Http::new(endpoint)?))
}

fn configured(
    config: &Config,
    name: &str,
    provider: &config::Provider,
    model: Option<&str>,
) -> Result<Arc<dyn Provider>> {
    let (kind, endpoint) = match &provider.kind {
        ProviderKind::Script(path) => return Ok(Arc::new(Script::read(path)?)),
        ProviderKind::OpenAi(endpoint) => (Kind::OpenAi, endpoint),
        ProviderKind::Anthropic(endpoint) => (Kind::Anthropic, endpoint),
    };
    let key = match &endpoint.key {
        config::Key::Env(name) => Key::Env(name.clone()),
        config::Key::File(path) => Key::File(path.clone()),
        config::Key::None => Key::None,
    };
    let models = provider.models.iter().map(|model| ModelConfig {
        context_window: model.context_window,
        max_output_tokens: model.max_output_tokens,
        reasons: model.reasons,
        ..ModelConfig::new(&model.name)
    });
    Ok(Arc::new(Http::new(HttpConfig {
        base_url: endpoint.base_url.clone(),
        models: models.collect(),
        default_model: model.map(Into::into).or_else(|| provider.default_model.clone()),
        timeout_ms: config.llm.timeout_ms,
        ..HttpConfig::new(name, kind, key)
    })?))
}

/// Answers no call, and says what to do about that.
pub struct Nobody(pub String);

impl Default for Nobody {
    fn default() -> Self {
        Self("`chaperone run` has a provider".into())
    }
}

impl Provider for Nobody {
    fn name(&self) -> &str {
        "nobody"
    }

    fn models(&self) -> Vec<ModelInfo> {
        Vec::new()
    }

    fn complete<'a>(&'a self, _: &'a Call, _: &'a (dyn Fn(&str) + Send + Sync)) -> BoxFuture<'a, Answer> {
        Box::pin(async { Err(LlmError::Provider(format!("nobody answers model calls here; {}", self.0))) })
    }
}
