//! Texts made fit for a judge, a notice or a file.

use std::borrow::Cow;

/// At most `limit` characters of a text: all of it, or its first and last ones in equal parts, with a line between them
/// that says how many were left out. What matters stands at the beginning of a text or at its end.
pub fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return text.into();
    }
    // Most texts are ASCII, where nobody has to count: the judge is shown the same results at every hook.
    let is_ascii = text.is_ascii();
    let characters = if is_ascii { text.len() } else { text.chars().count() };
    if characters <= limit {
        return text.into();
    }
    let start_of = |character: usize| match is_ascii {
        true => character,
        false => text.char_indices().nth(character).map_or(text.len(), |(at, _)| at),
    };
    let tail = limit / 2;
    let (head, tail) = (&text[..start_of(limit - tail)], &text[start_of(characters - tail)..]);
    format!("{head}\n[… {} characters left out …]\n{tail}", characters - limit).into()
}

/// The first `limit` characters of a text, and an ellipsis where there are more.
pub fn beginning(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

/// A text on one line: white space and control characters become single blanks, those at the ends go.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// A text on one line, of at most `limit` characters.
pub fn short_line(text: &str, limit: usize) -> String {
    let line = one_line(text);
    match line.char_indices().nth(limit) {
        Some((end, _)) => line[..end].trim_end().to_owned(),
        None => line,
    }
}

/// A JSON text without the white space between its tokens.
pub fn compact(json: &str) -> Cow<'_, str> {
    let mut in_string = false;
    let mut escaped = false;
    let mut is_needless = |byte: u8| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b' ' | b'\t' | b'\n' | b'\r' => return !in_string,
            _ => {}
        }
        false
    };
    let Some(first) = json.bytes().position(&mut is_needless) else { return json.into() };
    let mut text = String::with_capacity(json.len());
    text.push_str(&json[..first]);
    let mut kept_from = first + 1;
    for (at, byte) in json.bytes().enumerate().skip(first + 1) {
        if is_needless(byte) {
            text.push_str(&json[kept_from..at]);
            kept_from = at + 1;
        }
    }
    text.push_str(&json[kept_from..]);
    text.into()
}

/// The known name that takes the fewest changed, added, dropped or swapped letters to get from `name`; none where all
/// are too far away to have been meant.
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let meant = name.to_lowercase();
    let distances = known.iter().map(|known| (strsim::osa_distance(&meant, &known.to_lowercase()), *known));
    let (distance, nearest) = distances.min()?;
    (distance <= meant.chars().count().max(3) / 3).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn d27_the_beginning_and_the_end_are_kept_with_the_count_of_what_is_not() {
        assert_eq!(cut("abcdefghij", 10), "abcdefghij");
        assert_eq!(cut("abcdefghijk", 5), "abc\n[… 6 characters left out …]\njk");
        let failing = format!("{}error: the last line", "x".repeat(3000));
        assert!(cut(&failing, 2000).ends_with("error: the last line"));
    }

    #[test]
    fn d27_characters_are_never_split() {
        assert_eq!(cut("😀😀😀😀", 2), "😀\n[… 2 characters left out …]\n😀");
        assert_eq!(cut("ééé", 3), "ééé", "three characters, though six bytes");
        assert_eq!(cut("éé", 1), "é\n[… 1 characters left out …]\n");
        assert_eq!(cut("éé", 0), "\n[… 2 characters left out …]\n");
    }

    #[test]
    fn only_white_space_between_tokens_goes() {
        assert_eq!(compact(r#"{"a":"b c"}"#), r#"{"a":"b c"}"#);
        assert_eq!(compact("{\n  \"a\": [1, \"b \\\" c\\\\\" , true]\n}\n"), r#"{"a":[1,"b \" c\\",true]}"#);
        assert_eq!(compact(" "), "");
    }

    #[test]
    fn a_beginning_says_that_there_is_more() {
        assert_eq!(beginning("éab", 3), "éab");
        assert_eq!(beginning("éabc", 3), "éab…");
    }

    #[test]
    fn a_short_line_has_no_breaks_and_no_blank_at_its_end() {
        assert_eq!(short_line(" a\n\tb\u{7} c ", 10), "a b c");
        assert_eq!(short_line("ab cd", 3), "ab");
    }

    #[test]
    fn slips_of_the_finger_are_recognised_and_strangers_are_not() {
        let known = ["maxAutoContinues", "model", "enabled"];
        assert_eq!(nearest("maxautocontinue", &known), Some("maxAutoContinues"));
        assert_eq!(nearest("mdoel", &known), Some("model"));
        assert_eq!(nearest("colour", &known), None);
        assert_eq!(nearest("x", &[]), None);
    }

    proptest! {
        #[test]
        fn the_limit_holds_and_nothing_but_the_middle_is_lost(text in ".{0,60}", limit in 0_usize..40) {
            let characters = text.chars().count();
            let short = cut(&text, limit);
            if characters <= limit {
                prop_assert_eq!(short, text.as_str());
            } else {
                let marker = format!("\n[… {} characters left out …]\n", characters - limit);
                let (head, tail) = short.split_once(&marker).unwrap();
                prop_assert_eq!(head.chars().count() + tail.chars().count(), limit);
                prop_assert!(text.starts_with(head) && text.ends_with(tail));
            }
        }
    }
}
