//! The collector `git_status`: what git says of the working tree.

use chaperone_sdk::text::cut;
use chaperone_sdk::{Context, FileError, RequestId};

use super::selection::Limit;

/// The host's mount, and the file in it.
const MOUNT: &str = "git";
const FILE: &str = "status";

/// What stands where nobody has looked, since the monitor's file has come to ask for it just now.
pub const UNKNOWN: &str = "(not available: it was not looked up)";

/// Has the host find out; its answer is that the file is stored.
pub fn look_up(cx: &mut Context) -> RequestId {
    cx.refresh(MOUNT, FILE)
}

/// Why the host does not give it out to this plugin. None: it does.
pub fn refusal(cx: &Context) -> Option<String> {
    match cx.read(MOUNT, FILE) {
        Err(FileError::Denied(reason)) => Some(reason),
        _ => None,
    }
}

/// What the host has found out. Where that is nothing, the judge is told so, with the reason: silence would look like a
/// clean tree.
pub fn status(cx: &Context, outcome: Result<(), FileError>) -> String {
    let reason = match outcome.and_then(|()| cx.read(MOUNT, FILE)) {
        Ok(status) => return status,
        Err(FileError::NotFound) => "the project is in no git repository".into(),
        Err(FileError::Denied(reason) | FileError::Io(reason)) => reason,
        Err(_) => "the host cannot make it".into(),
    };
    format!("(not available: {reason})")
}

/// A status as a judge sees it.
pub fn text(status: &str, limit: Limit) -> String {
    let status = status.trim_end();
    // The branch alone would look as if the rest were missing.
    let clean = if status.lines().all(|line| line.starts_with("## ")) {
        "\n(nothing changed, staged or untracked)"
    } else {
        ""
    };
    cut(&format!("{status}{clean}"), limit.characters as usize).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit { items: 1, characters: 30 };

    #[test]
    fn a_clean_tree_is_called_so() {
        let limit = Limit { characters: 50, ..LIMIT };
        assert_eq!(text("## main\n", limit), "## main\n(nothing changed, staged or untracked)");
        let told = text(&format!("## {}\n", "long/".repeat(50)), limit);
        assert!(told.starts_with("## long/") && told.contains("characters left out"), "{told}");
    }

    #[test]
    fn changes_are_shown_as_git_writes_them_and_cut_in_their_middle() {
        assert_eq!(text("## main\n M a.rs\n?? .env\n", LIMIT), "## main\n M a.rs\n?? .env");
        let many = format!("## main\n{}", "?? some/file\n".repeat(10));
        assert_eq!(text(&many, LIMIT), "## main\n?? some\n[… 107 characters left out …]\nle\n?? some/file");
    }
}
