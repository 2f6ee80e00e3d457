//! The contract in WIT and the contract in Rust are the same one.

use std::path::Path;

use chaperone::plugin::{Cache, LoadError, Plugin};
use chaperone_tests::stage;
use wit_component::{ComponentEncoder, StringEncoding, dummy_module, embed_component_metadata};
use wit_parser::{ManglingAndAbi, Resolve, WorldId};

fn world(path: &Path) -> (Resolve, WorldId) {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(path).unwrap();
    let world = resolve.select_world(&[package], None).unwrap();
    (resolve, world)
}

fn wit() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../wit"))
}

/// A component that meets the contract, and does nothing.
pub fn idle() -> Vec<u8> {
    let (resolve, world) = world(wit());
    dummy(&resolve, world)
}

/// A component that imports and exports everything that a world has, and does nothing.
fn dummy(resolve: &Resolve, world: WorldId) -> Vec<u8> {
    let mut module = dummy_module(resolve, world, ManglingAndAbi::Standard32);
    embed_component_metadata(&mut module, resolve, world, StringEncoding::UTF8, true).unwrap();
    ComponentEncoder::default().module(&module).unwrap().encode().unwrap()
}

#[test]
fn the_host_links_every_import_and_finds_every_export_with_its_type() {
    Plugin::from_bytes(&idle(), &Cache::None).unwrap();
}

#[test]
fn a_component_that_lacks_an_export_is_refused_by_name() {
    let (mut resolve, world) = world(wit());
    let responses = chaperone_contract::interface("responses");
    let keys: Vec<_> = resolve.worlds[world].exports.keys().cloned().collect();
    let key = keys.iter().find(|key| resolve.name_world_key(key) == responses).unwrap();
    resolve.worlds[world].exports.shift_remove(key);
    let error = Plugin::from_bytes(&dummy(&resolve, world), &Cache::None).unwrap_err();
    assert!(matches!(error, LoadError::Contract(_)), "{error}");
    assert!(error.to_string().contains("chaperone:agent/responses@0.1.0"), "{error}");
}

#[test]
fn a_core_module_is_refused_with_the_missing_step() {
    let error = Plugin::from_bytes(b"\0asm\x01\0\0\0", &Cache::None).unwrap_err();
    assert!(matches!(error, LoadError::CoreModule), "{error}");
    assert!(error.to_string().contains("wasm-tools component new"), "{error}");
}

#[test]
fn what_is_no_component_is_refused() {
    let error = Plugin::from_bytes(b"#!/bin/sh\n", &Cache::None).unwrap_err();
    assert!(matches!(error, LoadError::NotAComponent(_)), "{error}");
}

#[test]
fn the_contract_is_compatible_with_its_last_release() {
    let (old, old_world) = world(&wit().join("released/0.1.0"));
    let (mut new, new_world) = world(wit());
    // Packages of one name and version would be taken for one package; versions are not part of the comparison.
    let package = new.worlds[new_world].package.unwrap();
    let version = new.packages[package].name.version.as_mut().unwrap();
    version.patch += 1;
    new.package_names = new.packages.iter().map(|(id, package)| (package.name.clone(), id)).collect();
    let mut both = old;
    let remap = both.merge(new).unwrap();
    let new_world = remap.map_world(new_world, Default::default()).unwrap();
    wit_component::semver_check(both, old_world, new_world).unwrap();
}

#[test]
fn the_digest_that_stands_in_the_program_is_that_of_the_component() {
    for (name, loaded) in [("monitors", stage::monitors()), ("stop-guard", stage::stop_guard())] {
        let builtin = chaperone_artifacts::builtin(name).unwrap();
        assert_eq!(loaded.digest(), builtin.digest, "{name}");
    }
}
