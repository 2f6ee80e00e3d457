//! Asking language models for plugins.
//!
//! A [`Provider`] answers calls: [`http::Http`] asks an endpoint over the network, [`script::Script`] reads its answers
//! from a file, and [`Providers`] is several of them, each call going to the one that it names. What a plugin may
//! spend is counted apart from that, in [`allowance`].

pub mod allowance;
pub mod http;
mod providers;
pub mod script;

use std::pin::Pin;

use chaperone_contract::{Completion, CompletionRequest, LlmError, ModelId, ModelInfo};

pub use providers::{DuplicateProvider, Providers};

/// One call that a plugin asked for.
#[derive(Clone, Debug)]
pub struct Call {
    /// The plugin's name in the manifest.
    pub plugin: String,
    /// The session that it watches.
    pub session: String,
    /// What it asks.
    pub request: CompletionRequest,
    /// The session's own model, used where the request names none.
    pub session_model: Option<ModelId>,
}

/// What became of a call.
pub type Answer = Result<Completion, LlmError>;

/// A future that can be kept beside others of its kind.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something that answers calls.
pub trait Provider: Send + Sync {
    /// Named on screen, such as `script`; also the `provider` of its models.
    fn name(&self) -> &str;

    /// Whether models of this `provider` are asked here. Most serve only their own; who passes calls on serves others.
    fn serves(&self, provider: &str) -> bool {
        self.name() == provider
    }

    /// The models that are known beforehand; a provider may serve others as well.
    fn models(&self) -> Vec<ModelInfo>;

    /// Dropping the future cancels the call. `progress` gets text as it arrives where the request is streamed.
    fn complete<'a>(&'a self, call: &'a Call, progress: &'a (dyn Fn(&str) + Send + Sync)) -> BoxFuture<'a, Answer>;
}

#[cfg(test)]
mod fixtures {
    use chaperone_contract::{CompletionRequest, Effort, ModelId, PromptMessage, Role};

    use super::Call;

    /// A call of the plugin `monitors` that asks `prompt` and leaves everything else open.
    pub fn call(prompt: &str) -> Call {
        Call {
            plugin: "monitors".into(),
            session: "session".into(),
            request: CompletionRequest {
                label: "fragility".into(),
                model: None,
                system: None,
                messages: vec![PromptMessage { role: Role::User, text: prompt.into() }],
                max_output_tokens: None,
                effort: Effort::Lowest,
                response_schema: None,
                timeout_ms: None,
                streamed: false,
                cache_key: None,
            },
            session_model: None,
        }
    }

    pub fn model(provider: &str, model: &str) -> ModelId {
        ModelId { provider: provider.into(), model: model.into() }
    }
}
