//! What plugins wait for, so that a process that goes on with a session can answer it.

use chaperone_contract::{RequestId, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::{Owner, StoreError};

pub(super) const TABLES: &str = "
    -- What is not answered yet.
    CREATE TABLE IF NOT EXISTS request (
        plugin TEXT NOT NULL,
        session TEXT NOT NULL,
        id INTEGER NOT NULL,
        awaited TEXT NOT NULL,
        -- Of a timer: when it fires.
        at INTEGER,
        PRIMARY KEY (plugin, session, id)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS next_request (
        plugin TEXT NOT NULL,
        session TEXT NOT NULL,
        id INTEGER NOT NULL,
        PRIMARY KEY (plugin, session)
    ) WITHOUT ROWID;
";

/// What a request is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The outcome of a model call.
    Completion,
    /// The user's answer.
    Answer,
    /// Whether a file was written.
    Stored,
    /// A timer that fires at this time.
    Timer(Timestamp),
}

/// How a hook changes what its plugin waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// What it asked for.
    pub asked: Vec<(RequestId, Awaited)>,
    /// What is not waited for any more.
    pub over: Vec<RequestId>,
}

impl Requests {
    pub(super) fn is_empty(&self) -> bool {
        self.asked.is_empty() && self.over.is_empty()
    }

    pub(super) fn write(&self, transaction: &Transaction<'_>, owner: &Owner) -> Result<(), StoreError> {
        for id in &self.over {
            transaction
                .prepare_cached("DELETE FROM request WHERE plugin = ?1 AND session = ?2 AND id = ?3")?
                .execute(params![owner.plugin, owner.session, id.cast_signed()])?;
        }
        for (id, awaited) in &self.asked {
            let (name, at) = written(*awaited);
            transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO request (plugin, session, id, awaited, at) VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![owner.plugin, owner.session, id.cast_signed(), name, at])?;
        }
        if let Some(latest) = self.asked.iter().map(|(id, _)| *id).max() {
            transaction
                .prepare_cached("INSERT OR REPLACE INTO next_request (plugin, session, id) VALUES (?1, ?2, ?3)")?
                .execute(params![owner.plugin, owner.session, (latest + 1).cast_signed()])?;
        }
        Ok(())
    }
}

pub(super) fn read(
    connection: &Connection,
    owner: &Owner,
) -> Result<(Vec<(RequestId, Awaited)>, RequestId), StoreError> {
    let mut query = connection
        .prepare_cached("SELECT id, awaited, at FROM request WHERE plugin = ?1 AND session = ?2 ORDER BY id")?;
    let rows = query.query_map(params![owner.plugin, owner.session], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, Option<i64>>(2)?))
    })?;
    let mut awaited = Vec::new();
    for row in rows {
        let (id, name, at) = row?;
        awaited.extend(read_awaited(&name, at).map(|it| (id.cast_unsigned(), it)));
    }
    let mut query = connection.prepare_cached("SELECT id FROM next_request WHERE plugin = ?1 AND session = ?2")?;
    let next: Option<i64> = query.query_row(params![owner.plugin, owner.session], |row| row.get(0)).optional()?;
    Ok((awaited, next.map_or(1, i64::cast_unsigned)))
}

pub(super) fn copy(transaction: &Transaction<'_>, from: &Owner, to: &Owner) -> Result<(), StoreError> {
    let who = params![from.plugin, from.session, to.session];
    transaction.execute(
        "INSERT INTO request SELECT plugin, ?3, id, awaited, at FROM request WHERE plugin = ?1 AND session = ?2",
        who,
    )?;
    transaction.execute(
        "INSERT INTO next_request SELECT plugin, ?3, id FROM next_request WHERE plugin = ?1 AND session = ?2",
        who,
    )?;
    Ok(())
}

fn written(awaited: Awaited) -> (&'static str, Option<i64>) {
    match awaited {
        Awaited::Completion => ("completion", None),
        Awaited::Answer => ("answer", None),
        Awaited::Stored => ("stored", None),
        // SQLite has no larger numbers, and nobody waits that long.
        Awaited::Timer(at) => ("timer", Some(i64::try_from(at).unwrap_or(i64::MAX))),
    }
}

fn read_awaited(name: &str, at: Option<i64>) -> Option<Awaited> {
    match name {
        "completion" => Some(Awaited::Completion),
        "answer" => Some(Awaited::Answer),
        "stored" => Some(Awaited::Stored),
        "timer" => Some(Awaited::Timer(at?.cast_unsigned())),
        _ => None,
    }
}
