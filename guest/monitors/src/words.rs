//! Enums whose cases are words of the monitor files.

/// An enum, and the word that each case has in files and in output.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$case_doc])* #[serde(rename = $word)] $case,)*
        }

        impl $name {
            /// Every case, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$case),*];

            /// The word that stands in files.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$case => $word,)* }
            }

            /// The case that a word stands for.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$case),)* _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

pub(crate) use words;
