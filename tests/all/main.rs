//! One binary for all tests that cross crates.

#![allow(clippy::unwrap_used, reason = "tests may")]

mod contract;
mod hostile;
mod sessions;
mod tape;
