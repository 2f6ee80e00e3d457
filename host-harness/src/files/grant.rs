//! What a plugin may read and write in one of its folders.

use std::fmt;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::place::normal;

/// What a plugin may do in a mount.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// The files that it may read, and the folders that it may list.
    pub read: Access,
    /// The files that it may write.
    pub write: Access,
}

impl Grant {
    /// Neither reading nor writing.
    pub const NONE: Grant = Grant { read: Access::None, write: Access::None };
    /// Reading everything, writing nothing.
    pub const READ: Grant = Grant { read: Access::All, write: Access::None };
    /// Reading and writing everything.
    pub const READ_WRITE: Grant = Grant { read: Access::All, write: Access::All };
}

/// The paths of a mount that a grant covers.
#[derive(Clone, Debug, PartialEq)]
pub enum Access {
    /// No path.
    None,
    /// Every path.
    All,
    /// The paths that one of the patterns matches.
    Globs(Globs),
}

impl Access {
    /// Whether the grant covers the file at `path`, which is relative to the mount and in normal form.
    pub fn allows(&self, path: &str) -> bool {
        match self {
            Access::None => false,
            Access::All => true,
            Access::Globs(globs) => globs.files.is_match(path),
        }
    }

    /// Whether the grant may cover something inside the folder at `path`, so that the folder can be listed.
    pub fn reaches_into(&self, folder: &str) -> bool {
        match self {
            Access::None => false,
            Access::All => true,
            Access::Globs(globs) => {
                if folder.is_empty() {
                    !globs.patterns.is_empty()
                } else {
                    globs.folders.is_match(folder)
                }
            }
        }
    }
}

/// Says what is covered, to stand after "grants it".
impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Access::None => f.write_str("nothing"),
            Access::All => f.write_str("everything"),
            Access::Globs(globs) if globs.patterns.is_empty() => f.write_str("nothing"),
            Access::Globs(globs) => write!(f, "`{}`", globs.patterns.join("`, `")),
        }
    }
}

/// Patterns for paths of a mount. `*` and `?` stay within one name, `**` spans folders, `{a,b}` and `[a-z]` choose;
/// names that begin with a dot are matched like any other.
#[derive(Clone, Debug)]
pub struct Globs {
    patterns: Vec<String>,
    files: GlobSet,
    /// The folders on the way to what `files` matches.
    folders: GlobSet,
}

impl PartialEq for Globs {
    fn eq(&self, other: &Self) -> bool {
        self.patterns == other.patterns
    }
}

/// A pattern that cannot be used.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("the pattern `{pattern}` {fault}")]
pub struct BadGlob {
    /// As it was given.
    pub pattern: String,
    /// What is wrong, to stand after the pattern.
    pub fault: String,
    /// What to write instead.
    pub mend: String,
}

impl Globs {
    /// Compiles patterns. Each is relative to the mount, with `/` between names.
    pub fn new(patterns: impl IntoIterator<Item = impl Into<String>>) -> Result<Globs, BadGlob> {
        let patterns: Vec<String> = patterns.into_iter().map(Into::into).collect();
        let (mut files, mut folders) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for pattern in &patterns {
            check_form(pattern)?;
            files.add(compile(pattern).map_err(|error| bad(pattern, &error))?);
            // A prefix that cuts through braces does not compile; such a folder can be reached but not listed.
            for folder in folders_on_the_way(pattern) {
                if let Ok(glob) = compile(folder) {
                    folders.add(glob);
                }
            }
        }
        let build = |set: &GlobSetBuilder| {
            set.build().map_err(|error| bad(error.glob().unwrap_or(&patterns.join("`, `")), &error))
        };
        Ok(Globs { files: build(&files)?, folders: build(&folders)?, patterns })
    }
}

fn compile(pattern: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(pattern).literal_separator(true).backslash_escape(false).build()
}

/// Refuses a pattern that no path in normal form could match.
fn check_form(pattern: &str) -> Result<(), BadGlob> {
    let (fault, mend) = match normal(pattern) {
        Ok(_) if pattern.is_empty() => ("is empty", "write `**` for everything".to_owned()),
        Ok(_) if pattern.ends_with('/') => {
            ("ends in `/`", format!("write `{pattern}**` for all that is in the folder"))
        }
        Ok(path) if path == pattern => return Ok(()),
        Ok(path) => ("has a name that is empty or `.`", format!("write `{path}`")),
        Err(fault) => (fault, "write it relative to the mount, such as `.workflow/**`".to_owned()),
    };
    Err(BadGlob { pattern: pattern.to_owned(), fault: fault.to_owned(), mend })
}

/// `a/b/**` gives `a`, `a/b` and `a/b/**`; `a/*.json` gives `a`.
fn folders_on_the_way(pattern: &str) -> impl Iterator<Item = &str> {
    let prefixes = pattern.match_indices('/').map(|(at, _)| &pattern[..at]);
    prefixes.chain((pattern == "**" || pattern.ends_with("/**")).then_some(pattern))
}

fn bad(pattern: &str, error: &globset::Error) -> BadGlob {
    BadGlob {
        pattern: pattern.to_owned(),
        fault: format!("is not a glob: {}", error.kind()),
        mend: "patterns look like `**`, `*.json` or `.workflow/**`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(patterns: &[&str]) -> Access {
        Access::Globs(Globs::new(patterns.iter().copied()).unwrap())
    }

    #[test]
    fn a_star_stays_in_one_folder_and_two_stars_span_folders() {
        let access = globs(&["*.json", ".workflow/**"]);
        assert!(access.allows("gaps.json"));
        assert!(!access.allows("deep/gaps.json"));
        assert!(access.allows(".workflow/gaps.json"));
        assert!(access.allows(".workflow/a/b.txt"));
        assert!(!access.allows(".workflow"));
        assert!(!access.allows("src/.workflow/a"));
    }

    #[test]
    fn folders_on_the_way_to_something_readable_can_be_listed_and_no_others() {
        let access = globs(&["a/b/*.json", "logs/**"]);
        for folder in ["", "a", "a/b", "logs", "logs/deep/er"] {
            assert!(access.reaches_into(folder), "{folder}");
        }
        for folder in ["b", "a/c", "a/b/c"] {
            assert!(!access.reaches_into(folder), "{folder}");
        }
        assert!(globs(&["**/x.json"]).reaches_into("any/where"));
        assert!(!globs(&[]).reaches_into(""));
    }

    #[test]
    fn a_pattern_cut_through_its_braces_grants_no_more_than_it_says() {
        let access = globs(&["{a,b/c}/d"]);
        assert!(access.allows("b/c/d"));
        assert!(!access.reaches_into("b"));
    }

    #[test]
    fn a_pattern_that_could_never_match_is_refused_with_its_mend() {
        for (pattern, mend) in [
            ("", "write `**` for everything"),
            ("/etc/**", "write it relative to the mount, such as `.workflow/**`"),
            ("./a", "write `a`"),
            ("a/", "write `a/**` for all that is in the folder"),
            ("../a", "write it relative to the mount, such as `.workflow/**`"),
            ("a\\b", "write it relative to the mount, such as `.workflow/**`"),
            ("a[", "patterns look like `**`, `*.json` or `.workflow/**`"),
        ] {
            assert_eq!(Globs::new([pattern]).unwrap_err().mend, mend);
        }
    }
}
