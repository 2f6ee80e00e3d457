//! The user's own store, for commands: what plugins remember of a project, and the traces of their judgements.

use std::sync::Arc;

use anyhow::Result;

use super::style;
use crate::config::Config;
use crate::drive::{Extent, Memory};
use crate::project::Project;
use crate::store::Store;

/// What a command wants of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It looks: a store that is not there is not made, and one that cannot be used is passed over with a warning.
    Read,
    /// It adds to it, where that can be done; else there is a warning.
    Try,
    /// It adds to it, which is what it is for.
    Write,
}

/// What is remembered of the project. None: nothing is.
pub fn of_project(config: &Config, project: &Project, access: Access) -> Result<Option<Memory>> {
    let memory = memory(config, project, access)?;
    Ok(memory.map(|memory| Memory { extent: Extent::Project, ..memory }))
}

/// What is remembered of sessions and of the project, which is added to.
pub fn of_sessions(config: &Config, project: &Project) -> Result<Option<Memory>> {
    memory(config, project, Access::Write)
}

fn memory(config: &Config, project: &Project, access: Access) -> Result<Option<Memory>> {
    let path = match (Store::path_of_user(), access) {
        (Ok(path), Access::Read) if !path.exists() => return Ok(None),
        (Err(_), Access::Read) => return Ok(None),
        (path, _) => path,
    };
    match (path.and_then(|path| Store::open(&path)), access) {
        (Ok(store), _) => {
            let memory = Memory::new(Arc::new(store), project.root.display().to_string());
            Ok(Some(Memory { traces: config.trace, keep: config.state.keep, ..memory }))
        }
        (Err(error), Access::Write) => Err(error.into()),
        (Err(error), Access::Read | Access::Try) => {
            anstream::eprintln!("{}warning:{} {}", style::WARNING, style::RESET, style::plain(&error.to_string()));
            Ok(None)
        }
    }
}
