//! The host of Chaperone's watchers.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may"))]

pub mod llm;
