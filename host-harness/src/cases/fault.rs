//! What can be wrong with a file of cases.

use std::fmt;

/// Why a file of cases could not be used: at least one fault, in the order of their places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseErrors(pub Vec<CaseError>);

impl std::error::Error for CaseErrors {}

impl fmt::Display for CaseErrors {
    /// A line for each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

/// A fault of a file of cases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseError {
    /// The file.
    pub file: String,
    /// Counted from 1; 0 where the whole file is meant.
    pub line: u64,
    /// In characters, counted from 1; 0 where the whole file is meant.
    pub column: u64,
    /// In which case; none where it is in none, or its name cannot be read.
    pub case: Option<String>,
    /// What is wrong there.
    pub fault: Fault,
}

impl std::error::Error for CaseError {}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, case, fault } = self;
        match line {
            0 => write!(f, "{file}: ")?,
            line => write!(f, "{file}:{line}:{column}: ")?,
        }
        if let Some(case) = case {
            write!(f, "case `{case}`: ")?;
        }
        fault.fmt(f)
    }
}

/// What is wrong at one place of a file of cases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It is not YAML, or a key or value is not one that cases have.
    Yaml(String),
    /// The file has no case.
    NoCases,
    /// Two cases of the file have this name; the line of the first.
    Twice(String, u64),
    /// A name that is not in kebab-case.
    NotKebab {
        /// The key.
        key: &'static str,
        /// What stands there.
        text: String,
    },
    /// Nothing stands there.
    Empty(&'static str),
    /// What is no primary language subtag.
    Language(String),
    /// A turn that nobody takes.
    NoSpeaker,
    /// A turn that two take.
    TwoSpeakers(&'static str, &'static str),
    /// A key that the turn has no use for.
    Misplaced {
        /// The key.
        key: &'static str,
        /// What it goes with.
        goes_with: &'static str,
    },
    /// An extension's message without its type.
    NoType,
    /// A message that calls tools and says that it stopped by itself.
    StopWithCalls,
    /// Arguments that are no object.
    NotAnObject,
    /// A result that no call waits for.
    ResultWithoutCall,
    /// A call whose result is missing: the tool.
    CallWithoutResult(String),
    /// The agent speaks, and nobody spoke to it.
    Unasked,
    /// The transcript ends before the agent comes to rest.
    NoRest,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yaml(text) => f.write_str(text),
            Self::NoCases => f.write_str("there are no cases; write at least one under `cases`"),
            Self::Twice(name, line) => {
                write!(f, "the case of line {line} is called `{name}` as well; give one of them another name")
            }
            Self::NotKebab { key, text } => {
                write!(f, "the {key} `{text}` is not in kebab-case; write lower-case words with hyphens between them")
            }
            Self::Empty(key) => write!(f, "`{key}` is empty; write something there"),
            Self::Language(text) => {
                write!(f, "`{text}` is no language; write its primary subtag of BCP 47, such as `en` or `de`")
            }
            Self::NoSpeaker => f.write_str(
                "nobody takes this turn; it needs one of `user`, `assistant`, `calls` (without `assistant`), `result`, \
                 `custom`",
            ),
            Self::TwoSpeakers(first, second) => {
                write!(f, "this turn has both `{first}` and `{second}`; make two turns of it")
            }
            Self::Misplaced { key, goes_with } => write!(f, "`{key}` goes with `{goes_with}` only; remove it here"),
            Self::NoType => f.write_str("a `custom` message has a `type`, such as `note`; add it"),
            Self::StopWithCalls => f.write_str(
                "a message with `calls` does not stop by itself; remove `stop`, or write `length`, `aborted` or `error`",
            ),
            Self::NotAnObject => f.write_str("`arguments` is not an object; write names and values, as in `{ path: a.rs }`"),
            Self::ResultWithoutCall => {
                f.write_str("no call waits for this result; remove it, or add the call to the message before")
            }
            Self::CallWithoutResult(tool) => write!(
                f,
                "the call of `{tool}` before this has no result, without which the agent does not go on; add a `result`"
            ),
            Self::Unasked => f.write_str(
                "the agent speaks, and nobody spoke to it since it came to rest; put a `user` or a `custom` before this",
            ),
            Self::NoRest => f.write_str(
                "the transcript ends before the agent comes to rest; end it with an `assistant` without `calls`",
            ),
        }
    }
}
