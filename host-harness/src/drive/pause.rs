//! Sessions that processes take turns at: what one of them leaves behind for the next.

use std::collections::BTreeMap;

use chaperone_contract::{Event, LlmError};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout_at};

use super::{DriveError, Observer, Running, Session};
use crate::llm::allowance::{Ledger, Spent};

/// What of a session outlives its process, beside its entries and what is in its memory.
///
/// Model calls and dialogs do not: whoever pauses a session waits for them, or gives them up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Paused {
    plugins: BTreeMap<String, PausedPlugin>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PausedPlugin {
    failures: u32,
    spent: Spent,
}

impl Paused {
    /// The plugins are loaded anew: one that failed too often gets another chance.
    pub fn forget_failures(&mut self) {
        self.plugins.values_mut().for_each(|plugin| plugin.failures = 0);
    }

    /// Brings a plugin to where it was. One that was not there begins anew.
    pub(super) fn resume(&self, plugin: &mut Running, ledger: &mut Ledger) {
        if let Some(paused) = self.plugins.get(&plugin.name) {
            plugin.resume_failures(paused.failures);
            ledger.resume(&plugin.name, paused.spent);
        }
    }
}

impl Session {
    /// What the next process needs to go on, as [`Setup::paused`](super::Setup::paused).
    pub fn pause(&self) -> Paused {
        let plugins = self.plugins.iter().map(|plugin| {
            let paused = PausedPlugin { failures: plugin.failures(), spent: self.ledger.spent(&plugin.name) };
            (plugin.name.clone(), paused)
        });
        Paused { plugins: plugins.collect() }
    }

    /// Waits until nothing is under way and no hook is due, but no longer than to the deadline. False where something is
    /// still under way then.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub async fn quiet_until(
        &mut self,
        deadline: std::time::Instant,
        observer: &mut dyn Observer,
    ) -> Result<bool, DriveError> {
        self.drain(observer)?;
        loop {
            let Ok(was_under_way) = timeout_at(Instant::from_std(deadline), self.next_answer(observer)).await else {
                return Ok(false);
            };
            if !was_under_way? {
                return Ok(true);
            }
        }
    }

    /// Ends what is under way, and the calls that are still asked for: each has timed out.
    ///
    /// # Errors
    /// Where the recording or the store cannot be written.
    pub fn give_up(&mut self, observer: &mut dyn Observer) -> Result<(), DriveError> {
        self.gave_up = true;
        for ((index, id), call) in std::mem::take(&mut self.open) {
            call.task.abort();
            self.due.push_back((index, Event::LlmCompleted { id, outcome: Err(LlmError::TimedOut) }));
        }
        self.give_up_making();
        self.drain(observer)
    }
}
