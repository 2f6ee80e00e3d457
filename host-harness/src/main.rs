//! The `chaperone` program.

fn main() {}
