//! Adding to the known faults: what a judge reported as new.

/// The longest id, in characters.
const LONGEST_ID: usize = 60;

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

/// What two descriptions of one fault have in common: their letters and digits in lower case, words parted by a blank.
pub fn key(text: &str) -> String {
    join_words(text, ' ')
}

/// An id made of a description: its letters and digits in lower case, hyphens in place of the rest, at most 60
/// characters. Empty where the description has neither letters nor digits.
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
        joined.extend(word.chars().flat_map(char::to_lowercase));
    }
    joined
}
