//! The host of Chaperone's watchers.
