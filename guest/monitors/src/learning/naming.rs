//! What a pattern is called, and what makes two descriptions one.

use crate::patterns::Pattern;

/// The longest id, in characters.
pub const LONGEST_ID: usize = 60;

/// The description's [`slug`], with a number behind it if another pattern has it.
pub(super) fn free_id(patterns: &[Pattern], description: &str) -> String {
    let slug = slug(description);
    let is_free = |id: &String| patterns.iter().all(|pattern| pattern.id != *id);
    let numbered = (2_u64..).map(|number| {
        let suffix = format!("-{number}");
        let kept: String = slug.chars().take(LONGEST_ID - suffix.len()).collect();
        kept.trim_end_matches('-').to_owned() + &suffix
    });
    std::iter::once(slug.clone()).chain(numbered).find(is_free).expect("a list is finite, and numbers are not")
}

/// What two descriptions of one fault have in common: their letters and digits in lower case, words parted by a blank.
pub fn key(text: &str) -> String {
    join_words(text, ' ')
}

/// An id made of a description: its letters and digits in lower case, hyphens in place of the rest, at most 60
/// characters. Empty only where the description has neither letters nor digits.
pub fn slug(description: &str) -> String {
    let slug: String = join_words(description, '-').chars().take(LONGEST_ID).collect();
    slug.trim_end_matches('-').into()
}

fn join_words(text: &str, separator: char) -> String {
    let mut joined = String::with_capacity(text.len());
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if !joined.is_empty() {
            joined.push(separator);
        }
        // Some capitals have a lower case of several characters, not all of which are letters.
        joined.extend(word.chars().flat_map(char::to_lowercase).filter(|c| c.is_alphanumeric()));
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_lower_case_with_hyphens_and_at_most_sixty_characters() {
        assert_eq!(slug("Learned pattern: ABC (again)"), "learned-pattern-abc-again");
        assert_eq!(slug(&"ab ".repeat(50)).chars().count(), 59, "not ending in a hyphen");
        assert_eq!(slug(&"x".repeat(200)).chars().count(), LONGEST_ID);
    }

    #[test]
    fn d15_other_scripts_keep_their_letters() {
        assert_eq!(slug("日本語"), "日本語");
        assert_eq!(slug("Проверка не запущена"), "проверка-не-запущена");
    }
}
