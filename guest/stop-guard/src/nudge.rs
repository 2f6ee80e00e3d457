//! What the agent is told when it is sent back: a directive of the system, never in the user's name.

use std::num::NonZeroU32;

use chaperone_sdk::{Delivery, Injection};
use serde_json::json;

use crate::config::Config;

/// The kind of message, and of the entry that it becomes.
pub const CUSTOM_TYPE: &str = "auto-goal-continue";

/// What the agent is told where the configuration has no text of its own.
const TEMPLATE: &str = "\
[auto-goal] Automatic directive of the system, not a message from the user: you stopped before the user's latest request \
was finished.
Still missing: {reason}
Go on with it now, from where you are. Do not repeat what is done already, and do not just describe what is left. If you \
cannot go on without a decision of the user or something that is out of your reach, say exactly what that is, and stop.";

/// The text: `{reason}` is put in as it is, once wherever it stands.
pub fn text(config: &Config, reason: &str) -> String {
    config.continue_message_template.as_deref().unwrap_or(TEMPLATE).replace("{reason}", reason)
}

/// The message to the agent, for the how manieth time. The user sees it only where the verdict's block, which quotes it,
/// is not shown.
pub fn message(config: &Config, text: String, reason: &str, number: NonZeroU32) -> Injection {
    let limit = config.max_auto_continues;
    Injection {
        custom_type: CUSTOM_TYPE.into(),
        content: text,
        display: !config.show_verdict_notice,
        details: Some(json!({"reason": reason, "continuation": number, "limit": limit}).to_string()),
        delivery: Delivery::Steer,
        trigger_turn: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(template: &str) -> Config {
        Config { continue_message_template: Some(template.into()), ..Config::default() }
    }

    #[test]
    fn the_built_in_text_names_the_gap_and_says_whose_words_these_are() {
        let text = text(&Config::default(), "the tests were not run");
        assert!(text.contains("Still missing: the tests were not run\n"));
        assert!(text.contains("not a message from the user"));
        assert!(!text.contains('{'));
    }

    #[test]
    fn a_template_gets_the_reason_literally_and_in_one_pass() {
        assert_eq!(
            text(&with("{reason}! {reason}? {other}"), "$& {reason} \\1"),
            "$& {reason} \\1! $& {reason} \\1? {other}"
        );
        assert_eq!(text(&with("Go on."), "x"), "Go on.");
    }

    #[test]
    fn the_message_starts_the_agent_and_is_shown_only_where_the_notice_is_not() {
        let message = |config: &Config| message(config, "t".into(), "r", NonZeroU32::MIN);
        let shown = message(&Config { show_verdict_notice: false, ..Config::default() });
        let quiet = message(&Config::default());
        assert!(shown.display && !quiet.display);
        assert!(quiet.trigger_turn);
        assert_eq!(quiet.custom_type, CUSTOM_TYPE);
        assert_eq!(quiet.details.unwrap(), r#"{"reason":"r","continuation":1,"limit":2}"#);
    }
}
