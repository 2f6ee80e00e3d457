//! `interface conversation`: speaking to the agent.

use crate::types::Json;

wit_enum! {
    /// When a message reaches the agent.
    Delivery {
        /// Before the agent's next model call.
        Steer = "steer",
        /// Once the agent would otherwise stop.
        FollowUp = "follow-up",
        /// With the user's next input.
        NextTurn = "next-turn",
    }
}

record! {
    /// A message to the agent.
    Injection {
        /// Names the kind of message; comes back as the entry's `custom-type`.
        custom_type = "custom-type": String,
        /// What the agent reads.
        content = "content": String,
        /// Show it to the user as well.
        display = "display": bool,
        /// What programs read.
        details = "details": Option<Json>,
        /// When it reaches the agent.
        delivery = "delivery": Delivery,
        /// Start the agent if it is idle.
        trigger_turn = "trigger-turn": bool,
    }
}
