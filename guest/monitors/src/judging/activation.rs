//! Whether an event makes a monitor ask its judge: what can be said without its files.

use chaperone_sdk::Agent;

use crate::branch::Ending;
use crate::definition::Trigger;
use crate::exclusion;
use crate::memory::{Memory, Notes, Watch};
use crate::roster::Listed;
use crate::when::When;

/// The monitors that look at such an event, those first that others exclude themselves for.
///
/// While the agent goes on, only `every(N)` monitors look: all others judge what it leaves behind.
pub fn concerned(watch: &Watch, trigger: Trigger, ending: Ending, agent: &Agent) -> Vec<Listed> {
    let looks = |listed: &&Listed| {
        listed.event == trigger
            && listed.inactive.is_none()
            && match ending {
                Ending::AtRest => true,
                Ending::GoesOn => counts(listed),
                Ending::BrokenOff => false,
            }
            && !watch.dismissed.contains(&listed.name)
            && listed.scope.includes(agent)
    };
    if watch.off {
        return Vec::new();
    }
    in_order(watch.roster.monitors.iter().filter(looks).collect())
}

/// Puts those first that others exclude themselves for.
pub fn in_order(monitors: Vec<&Listed>) -> Vec<Listed> {
    let edges: Vec<_> = monitors.iter().map(|listed| (listed.name.as_str(), listed.excludes.as_slice())).collect();
    exclusion::order(&edges).into_iter().map(|position| monitors[position].clone()).collect()
}

/// Whether a monitor counts its events.
pub fn counts(listed: &Listed) -> bool {
    matches!(listed.when, When::Every(_))
}

/// Whether the condition of a monitor that [`counts`] holds, this event counted.
pub fn comes_round(listed: &Listed, memory: &mut Memory) -> bool {
    let notes = memory.notes(&listed.name);
    notes.activations = notes.activations.saturating_add(1);
    listed.when.comes_round(notes.activations) == Some(true)
}

/// Whether a monitor may ask its judge once more for this prompt, and its judge is to be asked at all. An activation
/// that a failing judge is spared counts as such.
pub fn may_ask(listed: &Listed, notes: &mut Notes) -> bool {
    !notes.back_off.skips() && notes.calls < listed.max_per_prompt.get()
}
