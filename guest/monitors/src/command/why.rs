//! `/monitors why <finding>`: how a judgement came about, and what became of it.

use chaperone_sdk::{Tone, Trace, traces};

use crate::desk::Desk;

/// The kind of notice that shows what the judge was asked.
pub const CUSTOM_TYPE: &str = "monitor-trace";

/// Tells how a finding came about.
pub fn tell(desk: &mut Desk, finding: &str) {
    match find(desk, finding, true) {
        Ok(trace) => {
            desk.cx.notify(traces::summary(&trace), Tone::Normal);
            desk.cx.show(traces::notice(&trace, CUSTOM_TYPE));
        }
        Err(reason) => desk.cx.notify(reason, Tone::Error),
    }
}

/// The judgement that is meant, with or without its texts.
///
/// # Errors
/// Where there is none, or several, in words for the user.
pub fn find(desk: &Desk, finding: &str, texts: bool) -> Result<Trace, String> {
    traces::find(desk.cx, finding, texts, "/monitors log")
}
