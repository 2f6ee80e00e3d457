//! Behaviour monitors.
