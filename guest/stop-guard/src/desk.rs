//! One hook's work: what is remembered, read once and written back only where it has changed.

use chaperone_sdk::{Context, Scope};

use crate::memory::{Spent, Watch};

/// What a hook works on.
pub struct Desk<'cx, 'host> {
    /// The session and its effects.
    pub cx: &'cx mut Context<'host>,
    /// Of the session.
    pub watch: Watch,
    /// Of the branch.
    pub spent: Spent,
}

/// Does one hook's work.
pub fn work(cx: &mut Context, work: impl FnOnce(&mut Desk)) {
    let (watch, spent): (Watch, Spent) = (cx.state(Scope::Session), cx.state(Scope::Branch));
    let mut desk = Desk { cx, watch: watch.clone(), spent: spent.clone() };
    work(&mut desk);
    let Desk { cx, watch: watch_after, spent: spent_after } = desk;
    if watch_after != watch {
        cx.set_state(Scope::Session, &watch_after);
    }
    if spent_after != spent {
        cx.set_state(Scope::Branch, &spent_after);
    }
}
