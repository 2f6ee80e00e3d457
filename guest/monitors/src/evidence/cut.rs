//! Shortening a text in its middle: what matters stands at its beginning or at its end.

use std::borrow::Cow;

/// At most `limit` characters of a text: all of it, or its first and last ones in equal parts, with a line between them
/// that says how many were left out.
pub fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return text.into();
    }
    let characters = text.chars().count();
    if characters <= limit {
        return text.into();
    }
    let tail = limit / 2;
    let head_end = text.char_indices().nth(limit - tail).map_or(text.len(), |(at, _)| at);
    let tail_start =
        tail.checked_sub(1).and_then(|last| text.char_indices().nth_back(last)).map_or(text.len(), |(at, _)| at);
    let (head, tail) = (&text[..head_end], &text[tail_start..]);
    format!("{head}\n[… {} characters left out …]\n{tail}", characters - limit).into()
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
