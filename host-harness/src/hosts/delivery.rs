//! Which of the plugins' messages go out with an answer, and which wait for another one.

use chaperone_contract::{Delivery, Injection};

use super::event::Moment;

/// What an answer to an event can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Nothing that the agent reads.
    Nothing,
    /// Text that it reads with the user's prompt.
    Prompt,
    /// Text that it reads before its next model call.
    Context,
    /// A reason not to stop.
    SendBack,
}

impl Opening {
    /// What hosts take at this moment. `may_send_back` is false where the agent was sent back often enough.
    pub fn at(moment: &Moment, may_send_back: bool) -> Self {
        match moment {
            Moment::Prompt(_) => Self::Prompt,
            Moment::SessionStart(_) | Moment::AfterTool(_) => Self::Context,
            Moment::Stop { .. } if may_send_back => Self::SendBack,
            Moment::Stop { .. } | Moment::BeforeTool(_) | Moment::Failed(_) | Moment::SessionEnd | Moment::Other => {
                Self::Nothing
            }
        }
    }

    /// Whether a message goes out here. Where the agent is about to stop, one that may not start it waits for whatever
    /// starts it next.
    fn takes(self, message: &Injection) -> bool {
        match (self, message.delivery) {
            (Self::Nothing, _) => false,
            (Self::Prompt, _) => true,
            (Self::Context, Delivery::Steer) => true,
            (Self::Context, Delivery::FollowUp | Delivery::NextTurn) => false,
            (Self::SendBack, Delivery::Steer) => message.trigger_turn,
            (Self::SendBack, Delivery::FollowUp) => true,
            (Self::SendBack, Delivery::NextTurn) => false,
        }
    }

    /// Whether there is a message that goes out here.
    pub fn has_any(self, waiting: &[Injection]) -> bool {
        waiting.iter().any(|message| self.takes(message))
    }

    /// Takes out of the waiting messages those that go out here, as one text.
    pub fn take(self, waiting: &mut Vec<Injection>) -> Option<String> {
        let (out, stay): (Vec<_>, Vec<_>) =
            std::mem::take(waiting).into_iter().partition(|message| self.takes(message));
        *waiting = stay;
        let texts: Vec<_> =
            out.into_iter().map(|message| message.content).filter(|text| !text.trim().is_empty()).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }
}

#[cfg(test)]
mod tests {
    use chaperone_contract::StartReason;

    use super::super::event::LastWords;
    use super::*;

    fn message(content: &str, delivery: Delivery, trigger_turn: bool) -> Injection {
        Injection {
            custom_type: "t".into(),
            content: content.into(),
            display: true,
            details: None,
            delivery,
            trigger_turn,
        }
    }

    fn all() -> Vec<Injection> {
        vec![
            message("steer", Delivery::Steer, true),
            message("aside", Delivery::Steer, false),
            message("follow-up", Delivery::FollowUp, false),
            message("next", Delivery::NextTurn, false),
        ]
    }

    #[test]
    fn each_message_goes_out_where_it_is_meant_to_and_only_once() {
        let out = |opening: Opening| {
            let mut waiting = all();
            let text = opening.take(&mut waiting);
            let stay: Vec<_> = waiting.iter().map(|message| message.content.clone()).collect();
            assert_eq!(opening.take(&mut waiting), None);
            (text, stay.join(" "))
        };
        assert_eq!(out(Opening::Nothing), (None, "steer aside follow-up next".into()));
        assert_eq!(out(Opening::Context), (Some("steer\n\naside".into()), "follow-up next".into()));
        assert_eq!(out(Opening::SendBack), (Some("steer\n\nfollow-up".into()), "aside next".into()));
        assert_eq!(out(Opening::Prompt), (Some("steer\n\naside\n\nfollow-up\n\nnext".into()), String::new()));
    }

    #[test]
    fn an_agent_that_was_sent_back_often_enough_may_stop() {
        let stop = Moment::Stop { words: LastWords::Unknown, sent_back: true };
        assert_eq!(Opening::at(&stop, true), Opening::SendBack);
        assert_eq!(Opening::at(&stop, false), Opening::Nothing);
        assert_eq!(Opening::at(&Moment::SessionStart(StartReason::Resume), false), Opening::Context);
    }

    #[test]
    fn blank_messages_are_no_reason() {
        let mut waiting = vec![message(" \n", Delivery::Steer, true)];
        assert_eq!(Opening::SendBack.take(&mut waiting), None);
        assert_eq!(waiting, []);
    }
}
