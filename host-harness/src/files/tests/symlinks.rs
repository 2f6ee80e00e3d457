use std::os::unix::fs::symlink;

use super::*;

#[test]
fn a_symlink_out_of_the_mount_is_refused_and_not_shown() {
    let ground = Ground::new();
    symlink("../secret", ground.path("p/file")).unwrap();
    symlink("..", ground.path("p/folder")).unwrap();
    symlink(ground.path("secret"), ground.path("p/absolute")).unwrap();
    let mounts = ground.disk(Grant::READ_WRITE);
    for (path, link) in [("file", "file"), ("folder/secret", "folder"), ("absolute", "absolute")] {
        let why = format!("the symlink `project:{link}` leads out of the mount");
        assert_eq!(denial(mounts.read(&at("project", path))), why);
        assert_eq!(denial(mounts.write(&at("project", path), "x", false)), why);
    }
    assert!(denial(mounts.entries(&at("project", "folder"))).contains("leads out"));
    assert!(mounts.entries(&at("project", "")).unwrap().is_empty());
    assert_eq!(ground.text("secret"), "secret");
}

#[test]
fn a_symlink_inside_is_written_through_and_stays() {
    let ground = Ground::new();
    fs::create_dir(ground.path("p/real")).unwrap();
    fs::write(ground.path("p/real/f"), "old").unwrap();
    symlink("real/f", ground.path("p/link")).unwrap();
    symlink("real", ground.path("p/folder")).unwrap();
    let mounts = ground.disk(Grant::READ_WRITE);
    mounts.write(&at("project", "link"), "new", false).unwrap();
    assert_eq!(ground.text("p/real/f"), "new");
    assert!(ground.path("p/link").is_symlink());
    mounts.write(&at("project", "folder/g"), "g", false).unwrap();
    assert_eq!(ground.text("p/real/g"), "g");
    assert_eq!(mounts.entries(&at("project", "")).unwrap(), ["folder/", "link", "real/"]);
}

#[test]
fn a_symlink_cannot_reach_around_a_pattern() {
    let ground = Ground::new();
    fs::create_dir(ground.path("p/open")).unwrap();
    fs::write(ground.path("p/closed"), "old").unwrap();
    symlink("../closed", ground.path("p/open/link")).unwrap();
    let mounts = ground.disk(globs(&["open/**"], &["open/**"]));
    assert!(denial(mounts.read(&at("project", "open/link"))).contains("`project:closed` is not granted"));
    assert!(denial(mounts.write(&at("project", "open/link"), "x", false)).contains("`project:closed`"));
    assert_eq!(ground.text("p/closed"), "old");
}

#[test]
fn a_mount_inside_a_folder_cannot_be_a_symlink_out_of_it() {
    let ground = Ground::new();
    fs::create_dir(ground.path("repository")).unwrap();
    symlink("../p", ground.path("repository/.pi")).unwrap();
    let mut mounts = ground.disk(Grant::READ_WRITE);
    mounts.mount("project", Folder::inside(ground.path("repository"), ".pi"), Grant::READ_WRITE);
    assert!(matches!(mounts.write(&at("project", "f"), "x", false).unwrap_err(), FileError::Io(_)));
    assert!(matches!(mounts.read(&at("project", "f")).unwrap_err(), FileError::Io(_)));
    assert!(!ground.path("p/f").exists());
}

#[test]
fn two_ways_to_one_file_share_its_lock() {
    let ground = Ground::new();
    symlink("p", ground.path("alias")).unwrap();
    let mut mounts = ground.disk(Grant::READ_WRITE);
    mounts.mount("alias", Folder::at(ground.path("alias")), Grant::READ_WRITE);
    for mount in ["project", "alias"] {
        mounts.patch(&at(mount, "log.json"), "[]", APPEND).unwrap();
    }
    assert_eq!(fs::read_dir(ground.path("locks")).unwrap().count(), 1);
}
