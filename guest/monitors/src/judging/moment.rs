//! What there is to be looked at, read once for all who look.

use chaperone_sdk::{Context, Entry, EntryId, ToolCall};

use crate::branch;
use crate::definition::Collector;
use crate::evidence::Window;
use crate::roster::Listed;
use crate::transcript::Transcript;

/// The entries since the user's message; what stands before them, if somebody shows it to a judge; and the tool call that
/// waits, if one does.
pub struct Moment {
    entries: Vec<Entry>,
    earlier: Vec<Entry>,
    pending: Option<ToolCall>,
}

impl Moment {
    /// As it is now, for these monitors.
    pub fn now(cx: &Context, looking: &[Listed]) -> Self {
        let entries = branch::since_user(cx);
        Self::of(cx, entries, looking)
    }

    /// With these entries since the user's message.
    pub fn of(cx: &Context, entries: Vec<Entry>, looking: &[Listed]) -> Self {
        let shows_history = |listed: &Listed| listed.shows.collectors.contains(&Collector::ConversationHistory);
        let earlier = match looking.iter().any(shows_history) {
            true => branch::earlier(cx, &entries),
            false => Vec::new(),
        };
        Self { entries, earlier, pending: None }
    }

    /// The same, while this call waits.
    pub fn before(self, pending: ToolCall) -> Self {
        Self { pending: Some(pending), ..self }
    }

    /// As evidence.
    pub fn window(&self) -> Window<'_> {
        let window = Window::new(&self.entries).after(&self.earlier);
        match &self.pending {
            Some(pending) => window.before(pending),
            None => window,
        }
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
