//! The configuration of the stop guard that is measured.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use chaperone_contract::{Effect, Event, Location, Notice, StartReason};
use serde::Deserialize;

use super::trial::{Bench, File};
use crate::drive::{HookRun, Note, Observer};
use crate::files::{Change, Repository};

/// Where the stop guard looks for it.
const MOUNT: &str = "user";
const PATH: &str = "extensions/pi-auto-goal/config.json";

/// Reads a configuration, from wherever it stands, to be put where the stop guard looks for it.
pub fn settings(path: &Path) -> Result<File> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(File { location: Location { mount: MOUNT.into(), path: PATH.into() }, text })
}

/// Asks the stop guard itself what it thinks of the configuration, which was read from `path`.
///
/// # Errors
/// All that is wrong with it, in the stop guard's words. Also where it switches judgement off: then there is nothing to
/// measure.
pub async fn check(bench: &Bench<'_>, path: &Path, settings: &File) -> Result<()> {
    let path = path.display();
    let mut heard = Heard::default();
    let nowhere = Repository::OutOfReach("no case is tried".into());
    let mut session = bench.open("settings".into(), 0, std::slice::from_ref(settings), nowhere, &mut heard)?;
    session.event(&Event::SessionStart { reason: StartReason::New }, &mut heard)?;
    session.quiet(&mut heard).await?;
    if let Some(failure) = heard.failure {
        bail!("the stop guard failed over {path}: {failure}");
    }
    if let Some(faults) = heard.faults {
        let of_file = format!("{PATH}: ");
        let faults: Vec<_> = faults.iter().map(|fault| fault.strip_prefix(&of_file).unwrap_or(fault)).collect();
        bail!("{path} is rejected: {}", faults.join("; "));
    }
    let Settings { enabled } = serde_json::from_str(settings.text.trim_start_matches('\u{feff}')).unwrap_or_default();
    if !enabled {
        bail!("{path} has `enabled` false, so that no stop is judged; set it to true to have it measured");
    }
    Ok(())
}

/// What of a configuration decides whether there is anything to measure.
#[derive(Deserialize)]
#[serde(default)]
struct Settings {
    enabled: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { enabled: true }
    }
}

/// The stop guard's block about a rejected configuration, as programs read it.
#[derive(Deserialize)]
#[serde(tag = "outcome", rename = "configuration_rejected")]
struct Rejected {
    faults: Vec<String>,
}

/// Keeps what the stop guard finds wrong.
#[derive(Default)]
struct Heard {
    faults: Option<Vec<String>>,
    failure: Option<String>,
}

impl Observer for Heard {
    fn hook(&mut self, run: &HookRun<'_>) {
        let committed = match run.result {
            Ok(committed) => committed,
            Err(failure) => return self.failure = Some(failure.to_string()),
        };
        for effect in &committed.effects {
            if let Effect::Show(Notice { data: Some(data), .. }) = effect
                && let Ok(Rejected { faults }) = serde_json::from_str(data)
            {
                self.faults = Some(faults);
            }
        }
    }

    fn changed(&mut self, _: &str, _: &Change) {}

    fn note(&mut self, _: &str, _: &Note) {}
}
