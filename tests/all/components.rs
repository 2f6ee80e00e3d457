//! Components that several sessions share.

use std::path::Path;
use std::sync::{Arc, Barrier};

use chaperone::plugin::{Cache, Components};
use tempfile::TempDir;

use crate::contract::idle;

/// The same code with a custom section behind it, which changes nothing but the content.
fn other() -> Vec<u8> {
    [idle().as_slice(), b"\0\x03\x01xy"].concat()
}

fn put(path: &Path, component: &[u8]) {
    std::fs::write(path, component).unwrap();
}

#[test]
fn the_same_content_is_the_same_component_wherever_it_comes_from() {
    let folder = TempDir::new().unwrap();
    let [a, b] = ["a.wasm", "b.wasm"].map(|name| folder.path().join(name));
    put(&a, &idle());
    put(&b, &idle());
    let components = Components::new(Cache::None);
    let first = components.load(&a).unwrap();
    assert!(Arc::ptr_eq(&first, &components.load(&b).unwrap()));
    assert!(Arc::ptr_eq(&first, &components.from_bytes(&idle()).unwrap()));
}

#[test]
fn a_file_that_has_changed_is_loaded_anew_and_who_has_the_old_one_keeps_it() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.wasm");
    let components = Components::new(Cache::None);
    put(&path, &idle());
    let before = components.load(&path).unwrap();
    put(&path, &other());
    let after = components.load(&path).unwrap();
    assert_ne!(before.digest(), after.digest());
    put(&path, &idle());
    assert!(Arc::ptr_eq(&before, &components.load(&path).unwrap()), "it is still in use");
    put(&path, b"half a file");
    assert!(components.load(&path).is_err());
    put(&path, &other());
    assert!(Arc::ptr_eq(&after, &components.load(&path).unwrap()));
}

#[test]
fn what_nobody_uses_any_more_is_let_go_when_something_new_is_loaded() {
    let components = Components::new(Cache::None);
    let first = Arc::downgrade(&components.from_bytes(&idle()).unwrap());
    let again = components.from_bytes(&idle()).unwrap();
    assert!(Arc::ptr_eq(&first.upgrade().unwrap(), &again), "sessions that follow one another share as well");
    let second = components.from_bytes(&other()).unwrap();
    assert!(first.upgrade().is_some(), "it is in use");
    drop((again, second));
    assert!(components.from_bytes(b"no component").is_err());
    assert!(first.upgrade().is_none());
}

#[test]
fn who_wants_the_same_at_the_same_time_gets_the_same() {
    let (components, begin) = (Components::new(Cache::None), Barrier::new(4));
    let load = || {
        begin.wait();
        components.from_bytes(&idle()).unwrap()
    };
    let found: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(load)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(found.iter().all(|component| Arc::ptr_eq(component, &found[0])));
}
