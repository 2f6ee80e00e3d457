//! What crosses crates is tested here; there is nothing else in this package.
