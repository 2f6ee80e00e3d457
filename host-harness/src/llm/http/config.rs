//! What has to be known of an endpoint.

use std::path::PathBuf;

use chaperone_contract::{LlmError, ModelId, ModelInfo};
use serde::Deserialize;

use super::secret::Secret;

/// One endpoint, as the user configures it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpConfig {
    /// What models call their provider, such as `openai`.
    pub name: String,
    /// What the endpoint speaks.
    pub kind: Kind,
    /// Where it is, up to and without `chat/completions` or `messages`; none: the vendor's own.
    #[serde(default)]
    pub base_url: Option<String>,
    /// Where the key is.
    pub key: Key,
    /// What is known of its models. Empty: any model may be named.
    #[serde(default)]
    pub models: Vec<ModelConfig>,
    /// Answers where the request names no model and the session's own is not served here.
    #[serde(default)]
    pub default_model: Option<String>,
    /// For a whole call with all its attempts, where the request sets no limit. In milliseconds; 60,000 by default.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u32,
    /// How often to ask again after a failure that may pass; 2 by default.
    #[serde(default = "default_max_retries")]
    pub max_retries: u32,
    /// The wait before the first retry where the provider names none, in milliseconds; 500 by default. It doubles with
    /// each retry.
    #[serde(default = "default_backoff_ms")]
    pub backoff_ms: u32,
}

/// What an endpoint speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// OpenAI's chat completions, as many other servers do.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

/// Where a key is. It is read before each call and kept nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Key {
    /// In this environment variable.
    Env(String),
    /// In this file, which holds nothing else.
    File(PathBuf),
    /// Nowhere: a local server that asks for none.
    None,
}

/// One model of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// The provider's own name of it.
    pub id: String,
    /// How many tokens a prompt may have.
    #[serde(default)]
    pub context_window: Option<u32>,
    /// How many tokens an answer may have; a request for more is cut down to it.
    #[serde(default)]
    pub max_output_tokens: Option<u32>,
    /// Whether it can think before it answers. A request's effort is passed on only then.
    #[serde(default)]
    pub reasons: bool,
    /// What stands for the lowest effort; none: what is known of models of that name.
    #[serde(default)]
    pub lowest_effort: Option<Lowest>,
    /// Whether the provider can hold its answers to a JSON Schema; yes by default.
    #[serde(default = "yes")]
    pub schemas: bool,
}

/// The least that a model can think.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lowest {
    /// Not at all.
    None,
    /// Hardly.
    Minimal,
    /// A little.
    Low,
}

/// Why a configuration does not serve.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// The name is empty.
    #[error("a provider has no name; models are called by it, such as `openai` in `openai/gpt-4o`")]
    NoName,
    /// Name and address.
    #[error(
        "`base_url` of `{0}` is `{1}`; it must start with http:// or https://, name a host and \
             have no query"
    )]
    BaseUrl(String, String),
    /// Name and model.
    #[error("`default_model` of `{0}` is `{1}`, which is not among its `models`; add it there")]
    DefaultModel(String, String),
    /// Name and model.
    #[error("`{1}` stands twice in the `models` of `{0}`; remove one of the two")]
    TwoModels(String, String),
    /// Name.
    #[error("`timeout_ms` of `{0}` is 0, so no call could be answered; leave it out for 60,000")]
    NoTime(String),
    /// The operating system's words.
    #[error("the HTTP client could not be set up: {0}")]
    Client(String),
}

fn default_timeout_ms() -> u32 {
    60_000
}

fn default_max_retries() -> u32 {
    2
}

fn default_backoff_ms() -> u32 {
    500
}

fn yes() -> bool {
    true
}

impl HttpConfig {
    /// An endpoint at the vendor's own address, with the default limits and without models.
    pub fn new(name: impl Into<String>, kind: Kind, key: Key) -> Self {
        Self {
            name: name.into(),
            kind,
            base_url: None,
            key,
            models: Vec::new(),
            default_model: None,
            timeout_ms: default_timeout_ms(),
            max_retries: default_max_retries(),
            backoff_ms: default_backoff_ms(),
        }
    }

    /// What is known of a model.
    pub(super) fn model(&self, id: &str) -> Option<&ModelConfig> {
        self.models.iter().find(|model| model.id == id)
    }

    /// The address, with a slash at its end.
    pub(super) fn check(&self) -> Result<String, HttpError> {
        let name = || self.name.clone();
        if self.name.is_empty() {
            return Err(HttpError::NoName);
        }
        if self.timeout_ms == 0 {
            return Err(HttpError::NoTime(name()));
        }
        for (index, model) in self.models.iter().enumerate() {
            if self.models[..index].iter().any(|earlier| earlier.id == model.id) {
                return Err(HttpError::TwoModels(name(), model.id.clone()));
            }
        }
        if let Some(default) = &self.default_model
            && !self.models.is_empty()
            && self.model(default).is_none()
        {
            return Err(HttpError::DefaultModel(name(), default.clone()));
        }
        let url = match (&self.base_url, self.kind) {
            (Some(url), _) => url.trim(),
            (None, Kind::OpenAi) => "https://api.openai.com/v1/",
            (None, Kind::Anthropic) => "https://api.anthropic.com/v1/",
        };
        let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or_default();
        if host.is_empty() || host.starts_with(['/', ':']) || host.contains([' ', '?', '#']) {
            return Err(HttpError::BaseUrl(name(), url.to_owned()));
        }
        Ok(format!("{}/", url.trim_end_matches('/')))
    }
}

impl Key {
    /// The key, or `None` where none is asked for.
    pub(super) fn read(&self) -> Result<Option<Secret>, LlmError> {
        let (text, place) = match self {
            Self::None => return Ok(None),
            Self::Env(name) => (std::env::var(name).unwrap_or_default(), format!("the environment variable `{name}`")),
            Self::File(path) => {
                let text = std::fs::read_to_string(path).map_err(|error| {
                    LlmError::Authentication(format!("the key file {} could not be read: {error}", path.display()))
                })?;
                (text, path.display().to_string())
            }
        };
        match Secret::new(&text) {
            Some(secret) => Ok(Some(secret)),
            None => Err(LlmError::Authentication(format!("there is no key in {place}; put it there"))),
        }
    }
}

impl ModelConfig {
    /// A model of which nothing is known but its name.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            context_window: None,
            max_output_tokens: None,
            reasons: false,
            lowest_effort: None,
            schemas: true,
        }
    }

    /// As plugins see it.
    pub(super) fn info(&self, provider: &str) -> ModelInfo {
        ModelInfo {
            id: ModelId { provider: provider.to_owned(), model: self.id.clone() },
            context_window: self.context_window,
            max_output_tokens: self.max_output_tokens,
            reasons: self.reasons,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> HttpConfig {
        HttpConfig::new("local", Kind::OpenAi, Key::None)
    }

    #[test]
    fn an_address_gets_a_slash_at_its_end_and_has_a_default() {
        assert_eq!(config().check().unwrap(), "https://api.openai.com/v1/");
        let anthropic = HttpConfig { kind: Kind::Anthropic, ..config() };
        assert_eq!(anthropic.check().unwrap(), "https://api.anthropic.com/v1/");
        for url in ["http://localhost:11434/v1", "http://localhost:11434/v1/"] {
            let local = HttpConfig { base_url: Some(url.into()), ..config() };
            assert_eq!(local.check().unwrap(), "http://localhost:11434/v1/");
        }
    }

    #[test]
    fn what_does_not_serve_is_refused() {
        let url = |url: &str| HttpConfig { base_url: Some(url.into()), ..config() };
        for bad in ["localhost:11434", "ftp://host", "https://", "http:///v1", "http://a b/", "http://a/?v=1"] {
            assert_eq!(url(bad).check(), Err(HttpError::BaseUrl("local".into(), bad.into())), "{bad}");
        }
        assert_eq!(HttpConfig { name: String::new(), ..config() }.check(), Err(HttpError::NoName));
        assert_eq!(HttpConfig { timeout_ms: 0, ..config() }.check(), Err(HttpError::NoTime("local".into())));
        let models = vec![ModelConfig::new("a"), ModelConfig::new("a")];
        let twice = HttpConfig { models, ..config() };
        assert_eq!(twice.check(), Err(HttpError::TwoModels("local".into(), "a".into())));
        let models = vec![ModelConfig::new("a")];
        let missing = HttpConfig { models, default_model: Some("b".into()), ..config() };
        assert_eq!(missing.check(), Err(HttpError::DefaultModel("local".into(), "b".into())));
    }

    #[test]
    fn a_configuration_is_read_from_toml() {
        let read: HttpConfig = toml::from_str(
            r#"
name = "mine"
kind = "openai"
base_url = "http://localhost:8080/v1"
key = { env = "MY_KEY" }
default_model = "m"
[[models]]
id = "m"
max_output_tokens = 4096
reasons = true
lowest_effort = "minimal"
"#,
        )
        .unwrap();
        let mut expected = HttpConfig::new("mine", Kind::OpenAi, Key::Env("MY_KEY".into()));
        expected.base_url = Some("http://localhost:8080/v1".into());
        expected.default_model = Some("m".into());
        expected.models = vec![ModelConfig {
            max_output_tokens: Some(4096),
            reasons: true,
            lowest_effort: Some(Lowest::Minimal),
            ..ModelConfig::new("m")
        }];
        assert_eq!(read, expected);
    }

    #[test]
    fn a_key_is_read_from_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "sk-file\n").unwrap();
        assert_eq!(Key::File(path).read().unwrap().unwrap().expose(), "sk-file");
        let path = std::env::var("PATH").unwrap();
        assert_eq!(Key::Env("PATH".into()).read().unwrap().unwrap().expose(), path.trim());
        assert!(Key::None.read().unwrap().is_none());
    }

    #[test]
    fn a_key_that_is_missing_names_its_place() {
        let text = |key: Key| match key.read() {
            Err(LlmError::Authentication(text)) => text,
            other => panic!("expected an authentication error, got {other:?}"),
        };
        assert_eq!(
            text(Key::Env("CHAPERONE_NO_SUCH_KEY".into())),
            "there is no key in the environment variable `CHAPERONE_NO_SUCH_KEY`; put it there"
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        assert!(text(Key::File(path.clone())).contains("could not be read"));
        std::fs::write(&path, "\n").unwrap();
        assert!(text(Key::File(path)).starts_with("there is no key in /"));
    }
}
