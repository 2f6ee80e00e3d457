//! Colours. They appear on a terminal only, and not where NO_COLOR is set.

use std::io::{self, Write};

use anstyle::{AnsiColor, Reset, Style};
use chaperone_contract::{Tone, Verdict};

pub const RESET: Reset = Reset;
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
pub const WARNING: Style = AnsiColor::Yellow.on_default();
pub const HEADING: Style = Style::new().bold();
pub const MUTED: Style = Style::new().dimmed();
pub const USER: Style = AnsiColor::Cyan.on_default().bold();
pub const AGENT: Style = AnsiColor::Blue.on_default().bold();
pub const STEER: Style = AnsiColor::Magenta.on_default().bold();
pub const ADDED: Style = AnsiColor::Green.on_default();
pub const REMOVED: Style = AnsiColor::Red.on_default();

/// The output, with colours where it takes them. A reader that goes away is an error, not a panic.
pub fn out() -> impl Write {
    anstream::AutoStream::auto(io::stdout().lock())
}

pub fn tone(tone: Tone) -> Style {
    match tone {
        Tone::Normal => Style::new(),
        Tone::Muted => MUTED,
        Tone::Success => ADDED,
        Tone::Warning => WARNING,
        Tone::Error => ERROR,
    }
}

pub fn verdict(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Clean => ADDED,
        Verdict::Flag => ERROR,
        Verdict::New | Verdict::Unknown => WARNING,
    }
}
