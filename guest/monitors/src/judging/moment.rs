//! What there is to be looked at, read once for all who look.

use chaperone_sdk::{Context, Entry, EntryId, ToolCall};

use crate::branch;
use crate::definition::Collector;
use crate::evidence::Window;
use crate::roster::Listed;
use crate::transcript::Transcript;

/// The entries since the user's message; what stands before them, if somebody shows it to a judge; the tool call that
/// waits, if one does; and the state of the repository, if it was looked up.
pub struct Moment {
    entries: Vec<Entry>,
    earlier: Vec<Entry>,
    pending: Option<ToolCall>,
    git_status: Option<String>,
}

impl Moment {
    /// As it is now, for these monitors.
    pub fn now(cx: &Context, looking: &[Listed]) -> Self {
        let entries = branch::since_user(cx);
        Self::of(cx, entries, looking)
    }

    /// With these entries since the user's message.
    pub fn of(cx: &Context, entries: Vec<Entry>, looking: &[Listed]) -> Self {
        let shows_history = |listed: &Listed| listed.shows.shows(Collector::ConversationHistory);
        let earlier = match looking.iter().any(shows_history) {
            true => branch::earlier(cx, &entries),
            false => Vec::new(),
        };
        Self { entries, earlier, pending: None, git_status: None }
    }

    /// The same, while this call waits.
    pub fn before(self, pending: ToolCall) -> Self {
        Self { pending: Some(pending), ..self }
    }

    /// The same, with the state of the repository.
    pub fn with_git_status(self, status: String) -> Self {
        Self { git_status: Some(status), ..self }
    }

    /// As evidence.
    pub fn window(&self) -> Window<'_> {
        let mut window = Window::new(&self.entries).after(&self.earlier);
        if let Some(pending) = &self.pending {
            window = window.before(pending);
        }
        if let Some(status) = &self.git_status {
            window = window.with_git_status(status);
        }
        window
    }

    /// As conditions see it.
    pub fn transcript(&self) -> Transcript<'_> {
        self.window().transcript()
    }

    /// The newest entry.
    pub fn newest(&self) -> Option<EntryId> {
        self.entries.last().map(|entry| entry.id.clone())
    }
}
