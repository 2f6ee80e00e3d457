//! `chaperone serve`: the sidecar.

use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use chaperone_contract::Timestamp;

use super::setup::Ground;
use super::{Status, setup};
use crate::drive::Memory;
use crate::files::Storage;
use crate::record::Recorder;
use crate::serve::connection::serve;
use crate::serve::protocol::{Open, PluginInfo};
use crate::serve::{MAX_LINE_BYTES, Models, Settings, Sidecar, Watchers, presence};
use crate::store::Store;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    judge: setup::Judge,
    /// The configuration of every session; by default `chaperone.toml` of its project, if there is one
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where plugins' states are kept; by default a file of the user
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Record every hook to files in this folder, one for each session, for `chaperone replay`
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// How long a line may be, in bytes
    #[arg(long, value_name = "NUMBER", default_value_t = MAX_LINE_BYTES)]
    max_line_bytes: usize,
}

pub fn serve_on_stdio(arguments: Arguments) -> Result<Status> {
    let max_line_bytes = arguments.max_line_bytes;
    arguments.judge.check()?;
    let desk =
        Desk { store: Arc::new(setup::store(arguments.state.as_deref())?), storage: setup::storage(true)?, arguments };
    let settings = Settings {
        find_watchers: Box::new(move |open, models| {
            desk.watchers(open, models).map_err(|error| super::in_full(&error))
        }),
        clock: Box::new(now),
        max_line_bytes,
    };
    let log = |line: &str| anstream::eprintln!("{line}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve(
        Sidecar::new(settings),
        BufReader::with_capacity(1 << 16, std::io::stdin()),
        std::io::stdout(),
        presence::of_stdio(),
        log,
    ));
    // What hangs in the operating system, such as the look-up of an address, ends with the process.
    runtime.shutdown_background();
    Ok(Status::Fine)
}

/// What all sessions have in common.
struct Desk {
    arguments: Arguments,
    store: Arc<Store>,
    storage: Storage,
}

impl Desk {
    fn watchers(&self, open: &Open, models: Option<&Models>) -> Result<Watchers> {
        let project = setup::project(Some(Path::new(&open.cwd)))?;
        let config = setup::config(self.arguments.config.as_deref(), &project)?;
        let timeout = Duration::from_millis(config.llm.timeout_ms.into());
        let host = models.map(|models| models.provider(timeout));
        let provider = setup::provider_with_host(&config, &[], &self.arguments.judge, host)?;
        let (mut plugins, mut unloaded) = (Vec::new(), Vec::new());
        for loaded in setup::each_plugin(&config, &Ground::live(&project, self.storage.clone())) {
            match loaded {
                Ok(plugin) => plugins.push(plugin),
                Err((plugin, error)) => unloaded.push(PluginInfo {
                    name: plugin.name.clone(),
                    source: setup::source(&plugin.component),
                    description: None,
                    error: Some(super::in_full(&error)),
                }),
            }
        }
        Ok(Watchers {
            plugins,
            unloaded,
            judge: self.arguments.judge.model(&*provider),
            provider,
            memory: Some(Memory {
                traces: config.trace,
                ..Memory::new(self.store.clone(), project.root.display().to_string())
            }),
            recorder: self.arguments.record.as_deref().map(|folder| recorder(folder, &open.session)).transpose()?,
        })
    }
}

/// A recording in a new file of the folder, named after the session.
fn recorder(folder: &Path, session: &str) -> Result<Recorder> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let name: String =
        session.chars().map(|it| if it.is_ascii_alphanumeric() || it == '-' { it } else { '_' }).collect();
    let name = &name[..name.len().min(100)];
    let path = (1..)
        .map(|count| folder.join(format!("{name}.{count}.jsonl")))
        .find(|path| !path.exists())
        .context("there are too many recordings")?;
    Recorder::create(&path).with_context(|| format!("cannot write the recording {}", path.display()))
}

fn now() -> Timestamp {
    // A clock before 1970 has not been set.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
