//! The guests as components, embedded.
//!
//! The build script compiles them, so what is embedded is always what stands in the source tree.

#![forbid(unsafe_code)]

include!(concat!(env!("OUT_DIR"), "/components.rs"));

/// The names of the built-in components.
pub const NAMES: &[&str] = &["monitors", "stop-guard"];

/// A built-in component. Its digest is part of the program, so that no start has to read the whole component.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// The component.
    pub component: &'static [u8],
    /// Its BLAKE3 hash.
    pub digest: [u8; 32],
}

/// The built-in component of a name.
pub fn builtin(name: &str) -> Option<Builtin> {
    let (component, digest) = match name {
        "monitors" => (MONITORS, MONITORS_DIGEST),
        "stop-guard" => (STOP_GUARD, STOP_GUARD_DIGEST),
        _ => return None,
    };
    Some(Builtin { component, digest })
}
