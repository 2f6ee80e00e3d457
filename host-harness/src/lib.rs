//! The host of Chaperone's watchers.

#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may"))]

pub mod drive;
pub mod engine;
pub mod plugin;
pub mod record;
pub mod replay;
pub mod state;
pub mod transaction;

pub use chaperone_contract as contract;
