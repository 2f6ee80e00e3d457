//! Globs on names: `*` any text, `?` one character, `[a-z]` one of these, `[!a-z]` one other than these.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A glob that matches whole names, with regard to case. In JSON it is its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Glob {
    text: String,
    tokens: Vec<Token>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Literal(char),
    One,
    Many,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

/// A glob whose `[` is never closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`[` has no closing `]`")]
pub struct UnclosedClass;

impl Glob {
    /// Whether the whole name matches.
    pub fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut token, mut position) = (0, 0);
        let mut latest_star = None;
        while position < name.len() {
            match self.tokens.get(token) {
                Some(Token::Many) => {
                    latest_star = Some((token, position));
                    token += 1;
                }
                Some(single) if single.takes(name[position]) => {
                    token += 1;
                    position += 1;
                }
                _ => {
                    let Some((star, taken)) = latest_star else { return false };
                    latest_star = Some((star, taken + 1));
                    token = star + 1;
                    position = taken + 1;
                }
            }
        }
        self.tokens[token..].iter().all(|rest| *rest == Token::Many)
    }
}

impl Token {
    fn takes(&self, c: char) -> bool {
        match self {
            Self::Literal(literal) => *literal == c,
            Self::One => true,
            Self::Many => false,
            Self::Class { negated, ranges } => ranges.iter().any(|(low, high)| (low..=high).contains(&&c)) != *negated,
        }
    }
}

impl FromStr for Glob {
    type Err = UnclosedClass;

    fn from_str(text: &str) -> Result<Self, UnclosedClass> {
        let mut tokens = Vec::new();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            tokens.push(match c {
                '*' => Token::Many,
                '?' => Token::One,
                '[' => class(&mut rest)?,
                literal => Token::Literal(literal),
            });
        }
        Ok(Self { text: text.into(), tokens })
    }
}

/// Reads what follows a `[`. A `]` that comes first stands for itself.
fn class(rest: &mut std::str::Chars<'_>) -> Result<Token, UnclosedClass> {
    let negated = rest.as_str().starts_with(['!', '^']);
    if negated {
        rest.next();
    }
    let mut ranges = Vec::new();
    loop {
        match rest.next().ok_or(UnclosedClass)? {
            ']' if !ranges.is_empty() => return Ok(Token::Class { negated, ranges }),
            low => {
                let mut ahead = rest.clone();
                match (ahead.next(), ahead.next()) {
                    (Some('-'), Some(high)) if high != ']' => {
                        ranges.push((low, high));
                        *rest = ahead;
                    }
                    _ => ranges.push((low, low)),
                }
            }
        }
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for Glob {
    type Error = UnclosedClass;

    fn try_from(text: String) -> Result<Self, UnclosedClass> {
        text.parse()
    }
}

impl From<Glob> for String {
    fn from(glob: Glob) -> Self {
        glob.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(glob: &str, name: &str) -> bool {
        glob.parse::<Glob>().unwrap().matches(name)
    }

    #[test]
    fn stars_question_marks_and_classes_match() {
        assert!(matches("review-*", "review-security"));
        assert!(matches("review-*", "review-"));
        assert!(!matches("review-*", "preview-x"));
        assert!(matches("*fix*er", "audit-fixer-fixer"));
        assert!(matches("step-?", "step-é"));
        assert!(!matches("step-?", "step-"));
        assert!(matches("v[0-9a]", "v7") && matches("v[0-9a]", "va") && !matches("v[0-9a]", "vb"));
        assert!(matches("[!a-c]x", "dx") && !matches("[!a-c]x", "bx"));
        assert!(matches("[]-]", "]") && matches("[]-]", "-"));
        assert!(matches("", "") && !matches("", "x"));
    }

    #[test]
    fn an_open_class_is_an_error() {
        assert_eq!("v[0-9".parse::<Glob>(), Err(UnclosedClass));
        assert_eq!("[]".parse::<Glob>(), Err(UnclosedClass));
    }

    proptest! {
        #[test]
        fn a_name_without_special_characters_matches_itself_alone(a in "[a-z/é-]{0,8}", b in "[a-z/é-]{0,8}") {
            prop_assert_eq!(matches(&a, &b), a == b);
        }

        #[test]
        fn a_star_matches_whatever_stands_between(head in "[a-c]{0,4}", middle in "[a-c]{0,6}", tail in "[a-c]{0,4}") {
            let name = format!("{head}{middle}{tail}");
            let glob = format!("{head}*{tail}");
            prop_assert!(matches(&glob, &name));
        }

        #[test]
        fn any_text_is_a_glob_or_an_error(text in ".{0,20}", name in ".{0,20}") {
            if let Ok(glob) = text.parse::<Glob>() {
                glob.matches(&name);
                prop_assert_eq!(glob.to_string(), text);
            }
        }
    }
}
