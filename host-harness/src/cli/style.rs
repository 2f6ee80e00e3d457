//! Colours, and text that leaves the terminal alone. Colours appear on a terminal only, and not where NO_COLOR is set.

use std::borrow::Cow;
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

/// A text for the screen that others wrote: an agent, a tool, a judge, a file of the project. What a terminal would obey
/// becomes visible: control characters but for line breaks and tabs, and the marks that turn the direction of writing,
/// with which a line can be made to read as another one.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_obeyed) { text.chars().map(visible).collect() } else { text.into() }
}

fn is_obeyed(char: char) -> bool {
    match char {
        '\n' | '\t' => false,
        // The embeddings, overrides and isolates of Unicode's bidirectional algorithm (UAX 9).
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => char.is_control(),
    }
}

fn visible(char: char) -> char {
    match char {
        _ if !is_obeyed(char) => char,
        '\u{7f}' => '\u{2421}',
        // Unicode has pictures of the first 32 control characters, in their order.
        '\0'..'\u{20}' => char::from_u32(0x2400 + u32::from(char)).unwrap_or(char::REPLACEMENT_CHARACTER),
        _ => char::REPLACEMENT_CHARACTER,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_shows_what_a_terminal_would_obey() {
        assert_eq!(plain("\u{1b}]0;title\u{7}\u{1b}[2J"), "␛]0;title␇␛[2J");
        assert_eq!(plain("shown\rover\u{8}\u{7f}"), "shown␍over␈␡");
        assert_eq!(plain("\u{9b}31m\u{202e}fdp.exe\u{2066}"), "\u{fffd}31m\u{fffd}fdp.exe\u{fffd}");
    }

    #[test]
    fn a_text_that_commands_nothing_stays_as_it_is() {
        for text in ["", "two\nlines\tand a tab", "größer — ⚑ 👩‍💻 שלום"] {
            assert!(matches!(plain(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
    }
}
