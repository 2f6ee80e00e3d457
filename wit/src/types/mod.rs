//! The records, variants and enums of the contract.

mod exports;
mod imports;
mod vocabulary;

pub use exports::*;
pub use imports::*;
pub use vocabulary::*;

/// A JSON document (RFC 8259) as UTF-8 text.
pub type Json = String;

/// Milliseconds since the Unix epoch, UTC.
pub type Timestamp = u64;

/// Identifies one entry of a session; stable across restarts.
pub type EntryId = String;

/// Identifies work that a plugin asked the host for.
pub type RequestId = u64;
