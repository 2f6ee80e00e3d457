//! Write a watcher for coding agents.
//!
//! A watcher is a type that implements [`Plugin`]: a set of hooks, each with a default that does nothing. A hook gets a
//! [`Context`], reads the session from it, and asks the host for effects. It never waits, and nothing in memory outlives
//! it; what is to be remembered goes into [state](Context::state).
//!
//! ```
//! use chaperone_sdk::{Context, Description, Hook, Plugin, Tone};
//!
//! struct Bell;
//!
//! impl Plugin for Bell {
//!     fn describe(_: &mut Context) -> Description {
//!         chaperone_sdk::describe("bell", env!("CARGO_PKG_VERSION"), "Rings when the agent stops", [Hook::AgentEnd])
//!     }
//!
//!     fn agent_end(cx: &mut Context) {
//!         cx.notify("The agent has stopped.", Tone::Normal);
//!     }
//! }
//!
//! chaperone_sdk::export!(Bell);
//! # fn main() {}
//! ```
//!
//! The same code runs natively under a [`FakeHost`](fake::FakeHost), which is how a watcher is tested.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may"))]

mod context;
mod host;
mod plugin;
mod state;

pub mod clock;
pub mod document;
pub mod failure;
pub mod judge;
pub mod text;
pub mod traces;

#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub mod component;
#[cfg(not(target_family = "wasm"))]
pub mod fake;
#[cfg(all(target_family = "wasm", feature = "allocator"))]
mod memory;

pub use chaperone_contract::*;
pub use context::Context;
pub use host::Host;
pub use plugin::{Plugin, describe, dispatch};

/// Exports a [`Plugin`] as a component. Does nothing in a native build.
#[macro_export]
macro_rules! export {
    ($plugin:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Exported = $crate::component::Component<$plugin>;
    $crate::component::bindings::export!(Exported with_types_in $crate::component::bindings);
        };
    };
}
