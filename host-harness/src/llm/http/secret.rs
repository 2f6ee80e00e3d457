//! A key that stays out of everything that people read.

use std::fmt;

/// A key. What is printed of it is only that there is one.
pub(super) struct Secret(String);

impl Secret {
    /// `None` where nothing but white space is left.
    pub(super) fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// The key itself, for the request alone.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    /// `text` with the key blacked out wherever it stands.
    pub(super) fn scrub(&self, text: &str) -> String {
        text.replace(&self.0, "[key]")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_print_itself() {
        assert_eq!(format!("{:?}", Secret::new("sk-123")), "Some(Secret)");
    }

    #[test]
    fn a_secret_is_blacked_out_wherever_it_stands() {
        let secret = Secret::new(" sk-123\n").unwrap();
        assert_eq!(secret.scrub("sk-123: no such key \"sk-123\""), "[key]: no such key \"[key]\"");
    }

    #[test]
    fn white_space_is_no_secret() {
        assert!(Secret::new(" \n").is_none());
    }
}
