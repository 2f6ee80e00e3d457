//! The settings of a host: showing what would change, asking, and changing it.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};

use super::HostName;
use crate::cli::setup::{self, Judge};
use crate::cli::{Status, diff, style};
use crate::files::{Change, Folder, Grant, Locks, Mounts, Overlay, Storage};
use crate::hosts::Host;
use crate::hosts::settings::{self, Scope};
use crate::project::{self, Project};
use crate::store::Store;
use chaperone_contract::Location;

#[derive(clap::Args)]
pub struct Install {
    #[command(flatten)]
    target: Target,
    /// The configuration that the hooks use; by default `chaperone.toml` of each project
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct Uninstall {
    #[command(flatten)]
    target: Target,
}

/// Whose settings.
#[derive(clap::Args)]
struct Target {
    /// The host
    #[arg(value_enum)]
    host: HostName,
    /// The settings of this project
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// The user's own settings, for all projects; this is the default
    #[arg(long)]
    user: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

pub fn install(arguments: &Install) -> Result<Status> {
    let host = Host::from(arguments.target.host);
    let file = SettingsFile::of(&arguments.target)?;
    let program = std::env::current_exe().context("it is not known where this program is")?;
    let config = arguments.config.as_deref().map(std::path::absolute).transpose()?;
    if let Some(config) = &config {
        crate::config::Config::load(config)?;
    }
    let command = settings::command(&program, host, config.as_deref());
    let before = file.read()?;
    let after = settings::install(before.as_deref(), host, &command).with_context(|| file.name())?;
    if before.as_deref() == Some(after.as_str()) {
        anstream::println!("{} runs `{command}` already", file.name());
        return Ok(Status::Fine);
    }
    if !file.agree(&after, arguments.target.yes)? {
        return Ok(Status::Failed);
    }
    let original = file.original(before.as_deref(), host)?;
    file.write(&after)?;
    file.remember(original.as_deref(), &after)?;
    anstream::println!("{} runs `{command}` from its next session on", host.title());
    if host == Host::Codex {
        anstream::println!("Codex asks you to trust new hooks: say so with `/hooks` in its terminal interface");
    }
    say_what_is_missing(host, config.as_deref());
    Ok(Status::Fine)
}

/// What a user still has to do before watchers say anything.
fn say_what_is_missing(host: Host, config: Option<&Path>) {
    let project = Project::of(Path::new("."));
    let judges = setup::config(config, &project).is_ok_and(|config| Judge::default().names_somebody(&config));
    if !judges && !super::own_provider(host).is_some_and(|(_, key)| super::is_set(key)) {
        anstream::println!("Nobody answers the questions of watchers yet: {}", super::mend(host));
    }
    if !project.root.join(project::CONFIG_FOLDER).join("monitors").exists() {
        anstream::println!(
            "There are no monitors in this project yet: `chaperone monitors init` adds the bundled ones"
        );
    }
}

pub fn uninstall(arguments: &Uninstall) -> Result<Status> {
    let host = Host::from(arguments.target.host);
    let file = SettingsFile::of(&arguments.target)?;
    let before = file.read()?;
    let after = file.original(before.as_deref(), host)?;
    if before == after {
        anstream::println!("{} has no hook of this program", file.name());
        return Ok(Status::Fine);
    }
    if !file.agree(after.as_deref().unwrap_or_default(), arguments.target.yes)? {
        return Ok(Status::Failed);
    }
    match after {
        Some(text) => file.write(&text)?,
        None => std::fs::remove_file(&file.path).with_context(|| file.name())?,
    }
    file.forget();
    anstream::println!("{} has no hook of this program any more", file.name());
    Ok(Status::Fine)
}

/// A host's settings on the disk.
struct SettingsFile {
    path: PathBuf,
    /// Where it is kept how the settings were before the program put its hooks in.
    receipt: Option<PathBuf>,
}

impl SettingsFile {
    fn of(target: &Target) -> Result<Self> {
        let scope = if target.project { Scope::Project } else { Scope::User };
        let project = Project::of(Path::new("."));
        let home = std::env::home_dir();
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let path = settings::file(target.host.into(), scope, &project.root, home.as_deref(), variable)
            .ok_or_else(|| anyhow!("there is no home folder; use --project"))?;
        // Settings are often a link to where somebody keeps them all: those are meant.
        let path = path.canonicalize().or_else(|_| std::path::absolute(&path))?;
        let name = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex()[..32].to_owned();
        let receipt = Store::path_of_user().ok().map(|store| store.with_file_name("settings").join(name));
        Ok(Self { path, receipt })
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn read(&self) -> Result<Option<String>> {
        match std::fs::read(&self.path) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Ok(Some(text)),
                Err(_) => bail!("{} is not UTF-8; it was left as it is", self.name()),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| self.name()),
        }
    }

    /// Shows what would change, and asks. Without a terminal, or a yes, nothing is agreed to.
    fn agree(&self, after: &str, yes: bool) -> Result<bool> {
        let change = self.change(Storage::Memory(Overlay::new()), after)?;
        let mut out = style::out();
        writeln!(out, "{}", self.name())?;
        diff::write(&mut out, &change, "  ")?;
        if yes {
            return Ok(true);
        }
        if !std::io::stdin().is_terminal() {
            bail!("nothing was written: there is nobody to ask; say --yes");
        }
        write!(out, "Write this? [y/N] ")?;
        out.flush()?;
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    fn write(&self, text: &str) -> Result<()> {
        self.change(Storage::Disk(Locks::of_user().context("cannot make a folder for locks")?), text)?;
        Ok(())
    }

    fn change(&self, storage: Storage, text: &str) -> Result<Change> {
        let folder = self.path.parent().ok_or_else(|| anyhow!("{} is in no folder", self.name()))?;
        let file = self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut mounts = Mounts::new(storage);
        mounts.mount("settings", Folder::at(folder), Grant::READ_WRITE);
        let location = Location { mount: "settings".into(), path: file };
        mounts.write(&location, text, false).map_err(|error| anyhow!("{}: {error:?}", self.name()))
    }

    /// The settings without the program's hooks: as they were before, where nobody has changed them since, else those
    /// of now without the hooks. None: there was no such file.
    fn original(&self, now: Option<&str>, host: Host) -> Result<Option<String>> {
        let Some(now) = now else { return Ok(None) };
        match self.receipt() {
            Some(receipt) if receipt.installed == digest(now) => Ok(receipt.before),
            _ => Ok(Some(settings::uninstall(now, host).with_context(|| self.name())?)),
        }
    }

    fn receipt(&self) -> Option<Receipt> {
        let text = std::fs::read_to_string(self.receipt.as_ref()?).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Keeps how the settings were. They may hold secrets, so nobody else may read it.
    fn remember(&self, before: Option<&str>, after: &str) -> Result<()> {
        let Some(path) = &self.receipt else { return Ok(()) };
        let receipt = Receipt { installed: digest(after), before: before.map(Into::into) };
        let text = serde_json::to_string(&receipt)?;
        let write = || -> std::io::Result<()> {
            std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
            let mut options = std::fs::OpenOptions::new();
            options.write(true).create(true).truncate(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options.open(path)?.write_all(text.as_bytes())
        };
        write().with_context(|| path.display().to_string())
    }

    fn forget(&self) {
        if let Some(path) = &self.receipt {
            // One that stays only fits the very same text.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// How settings were before the program put its hooks in.
#[derive(serde::Serialize, serde::Deserialize)]
struct Receipt {
    /// Of the text with the hooks: any other one was changed since.
    installed: String,
    /// None: there was no file.
    before: Option<String>,
}

fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
