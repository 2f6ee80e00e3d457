//! The contract between host and watchers, as Rust types.
//!
//! The `.wit` files beside this crate are the contract; here it is written once more in Rust, so that guests, host,
//! recordings and the JSON of the sidecar all use one set of types. The two cannot drift apart: a guest's bindings do
//! not compile where they differ, and the host refuses to link.
//!
//! In JSON, records are objects with the WIT names in snake_case, variants and enums the externally tagged form, also
//! in snake_case, and results `{"ok": …}` or `{"err": …}`.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may"))]

#[macro_use]
mod define;

mod branch;
mod effect;
mod event;
pub mod json;
pub mod types;

pub use branch::Branch;
pub use effect::{CompleteEffect, Effect};
pub use event::{Event, Permitted, Reply};
pub use types::*;

/// The version of the WIT package `chaperone:agent`.
pub const VERSION: &str = "0.1.0";

/// The name of one interface of the package, as components import and export it.
pub fn interface(name: &str) -> String {
    format!("chaperone:agent/{name}@{VERSION}")
}
