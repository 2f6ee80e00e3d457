//! Until when a session is remembered.
//!
//! Each session has its own day, which whoever works with it sets anew: one project's configuration does not shorten what
//! another one's has promised.

use chaperone_contract::Timestamp;
use rusqlite::{OptionalExtension as _, Transaction, TransactionBehavior, params};

use super::{Store, StoreError};

/// By the clock on the wall. NULL: nobody has said, as of sessions that an older program has written.
pub(super) const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, until INTEGER) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS session_until ON session (until);
    INSERT OR IGNORE INTO session (id)
        SELECT owner FROM state WHERE scope <> 'project' UNION SELECT session FROM request
        UNION SELECT session FROM next_request UNION SELECT session FROM paused;
";

/// A day is not set anew for less than this, in milliseconds: most hooks need not write it.
const GRAIN: i64 = 60 * 60 * 1000;

impl Store {
    /// Somebody works with a session: what is there of it is remembered until then at least.
    ///
    /// # Errors
    /// As [`StoreError`] says.
    pub fn touch(&self, session: &str, until: Timestamp) -> Result<(), StoreError> {
        let mut connection = self.connection();
        let is_late: Option<bool> = connection
            .prepare_cached("SELECT until IS NULL OR abs(until - ?2) >= ?3 FROM session WHERE id = ?1")?
            .query_row(params![session, written(until), GRAIN], |row| row.get(0))
            .optional()?;
        // Most of the time there is nothing to do, which is no reason to wait for others that write.
        if is_late != Some(true) {
            return Ok(());
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        touch(&transaction, session, Some(until))?;
        Ok(transaction.commit()?)
    }

    /// Forgets the sessions whose day has come: what plugins remember of them, wait for in them, and where they were left.
    /// What is remembered of projects stays. Sessions of which nobody has said so far until when they are remembered are
    /// remembered `until` then.
    ///
    /// # Errors
    /// As [`StoreError`] says.
    pub fn prune_sessions(&self, now: Timestamp, until: Timestamp) -> Result<(), StoreError> {
        let mut connection = self.connection();
        let has_some: bool = connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM session WHERE until IS NULL OR until < ?1)")?
            .query_row([written(now)], |row| row.get(0))?;
        if !has_some {
            return Ok(());
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let over = "SELECT id FROM session WHERE until < ?1";
        for rows in [
            format!("state WHERE scope <> 'project' AND owner IN ({over})"),
            format!("request WHERE session IN ({over})"),
            format!("next_request WHERE session IN ({over})"),
            format!("paused WHERE session IN ({over})"),
            "session WHERE until < ?1".into(),
        ] {
            transaction.execute(&format!("DELETE FROM {rows}"), [written(now)])?;
        }
        transaction.execute("UPDATE session SET until = ?1 WHERE until IS NULL", [written(until)])?;
        Ok(transaction.commit()?)
    }
}

/// Notes that there is something of a session, and until when it is remembered; none: as it was, if that was said.
pub(super) fn touch(transaction: &Transaction<'_>, session: &str, until: Option<Timestamp>) -> Result<(), StoreError> {
    transaction
        .prepare_cached(
            "INSERT INTO session (id, until) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET until = excluded.until
                WHERE excluded.until IS NOT NULL AND (until IS NULL OR abs(until - excluded.until) >= ?3)",
        )?
        .execute(params![session, until.map(written), GRAIN])?;
    Ok(())
}

/// SQLite's numbers are signed.
fn written(time: Timestamp) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}
