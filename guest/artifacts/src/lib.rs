//! The guests as components, embedded.
//!
//! The build script compiles them, so what is embedded is always what stands in the source tree.

#![forbid(unsafe_code)]

include!(concat!(env!("OUT_DIR"), "/components.rs"));

/// The names of the built-in components.
pub const NAMES: &[&str] = &["monitors", "stop-guard"];

/// The built-in component of a name.
pub fn builtin(name: &str) -> Option<&'static [u8]> {
    match name {
        "monitors" => Some(MONITORS),
        "stop-guard" => Some(STOP_GUARD),
        _ => None,
    }
}
