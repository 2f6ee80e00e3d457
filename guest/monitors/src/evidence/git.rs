//! The collector `git_status`: what git says of the working tree.

use chaperone_sdk::text::cut;
use chaperone_sdk::{Context, FileError, RequestId};

use super::selection::Limit;

/// The host's mount, and the file in it.
const MOUNT: &str = "git";
const FILE: &str = "status";

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
    let changes = status.lines().filter(|line| !line.starts_with("## "));
    match changes.count() {
        0 => format!("{status}\n(nothing has changed since the last commit)"),
        _ => cut(status, limit.characters as usize).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit { items: 1, characters: 30 };

    #[test]
    fn a_clean_tree_is_called_so() {
        assert_eq!(text("## main\n", LIMIT), "## main\n(nothing has changed since the last commit)");
    }

    #[test]
    fn changes_are_shown_as_git_writes_them_and_cut_in_their_middle() {
        assert_eq!(text("## main\n M a.rs\n?? .env\n", LIMIT), "## main\n M a.rs\n?? .env");
        let many = format!("## main\n{}", "?? some/file\n".repeat(10));
        assert_eq!(text(&many, LIMIT), "## main\n?? some\n[… 107 characters left out …]\nle\n?? some/file");
    }
}
