//! The host of Chaperone's watchers.

#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may"))]

pub mod cases;
pub mod cli;
pub mod config;
pub mod drive;
pub mod engine;
pub mod files;
pub mod hosts;
pub mod llm;
pub mod plugin;
pub mod project;
pub mod record;
pub mod replay;
pub mod serve;
pub mod session;
pub mod state;
pub mod store;
pub mod traces;
pub mod transaction;

pub use chaperone_contract as contract;
