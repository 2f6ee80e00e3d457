//! What hooks cost: as components, and natively.
//!
//! As a component, a hook costs a fresh instance, the copies of what it reads into its memory, its own work, and the
//! copies of what it asks for. Natively, the same code runs under the SDK's fake host, which copies what is read as
//! well, since a hook owns what it gets; the event is copied too. Both read from the same branch, state and files, which
//! are in memory on both sides. Carrying effects out is not counted.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot be set up is to end")]

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chaperone::plugin::{Cache, Plugin};
use chaperone::transaction::{Input, Limits, NoTraces, Outcome, ReadFiles, States};
use chaperone_contract::{Branch, Event, FileError, Location};
use chaperone_hostile::Hostile;
use chaperone_sdk::fake::FakeHost;
use chaperone_tests::stage;
use divan::Bencher;
use scene::Scene;

mod scene;

/// Entries of the branch. Hooks read what they need of it, so its length should not matter.
const LENGTHS: [usize; 3] = [100, 10_000, 100_000];

/// Tells a process of this program that it is the one whose start is measured; names the folder of its cache.
const COLD_START: &str = "CHAPERONE_BENCH_COLD_START";

fn main() {
    match std::env::var_os(COLD_START) {
        Some(cache) => first_hook(Path::new(&cache)),
        None => {
            divan::main();
            // `cargo test` runs each benchmark once, to see that it can be set up; `cargo bench` measures.
            if std::env::args().any(|argument| argument == "--bench") {
                print_ratios();
            }
        }
    }
}

/// A hook that reads a few bytes of state and writes them: what every hook costs at least.
#[divan::bench_group]
mod smallest {
    use super::*;

    #[divan::bench]
    fn wasm(bencher: Bencher) {
        let plugin = stage::hostile();
        bencher.bench_local(|| plugin.call(&Limits::default(), nothing(), &Event::AgentEnd));
    }

    #[divan::bench]
    fn native(bencher: Bencher) {
        let mut host = FakeHost::<Hostile>::default();
        bencher.bench_local(|| host.call(Event::AgentEnd));
    }
}

/// `message-end`: ten monitors look at ten tool results of 2 KB, and find that all of it was judged already.
#[divan::bench_group]
mod ten_monitors {
    use super::*;

    #[divan::bench(args = LENGTHS)]
    fn wasm(bencher: Bencher, length: usize) {
        let (scene, plugin) = (Scene::new(length), stage::monitors());
        bencher.bench_local(|| call(&plugin, &scene));
    }

    #[divan::bench(args = LENGTHS)]
    fn native(bencher: Bencher, length: usize) {
        let scene = Scene::new(length);
        let mut host = scene.native();
        bencher.bench_local(|| host.call(scene.event.clone()));
    }
}

/// From the start of a process to the end of its first hook, with the monitors compiled in the cache.
#[divan::bench(sample_count = 20)]
fn cold_start(bencher: Bencher) {
    let cache = warm_cache();
    bencher.bench_local(|| start_cold(cache.path()));
}

fn call(plugin: &Plugin, scene: &Scene) -> Outcome {
    let outcome = plugin.call(&Limits::default(), scene.input(), &scene.event);
    assert!(Scene::is_spared(&outcome), "{outcome:?}");
    outcome
}

fn warm_cache() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    load(&Cache::Folder(folder.path().into()));
    folder
}

fn start_cold(cache: &Path) {
    let status = Command::new(std::env::current_exe().unwrap()).env(COLD_START, cache).status().unwrap();
    assert!(status.success());
}

/// What the started process does.
fn first_hook(cache: &Path) {
    let cache = Cache::Folder(cache.into());
    let plugin = load(&cache);
    black_box(plugin.call(&Limits::default(), nothing(), &Event::Describe).result.unwrap());
}

/// Loads the monitors as the program does.
fn load(cache: &Cache) -> Plugin {
    let builtin = chaperone_artifacts::builtin("monitors").unwrap();
    Plugin::of_content(builtin.component, builtin.digest.into(), cache).unwrap()
}

/// An empty session.
fn nothing() -> Input {
    struct NoFiles;
    impl ReadFiles for NoFiles {
        fn read(&self, _: &Location) -> Result<String, FileError> {
            Err(FileError::NotFound)
        }
        fn entries(&self, _: &Location) -> Result<Vec<String>, FileError> {
            Err(FileError::NotFound)
        }
    }
    Input {
        snapshot: stage::snapshot(),
        branch: Arc::new(Branch::default()),
        state: States::default(),
        models: Arc::new([]),
        files: Arc::new(NoFiles),
        traces: Arc::new(NoTraces),
        next_request: 1,
    }
}

/// Prints how the figures stand to each other. Both sides are measured in turns, and the tenth part that was fastest
/// counts, so that what else a machine does meanwhile matters little.
fn print_ratios() {
    let plugin = stage::monitors();
    let [short, middle, long] = LENGTHS.map(Scene::new);
    for (scene, length) in [(&short, LENGTHS[0]), (&middle, LENGTHS[1]), (&long, LENGTHS[2])] {
        let mut host = scene.native();
        let (wasm, native) =
            fast_tenths(|| drop(black_box(call(&plugin, scene))), || drop(black_box(host.call(scene.event.clone()))));
        ratio(&format!("ten monitors at {length} entries, wasm to native"), wasm, native, 2.5);
    }
    let (at_100_000, at_100) =
        fast_tenths(|| drop(black_box(call(&plugin, &long))), || drop(black_box(call(&plugin, &short))));
    ratio("ten monitors, 100000 entries to 100", at_100_000, at_100, 1.2);
}

fn fast_tenths(mut first: impl FnMut(), mut second: impl FnMut()) -> (Duration, Duration) {
    const ROUNDS: usize = 500;
    let time = |run: &mut dyn FnMut()| {
        let started = Instant::now();
        run();
        started.elapsed()
    };
    let (mut firsts, mut seconds): (Vec<_>, Vec<_>) =
        (0..ROUNDS).map(|_| (time(&mut first), time(&mut second))).unzip();
    firsts.sort();
    seconds.sort();
    (firsts[ROUNDS / 10], seconds[ROUNDS / 10])
}

fn ratio(what: &str, one: Duration, other: Duration, wanted: f64) {
    let ratio = one.as_secs_f64() / other.as_secs_f64();
    println!("ratio {ratio:.2} (wanted: at most {wanted}) {what}: {one:.1?} to {other:.1?}");
}
