//! The program from outside: what it prints, what it writes, and how it exits.

#![allow(clippy::unwrap_used, reason = "tests may")]

#[path = "cli/check.rs"]
mod check;
#[path = "cli/eval.rs"]
mod eval;
#[path = "cli/hook.rs"]
mod hook;
#[path = "cli/judge_cases.rs"]
mod judge_cases;
#[path = "cli/monitor_cases.rs"]
mod monitor_cases;
#[path = "cli/monitor_test.rs"]
mod monitor_test;
#[path = "cli/monitors.rs"]
mod monitors;
#[path = "cli/output.rs"]
mod output;
#[path = "cli/replay.rs"]
mod replay;
#[path = "cli/run.rs"]
mod run;
#[path = "cli/serve.rs"]
mod serve;
#[path = "cli/stop_guard.rs"]
mod stop_guard;
#[path = "cli/support.rs"]
mod support;
#[path = "cli/traces.rs"]
mod traces;
#[path = "cli/trust.rs"]
mod trust;
