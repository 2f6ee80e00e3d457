//! Reading what is kept of judgements.

use std::sync::Arc;

use chaperone_contract::*;
use rusqlite::{Row, params};

use super::super::{Owner, Store, StoreError};
use super::{integer, natural};
use crate::transaction::ReadTraces;

/// The most traces that one question reads.
const MAX_READ: u32 = 1000;

impl Store {
    /// The traces of an owner's plugin that fit, oldest first.
    ///
    /// # Errors
    /// As [`StoreError`] says.
    pub fn traces(&self, owner: &Owner, query: &TraceQuery) -> Result<Vec<Trace>, StoreError> {
        let connection = self.connection();
        let (condition, value) = match &query.selection {
            Selection::Session => ("session = ?3", rusqlite::types::Value::Text(owner.session.clone())),
            Selection::Project => ("?3 IS NULL", rusqlite::types::Value::Null),
            Selection::Id(id) => ("id = ?3", rusqlite::types::Value::Integer(integer(*id))),
            Selection::Finding(prefix) => (
                "id IN (SELECT trace FROM consequence WHERE finding IS NOT NULL AND substr(finding, 1, length(?3)) = ?3)",
                rusqlite::types::Value::Text(prefix.clone()),
            ),
        };
        let texts = if query.texts { "system, messages, answer" } else { "NULL, NULL, NULL" };
        let mut statement = connection.prepare_cached(&format!(
            "SELECT id, at, session, watcher, entry, provider, model, {texts}, stop_reason, error, input, output, \
             cache_read, cache_write, total, duration_ms, verdict, description FROM trace \
             WHERE plugin = ?1 AND project = ?2 AND {condition} AND (?4 IS NULL OR watcher = ?4) ORDER BY id DESC LIMIT ?5"
        ))?;
        let limit = query.limit.min(MAX_READ);
        let rows =
            statement.query_map(params![owner.plugin, owner.project, value, query.watcher, limit], read_trace)?;
        let mut traces = rows.collect::<Result<Vec<Trace>, _>>()?;
        traces.reverse();
        let mut statement = connection.prepare_cached(
            "SELECT at, outcome, detail, finding, evidence FROM consequence WHERE trace = ?1 ORDER BY id",
        )?;
        for trace in &mut traces {
            let mut rows = statement.query([integer(trace.id)])?;
            while let Some(row) = rows.next()? {
                trace.consequences.push(Consequence {
                    at: natural(row.get(0)?),
                    outcome: row.get(1)?,
                    detail: row.get(2)?,
                    finding: row.get(3)?,
                });
                trace.evidence = trace.evidence.take().or(row.get(4)?);
            }
        }
        Ok(traces)
    }

    /// An account for each watcher of an owner's plugin, by name.
    ///
    /// # Errors
    /// As [`StoreError`] says.
    pub fn accounts(&self, owner: &Owner, whole_project: bool) -> Result<Vec<Account>, StoreError> {
        let connection = self.connection();
        let session = (!whole_project).then_some(&owner.session);
        let condition = "plugin = ?1 AND project = ?2 AND (?3 IS NULL OR session = ?3)";
        let sums = ["input", "output", "cache_read", "cache_write", "total", "duration_ms"]
            .map(|column| format!("COALESCE(SUM({column}), 0)"));
        let verdicts = Verdict::ALL.iter().map(|verdict| format!("COALESCE(SUM(verdict = '{}'), 0)", verdict.name()));
        let columns: Vec<String> = sums.into_iter().chain(verdicts).collect();
        let mut statement = connection.prepare_cached(&format!(
            "SELECT watcher, MIN(at), COUNT(duration_ms), COUNT(error), SUM(duration_ms IS NULL), {} FROM trace WHERE {condition} \
             GROUP BY watcher ORDER BY watcher",
            columns.join(", ")
        ))?;
        let rows = statement.query_map(params![owner.plugin, owner.project, session], read_account)?;
        let mut accounts = rows.collect::<Result<Vec<Account>, _>>()?;
        let mut statement = connection.prepare_cached(&format!(
            "SELECT watcher, outcome, COUNT(*) FROM consequence JOIN trace ON trace.id = consequence.trace \
             WHERE {condition} GROUP BY watcher, outcome ORDER BY watcher, outcome"
        ))?;
        let mut rows = statement.query(params![owner.plugin, owner.project, session])?;
        while let Some(row) = rows.next()? {
            let watcher: String = row.get(0)?;
            if let Some(account) = accounts.iter_mut().find(|account| account.watcher == watcher) {
                account.outcomes.push(Tally { outcome: row.get(1)?, count: natural(row.get(2)?) });
            }
        }
        Ok(accounts)
    }
}

/// What the hooks of one plugin read of the store.
pub struct StoredTraces {
    /// Where they are.
    pub store: Arc<Store>,
    /// Whose they are.
    pub owner: Owner,
}

impl ReadTraces for StoredTraces {
    /// A store that cannot be read has none: whoever asks is told that there is nothing, and the next commit of a state
    /// says why.
    fn read(&self, query: &TraceQuery) -> Vec<Trace> {
        self.store.traces(&self.owner, query).unwrap_or_default()
    }

    fn accounts(&self, whole_project: bool) -> Vec<Account> {
        self.store.accounts(&self.owner, whole_project).unwrap_or_default()
    }
}

fn read_trace(row: &Row<'_>) -> rusqlite::Result<Trace> {
    let model = match (row.get(5)?, row.get(6)?) {
        (Some(provider), Some(model)) => Some(ModelId { provider, model }),
        _ => None,
    };
    let messages: Option<String> = row.get(8)?;
    let number = |column| Ok::<u64, rusqlite::Error>(natural(row.get::<_, Option<i64>>(column)?.unwrap_or(0)));
    let usage = match row.get::<_, Option<i64>>(12)? {
        None => None,
        Some(_) => Some(Usage {
            input: number(12)?,
            output: number(13)?,
            cache_read: number(14)?,
            cache_write: number(15)?,
            total: number(16)?,
        }),
    };
    let stop_reason: Option<String> = row.get(10)?;
    let verdict: Option<String> = row.get(18)?;
    Ok(Trace {
        id: natural(row.get(0)?),
        at: natural(row.get(1)?),
        session_id: row.get(2)?,
        watcher: row.get(3)?,
        entry: row.get(4)?,
        evidence: None,
        model,
        system: row.get(7)?,
        messages: messages.and_then(|messages| serde_json::from_str(&messages).ok()).unwrap_or_default(),
        answer: row.get(9)?,
        stop_reason: stop_reason.and_then(|name| StopReason::ALL.iter().copied().find(|it| it.name() == name)),
        error: row.get(11)?,
        usage,
        duration_ms: row.get::<_, Option<i64>>(17)?.map(|milliseconds| u32::try_from(milliseconds).unwrap_or(u32::MAX)),
        verdict: verdict.and_then(|name| Verdict::ALL.iter().copied().find(|it| it.name() == name)),
        description: row.get(19)?,
        consequences: Vec::new(),
    })
}

fn read_account(row: &Row<'_>) -> rusqlite::Result<Account> {
    let number = |column| Ok::<u64, rusqlite::Error>(natural(row.get(column)?));
    Ok(Account {
        watcher: row.get(0)?,
        since: number(1)?,
        calls: number(2)?,
        failed: number(3)?,
        spared: number(4)?,
        usage: Usage {
            input: number(5)?,
            output: number(6)?,
            cache_read: number(7)?,
            cache_write: number(8)?,
            total: number(9)?,
        },
        duration_ms: number(10)?,
        clean: number(11)?,
        flag: number(12)?,
        new: number(13)?,
        unknown: number(14)?,
        outcomes: Vec::new(),
    })
}
