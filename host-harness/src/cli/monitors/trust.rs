//! Which monitors of a project may act when a command takes sessions through them.
//!
//! The plugin decides that from what it remembers of the project, which a command has none of by itself. So it is given
//! what the user's own store holds, or what the plugin would remember if the user trusted all there is.

use std::sync::Arc;

use anyhow::Result;
use chaperone_contract::Scope;

use super::component::Monitors;
use crate::cli::remember::{self, Access};
use crate::cli::setup;
use crate::config::{Config, ProviderKind};
use crate::drive::Running;
use crate::project::Project;
use crate::state::History;
use crate::store::Owner;

/// What each plugin remembers of the project.
pub struct Trust {
    remembered: Vec<(String, Arc<[u8]>)>,
}

/// Whose word counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// All monitors may act.
    All,
    /// Those may that the user has trusted.
    Kept,
}

impl Word {
    /// All, where the user says so with `--trust-project`, or where nobody can be asked who costs money or is somewhere
    /// else: the user has named the session himself, and its judge is a script.
    pub fn of(trusts_project: bool, config: &Config, judge: &setup::Judge) -> Self {
        let is_script = |kind: &ProviderKind| matches!(kind, ProviderKind::Script(_));
        let is_offline = judge.is_script(config) && config.providers.values().all(|provider| is_script(&provider.kind));
        if trusts_project || is_offline { Self::All } else { Self::Kept }
    }
}

impl Trust {
    /// Finds out. Reads the user's store, and never writes to it.
    pub fn of(word: Word, config: &Config, project: &Project) -> Result<Self> {
        let remembered = match word {
            Word::All => all(config, project).into_iter().collect(),
            Word::Kept => kept(config, project)?,
        };
        Ok(Self { remembered })
    }

    /// Tells the plugins.
    pub fn tell(&self, plugins: &mut [Running]) {
        for plugin in plugins {
            if let Some((_, value)) = self.remembered.iter().find(|(name, _)| *name == plugin.name) {
                plugin.history = History::starting_with(None, Some(value.clone()));
            }
        }
    }
}

/// None where there is nothing to trust, or where the plugin fails: it does so in the run as well, which tells it.
fn all(config: &Config, project: &Project) -> Option<(String, Arc<[u8]>)> {
    if !project.config_dir.join("monitors").is_dir() {
        return None;
    }
    let storage = setup::storage(false).ok()?;
    let mut monitors = Monitors::find(config, project.clone(), &storage, None).ok()??;
    monitors.ask("trust all").ok()?;
    monitors.remembered_of_project().map(|value| (monitors.plugin().to_owned(), value))
}

fn kept(config: &Config, project: &Project) -> Result<Vec<(String, Arc<[u8]>)>> {
    let Some(memory) = remember::of_project(config, project, Access::Read)? else { return Ok(Vec::new()) };
    let mut kept = Vec::new();
    for plugin in &config.plugins {
        let owner = Owner { plugin: plugin.name.clone(), session: String::new(), project: memory.project.clone() };
        let history = memory.store.history(&owner)?;
        kept.extend(history.current().get(Scope::Project).map(|value| (plugin.name.clone(), value.clone())));
    }
    Ok(kept)
}
