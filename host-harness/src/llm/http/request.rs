//! From a plugin's request to what `genai` sends.

use chaperone_contract::{CompletionRequest, Effort, LlmError, Role};
use genai::chat::{CacheControl, ChatMessage, ChatOptions, ChatRequest, JsonSpec, ReasoningEffort};

use super::{HttpConfig, Kind, Lowest, ModelConfig};

/// What every attempt of a call sends.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) chat: ChatRequest,
    pub(super) options: ChatOptions,
    pub(super) streamed: bool,
}

impl Request {
    /// `request` as the endpoint's `model` gets it. Fails where the response schema is not JSON.
    pub(super) fn new(config: &HttpConfig, model: &str, request: &CompletionRequest) -> Result<Self, LlmError> {
        let messages = request.messages.iter().map(|message| match message.role {
            Role::User => ChatMessage::user(message.text.as_str()),
            Role::Assistant => ChatMessage::assistant(message.text.as_str()),
        });
        let mut chat = ChatRequest::new(messages.collect());
        // Anthropic refuses an empty text.
        chat.system = request.system.clone().filter(|system| !system.is_empty());

        let known = config.model(model);
        let mut options = ChatOptions::default().with_capture_usage(true).with_capture_raw_body(true);
        options.max_tokens = max_tokens(config.kind, known, request.max_output_tokens);
        options.reasoning_effort = Some(effort(config.kind, model, known, request.effort, options.max_tokens));
        if let Some(schema) = &request.response_schema
            && known.is_none_or(|known| known.schemas)
        {
            let schema: serde_json::Value = serde_json::from_str(schema).map_err(|error| {
                LlmError::Provider(format!("the response schema of the request is not JSON: {error}"))
            })?;
            options = options.with_response_format(JsonSpec::new("answer", schema));
        }
        if let Some(key) = &request.cache_key {
            match config.kind {
                Kind::Anthropic => options = options.with_cache_control(CacheControl::Ephemeral),
                // Other servers that speak OpenAI's language may refuse a field that they do not know.
                Kind::OpenAi if config.base_url.is_none() => options = options.with_prompt_cache_key(key),
                Kind::OpenAi => {}
            }
        }
        Ok(Self { chat, options, streamed: request.streamed })
    }
}

/// The limit of the answer: what is asked for, cut down to what the model can.
fn max_tokens(kind: Kind, model: Option<&ModelConfig>, wanted: Option<u32>) -> Option<u32> {
    match (wanted, model.and_then(|model| model.max_output_tokens)) {
        (Some(wanted), Some(limit)) => Some(wanted.min(limit)),
        (None, Some(limit)) if kind == Kind::Anthropic => Some(limit), // A request to Anthropic must name a limit.
        (wanted, _) => wanted,
    }
}

/// The nearest that the model has to the effort that is `wanted`, within `max_tokens` for thinking and answer together.
fn effort(
    kind: Kind,
    name: &str,
    model: Option<&ModelConfig>,
    wanted: Effort,
    max_tokens: Option<u32>,
) -> ReasoningEffort {
    let Some(model) = model.filter(|model| model.reasons) else {
        return unsaid(kind);
    };
    let lowest = || match model.lowest_effort.unwrap_or_else(|| lowest(kind, name)) {
        Lowest::None => ReasoningEffort::Zero,
        Lowest::Minimal => ReasoningEffort::Minimal,
        Lowest::Low => ReasoningEffort::Low,
    };
    // Anthropic refuses a limit that does not leave room beside the thinking; these are the sizes that `genai` asks
    // for where a model wants one.
    let fits = |thinking: u32| kind != Kind::Anthropic || max_tokens.is_none_or(|limit| limit > thinking);
    match wanted {
        Effort::High if fits(24_000) => ReasoningEffort::High,
        Effort::High | Effort::Medium if fits(8_000) => ReasoningEffort::Medium,
        Effort::High | Effort::Medium | Effort::Low if fits(1_024) => ReasoningEffort::Low,
        _ => lowest(),
    }
}

/// Sends nothing about thinking. With no effort at all, `genai` would take an ending of the model's name such as
/// `-max` for one, and cut it off.
fn unsaid(kind: Kind) -> ReasoningEffort {
    match kind {
        Kind::OpenAi => ReasoningEffort::Budget(0),
        Kind::Anthropic => ReasoningEffort::Zero,
    }
}

/// The lowest effort of models whose configuration does not say it: the o-series and gpt-oss have none below `low`, the
/// first GPT-5 none below `minimal`.
fn lowest(kind: Kind, name: &str) -> Lowest {
    let name = name.rsplit('/').next().unwrap_or(name);
    let family = |family: &str| name == family || name.starts_with(&format!("{family}-"));
    match kind {
        Kind::Anthropic => Lowest::None,
        Kind::OpenAi if ["o1", "o3", "o4", "gpt-oss"].into_iter().any(family) => Lowest::Low,
        Kind::OpenAi if family("gpt-5") => Lowest::Minimal,
        Kind::OpenAi => Lowest::None,
    }
}

#[cfg(test)]
mod tests {
    use genai::chat::ChatResponseFormat;

    use super::super::Key;
    use super::*;
    use crate::llm::fixtures::call;

    fn config(kind: Kind) -> HttpConfig {
        let thinker = ModelConfig { max_output_tokens: Some(32_000), reasons: true, ..ModelConfig::new("thinker") };
        let plain = ModelConfig { schemas: false, ..ModelConfig::new("plain") };
        HttpConfig { models: vec![thinker, plain], ..HttpConfig::new("p", kind, Key::None) }
    }

    fn options(kind: Kind, model: &str, change: impl FnOnce(&mut CompletionRequest)) -> ChatOptions {
        let mut request = call("?").request;
        change(&mut request);
        Request::new(&config(kind), model, &request).unwrap().options
    }

    fn effort_of(kind: Kind, model: &str, effort: Effort, limit: Option<u32>) -> String {
        let options = options(kind, model, |request| {
            request.effort = effort;
            request.max_output_tokens = limit;
        });
        options.reasoning_effort.unwrap().to_string()
    }

    #[test]
    fn the_limit_of_an_answer_is_cut_down_to_the_models_own() {
        let limit = |kind, model, wanted| options(kind, model, |request| request.max_output_tokens = wanted).max_tokens;
        assert_eq!(limit(Kind::OpenAi, "thinker", Some(100_000)), Some(32_000));
        assert_eq!(limit(Kind::OpenAi, "thinker", Some(512)), Some(512));
        assert_eq!(limit(Kind::OpenAi, "unlisted", Some(100_000)), Some(100_000));
        assert_eq!(limit(Kind::OpenAi, "thinker", None), None);
        assert_eq!(limit(Kind::Anthropic, "thinker", None), Some(32_000));
    }

    #[test]
    fn an_effort_is_passed_on_to_models_that_think() {
        for kind in [Kind::OpenAi, Kind::Anthropic] {
            let efforts = Effort::ALL.iter().map(|effort| effort_of(kind, "thinker", *effort, None));
            assert_eq!(efforts.collect::<Vec<_>>(), ["zero", "low", "medium", "high"]);
        }
    }

    #[test]
    fn nothing_is_said_about_thinking_to_other_models() {
        for model in ["plain", "unlisted"] {
            assert_eq!(effort_of(Kind::OpenAi, model, Effort::High, None), "0");
            assert_eq!(effort_of(Kind::Anthropic, model, Effort::High, None), "zero");
        }
    }

    #[test]
    fn an_effort_goes_down_until_an_anthropic_answer_has_room_beside_it() {
        for (limit, expected) in [(24_001, "high"), (24_000, "medium"), (8_000, "low"), (1_024, "zero")] {
            assert_eq!(effort_of(Kind::Anthropic, "thinker", Effort::High, Some(limit)), expected);
            assert_eq!(effort_of(Kind::OpenAi, "thinker", Effort::High, Some(limit)), "high");
        }
    }

    #[test]
    fn the_lowest_effort_is_what_the_family_has_or_what_is_configured() {
        for (name, expected) in [
            ("o3-mini", Lowest::Low),
            ("openai/gpt-oss-120b", Lowest::Low),
            ("gpt-5", Lowest::Minimal),
            ("gpt-5-mini", Lowest::Minimal),
            ("gpt-5.1", Lowest::None),
            ("orca", Lowest::None),
        ] {
            assert_eq!(lowest(Kind::OpenAi, name), expected, "{name}");
        }
        let known = ModelConfig { reasons: true, lowest_effort: Some(Lowest::Low), ..ModelConfig::new("gpt-5") };
        let effort = effort(Kind::OpenAi, "gpt-5", Some(&known), Effort::Lowest, None);
        assert_eq!(effort.to_string(), "low");
    }

    #[test]
    fn a_schema_is_passed_on_where_the_provider_can_hold_an_answer_to_it() {
        let schema = |model| {
            let options = options(Kind::OpenAi, model, |request| {
                request.response_schema = Some(r#"{"type":"object"}"#.into());
            });
            options.response_format.map(|format| match format {
                ChatResponseFormat::JsonSpec(spec) => spec.schema,
                ChatResponseFormat::JsonMode => panic!("expected a schema"),
            })
        };
        assert_eq!(schema("thinker"), Some(serde_json::json!({"type": "object"})));
        assert_eq!(schema("unlisted"), Some(serde_json::json!({"type": "object"})));
        assert_eq!(schema("plain"), None);
    }

    #[test]
    fn a_schema_that_is_not_json_is_refused() {
        let mut request = call("?").request;
        request.response_schema = Some("{".into());
        let error = Request::new(&config(Kind::OpenAi), "thinker", &request).unwrap_err();
        assert!(matches!(&error, LlmError::Provider(text) if text.contains("not JSON: EOF")), "{error:?}");
    }

    #[test]
    fn a_cache_key_goes_to_those_who_know_it() {
        let keyed = |request: &mut CompletionRequest| request.cache_key = Some("k".into());
        assert_eq!(options(Kind::OpenAi, "plain", keyed).prompt_cache_key.as_deref(), Some("k"));
        let anthropic = options(Kind::Anthropic, "plain", keyed);
        assert!(matches!(anthropic.cache_control, Some(CacheControl::Ephemeral)));
        assert!(anthropic.prompt_cache_key.is_none());
        let elsewhere = HttpConfig { base_url: Some("http://localhost/v1".into()), ..config(Kind::OpenAi) };
        let mut request = call("?").request;
        keyed(&mut request);
        assert!(Request::new(&elsewhere, "plain", &request).unwrap().options.prompt_cache_key.is_none());
    }
}
