//! When a monitor has steered often enough, and what then.

use std::num::NonZeroU32;

use chaperone_sdk::{Answer, Prompt};

use crate::definition::Escalate;

/// What becomes of a steer, in view of the steers before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// It goes to the agent.
    Passes,
    /// The user is asked.
    Asks,
    /// It is not delivered, and the monitor is silent from now on.
    Dismisses,
}

/// Whether one more steer may be delivered after `delivered` of them in a row.
pub fn passage(delivered: u32, ceiling: NonZeroU32, escalate: Escalate) -> Passage {
    match escalate {
        _ if delivered < ceiling.get() => Passage::Passes,
        Escalate::Ask => Passage::Asks,
        Escalate::Dismiss => Passage::Dismisses,
    }
}

/// The dialog for a monitor that wants to steer once more.
pub fn question(name: &str, delivered: u32, description: &str) -> Prompt {
    let found = if description.is_empty() { String::new() } else { format!("Now it finds: {description}\n\n") };
    let body = format!(
        "{found}Let it go on? If so, the agent is told of this and the monitor counts from 0 again. If not, it is silent \
         for the rest of this session (`/monitors {name} reset` brings it back)."
    );
    // Word for word as in pi-behavior-monitors, also for 1: programs that answer it know the dialog by that.
    Prompt::Confirm((format!("[{name}] Steered {delivered} times"), body))
}

/// What the answer to that dialog means for the monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It counts from 0 again, and the steer is delivered.
    GoesOn,
    /// The user has silenced it.
    Silenced,
    /// Nobody could be asked, so it falls silent, which has to be said.
    Unasked,
}

/// Reads the answer.
pub fn decision(answer: &Answer) -> Decision {
    match answer {
        Answer::Confirmed(true) => Decision::GoesOn,
        Answer::Unavailable => Decision::Unasked,
        Answer::Confirmed(false)
        | Answer::Selected(_)
        | Answer::Entered(_)
        | Answer::Changed(_)
        | Answer::Dismissed => Decision::Silenced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: NonZeroU32 = NonZeroU32::new(3).expect("3 is not 0");

    #[test]
    fn as_many_steers_pass_as_the_ceiling_says() {
        assert_eq!([0, 1, 2].map(|count| passage(count, THREE, Escalate::Ask)), [Passage::Passes; 3]);
        assert_eq!(passage(3, THREE, Escalate::Ask), Passage::Asks);
        assert_eq!(passage(4, THREE, Escalate::Dismiss), Passage::Dismisses);
    }

    #[test]
    fn the_question_names_the_monitor_and_the_steers_that_were_delivered() {
        let Prompt::Confirm((title, body)) = question("hedge", 3, "it asks again") else { panic!("a yes or no") };
        assert_eq!(title, "[hedge] Steered 3 times");
        assert!(body.contains("it asks again") && body.contains("/monitors hedge reset"));
        assert!(matches!(question("hedge", 1, ""), Prompt::Confirm((title, _)) if title == "[hedge] Steered 1 times"));
    }

    #[test]
    fn only_a_yes_lets_it_go_on_and_only_an_absent_user_needs_a_word() {
        assert_eq!(decision(&Answer::Confirmed(true)), Decision::GoesOn);
        assert_eq!(decision(&Answer::Confirmed(false)), Decision::Silenced);
        assert_eq!(decision(&Answer::Dismissed), Decision::Silenced);
        assert_eq!(decision(&Answer::Unavailable), Decision::Unasked);
    }
}
