//! A provider that asks an endpoint over HTTP: the OpenAI chat completions, which local servers speak as well, or the
//! Anthropic messages.
//!
//! The wire formats are those of the crate `genai`. What stands here is what it leaves to its callers: which model
//! answers, where the key comes from, how long to wait and when to ask again, and what a failure means.
//!
//! Two things are read from the raw answer since `genai` drops them: an `error` that comes with status 200, and the
//! text of a refusal. Redirects are not followed: the key would go with them.
//!
//! The futures need a tokio runtime with I/O and time enabled.

mod answer;
mod config;
mod failure;
mod request;
mod retry;
mod secret;

use std::time::{Duration, SystemTime};

use chaperone_contract::{LlmError, ModelId, ModelInfo};
use genai::adapter::AdapterKind;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, Headers, ModelIden, ServiceTarget};
use tokio::time::Instant;

use super::{Answer, BoxFuture, Call, Provider};
use answer::Received;
use failure::Failure;
use request::Request;
use retry::Policy;
use secret::Secret;

pub use config::{HttpConfig, HttpError, Key, Kind, Lowest, ModelConfig};

/// One endpoint with its key and its models.
#[derive(Debug)]
pub struct Http {
    config: HttpConfig,
    /// Ends with a slash.
    base_url: String,
    client: Client,
}

impl Http {
    /// Checks the configuration. The key is read before each call, so one that is put there later is found.
    pub fn new(config: HttpConfig) -> Result<Self, HttpError> {
        let base_url = config.check()?;
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| HttpError::Client(error.to_string()))?;
        let client =
            Client::builder().with_reqwest(client).build().map_err(|error| HttpError::Client(error.to_string()))?;
        Ok(Self { config, base_url, client })
    }

    /// The model that answers: the one that the request names, the session's own where it is served here, or the
    /// default.
    fn model<'a>(&'a self, call: &'a Call) -> Result<&'a str, LlmError> {
        let name = &self.config.name;
        let own = call.session_model.as_ref().filter(|own| own.provider == *name);
        match &call.request.model {
            Some(ModelId { provider, model }) if provider != name => Err(LlmError::UnknownModel(format!(
                "`{provider}/{model}`: the provider asked is `{name}`; configure one called `{provider}`"
            ))),
            Some(wanted) => {
                let known = self.config.models.is_empty() || self.config.model(&wanted.model).is_some();
                if (known || own == Some(wanted)) && !wanted.model.is_empty() {
                    Ok(&wanted.model)
                } else {
                    Err(LlmError::UnknownModel(format!(
                        "`{name}/{}` is not configured; add it to the `models` of `{name}`",
                        wanted.model
                    )))
                }
            }
            None => {
                own.map(|own| &own.model).or(self.config.default_model.as_ref()).map(String::as_str).ok_or_else(|| {
                    LlmError::UnknownModel(format!(
                        "the request names no model, and the session runs on none of `{name}`; name a model, \
                         or configure a `default_model` for `{name}`"
                    ))
                })
            }
        }
    }

    fn target(&self, model: &str, key: Option<&Secret>) -> ServiceTarget {
        let (adapter, path, anonymous) = match self.config.kind {
            Kind::OpenAi => (AdapterKind::OpenAI, "chat/completions", Headers::default()),
            Kind::Anthropic => (AdapterKind::Anthropic, "messages", Headers::from(("anthropic-version", "2023-06-01"))),
        };
        let auth = match key {
            Some(key) => AuthData::from_single(key.expose()),
            None => AuthData::RequestOverride { url: format!("{}{path}", self.base_url), headers: anonymous },
        };
        // `genai` takes what stands before the first `::` for a namespace of its own and leaves it out.
        let model = ModelIden::new(adapter, format!("{adapter}::{model}"));
        ServiceTarget { endpoint: Endpoint::from_owned(self.base_url.as_str()), auth, model }
    }

    async fn answer(&self, call: &Call, progress: &(dyn Fn(&str) + Send + Sync)) -> Answer {
        let model = self.model(call)?;
        let key = self.config.key.read()?;
        let request = Request::new(&self.config, model, &call.request)?;
        let target = self.target(model, key.as_ref());
        let patience = Duration::from_millis(call.request.timeout_ms.unwrap_or(self.config.timeout_ms).into());
        let deadline = Instant::now() + patience;
        let attempts = async {
            let policy = Policy::new(&self.config);
            let mut made = 0;
            loop {
                let failure = match self.attempt(&target, &request, progress).await {
                    Ok(received) => return Ok(received),
                    Err(failure) => failure,
                };
                made += 1;
                let left = deadline.saturating_duration_since(Instant::now());
                match policy.wait(made, &failure.again, left) {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => return Err(failure),
                }
            }
        };
        match tokio::time::timeout_at(deadline, attempts).await {
            Ok(Ok(received)) => {
                Ok(received.completion(ModelId { provider: self.config.name.clone(), model: model.to_owned() }))
            }
            Ok(Err(failure)) => Err(failure.tell(&self.config, model, key.as_ref())),
            Err(_) => Err(LlmError::TimedOut),
        }
    }

    async fn attempt(
        &self,
        target: &ServiceTarget,
        request: &Request,
        progress: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<Received, Failure> {
        let (chat, options) = (request.chat.clone(), Some(&request.options));
        let failed = |error| Failure::of(&error, SystemTime::now());
        if request.streamed {
            let response = self.client.exec_chat_stream(target.clone(), chat, options).await.map_err(failed)?;
            Received::stream(response.stream, progress).await
        } else {
            Received::whole(self.client.exec_chat(target.clone(), chat, options).await.map_err(failed)?)
        }
    }
}

impl Provider for Http {
    /// As configured.
    fn name(&self) -> &str {
        &self.config.name
    }

    /// As configured.
    fn models(&self) -> Vec<ModelInfo> {
        self.config.models.iter().map(|model| model.info(&self.config.name)).collect()
    }

    fn complete<'a>(&'a self, call: &'a Call, progress: &'a (dyn Fn(&str) + Send + Sync)) -> BoxFuture<'a, Answer> {
        Box::pin(self.answer(call, progress))
    }
}

#[cfg(test)]
mod tests;
