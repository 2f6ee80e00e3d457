//! Finding phrases in what people and agents write: whole words, whatever their case, within one sentence.

mod success;

pub use success::claims_success;

/// The question marks of all scripts.
const QUESTION_MARKS: [char; 9] = ['?', '？', '؟', '\u{37e}', '՞', '፧', '⸮', '‽', '⁇'];

/// How many words a gap of a [`Pattern`] may hold.
const GAP: usize = 6;

/// Whether a phrase stands in a text as whole words, whatever the case and the blanks in it. Scripts without blanks
/// between words have no whole words; there it may stand anywhere.
pub fn contains(text: &str, phrase: &str) -> bool {
    let (text, phrase) = (plain(text), plain(phrase));
    if phrase.is_empty() {
        return false;
    }
    text.match_indices(&phrase).any(|(at, _)| {
        let goes_on = |a: Option<char>, b: Option<char>| a.is_some_and(is_of_word) && b.is_some_and(is_of_word);
        let end = at + phrase.len();
        !goes_on(text[..at].chars().next_back(), phrase.chars().next())
            && !goes_on(phrase.chars().next_back(), text[end..].chars().next())
    })
}

/// Whether the last mark of a text is a question mark, behind which only closing marks stand.
pub fn ends_in_question(text: &str) -> bool {
    let closes = |c: char| !c.is_alphanumeric() && !is_end(c) && !matches!(c, ',' | ';' | ':');
    text.trim_end_matches(closes).ends_with(is_question_mark)
}

/// Whether this is a question mark, of whatever script.
pub fn is_question_mark(c: char) -> bool {
    QUESTION_MARKS.contains(&c)
}

/// Whether this ends a sentence.
pub fn is_end(c: char) -> bool {
    is_question_mark(c) || matches!(c, '.' | '!' | '…' | '。' | '！' | '．' | '।')
}

/// A text with one line for each paragraph and each item of a list: where a line was only broken to keep it short, its
/// sentence goes on.
pub fn unwrapped(text: &str) -> String {
    let mut unwrapped = String::with_capacity(text.len());
    let mut begins = true;
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() || begins_block(line) {
            begins = true;
        }
        if !unwrapped.is_empty() && !line.is_empty() {
            unwrapped.push(if begins { '\n' } else { ' ' });
        }
        unwrapped.push_str(line);
        begins = line.is_empty();
    }
    unwrapped
}

/// Whether a line begins an item of a list, such as one of several answers to choose from.
pub fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = numbered.len() < line.len() && (numbered.starts_with(". ") || numbered.starts_with(')'));
    let is_lettered = line.chars().nth(1) == Some(')') && line.starts_with(|c: char| c.is_ascii_alphabetic());
    is_numbered || is_lettered || ["- ", "* ", "• ", "+ "].iter().any(|mark| line.starts_with(mark))
}

fn begins_block(line: &str) -> bool {
    is_item(line) || line.starts_with(['#', '>', '|']) || line.starts_with("```")
}

/// The words of a text in small letters, in their sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(Vec<Token>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// Between two sentences.
    End,
}

/// Where a pattern was found: its first word, and the place behind its last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    start: usize,
    end: usize,
}

impl Found {
    /// Whether another place lies within this one.
    pub fn holds(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

impl Words {
    /// Of a text. An apostrophe or underscore within a word is part of it, a hyphen is not; an end counts only where a
    /// blank follows.
    pub fn of(text: &str) -> Self {
        let mut tokens = Vec::new();
        let mut word = String::new();
        let text = unwrapped(text);
        let mut characters = text.chars().peekable();
        while let Some(c) = characters.next() {
            let is_inside = |c: &char| c.is_alphanumeric();
            match c {
                '_' if !word.is_empty() && characters.peek().is_some_and(is_inside) => word.push('_'),
                '\'' | '’' if !word.is_empty() && characters.peek().is_some_and(is_inside) => word.push('\''),
                c if c.is_alphanumeric() => word.extend(c.to_lowercase()),
                c => {
                    if !word.is_empty() {
                        tokens.push(Token::Word(std::mem::take(&mut word)));
                    }
                    let ends = is_end(c) && characters.peek().is_none_or(|next| !next.is_alphanumeric());
                    if (ends || c == '\n' || c == ';') && !matches!(tokens.last(), None | Some(Token::End)) {
                        tokens.push(Token::End);
                    }
                }
            }
        }
        if !word.is_empty() {
            tokens.push(Token::Word(word));
        }
        Self(tokens)
    }

    /// Whether one of the patterns is found.
    pub fn match_any(&self, patterns: &[&str]) -> bool {
        patterns.iter().any(|pattern| self.find(pattern).next().is_some())
    }

    /// Where a pattern is found. A pattern is words with blanks between them: `a|b` is one of two, `a|b?` may be missing,
    /// `te*` is the beginning of one, `!a|b` is anything but these next, `..` is up to six words, and `^` is the beginning
    /// of a sentence.
    pub fn find(&self, pattern: &str) -> impl Iterator<Item = Found> {
        let pattern: Vec<&str> = pattern.split(' ').collect();
        let starts = 0..self.0.len();
        starts.filter_map(move |start| self.end_of_match(start, &pattern).map(|end| Found { start, end }))
    }

    /// The words of the same sentence before a place, the nearest first.
    pub fn before(&self, found: Found) -> impl Iterator<Item = &str> {
        self.0[..found.start].iter().rev().map_while(Token::word)
    }

    /// The word of the same sentence behind a place.
    pub fn after(&self, found: Found) -> Option<&str> {
        self.0.get(found.end).and_then(Token::word)
    }

    /// The words at a place.
    pub fn inside(&self, found: Found) -> impl Iterator<Item = &str> {
        self.0[found.start..found.end].iter().filter_map(Token::word)
    }

    /// The first words of the text.
    pub fn first(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(Token::word)
    }

    /// Every word, with where it stands.
    pub fn each(&self) -> impl Iterator<Item = (Found, &str)> {
        let tokens = self.0.iter().enumerate();
        tokens.filter_map(|(start, token)| Some((Found { start, end: start + 1 }, token.word()?)))
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn end_of_match(&self, at: usize, pattern: &[&str]) -> Option<usize> {
        let Some((&element, rest)) = pattern.split_first() else { return Some(at) };
        let word = self.0.get(at).and_then(Token::word);
        match element {
            "^" => {
                let begins = at == 0 || self.0[at - 1] == Token::End;
                if begins { self.end_of_match(at, rest) } else { None }
            }
            ".." => (0..=GAP).find_map(|skipped| {
                let is_inside = (at..at + skipped).all(|at| self.0.get(at).is_some_and(|token| token.word().is_some()));
                if is_inside { self.end_of_match(at + skipped, rest) } else { None }
            }),
            element if element.starts_with('!') => {
                let is_one = word.is_some_and(|word| is_one_of(word, &element[1..]));
                if is_one { None } else { self.end_of_match(at, rest) }
            }
            element => {
                let (alternatives, is_optional) = match element.strip_suffix('?') {
                    Some(alternatives) => (alternatives, true),
                    None => (element, false),
                };
                let taken = word.filter(|word| is_one_of(word, alternatives));
                let with = taken.and_then(|_| self.end_of_match(at + 1, rest));
                with.or_else(|| if is_optional { self.end_of_match(at, rest) } else { None })
            }
        }
    }
}

impl Token {
    fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::End => None,
        }
    }
}

fn is_one_of(word: &str, alternatives: &str) -> bool {
    alternatives.split('|').any(|alternative| match alternative.strip_suffix('*') {
        Some(beginning) => word.starts_with(beginning),
        None => word == alternative,
    })
}

/// Small letters, straight apostrophes, single blanks.
fn plain(text: &str) -> String {
    let text = text.to_lowercase().replace('’', "'");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a character is part of a word that has blanks around it.
fn is_of_word(c: char) -> bool {
    let is_without_blanks = matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}');
    (c.is_alphanumeric() || c == '_') && !is_without_blanks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_whole_words_are_contained() {
        assert!(contains("All is VERIFIED.", "verified") && !contains("it is unverified", "verified"));
        assert!(contains("a  force\npush!", "force push") && !contains("enforce pushing", "force push"));
        assert!(contains("测试全部通过了", "全部通过"), "there are no blanks to look for");
        assert!(contains("it doesn’t work", "doesn't work"));
        assert!(contains("run `a.py` now", "a.py") && !contains("data.py", "a.py"));
        assert!(!contains("x", "") && !contains("", "x"));
    }

    #[test]
    fn a_sentence_goes_on_in_the_next_line_but_not_in_the_next_paragraph() {
        assert_eq!(unwrapped("a\nb\n\nc\n- d\n  e\n2. f\n# g"), "a b\nc\n- d e\n2. f\n# g");
        assert!(Words::of("I wait for\nthe build").find("wait for the build").next().is_some());
        assert!(Words::of("I wait for\n\nthe build").find("wait for the build").next().is_none());
    }

    #[test]
    fn a_question_ends_in_the_question_mark_of_its_script() {
        for question in ["Shall I?", "**Shall I?**", "Is it so?\n", "(or not?)", "要继续吗？", "هل أكمل؟", "Go on? 🙂"]
        {
            assert!(ends_in_question(question), "{question}");
        }
        for other in ["", "Yes.", "Why? Because.", "a ? b : c", "Really?!", "Is it so? No"] {
            assert!(!ends_in_question(other), "{other}");
        }
    }

    #[test]
    fn patterns_have_alternatives_gaps_and_exceptions_within_a_sentence() {
        let found = |pattern, text| Words::of(text).find(pattern).next().is_some();
        assert!(found("wait|waiting for !you|your", "I'm waiting for the build."));
        assert!(!found("wait|waiting for !you|your", "I'm waiting for your answer."));
        assert!(found("tests .. pass|passes", "The tests all do now pass"));
        assert!(!found("tests .. pass", "I ran the tests. They pass."));
        assert!(found("^ done", "It was hard. Done!") && !found("^ done", "It is done"));
        assert!(found("is now? fixed", "it is fixed") && found("is now? fixed", "it is now fixed"));
        assert!(found("erfolg*", "Erfolgreich"));
        assert!(found("don't touch", "don’t  touch") && found("read only", "read-only"));
        assert!(found("see a", "see a.py: x") && !found("a py", "see a. Py"));
    }

    proptest! {
        #[test]
        fn any_text_has_words_and_any_pattern_an_answer(text in ".{0,40}", pattern in "[a-c.!?|^* ]{0,12}") {
            let words = Words::of(&text);
            for found in words.find(&pattern) {
                prop_assert!(found.start <= found.end);
            }
            contains(&text, &pattern);
            ends_in_question(&text);
        }
    }
}
