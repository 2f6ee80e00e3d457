//! One binary for all tests that cross crates.

#![allow(clippy::unwrap_used, reason = "tests may")]

mod agreement;
mod components;
mod contract;
mod driving;
mod example;
mod faults;
mod git_status;
mod guards;
mod hostile;
mod hosts;
mod readers;
mod sessions;
mod sidecar;
mod stop_guard;
mod tape;
mod traces;
