//! The output for programs: one JSON object a line.

use std::io::{self, Write};

use chaperone_contract::{Effect, EntryId};
use serde::Serialize;

use super::summary::Summary;
use crate::drive::HookRun;

/// One effect, where it came from, and what it belongs to.
#[derive(Serialize)]
struct EffectLine<'run> {
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'run str>,
    entry: Option<&'run EntryId>,
    hook: &'run str,
    plugin: &'run str,
    effect: &'run Effect,
}

/// A hook that failed.
#[derive(Serialize)]
struct FailureLine<'run> {
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'run str>,
    entry: Option<&'run EntryId>,
    hook: &'run str,
    plugin: &'run str,
    failure: String,
}

/// Writes what a hook did. `session` names the session where there are several.
pub fn hook(out: &mut dyn Write, session: Option<&str>, run: &HookRun<'_>) -> io::Result<()> {
    let (entry, hook, plugin) = (run.entry, run.event.name(), run.plugin);
    match run.result {
        Ok(committed) => committed
            .effects
            .iter()
            .try_for_each(|effect| line(out, &EffectLine { session, entry, hook, plugin, effect })),
        Err(failure) => line(out, &FailureLine { session, entry, hook, plugin, failure: failure.to_string() }),
    }
}

/// Writes the last line.
pub fn summary(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    line(out, &serde_json::json!({ "summary": summary }))
}

fn line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}
