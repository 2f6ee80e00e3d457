//! What `status` answers.

use std::fmt::Write as _;

use chaperone_sdk::ModelId;

use crate::config::{Config, Field, name};
use crate::file;

/// How often the agent was sent back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// For the current request.
    pub for_request: u32,
    /// In this session.
    pub in_session: u32,
}

/// The configuration in force, a field each line, and how often the agent was sent back.
pub fn status(config: &Config, session: Option<&ModelId>, sent: Sent) -> String {
    let mut text = format!("[auto-goal] Judgement is {}. {}:", on_or_off(config.enabled), file::PATH);
    for &field in Field::ALL {
        write!(text, "\n  {}: {}", field.name(), config.value(field)).expect("a String takes everything");
        match field {
            Field::Model if config.model.is_none() => {
                let own = session.map_or_else(String::new, |model| format!(", {}", name(model)));
                write!(text, " (the session's own{own})").expect("a String takes everything");
            }
            Field::NotifyOnStopDecision => text.push_str(" (no effect)"),
            _ => {}
        }
    }
    let limit = config.max_auto_continues.map_or_else(|| "no limit".into(), |limit| format!("of {limit}"));
    let Sent { for_request, in_session } = sent;
    write!(
        text,
        "\nSent back {for_request} times ({limit}) for the current request, {in_session} times in this session."
    )
    .expect("a String takes everything");
    text
}

/// `on` or `off`.
pub fn on_or_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_every_field_and_both_counts() {
        let model = ModelId { provider: "fake".into(), model: "agent".into() };
        let text = status(&Config::default(), Some(&model), Sent { for_request: 1, in_session: 3 });
        for field in Field::ALL {
            assert!(text.contains(&format!("\n  {}: ", field.name())), "{text}");
        }
        assert!(text.contains("model: \"\" (the session's own, fake/agent)"), "{text}");
        assert!(text.ends_with("Sent back 1 times (of 2) for the current request, 3 times in this session."), "{text}");
        let unlimited = Config { max_auto_continues: None, enabled: false, ..Config::default() };
        let text = status(&unlimited, None, Sent::default());
        assert!(text.contains("(no limit)") && text.contains("Judgement is off"), "{text}");
    }
}
