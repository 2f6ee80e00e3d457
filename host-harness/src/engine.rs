//! The one WebAssembly engine of a process: what compiles and bounds every component.

use std::hash::{Hash, Hasher};
use std::sync::OnceLock;
use std::time::Duration;

use wasmtime::{Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

/// How often the clock of the deadlines ticks. A hook that runs too long is stopped at most one tick late.
pub const TICK: Duration = Duration::from_millis(5);

/// More than this no plugin may be granted, in bytes: the pool reserves room for it.
pub const MAX_MEMORY: usize = 256 << 20;

/// Hooks that can run at the same moment, in all sessions of the process.
const MAX_INSTANCES: u32 = 64;

/// Core instances, memories and tables that one component may have: one of a compiled guest, and the adapters that some
/// languages bring.
const MAX_PARTS: u32 = 16;

/// The engine. Cloning it is cheap.
#[derive(Clone)]
pub struct Engine {
    inner: wasmtime::Engine,
    fingerprint: u64,
}

impl Engine {
    /// The engine of this process. It is made at the first call; its clock runs as long as the process.
    ///
    /// # Errors
    /// Where this machine cannot run WebAssembly.
    pub fn shared() -> wasmtime::Result<Self> {
        static SHARED: OnceLock<Engine> = OnceLock::new();
        if let Some(engine) = SHARED.get() {
            return Ok(engine.clone());
        }
        let engine = Self::new()?;
        Ok(SHARED.get_or_init(|| engine).clone())
    }

    fn new() -> wasmtime::Result<Self> {
        let inner = match wasmtime::Engine::new(&config(true)) {
            Ok(engine) => engine,
            // Where address space is limited (`ulimit -v`), the pool cannot be reserved.
            Err(_) => wasmtime::Engine::new(&config(false))?,
        };
        let mut hasher = blake3::Hasher::new();
        inner.precompile_compatibility_hash().hash(&mut Fingerprint(&mut hasher));
        let fingerprint = u64::from_le_bytes(first_eight(hasher.finalize().as_bytes()));
        let clock = inner.weak();
        std::thread::Builder::new().name("chaperone-clock".into()).spawn(move || {
            while let Some(engine) = clock.upgrade() {
                engine.increment_epoch();
                drop(engine);
                std::thread::sleep(TICK);
            }
        })?;
        Ok(Self { inner, fingerprint })
    }

    /// What it is made of.
    pub(crate) fn wasmtime(&self) -> &wasmtime::Engine {
        &self.inner
    }

    /// Differs between engines that cannot run each other's compiled code.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The number of ticks after which a hook has had `time`.
    pub(crate) fn ticks(time: Duration) -> u64 {
        // The tick that is under way is not a whole one.
        time.as_millis().div_ceil(TICK.as_millis()) as u64 + 1
    }
}

/// Everything that compiled code depends on, in one place.
fn config(pooled: bool) -> Config {
    let mut config = Config::new();
    config.epoch_interruption(true).wasm_relaxed_simd(false).memory_may_move(false);
    if pooled {
        let mut pool = PoolingAllocationConfig::new();
        pool.total_component_instances(MAX_INSTANCES)
            .total_core_instances(MAX_INSTANCES * 2)
            .total_memories(MAX_INSTANCES * 2)
            .total_tables(MAX_INSTANCES * 4)
            .max_core_instances_per_component(MAX_PARTS)
            .max_memories_per_component(MAX_PARTS)
            .max_tables_per_component(MAX_PARTS)
            .max_component_instance_size(1 << 20)
            .max_core_instance_size(1 << 20)
            .table_elements(100_000)
            .max_memory_size(MAX_MEMORY)
            // What a slot used last time stays mapped up to this, so that the next hook finds its pages there.
            .linear_memory_keep_resident(match PoolingAllocationConfig::is_pagemap_scan_available() {
                true => 4 << 20,
                // All of it is written over after each hook, whatever the hook used.
                false => 1 << 20,
            })
            .pagemap_scan(Enabled::Auto)
            .table_keep_resident(64 << 10);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    } else {
        // Every access of a guest is checked then, which makes it slower.
        config.memory_reservation(MAX_MEMORY as u64).memory_guard_size(64 << 10);
    }
    config
}

/// Makes a hash that is the same in every process.
struct Fingerprint<'hasher>(&'hasher mut blake3::Hasher);

impl Hasher for Fingerprint<'_> {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        u64::from_le_bytes(first_eight(self.0.finalize().as_bytes()))
    }
}

fn first_eight(hash: &[u8; 32]) -> [u8; 8] {
    std::array::from_fn(|index| hash[index])
}
