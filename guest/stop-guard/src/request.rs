//! The question to a judge.

use chaperone_sdk::{CompletionRequest, Effort, ModelId, ModelInfo, PromptMessage, Role};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::evidence::evidence;
use crate::prompt;
use crate::round::Round;

/// What the calls and the judgements are called.
pub const LABEL: &str = "stop-guard";

/// The how manieth time the same is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attempt {
    /// The usual.
    First,
    /// The answer to the first one was used up before it said anything.
    Second,
}

/// Asks about a round. `limit` is how much the judge's model can write at most, where it is known.
pub fn request(config: &Config, round: &Round, attempt: Attempt, limit: Option<u32>) -> CompletionRequest {
    CompletionRequest {
        label: LABEL.into(),
        model: config.model.clone(),
        system: Some(prompt::instructions(config)),
        messages: vec![PromptMessage { role: Role::User, text: evidence(round, config) }],
        max_output_tokens: Some(budget(config.judge_max_tokens, attempt, limit)),
        effort: Effort::Lowest,
        response_schema: Some(prompt::ANSWER_SCHEMA.into()),
        timeout_ms: Some(config.timeout_ms),
        streamed: false,
        cache_key: Some(LABEL.into()),
    }
}

/// How much the judge's model can write at most, if the host knows. `session` is the model of the session.
pub fn output_limit(models: &[ModelInfo], config: &Config, session: Option<&ModelId>) -> Option<u32> {
    let judge = config.model.as_ref().or(session)?;
    models.iter().find(|known| known.id == *judge)?.max_output_tokens
}

/// How many tokens an answer may have: twice as many the second time, and never more than the model can write.
fn budget(tokens: u32, attempt: Attempt, limit: Option<u32>) -> u32 {
    let wanted = match attempt {
        Attempt::First => tokens,
        Attempt::Second => tokens.saturating_mul(2),
    };
    limit.map_or(wanted, |limit| wanted.min(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_attempt_has_twice_the_budget_within_the_models_own_limit() {
        for (tokens, limit, first, second) in [
            (2_000, None, 2_000, 4_000),
            (2_000, Some(3_000), 2_000, 3_000),
            (2_000, Some(1_000), 1_000, 1_000),
            (u32::MAX, None, u32::MAX, u32::MAX),
        ] {
            assert_eq!(budget(tokens, Attempt::First, limit), first);
            assert_eq!(budget(tokens, Attempt::Second, limit), second);
        }
    }

    #[test]
    fn the_limit_is_that_of_the_configured_model_or_of_the_sessions_own() {
        let id = |model: &str| ModelId { provider: "p".into(), model: model.into() };
        let info = |model: &str, max_output_tokens| ModelInfo {
            id: id(model),
            context_window: None,
            max_output_tokens,
            reasons: false,
        };
        let models = [info("a", Some(100)), info("b", Some(200)), info("c", None)];
        let limit = |configured: Option<&str>, session: Option<&str>| {
            let config = Config { model: configured.map(id), ..Config::default() };
            output_limit(&models, &config, session.map(id).as_ref())
        };
        assert_eq!(limit(None, Some("a")), Some(100));
        assert_eq!(limit(Some("b"), Some("a")), Some(200));
        assert_eq!(limit(Some("unlisted"), Some("a")), None);
        assert_eq!(limit(Some("c"), None), None);
        assert_eq!(limit(None, None), None);
    }

    #[test]
    fn the_question_is_asked_at_the_lowest_effort_within_the_configured_time_and_held_to_a_schema() {
        let config = Config { timeout_ms: 5_000, ..Config::default() };
        let request = request(&config, &Round::default(), Attempt::First, Some(700));
        assert_eq!((request.label.as_str(), request.effort), ("stop-guard", Effort::Lowest));
        assert_eq!((request.timeout_ms, request.max_output_tokens), (Some(5_000), Some(700)));
        assert_eq!(request.response_schema.as_deref(), Some(prompt::ANSWER_SCHEMA));
        assert_eq!(request.model, None);
    }
}
