//! Behaviour monitors: judges of what a coding agent does, each defined by a few JSON files.
//!
//! A monitor looks at what the agent did since the user's latest message, shows it to a language model together with a
//! list of known faults, and acts on the verdict: it tells the agent, records a finding in a file, learns a new fault.
//!
//! What is here, in the order in which a judgement needs it:
//! - [`roster`] finds the monitors, [`definition`] reads one, [`fault`] says what is wrong with a file;
//! - [`scope`] and [`when`] decide whether a monitor has to look;
//! - [`evidence`] collects what its judge gets to see, [`template`] makes the prompt of it;
//! - [`verdict`] reads the judge's answer;
//! - [`finding`], [`learning`] and [`rules`] turn what follows into changes of files.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may"))]

#[cfg(test)]
mod samples;
mod words;

pub mod clock;
pub mod definition;
pub mod evidence;
pub mod fault;
pub mod finding;
pub mod glob;
pub mod learning;
pub mod patterns;
pub mod roster;
pub mod rules;
pub mod scope;
pub mod sidecar;
pub mod template;
pub mod verdict;
pub mod when;
