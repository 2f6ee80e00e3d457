//! What monitors of an earlier kind got wrong, each under its label of `docs/monitors.md`: through the real host and the
//! real component, over files on the disk, with a judge whose answers are written down.

mod files;
mod learning;
mod loading;
mod moments;
pub mod play;
mod steering;
mod verdicts;
