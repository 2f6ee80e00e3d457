//! What plugins remember and wait for, and what is kept of judgements, on disk: one SQLite file for a user, which
//! processes can share. What is old goes: judgements, and sessions that nobody goes on with.

mod requests;
mod sessions;
mod traces;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chaperone_contract::{EntryId, RequestId, Scope, Timestamp};
use etcetera::BaseStrategy as _;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

pub use requests::{Awaited, Requests};

use crate::state::History;

pub use traces::{CallTrace, Kept, StoredTraces};

/// The version of the tables, kept in the file itself.
const SCHEMA: i64 = 5;

const STATE_TABLE: &str = "CREATE TABLE IF NOT EXISTS state (
    plugin TEXT NOT NULL,
    scope TEXT NOT NULL,
    owner TEXT NOT NULL,
    -- Of the branch scope: the entry at which it was committed; empty: before the first one.
    entry TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (plugin, scope, owner, entry)
) WITHOUT ROWID";

/// Where a process left a session that the next one goes on with, as JSON.
const PAUSED_TABLE: &str =
    "CREATE TABLE IF NOT EXISTS paused (session TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID";

/// How long to wait for another process that is writing.
const PATIENCE: Duration = Duration::from_secs(5);

/// The states of all plugins.
pub struct Store {
    connection: Mutex<Connection>,
    /// What is kept back until it is settled; none: everything is written at once.
    held: Mutex<Option<Vec<Held>>>,
}

/// What one hook left behind, kept back.
struct Held {
    owner: Owner,
    leaf: Option<EntryId>,
    changed: Vec<(Scope, Arc<[u8]>)>,
    requests: Requests,
    until: Timestamp,
}

/// Why states cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite's words.
    #[error("the state store cannot be used: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The folder of the file cannot be made.
    #[error("the state store cannot be made: {0}")]
    Folder(#[from] std::io::Error),
    /// There is no folder for it.
    #[error("there is no home folder to keep states in: set HOME, or XDG_STATE_HOME")]
    NoHome,
    /// A newer program wrote it.
    #[error(
        "the state store has version {found}, this program reads {SCHEMA}: use the newer program, or another store"
    )]
    Newer {
        /// The version in the file.
        found: i64,
    },
}

/// Whose state it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The plugin's name.
    pub plugin: String,
    /// The session's id: owns the branch and the session scope.
    pub session: String,
    /// The project's root: owns the project scope.
    pub project: String,
}

impl Store {
    /// Where the store of this user is: `chaperone/state.db` in the folder for states, which is `$XDG_STATE_HOME` or
    /// `~/.local/state`; where the system has none, in the folder for data.
    ///
    /// # Errors
    /// Where there is no home folder.
    pub fn path_of_user() -> Result<PathBuf, StoreError> {
        let strategy = etcetera::choose_base_strategy().map_err(|_| StoreError::NoHome)?;
        let folder = strategy.state_dir().unwrap_or_else(|| strategy.data_dir());
        Ok(folder.join("chaperone").join("state.db"))
    }

    /// Opens a store, and makes the file where there is none, for nobody but the user.
    ///
    /// # Errors
    /// As [`StoreError`] says.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut options = std::fs::OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)?;
        Self::with(Connection::open(path)?)
    }

    /// A store that ends with the process.
    ///
    /// # Errors
    /// As [`StoreError`] says.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::with(Connection::open_in_memory()?)
    }

    fn with(mut connection: Connection) -> Result<Self, StoreError> {
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // A process that lives for one hook opens the store each time: what is there already is not written again.
        if connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))? != SCHEMA {
            Self::make_tables(&mut connection)?;
        }
        Ok(Self { connection: Mutex::new(connection), held: Mutex::new(None) })
    }

    fn make_tables(connection: &mut Connection) -> Result<(), StoreError> {
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // Two processes that open a new file at the same time must not both make the tables.
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if found > SCHEMA {
            return Err(StoreError::Newer { found });
        }
        if found < SCHEMA {
            transaction.execute_batch(STATE_TABLE)?;
            transaction.execute_batch(requests::TABLES)?;
            transaction.execute_batch(traces::TABLES)?;
            transaction.execute_batch(PAUSED_TABLE)?;
            transaction.execute_batch(sessions::TABLES)?;
            transaction.pragma_update(None, "user_version", SCHEMA)?;
        }
        Ok(transaction.commit()?)
    }

    /// Everything that a plugin remembers; the branch's current value is picked by [`History::follow`].
    ///
    /// # Errors
    /// As [`StoreError`] says.
    pub fn history(&self, owner: &Owner) -> Result<History, StoreError> {
        let connection = self.connection();
        let single = |scope: Scope| -> Result<Option<Arc<[u8]>>, StoreError> {
            let mut query =
                connection.prepare_cached("SELECT value FROM state WHERE plugin = ?1 AND scope = ?2 AND owner = ?3")?;
            let value: Option<Vec<u8>> =
                query.query_row(params![owner.plugin, scope.name(), owner.of(scope)], |row| row.get(0)).optional()?;
            Ok(value.map(Into::into))
        };
        let (session, project) = (single(Scope::Session)?, single(Scope::Project)?);
        let mut query = connection
            .prepare_cached("SELECT entry, value FROM state WHERE plugin = ?1 AND scope = 'branch' AND owner = ?2")?;
        let rows = query.query_map(params![owner.plugin, owner.session], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?))
        })?;
        let mut committed: HashMap<Option<EntryId>, Arc<[u8]>> = HashMap::new();
        for row in rows {
            let (entry, value) = row?;
            committed.insert((!entry.is_empty()).then_some(entry), value.into());
        }
        Ok(History::starting_with(session, project).with_branches(committed))
    }

    /// What a plugin waits for in its session, and the id of its next request.
    ///
    /// # Errors
    /// As [`StoreError`] says.
    pub fn requests(&self, owner: &Owner) -> Result<(Vec<(RequestId, Awaited)>, RequestId), StoreError> {
        requests::read(&self.connection(), owner)
    }

    /// Copies what a plugin has in one session, and waits for there, to another: the value of the session, and those of
    /// the branch that belong to entries which both have, `shared`. A session that has something already keeps it.
    ///
    /// # Errors
    /// As [`StoreError`] says.
    pub fn fork(&self, from: &Owner, to: &Owner, shared: &HashSet<&EntryId>) -> Result<(), StoreError> {
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let has_some: bool = transaction.query_row(
            "SELECT EXISTS (SELECT 1 FROM state WHERE plugin = ?1 AND owner = ?2 AND scope <> 'project')
                OR EXISTS (SELECT 1 FROM next_request WHERE plugin = ?1 AND session = ?2)",
            params![to.plugin, to.session],
            |row| row.get(0),
        )?;
        if has_some {
            return Ok(());
        }
        let mut copied = transaction.prepare_cached(
            "INSERT INTO state SELECT plugin, scope, ?3, entry, value FROM state
                WHERE plugin = ?1 AND owner = ?2 AND scope = ?4 AND entry = ?5",
        )?;
        for entry in std::iter::once("").chain(shared.iter().map(|entry| entry.as_str())) {
            copied.execute(params![from.plugin, from.session, to.session, Scope::Branch.name(), entry])?;
        }
        copied.execute(params![from.plugin, from.session, to.session, Scope::Session.name(), ""])?;
        drop(copied);
        requests::copy(&transaction, from, to)?;
        sessions::touch(&transaction, &to.session, None)?;
        Ok(transaction.commit()?)
    }

    /// Keeps what one hook left behind, all or nothing.
    ///
    /// # Errors
    /// As [`StoreError`] says.
    pub fn commit(&self, owner: &Owner, left: &Left<'_>) -> Result<(), StoreError> {
        let Left { leaf, changed, requests, until } = left;
        if changed.is_empty() && requests.is_empty() {
            return Ok(());
        }
        if let Some(held) = self.held().as_mut() {
            held.push(Held {
                owner: owner.clone(),
                leaf: leaf.cloned(),
                changed: changed.to_vec(),
                requests: (*requests).clone(),
                until: *until,
            });
            return Ok(());
        }
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        left.write(&transaction, owner)?;
        Ok(transaction.commit()?)
    }

    /// From here on, what hooks leave behind is kept back until it is settled, and lost if the process ends before: all
    /// hooks of a process count together, or none.
    pub fn hold(&self) {
        self.held().get_or_insert_default();
    }

    /// Writes what was kept back, and where the session was left, all or nothing.
    ///
    /// # Errors
    /// As [`StoreError`] says.
    pub fn settle(&self, session: &str, paused: &str) -> Result<(), StoreError> {
        let all = self.held().take().unwrap_or_default();
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        for Held { owner, leaf, changed, requests, until } in &all {
            Left { leaf: leaf.as_ref(), changed, requests, until: *until }.write(&transaction, owner)?;
        }
        sessions::touch(&transaction, session, None)?;
        transaction
            .prepare_cached("INSERT OR REPLACE INTO paused (session, value) VALUES (?1, ?2)")?
            .execute(params![session, paused])?;
        Ok(transaction.commit()?)
    }

    /// Where a session was left.
    ///
    /// # Errors
    /// As [`StoreError`] says.
    pub fn paused(&self, session: &str) -> Result<Option<String>, StoreError> {
        let connection = self.connection();
        let mut query = connection.prepare_cached("SELECT value FROM paused WHERE session = ?1")?;
        Ok(query.query_row(params![session], |row| row.get(0)).optional()?)
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn held(&self) -> MutexGuard<'_, Option<Vec<Held>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a hook leaves behind.
#[derive(Clone, Copy, Debug)]
pub struct Left<'l> {
    /// The newest entry of the branch; none: there is none yet.
    pub leaf: Option<&'l EntryId>,
    /// The values that it set.
    pub changed: &'l [(Scope, Arc<[u8]>)],
    /// What it asked for, and what was answered with it.
    pub requests: &'l Requests,
    /// Until when the session is remembered, by the clock on the wall, unless somebody works with it before.
    pub until: Timestamp,
}

impl Left<'_> {
    fn write(&self, transaction: &Transaction<'_>, owner: &Owner) -> Result<(), StoreError> {
        self.requests.write(transaction, owner)?;
        if !self.requests.is_empty() || self.changed.iter().any(|(scope, _)| *scope != Scope::Project) {
            sessions::touch(transaction, &owner.session, Some(self.until))?;
        }
        for (scope, value) in self.changed {
            let entry = match scope {
                Scope::Branch => self.leaf.map_or("", String::as_str),
                Scope::Session | Scope::Project => "",
            };
            transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO state (plugin, scope, owner, entry, value) VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![owner.plugin, scope.name(), owner.of(*scope), entry, &value[..]])?;
        }
        Ok(())
    }
}

impl Owner {
    fn of(&self, scope: Scope) -> &str {
        match scope {
            Scope::Branch | Scope::Session => &self.session,
            Scope::Project => &self.project,
        }
    }
}

#[cfg(test)]
mod tests;
