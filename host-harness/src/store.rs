//! What plugins remember, and what is kept of judgements, on disk: one SQLite file for a user, which processes can share.

mod traces;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chaperone_contract::{EntryId, Scope};
use etcetera::BaseStrategy as _;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::state::History;

pub use traces::{CallTrace, Kept, StoredTraces};

/// The version of the tables, kept in the file itself.
const SCHEMA: i64 = 2;

const STATE_TABLE: &str = "CREATE TABLE IF NOT EXISTS state (
    plugin TEXT NOT NULL,
    scope TEXT NOT NULL,
    owner TEXT NOT NULL,
    -- Of the branch scope: the entry at which it was committed; empty: before the first one.
    entry TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (plugin, scope, owner, entry)
) WITHOUT ROWID";

/// How long to wait for another process that is writing.
const PATIENCE: Duration = Duration::from_secs(5);

/// The states of all plugins.
pub struct Store {
    connection: Mutex<Connection>,
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
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // Two processes that open a new file at the same time must not both make the tables.
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if found > SCHEMA {
            return Err(StoreError::Newer { found });
        }
        if found < SCHEMA {
            transaction.execute_batch(STATE_TABLE)?;
            transaction.execute_batch(traces::TABLES)?;
            transaction.pragma_update(None, "user_version", SCHEMA)?;
        }
        transaction.commit()?;
        Ok(Self { connection: Mutex::new(connection) })
    }

    /// Everything that a plugin remembers; the branch's current value is picked by [`History::follow`].
    ///
    /// # Errors
    /// As [`StoreError`] says.
    pub fn history(&self, owner: &Owner) -> Result<History, StoreError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Keeps what one hook set, all or nothing.
    ///
    /// # Errors
    /// As [`StoreError`] says.
    pub fn commit(
        &self,
        owner: &Owner,
        leaf: Option<&EntryId>,
        changed: &[(Scope, Arc<[u8]>)],
    ) -> Result<(), StoreError> {
        if changed.is_empty() {
            return Ok(());
        }
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        for (scope, value) in changed {
            let entry = match scope {
                Scope::Branch => leaf.map_or("", String::as_str),
                Scope::Session | Scope::Project => "",
            };
            transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO state (plugin, scope, owner, entry, value) VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![owner.plugin, scope.name(), owner.of(*scope), entry, &value[..]])?;
        }
        Ok(transaction.commit()?)
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
mod tests {
    use chaperone_contract::{Branch, Entry, EntryBody};

    use super::*;

    fn owner(session: &str) -> Owner {
        Owner { plugin: "monitors".into(), session: session.into(), project: "/project".into() }
    }

    fn branch(ids: &[&str]) -> Branch {
        ids.iter().map(|id| Entry { id: (*id).into(), timestamp: 0, body: EntryBody::Other("x".into()) }).collect()
    }

    fn value(history: &History, scope: Scope) -> Option<Vec<u8>> {
        history.current().get(scope).map(|value| value.to_vec())
    }

    #[test]
    fn what_was_kept_is_found_by_the_next_process() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/state.db");
        let store = Store::open(&path).unwrap();
        let a = EntryId::from("a");
        store.commit(&owner("s"), None, &[(Scope::Branch, (*b"root").into())]).unwrap();
        store
            .commit(&owner("s"), Some(&a), &[(Scope::Branch, (*b"at a").into()), (Scope::Session, (*b"s").into())])
            .unwrap();
        store.commit(&owner("s"), Some(&a), &[(Scope::Project, (*b"p").into())]).unwrap();
        drop(store);

        let store = Store::open(&path).unwrap();
        let mut history = store.history(&owner("s")).unwrap();
        history.follow(&branch(&["a", "b"]));
        assert_eq!(value(&history, Scope::Branch), Some(b"at a".to_vec()));
        assert_eq!(value(&history, Scope::Session), Some(b"s".to_vec()));
        history.follow(&branch(&["other"]));
        assert_eq!(value(&history, Scope::Branch), Some(b"root".to_vec()));
    }

    #[test]
    fn the_project_scope_is_shared_by_sessions_and_the_others_are_not() {
        let store = Store::in_memory().unwrap();
        let all = [Scope::Branch, Scope::Session, Scope::Project].map(|scope| (scope, Arc::from(*b"v")));
        store.commit(&owner("one"), None, &all).unwrap();
        let mut other = store.history(&owner("two")).unwrap();
        other.follow(&Branch::default());
        assert_eq!(value(&other, Scope::Branch), None);
        assert_eq!(value(&other, Scope::Session), None);
        assert_eq!(value(&other, Scope::Project), Some(b"v".to_vec()));
    }

    #[test]
    fn writers_at_the_same_time_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    let store = Store::open(path).unwrap();
                    for step in 0..25 {
                        let leaf = format!("{writer}-{step}");
                        store.commit(&owner("s"), Some(&leaf), &[(Scope::Branch, leaf.as_bytes().into())]).unwrap();
                    }
                });
            }
        });
        let mut history = Store::open(&path).unwrap().history(&owner("s")).unwrap();
        for writer in 0..4 {
            let leaf = format!("{writer}-24");
            history.follow(&branch(&[&leaf]));
            assert_eq!(value(&history, Scope::Branch), Some(leaf.into_bytes()));
        }
    }

    #[test]
    fn a_store_of_a_newer_program_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        drop(Store::open(&path).unwrap());
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
        assert!(matches!(Store::open(&path), Err(StoreError::Newer { found: 99 })));
    }
}
