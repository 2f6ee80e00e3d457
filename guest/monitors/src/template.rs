//! Putting values into texts with placeholders, and the prompt that a judge gets.

/// The placeholders of a prompt that stand for no collector.
pub const BUILT_IN: [&str; 3] = ["patterns", "instructions", "iteration"];

/// The words that stand in braces in a text, in order: letters, digits and underscores only.
pub fn placeholders(template: &str) -> impl Iterator<Item = &str> {
    Pieces(template).filter_map(|piece| match piece {
        Piece::Placeholder(word) => Some(word),
        Piece::Literal(_) => None,
    })
}

/// Puts a value in the place of each placeholder that has one, in one pass: what is put in is not looked at again, and
/// a placeholder without a value stays as it is.
pub fn fill<'v>(template: &str, mut value: impl FnMut(&str) -> Option<&'v str>) -> String {
    let mut filled = String::with_capacity(template.len());
    for piece in Pieces(template) {
        match piece {
            Piece::Literal(text) => filled.push_str(text),
            Piece::Placeholder(word) => match value(word) {
                Some(value) => filled.push_str(value),
                None => filled.extend(["{", word, "}"]),
            },
        }
    }
    filled
}

enum Piece<'t> {
    Literal(&'t str),
    Placeholder(&'t str),
}

/// What is left of a template.
struct Pieces<'t>(&'t str);

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        if self.0.is_empty() {
            return None;
        }
        if let Some((word, rest)) = leading_placeholder(self.0) {
            self.0 = rest;
            return Some(Piece::Placeholder(word));
        }
        // The first byte is no placeholder's brace, or is a brace of its own.
        let literal =
            self.0.bytes().enumerate().skip(1).find(|&(_, byte)| byte == b'{').map_or(self.0.len(), |(at, _)| at);
        let (literal, rest) = self.0.split_at(literal);
        self.0 = rest;
        Some(Piece::Literal(literal))
    }
}

fn leading_placeholder(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('{')?;
    let end = inside.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_'))?;
    let rest = inside[end..].strip_prefix('}')?;
    (end > 0).then(|| (&inside[..end], rest))
}
