//! Lines as they come in: of bounded length, and with the faults mended that hosts in JavaScript make.

use std::borrow::Cow;
use std::io::{self, BufRead};

/// How long a line may be, in bytes, where nobody says otherwise: 64 MiB.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// What was read up to the end of a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A line, without its end.
    Whole(Vec<u8>),
    /// More than was allowed; it was passed over up to its end.
    TooLong,
}

/// Reads one line of at most `limit` bytes. None at the end of the input; what stands there without a line's end is a
/// line as well.
///
/// # Errors
/// Where the input cannot be read.
pub fn read_line(input: &mut impl BufRead, limit: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut is_too_long = false;
    let mut is_empty = true;
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = available.iter().position(|&byte| byte == b'\n');
        let piece = &available[..end.unwrap_or(available.len())];
        let is_over = end.is_some() || available.is_empty();
        is_empty &= available.is_empty();
        if line.len() + piece.len() > limit {
            is_too_long = true;
            line = Vec::new();
        }
        if !is_too_long {
            line.extend_from_slice(piece);
        }
        let used = piece.len() + usize::from(end.is_some());
        input.consume(used);
        if is_over {
            return Ok(match (is_empty, is_too_long) {
                (true, _) => None,
                (false, true) => Some(Line::TooLong),
                (false, false) => Some(Line::Whole(line)),
            });
        }
    }
}

/// Puts the replacement character in the place of every escape of half a surrogate pair, such as `\ud83d` alone. It is
/// what is left of a text that JavaScript cut in the middle of a character; JSON parsers refuse it.
pub fn mend_surrogates(line: &str) -> Cow<'_, str> {
    let bytes = line.as_bytes();
    let mut mended: Option<String> = None;
    let (mut at, mut copied) = (0, 0);
    while let Some(found) = bytes[at..].iter().position(|&byte| byte == b'\\') {
        let here = at + found;
        at = match surrogate(bytes, here) {
            None => (here + 2).min(bytes.len()),
            Some(Half::First) if matches!(surrogate(bytes, here + 6), Some(Half::Second)) => here + 12,
            Some(_) => {
                let mended = mended.get_or_insert_default();
                mended.push_str(&line[copied..here]);
                mended.push_str("\\ufffd");
                copied = here + 6;
                here + 6
            }
        };
    }
    match mended {
        None => Cow::Borrowed(line),
        Some(mended) => Cow::Owned(mended + &line[copied..]),
    }
}

/// Half of a pair that stands for one character.
enum Half {
    First,
    Second,
}

/// What half the escape at `at` is, if it is one.
fn surrogate(bytes: &[u8], at: usize) -> Option<Half> {
    let [b'\\', b'u', b'd' | b'D', kind, rest @ ..] = bytes.get(at..at + 6)? else { return None };
    if !rest.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    match kind {
        b'8' | b'9' | b'a' | b'b' | b'A' | b'B' => Some(Half::First),
        b'c'..=b'f' | b'C'..=b'F' => Some(Half::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(text: &[u8], limit: usize, buffer: usize) -> Vec<Line> {
        let mut input = io::BufReader::with_capacity(buffer, text);
        std::iter::from_fn(|| read_line(&mut input, limit).unwrap()).collect()
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.into())
    }

    #[test]
    fn a_line_ends_at_its_end_or_that_of_the_input() {
        for buffer in [1, 2, 100] {
            assert_eq!(lines(b"a\n\nbc", 9, buffer), [whole("a"), whole(""), whole("bc")]);
            assert_eq!(lines(b"a\n", 9, buffer), [whole("a")]);
            assert_eq!(lines(b"", 9, buffer), []);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_the_next_one_is_read() {
        for buffer in [1, 3, 100] {
            assert_eq!(
                lines(b"1234\n12345\n123\n12345", 4, buffer),
                [whole("1234"), Line::TooLong, whole("123"), Line::TooLong]
            );
        }
    }

    #[test]
    fn half_a_pair_becomes_the_replacement_character() {
        for (line, mended) in [
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""a\udc00b\uD83D\u0041""#, r#""a\ufffdb\ufffd\u0041""#),
            (r#""\ud83d\ud83e\udd80""#, r#""\ufffd\ud83e\udd80""#),
            (r#""\\ud83d \\\ud83d""#, r#""\\ud83d \\\ufffd""#),
            (r#""\ud83d\\udd80""#, r#""\ufffd\\udd80""#),
        ] {
            assert_eq!(mend_surrogates(line), mended);
            serde_json::from_str::<String>(&mend_surrogates(line)).unwrap();
        }
    }

    #[test]
    fn whole_pairs_and_everything_else_stay_as_they_are() {
        for line in [r#""\ud83e\udd80""#, r#""\ud83e\uDD80 \n \\""#, "\\", "\\u", "\\ud8", "é\\ud83", r"\ud8zz"] {
            assert!(matches!(mend_surrogates(line), Cow::Borrowed(same) if same == line));
        }
    }

    proptest! {
        #[test]
        fn any_utf16_that_is_written_as_json_can_be_read(units in prop::collection::vec(any::<u16>(), 0..20)) {
            let json = format!("\"{}\"", units.iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>());
            let read: String = serde_json::from_str(&mend_surrogates(&json)).unwrap();
            prop_assert_eq!(read, String::from_utf16_lossy(&units));
        }

        #[test]
        fn what_json_parsers_take_is_left_alone(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert!(matches!(mend_surrogates(&json), Cow::Borrowed(_)));
        }

        #[test]
        fn any_text_is_mended_without_harm(text in r#"[\\ud8c"é0-9a-f]{0,40}"#) {
            mend_surrogates(&text);
        }
    }
}
