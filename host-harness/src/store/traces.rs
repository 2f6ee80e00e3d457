//! What is kept of judgements: two tables that are only ever added to, and pruned from their old end.

mod read;

use chaperone_contract::*;
use rusqlite::{OptionalExtension as _, Transaction, params, params_from_iter};

use super::{Owner, Store, StoreError};
use crate::traces::{Content, Policy};
pub use read::StoredTraces;

/// After how many new traces a process looks again whether there are too many.
const PRUNE_EVERY: TraceId = 256;

/// Numbers are never used twice, so that what was pruned cannot be mistaken for what came later.
pub(super) const TABLES: &str = "
CREATE TABLE IF NOT EXISTS trace (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    plugin TEXT NOT NULL,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    watcher TEXT NOT NULL,
    -- The session's time, and that of the clock on the wall.
    at INTEGER NOT NULL,
    written INTEGER NOT NULL,
    -- Of all texts, in bytes.
    size INTEGER NOT NULL,
    request INTEGER,
    entry TEXT,
    provider TEXT,
    model TEXT,
    system TEXT,
    messages TEXT,
    answer TEXT,
    stop_reason TEXT,
    error TEXT,
    input INTEGER,
    output INTEGER,
    cache_read INTEGER,
    cache_write INTEGER,
    total INTEGER,
    duration_ms INTEGER,
    verdict TEXT,
    description TEXT
);
CREATE INDEX IF NOT EXISTS trace_of_session ON trace (plugin, session, request);
CREATE INDEX IF NOT EXISTS trace_of_project ON trace (plugin, project, watcher);
CREATE TABLE IF NOT EXISTS consequence (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    trace INTEGER NOT NULL,
    at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    detail TEXT,
    finding TEXT,
    evidence TEXT
);
CREATE INDEX IF NOT EXISTS consequence_of_trace ON consequence (trace);
CREATE INDEX IF NOT EXISTS consequence_of_finding ON consequence (finding) WHERE finding IS NOT NULL;
";

/// What became of a judgement that was not needed.
const SPARED: &str = "spared";

/// A model call that came to its end.
#[derive(Clone, Debug)]
pub struct CallTrace {
    /// The id of the request.
    pub request_id: RequestId,
    /// What was asked.
    pub request: CompletionRequest,
    /// The model that was meant.
    pub model: Option<ModelId>,
    /// The answer, or why there is none.
    pub outcome: Result<Completion, LlmError>,
    /// How long it took, in milliseconds.
    pub duration_ms: u32,
}

/// One thing to keep.
#[derive(Clone, Debug)]
pub enum Kept {
    /// A call that nobody judged by.
    Call(Box<CallTrace>),
    /// A judgement, with the call that it rests on.
    Judgement(Judgement, Option<Box<CallTrace>>),
    /// A judgement that was not needed.
    Sparing(Sparing),
    /// What became of one.
    Decision(Decision),
}

impl Store {
    /// Keeps what one hook led to, all or nothing. `at` is the session's time, `now` that of the clock on the wall.
    ///
    /// # Errors
    /// As [`StoreError`] says.
    pub fn keep(
        &self,
        owner: &Owner,
        policy: &Policy,
        kept: &[Kept],
        at: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if kept.is_empty() {
            return Ok(());
        }
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let writer = Writer { transaction: &transaction, owner, content: policy.content, at, now };
        let mut newest = 0;
        for kept in kept {
            newest = newest.max(match kept {
                Kept::Call(call) => writer.trace(&call.request.label, None, Some(call), None)?,
                Kept::Judgement(judgement, call) => {
                    writer.trace(&judgement.watcher, Some(judgement), call.as_deref(), judgement.entry.as_ref())?
                }
                Kept::Sparing(sparing) => writer.sparing(sparing)?,
                Kept::Decision(decision) => writer.decision(decision)?,
            });
        }
        if newest % PRUNE_EVERY == 0 {
            prune(&transaction, policy, now)?;
        }
        Ok(transaction.commit()?)
    }

    /// Removes traces that are too old, and the oldest ones while all together are too large.
    ///
    /// # Errors
    /// As [`StoreError`] says.
    pub fn prune_traces(&self, policy: &Policy, now: Timestamp) -> Result<(), StoreError> {
        let mut connection = self.connection();
        // Most of the time there is nothing to do, which is no reason to wait for others that write.
        let limit = too_old(policy, now);
        let (old, size): (i64, i64) = connection.query_row(
            "SELECT COALESCE(SUM(written < ?1), 0), COALESCE(SUM(size), 0) FROM trace",
            [limit],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        if old == 0 && size <= integer(policy.max_bytes) {
            return Ok(());
        }
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        prune(&transaction, policy, now)?;
        Ok(transaction.commit()?)
    }
}

/// Adds to the tables.
struct Writer<'w> {
    transaction: &'w Transaction<'w>,
    owner: &'w Owner,
    content: Content,
    at: Timestamp,
    now: Timestamp,
}

impl Writer<'_> {
    fn text(&self, text: Option<&str>) -> Option<String> {
        text.and_then(|text| self.content.of(text)).map(std::borrow::Cow::into_owned)
    }

    fn trace(
        &self,
        watcher: &str,
        judgement: Option<&Judgement>,
        call: Option<&CallTrace>,
        entry: Option<&EntryId>,
    ) -> Result<TraceId, StoreError> {
        let completion = call.and_then(|call| call.outcome.as_ref().ok());
        let model = completion.map(|completion| &completion.model).or(call.and_then(|call| call.model.as_ref()));
        let usage = completion.and_then(|completion| completion.usage.as_ref());
        let number = |of: fn(&Usage) -> u64| usage.map(|usage| integer(of(usage)));
        let system = self.text(call.and_then(|call| call.request.system.as_deref()));
        let messages = call.and_then(|call| self.messages(&call.request.messages));
        let answer = self.text(completion.map(|completion| completion.text.as_str()));
        let error = call.and_then(|call| call.outcome.as_ref().err()).map(ToString::to_string);
        let error = error.map(|error| crate::traces::redact(&error).into_owned());
        let description = self.text(judgement.and_then(|judgement| judgement.description.as_deref()));
        let size =
            [&system, &messages, &answer, &error, &description].into_iter().flatten().map(String::len).sum::<usize>();
        let values: [Option<rusqlite::types::Value>; 24] = {
            use rusqlite::types::Value::{Integer, Text};
            let text = |text: &str| Some(Text(text.into()));
            [
                text(&self.owner.plugin),
                text(&self.owner.project),
                text(&self.owner.session),
                text(watcher),
                Some(Integer(integer(self.at))),
                Some(Integer(integer(self.now))),
                Some(Integer(integer(size as u64))),
                call.map(|call| call.request_id)
                    .or(judgement.and_then(|judgement| judgement.request))
                    .map(|id| Integer(integer(id))),
                entry.and_then(|entry| text(entry)),
                model.and_then(|model| text(&model.provider)),
                model.and_then(|model| text(&model.model)),
                system.map(Text),
                messages.map(Text),
                answer.map(Text),
                completion.and_then(|completion| text(completion.stop_reason.name())),
                error.map(Text),
                number(|usage| usage.input).map(Integer),
                number(|usage| usage.output).map(Integer),
                number(|usage| usage.cache_read).map(Integer),
                number(|usage| usage.cache_write).map(Integer),
                number(|usage| usage.total).map(Integer),
                call.map(|call| Integer(call.duration_ms.into())),
                judgement.and_then(|judgement| text(judgement.verdict.name())),
                description.map(Text),
            ]
        };
        self.transaction
            .prepare_cached(
                "INSERT INTO trace (plugin, project, session, watcher, at, written, size, request, entry, provider, \
                 model, system, messages, answer, stop_reason, error, input, output, cache_read, cache_write, total, \
                 duration_ms, verdict, description) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, \
                 ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24)",
            )?
            .execute(params_from_iter(values))?;
        Ok(natural(self.transaction.last_insert_rowid()))
    }

    fn messages(&self, messages: &[PromptMessage]) -> Option<String> {
        let kept = messages.iter().map(|message| {
            Some(PromptMessage { role: message.role, text: self.content.of(&message.text)?.into_owned() })
        });
        let kept: Option<Vec<PromptMessage>> = kept.collect();
        Some(serde_json::to_string(&kept?).expect("messages are plain data"))
    }

    /// A decision on what is not there (any more) has nowhere to stand, and is dropped.
    fn decision(&self, decision: &Decision) -> Result<TraceId, StoreError> {
        let Owner { plugin, session, project } = self.owner;
        let id = match decision.subject {
            Subject::Call(request) => self
                .transaction
                .prepare_cached(
                    "SELECT id FROM trace WHERE plugin = ?1 AND session = ?2 AND request = ?3 ORDER BY id DESC LIMIT 1",
                )?
                .query_row(params![plugin, session, integer(request)], |row| row.get(0))
                .optional()?,
            Subject::Trace(id) => self
                .transaction
                .prepare_cached("SELECT id FROM trace WHERE plugin = ?1 AND project = ?2 AND id = ?3")?
                .query_row(params![plugin, project, integer(id)], |row| row.get(0))
                .optional()?,
        };
        let Some(id): Option<i64> = id else { return Ok(0) };
        let Decision { outcome, detail, finding, evidence, .. } = decision;
        let detail = self.text(detail.as_deref());
        self.consequence(id, outcome, detail.as_deref(), finding.as_deref(), evidence.as_deref())?;
        Ok(natural(id))
    }

    /// What made a judgement needless is a rule's name, and no part of the conversation.
    fn sparing(&self, sparing: &Sparing) -> Result<TraceId, StoreError> {
        let id = self.trace(&sparing.watcher, None, None, sparing.entry.as_ref())?;
        self.consequence(integer(id), SPARED, Some(&sparing.reason), None, None)?;
        Ok(id)
    }

    fn consequence(
        &self,
        trace: i64,
        outcome: &str,
        detail: Option<&str>,
        finding: Option<&str>,
        evidence: Option<&str>,
    ) -> Result<(), StoreError> {
        self.transaction
            .prepare_cached(
                "INSERT INTO consequence (trace, at, outcome, detail, finding, evidence) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![trace, integer(self.at), outcome, detail, finding, evidence])?;
        Ok(())
    }
}

fn prune(transaction: &Transaction<'_>, policy: &Policy, now: Timestamp) -> Result<(), StoreError> {
    // From the newest one back, up to the size that fits; what is before goes.
    let overflow: Option<i64> = transaction
        .query_row(
            "SELECT id FROM (SELECT id, SUM(size) OVER (ORDER BY id DESC) AS sum FROM trace) WHERE sum > ?1 \
             ORDER BY id DESC LIMIT 1",
            [integer(policy.max_bytes)],
            |row| row.get(0),
        )
        .optional()?;
    let removed = transaction.execute(
        "DELETE FROM trace WHERE written < ?1 OR id <= ?2",
        params![too_old(policy, now), overflow.unwrap_or(-1)],
    )?;
    if removed > 0 {
        transaction.execute("DELETE FROM consequence WHERE trace NOT IN (SELECT id FROM trace)", [])?;
    }
    Ok(())
}

fn too_old(policy: &Policy, now: Timestamp) -> i64 {
    integer(now).saturating_sub(i64::try_from(policy.keep.as_millis()).unwrap_or(i64::MAX))
}

/// SQLite's numbers are signed.
fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn natural(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests;
