//! What crosses crates is tested here: the tests are in `all/`, the benchmarks in `benches/`. This library holds what
//! they share.

#![allow(clippy::unwrap_used, reason = "whoever uses it is a test")]

pub mod readers;
pub mod stage;
