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
use crate::serve::protocol::PluginInfo;
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
    let store = Arc::new(setup::store(arguments.state.as_deref())?);
    let desk = Arc::new(Desk { store, storage: setup::storage(true)?, arguments });
    let settings = Settings {
        find_watchers: Box::new(move |open, models| {
            let wanted = Wanted { cwd: open.cwd.clone(), session: open.session.clone(), models: models.cloned() };
            let found = desk.clone().find(wanted);
            Box::pin(async { found.await.map_err(|error| super::in_full(&error)) })
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

/// The session that watchers are looked for.
struct Wanted {
    cwd: String,
    session: String,
    models: Option<Models>,
}

impl Desk {
    /// A component that nobody has compiled yet takes seconds: others are served meanwhile.
    async fn find(self: Arc<Self>, wanted: Wanted) -> Result<Watchers> {
        let Wanted { cwd, session, models } = wanted;
        let folder = self.arguments.record.clone();
        let watchers = tokio::task::spawn_blocking(move || self.load(Path::new(&cwd), models.as_ref()));
        let watchers = watchers.await.context("the watchers could not be loaded")??;
        // Last: a session that was given up meanwhile leaves no recording.
        Ok(Watchers { recorder: folder.map(|folder| recorder(&folder, &session)).transpose()?, ..watchers })
    }

    fn load(&self, cwd: &Path, models: Option<&Models>) -> Result<Watchers> {
        let project = setup::project(Some(cwd))?;
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
                keep: config.state.keep,
                ..Memory::new(self.store.clone(), project.root.display().to_string())
            }),
            recorder: None,
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
