//! `log`, `why` and `cost`: what was judged so far, where the host keeps it.

use chaperone_sdk::{Selection, Tone, Trace, TraceQuery, traces};

use crate::desk::Desk;

/// The kind of block that shows what the judge was asked.
const CUSTOM_TYPE: &str = "auto-goal-trace";

/// Lists the latest judgements of the project.
pub fn log(desk: &mut Desk, count: u32) {
    let text = traces::log(desk.cx, None, count);
    desk.cx.notify(text, Tone::Normal);
}

/// Tells how a judgement came about: the one of that number, or the latest one of the session.
pub fn why(desk: &mut Desk, number: Option<&str>) {
    let found = match number {
        Some(number) => traces::find(desk.cx, number, true, "/auto-goal log"),
        None => latest(desk),
    };
    match found {
        Ok(trace) => {
            desk.cx.notify(traces::summary(&trace), Tone::Normal);
            desk.cx.show(traces::notice(&trace, CUSTOM_TYPE));
        }
        Err(reason) => desk.cx.notify(format!("[auto-goal] {reason}"), Tone::Error),
    }
}

fn latest(desk: &Desk) -> Result<Trace, String> {
    let query = TraceQuery { selection: Selection::Session, watcher: None, limit: 1, texts: true };
    let none = "No judgement of this session is kept; /auto-goal log lists those of earlier ones";
    desk.cx.traces(&query).pop().ok_or_else(|| none.into())
}

/// Tells what the judge has cost, in this session and in the project.
pub fn cost(desk: &mut Desk) {
    let text = traces::cost::text(desk.cx);
    desk.cx.notify(text, Tone::Normal);
}
