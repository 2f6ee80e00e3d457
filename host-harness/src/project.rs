//! Which project a working directory belongs to, and where its user's own files are.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folder of a project that holds what is configured for it.
pub const CONFIG_FOLDER: &str = ".pi";
/// Names the folder of the user's files where it is not `~/.pi/agent`; pi reads it as well.
pub const USER_DIR_VARIABLE: &str = "PI_CODING_AGENT_DIR";

/// A project on the disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Project {
    /// The folder that the project's paths are relative to.
    pub root: PathBuf,
    /// `.pi` in it; need not exist.
    pub config_dir: PathBuf,
}

impl Project {
    /// The project that `cwd` belongs to, by the rule of [`root_of`].
    pub fn of(cwd: &Path) -> Project {
        let home = std::env::home_dir();
        let real = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path));
        let cwd = real(cwd).unwrap_or_else(|_| cwd.to_path_buf());
        let home = home.map(|home| real(&home).unwrap_or(home));
        let root = root_of(&cwd, home.as_deref(), |path| path.exists());
        Project { config_dir: root.join(CONFIG_FOLDER), root }
    }
}

/// The root of the project that `cwd` belongs to. Looking from `cwd` upwards, it is the first folder with
/// `.pi/monitors`, else the first with `.pi`, else the root of the repository, else `cwd` itself.
///
/// The way up ends at the root of the repository, and before the home folder: `~/.pi` is there for every user of pi and
/// makes home a project only for who works in it. `cwd` and `home` are absolute, without symlinks; `exists` says whether
/// something is at a path.
pub fn root_of(cwd: &Path, home: Option<&Path>, exists: impl Fn(&Path) -> bool) -> PathBuf {
    let before_home = |folder: &&Path| *folder == cwd || Some(*folder) != home;
    let folders: Vec<&Path> = cwd.ancestors().take_while(before_home).collect();
    let repository = folders.iter().position(|folder| exists(&folder.join(".git")));
    let reached = &folders[..repository.map_or(folders.len(), |index| index + 1)];
    let first_with = |path: &str| reached.iter().find(|folder| exists(&folder.join(path))).copied();
    first_with(".pi/monitors")
        .or_else(|| first_with(CONFIG_FOLDER))
        .or_else(|| repository.map(|index| folders[index]))
        .unwrap_or(cwd)
        .to_path_buf()
}

/// The folder of the user's own files: what [`USER_DIR_VARIABLE`] names, else `~/.pi/agent`. None where there is no
/// home folder either.
pub fn user_dir() -> Option<PathBuf> {
    user_dir_from(std::env::var_os(USER_DIR_VARIABLE), std::env::home_dir())
}

fn user_dir_from(variable: Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    match variable.filter(|value| !value.is_empty()).map(PathBuf::from) {
        Some(named) => Some(expand_home(&named, home.as_deref())),
        None => home.map(|home| home.join(CONFIG_FOLDER).join("agent")),
    }
}

/// A path with `~` at its start put in full; any other path as it is.
pub fn expand_home(path: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) if rest.as_os_str().is_empty() => home.to_path_buf(),
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The root of the project of `cwd`, for a user whose home is `/home/u`, where just these paths and their folders
    /// exist.
    fn root(cwd: &str, paths: &[&str]) -> String {
        let exists = |path: &Path| paths.iter().any(|existing| Path::new(existing).starts_with(path));
        root_of(Path::new(cwd), Some(Path::new("/home/u")), exists).display().to_string()
    }

    #[test]
    fn the_nearest_monitors_win_over_a_nearer_config_folder() {
        assert_eq!(root("/w/a/b", &["/w/.git", "/w/.pi/monitors", "/w/a/.pi/settings.json"]), "/w");
        assert_eq!(root("/w/a/b", &["/w/.git", "/w/.pi/monitors", "/w/a/.pi/monitors"]), "/w/a");
    }

    #[test]
    fn without_monitors_the_nearest_config_folder_wins_over_the_repository() {
        assert_eq!(root("/w/a/b", &["/w/.git", "/w/a/.pi"]), "/w/a");
    }

    #[test]
    fn without_a_config_folder_it_is_the_repository_and_without_one_the_cwd() {
        assert_eq!(root("/w/a/b", &["/w/.git"]), "/w");
        assert_eq!(root("/w/a/b", &["/w/a"]), "/w/a/b");
    }

    #[test]
    fn what_is_above_the_repository_does_not_count() {
        assert_eq!(root("/w/a/b", &["/w/.pi/monitors", "/w/a/.git"]), "/w/a");
        assert_eq!(root("/w/a", &["/w/a/.git", "/w/a/.pi/monitors"]), "/w/a");
    }

    #[test]
    fn home_is_a_project_only_for_who_works_in_it() {
        let files = ["/home/u/.pi/agent", "/home/u/.pi/monitors", "/home/u/.git", "/home/.pi"];
        assert_eq!(root("/home/u/code/proj", &files), "/home/u/code/proj");
        assert_eq!(root("/home/u", &files), "/home/u");
    }

    #[test]
    fn a_folder_on_the_disk_is_found() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join("work/.pi")).unwrap();
        let project = Project::of(&home.path().join("work"));
        assert_eq!(project.root, home.path().join("work").canonicalize().unwrap());
        assert_eq!(project.config_dir, project.root.join(".pi"));
    }

    #[test]
    fn the_variable_names_the_users_folder() {
        let home = || Some(PathBuf::from("/home/u"));
        let dir = |variable: Option<&str>| user_dir_from(variable.map(OsString::from), home());
        assert_eq!(dir(None), Some("/home/u/.pi/agent".into()));
        assert_eq!(dir(Some("")), Some("/home/u/.pi/agent".into()));
        assert_eq!(dir(Some("/x")), Some("/x".into()));
        assert_eq!(dir(Some("~/y")), Some("/home/u/y".into()));
        assert_eq!(dir(Some("~")), Some("/home/u".into()));
        assert_eq!(user_dir_from(None, None), None);
    }
}
