use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;

#[cfg(unix)]
mod symlinks;

fn at(mount: &str, path: &str) -> Location {
    Location { mount: mount.into(), path: path.into() }
}

/// A folder with `p/` in it as the mount `project`, and a place beside it that no plugin may reach.
struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new() -> Ground {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("p")).unwrap();
        fs::write(folder.path().join("secret"), "secret").unwrap();
        Ground { folder }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn disk(&self, grant: Grant) -> Mounts {
        self.mounts(Storage::Disk(Locks::in_folder(self.path("locks"))), grant)
    }

    fn dry(&self) -> Mounts {
        self.mounts(Storage::Memory(Overlay::new()), Grant::READ_WRITE)
    }

    fn mounts(&self, storage: Storage, grant: Grant) -> Mounts {
        let mut mounts = Mounts::new(storage);
        mounts.mount("project", Folder::at(self.path("p")), grant);
        mounts
    }
}

fn globs(read: &[&str], write: &[&str]) -> Grant {
    let access = |patterns: &[&str]| Access::Globs(Globs::new(patterns.iter().copied()).unwrap());
    Grant { read: access(read), write: access(write) }
}

fn denial<T: fmt::Debug>(result: Result<T, FileError>) -> String {
    match result.unwrap_err() {
        FileError::Denied(why) => why,
        other => panic!("a denial, not {other:?}"),
    }
}

const APPEND: &str = r#"[{"op":"add","path":"/-","value":"x"}]"#;

#[test]
fn what_was_written_is_read_and_listed() {
    let ground = Ground::new();
    for mounts in [ground.dry(), ground.disk(Grant::READ_WRITE)] {
        let change = mounts.write(&at("project", "a/b.txt"), "one\r\n", false).unwrap();
        assert_eq!((change.before, change.after.as_str()), (None, "one\r\n"));
        assert_eq!(change.path, ground.path("p").canonicalize().unwrap().join("a/b.txt"));
        assert_eq!(mounts.read(&at("project", "./a//b.txt")).unwrap(), "one\r\n");
        assert_eq!(mounts.entries(&at("project", "")).unwrap(), ["a/"]);
        assert_eq!(mounts.entries(&at("project", "a")).unwrap(), ["b.txt"]);
        assert_eq!(mounts.entries(&at("project", "b")).unwrap_err(), FileError::NotFound);
        assert_eq!(mounts.read(&at("project", "a/c.txt")).unwrap_err(), FileError::NotFound);
    }
}

#[test]
fn neither_dots_nor_an_absolute_path_leave_the_mount() {
    let ground = Ground::new();
    let mounts = ground.disk(Grant::READ_WRITE);
    for path in ["../secret", "a/../../secret", "/etc/passwd"] {
        assert!(denial(mounts.read(&at("project", path))).contains(path));
        assert!(denial(mounts.entries(&at("project", path))).contains(path));
        assert!(denial(mounts.write(&at("project", path), "x", false)).contains(path));
        assert!(denial(mounts.patch(&at("project", path), "[]", APPEND)).contains(path));
    }
    assert_eq!(ground.text("secret"), "secret");
}

#[test]
fn a_mount_that_is_not_granted_is_named_with_those_that_are() {
    let ground = Ground::new();
    let mounts = ground.disk(Grant::READ);
    assert_eq!(denial(mounts.read(&at("workspace", "a"))), "no mount `workspace` is granted; granted are: `project`");
}

#[test]
fn a_grant_says_what_it_does_not_cover() {
    let ground = Ground::new();
    fs::write(ground.path("p/a.md"), "").unwrap();
    fs::write(ground.path("p/a.json"), "[]").unwrap();
    fs::create_dir(ground.path("p/other")).unwrap();
    let mounts = ground.disk(globs(&["*.json"], &[".workflow/**"]));
    assert_eq!(
        denial(mounts.read(&at("project", "a.md"))),
        "`read` on `project:a.md` is not granted; in this mount it is on `*.json`"
    );
    assert_eq!(
        denial(mounts.patch(&at("project", "a.json"), "[]", APPEND)),
        "`write` on `project:a.json` is not granted; in this mount it is on `.workflow/**`"
    );
    assert_eq!(mounts.read(&at("project", "a.json")).unwrap(), "[]");
    assert_eq!(mounts.entries(&at("project", "")).unwrap(), ["a.json"]);
    assert!(denial(mounts.entries(&at("project", "other"))).contains("`project:other` is not granted"));
    mounts.write(&at("project", ".workflow/gaps.json"), "{}", false).unwrap();
    assert!(denial(ground.disk(Grant::NONE).read(&at("project", "a.json"))).ends_with("it is on nothing"));
}

#[test]
fn a_mount_that_does_not_exist_is_empty_and_is_made_by_the_first_write() {
    let ground = Ground::new();
    fs::remove_dir(ground.path("p")).unwrap();
    let mounts = ground.disk(Grant::READ_WRITE);
    assert_eq!(mounts.entries(&at("project", "")).unwrap_err(), FileError::NotFound);
    assert_eq!(mounts.read(&at("project", "a")).unwrap_err(), FileError::NotFound);
    assert!(matches!(mounts.patch(&at("project", "a"), "[]", "no patch"), Err(FileError::Conflict(_))));
    assert!(!ground.path("p").exists(), "a write that fails makes nothing");
    mounts.write(&at("project", "a"), "x", false).unwrap();
    assert_eq!(ground.text("p/a"), "x");
}

#[test]
fn a_folder_is_no_file_and_a_file_no_folder() {
    let ground = Ground::new();
    for mounts in [ground.dry(), ground.disk(Grant::READ_WRITE)] {
        mounts.write(&at("project", "d/f"), "x", false).unwrap();
        assert!(matches!(mounts.read(&at("project", "d")).unwrap_err(), FileError::Io(_)));
        assert!(matches!(mounts.write(&at("project", "d"), "", false).unwrap_err(), FileError::Io(_)));
        assert!(matches!(mounts.write(&at("project", "d/f/g"), "", false).unwrap_err(), FileError::Io(_)));
        assert!(matches!(mounts.entries(&at("project", "d/f")).unwrap_err(), FileError::Io(_)));
    }
}

#[test]
fn only_if_absent_leaves_what_is_there() {
    let ground = Ground::new();
    fs::write(ground.path("p/mine"), "mine").unwrap();
    fs::write(ground.path("p/picture"), [0xff, 0xd8]).unwrap();
    for mounts in [ground.dry(), ground.disk(Grant::READ_WRITE)] {
        for path in ["mine", "picture"] {
            assert_eq!(
                mounts.write(&at("project", path), "theirs", true).unwrap_err(),
                FileError::Conflict(format!("`project:{path}` is there already"))
            );
        }
        mounts.write(&at("project", "new"), "theirs", true).unwrap();
        assert!(mounts.write(&at("project", "new"), "again", true).is_err());
    }
    assert_eq!(ground.text("p/mine"), "mine");
}

#[test]
fn a_file_that_is_no_text_is_never_overwritten() {
    let ground = Ground::new();
    fs::write(ground.path("p/picture"), [0xff, 0xd8]).unwrap();
    let mounts = ground.disk(Grant::READ_WRITE);
    assert_eq!(mounts.write(&at("project", "picture"), "x", false).unwrap_err(), FileError::NotUtf8);
    assert_eq!(mounts.patch(&at("project", "picture"), "[]", APPEND).unwrap_err(), FileError::NotUtf8);
    assert_eq!(fs::read(ground.path("p/picture")).unwrap(), [0xff, 0xd8]);
}

#[test]
fn a_text_larger_than_could_be_read_is_not_written() {
    let ground = Ground::new();
    let text = "x".repeat(SIZE_LIMIT as usize + 1);
    let error = ground.disk(Grant::READ_WRITE).write(&at("project", "f"), &text, false).unwrap_err();
    assert_eq!(error, FileError::TooLarge(SIZE_LIMIT + 1));
    assert!(!ground.path("p/f").exists());
}

#[test]
fn a_file_that_is_not_json_keeps_every_byte() {
    let ground = Ground::new();
    let mounts = ground.disk(Grant::READ_WRITE);
    for old in ["{\"gaps\":[{\"id\":\"keep\"}],}", "\u{feff}{ // mine\n}", ""] {
        fs::write(ground.path("p/g.json"), old).unwrap();
        let Err(FileError::NotJson(why)) = mounts.patch(&at("project", "g.json"), "[]", APPEND) else {
            panic!("{old:?} is not JSON")
        };
        assert!(why.starts_with("`project:g.json`, line 1, column "), "{why}");
        assert_eq!(ground.text("p/g.json"), old);
    }
}

#[test]
fn a_patched_file_loses_its_byte_order_mark_and_keeps_its_line_ends() {
    let ground = Ground::new();
    fs::write(ground.path("p/g.json"), "\u{feff}[\r\n\t\"a\"\r\n]").unwrap();
    let change = ground.disk(Grant::READ_WRITE).patch(&at("project", "g.json"), "[]", APPEND).unwrap();
    assert_eq!(change.before.unwrap(), "[\r\n\t\"a\"\r\n]");
    assert_eq!(ground.text("p/g.json"), "[\r\n\t\"a\",\r\n\t\"x\"\r\n]\r\n");
}

#[test]
fn a_patch_that_changes_nothing_does_not_touch_the_file() {
    let ground = Ground::new();
    let mounts = ground.disk(Grant::READ_WRITE);
    fs::write(ground.path("p/g.json"), "\u{feff}[ 1 ]").unwrap();
    let before = mounts.stamp(&at("project", "g.json"));
    mounts.patch(&at("project", "g.json"), "[]", r#"[{"op":"test","path":"/0","value":1}]"#).unwrap();
    assert_eq!(mounts.stamp(&at("project", "g.json")), before);
    assert_eq!(ground.text("p/g.json"), "\u{feff}[ 1 ]");
}

#[test]
fn processes_that_patch_one_file_at_a_time_lose_nothing() {
    let ground = Ground::new();
    thread::scope(|scope| {
        for writer in 0..4 {
            let ground = &ground;
            // Each has mounts of its own, as another process would.
            scope.spawn(move || {
                let mounts = ground.disk(Grant::READ_WRITE);
                for number in 0..10 {
                    let patch = format!(r#"[{{"op":"add","path":"/-","value":"{writer}.{number}"}}]"#);
                    mounts.patch(&at("project", "log.json"), "[]", &patch).unwrap();
                }
            });
        }
    });
    let mut all: Vec<String> = serde_json::from_str(&ground.text("p/log.json")).unwrap();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 40);
}

#[test]
fn threads_that_share_a_dry_run_lose_nothing() {
    let ground = Ground::new();
    let mounts = ground.dry();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    mounts.patch(&at("project", "log.json"), "[]", APPEND).unwrap();
                }
            });
        }
    });
    let all: Vec<String> = serde_json::from_str(&mounts.read(&at("project", "log.json")).unwrap()).unwrap();
    assert_eq!(all.len(), 100);
}

#[test]
fn a_reader_never_sees_half_a_file() {
    let ground = Ground::new();
    let mounts = ground.disk(Grant::READ_WRITE);
    let texts = ["a".repeat(300_000), "b".repeat(200_000)];
    mounts.write(&at("project", "f"), &texts[0], false).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..20 {
                mounts.write(&at("project", "f"), &texts[round % 2], false).unwrap();
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            let seen = ground.text("p/f");
            assert!(texts.contains(&seen), "{} bytes", seen.len());
        }
    });
}

/// Every file below a folder with its content.
fn everything(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut everything(&path));
            found.insert(path, None);
        } else {
            let bytes = fs::read(&path).unwrap();
            found.insert(path, Some(bytes));
        }
    }
    found
}

#[test]
fn a_dry_run_never_touches_the_disk_and_reads_its_own_writes() {
    let ground = Ground::new();
    fs::write(ground.path("p/g.json"), "[\"a\"]").unwrap();
    let before = everything(ground.folder.path());
    let mounts = ground.dry();
    mounts.patch(&at("project", "g.json"), "[]", APPEND).unwrap();
    mounts.write(&at("project", "new/file"), "n", false).unwrap();
    assert_eq!(mounts.read(&at("project", "g.json")).unwrap(), "[\n  \"a\",\n  \"x\"\n]\n");
    assert_eq!(mounts.entries(&at("project", "")).unwrap(), ["g.json", "new/"]);
    assert_eq!(everything(ground.folder.path()), before);
}

#[test]
fn plugins_of_one_dry_run_see_each_others_writes_through_any_mount() {
    let ground = Ground::new();
    let overlay = Overlay::new();
    let one = ground.mounts(Storage::Memory(overlay.clone()), Grant::READ_WRITE);
    let mut other = Mounts::new(Storage::Memory(overlay));
    other.mount("above", Folder::at(ground.folder.path()), Grant::READ);
    one.write(&at("project", "f"), "seen", false).unwrap();
    assert_eq!(other.read(&at("above", "p/f")).unwrap(), "seen");
}

#[test]
fn a_stamp_moves_with_every_change_and_only_then() {
    let ground = Ground::new();
    for mounts in [ground.dry(), ground.disk(Grant::READ_WRITE)] {
        let (file, folder) = (at("project", "f"), at("project", ""));
        let (no_file, empty) = (mounts.stamp(&file), mounts.stamp(&folder));
        assert_eq!(mounts.stamp(&file), no_file);
        mounts.write(&file, "one", false).unwrap();
        let one = mounts.stamp(&file);
        assert_ne!(one, no_file);
        assert_ne!(mounts.stamp(&folder), empty);
        assert_eq!(mounts.stamp(&file), one);
        mounts.write(&file, "two", false).unwrap();
        assert_ne!(mounts.stamp(&file), one, "same size, same moment");
    }
}

#[test]
fn a_stamp_of_what_may_not_be_read_tells_nothing() {
    let ground = Ground::new();
    fs::write(ground.path("p/f"), "x").unwrap();
    let mounts = ground.disk(globs(&["*.json"], &[]));
    assert_eq!(mounts.stamp(&at("project", "f")), mounts.stamp(&at("project", "none")));
    assert_eq!(mounts.stamp(&at("elsewhere", "f")), mounts.stamp(&at("project", "none")));
}
