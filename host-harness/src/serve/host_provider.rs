//! The provider `host`: the client asks its own models.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chaperone_contract::{LlmError, ModelId, ModelInfo};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::errors::{Code, Fault};
use super::protocol::{AskModel, ErrorIn};
use crate::config::HOST_PROVIDER;
use crate::llm::{Answer, BoxFuture, Call, Provider};

/// The number of a question on this pipe.
pub type Ticket = u64;

/// What calls of models want of the pipe.
pub enum Wish {
    /// To ask the client. What it says goes to `heard`.
    Ask {
        /// Names the question.
        ticket: Ticket,
        /// The question.
        ask: Box<AskModel>,
        /// Where its answer is awaited.
        heard: UnboundedSender<Heard>,
    },
    /// Nobody waits for the answer any more.
    Forget(Ticket),
}

/// What the client says to a question.
pub enum Heard {
    /// More text of its answer.
    Text(String),
    /// The answer.
    Answer(Answer),
}

/// The client's models, for the sessions of one pipe.
#[derive(Clone)]
pub struct Models {
    known: Arc<[ModelInfo]>,
    wishes: UnboundedSender<Wish>,
    tickets: Arc<AtomicU64>,
}

impl Models {
    /// The models that a client lends, and what their callers want of the pipe.
    pub fn lent(known: Vec<ModelInfo>) -> (Self, UnboundedReceiver<Wish>) {
        let (wishes, wished) = unbounded_channel();
        (Self { known: known.into(), wishes, tickets: Arc::new(AtomicU64::new(1)) }, wished)
    }

    /// They answer calls; `timeout` is for those that do not say how long they may take.
    pub fn provider(&self, timeout: Duration) -> Arc<dyn Provider> {
        Arc::new(Host { models: self.clone(), timeout })
    }
}

/// Asks the client.
struct Host {
    models: Models,
    timeout: Duration,
}

impl Host {
    /// The client's name of a model. `host/NAME` is what the command line makes of a name; there, NAME may be in full.
    fn model(&self, wanted: Option<&ModelId>) -> Result<Option<ModelId>, LlmError> {
        let Some(wanted) = wanted.filter(|wanted| wanted.provider == HOST_PROVIDER) else {
            return Ok(wanted.cloned());
        };
        let known = |model: &&ModelInfo| model.id.model == wanted.model;
        if let Some(known) = self.models.known.iter().find(known) {
            return Ok(Some(known.id.clone()));
        }
        if let Some((provider, model)) = wanted.model.split_once('/') {
            return Ok(Some(ModelId { provider: provider.into(), model: model.into() }));
        }
        let names: Vec<_> = self.models.known.iter().map(|model| model.id.model.as_str()).collect();
        Err(LlmError::UnknownModel(format!("the host has no model `{}`; it has {}", wanted.model, names.join(", "))))
    }

    async fn ask(&self, call: &Call, progress: &(dyn Fn(&str) + Send + Sync)) -> Answer {
        let model = self.model(call.request.model.as_ref().or(call.session_model.as_ref()))?;
        let (heard, mut hears) = unbounded_channel();
        let ticket = self.models.tickets.fetch_add(1, Ordering::Relaxed);
        let timeout = call.request.timeout_ms.map_or(self.timeout, |ms| Duration::from_millis(ms.into()));
        let ask = AskModel {
            session: call.session.clone(),
            plugin: call.plugin.clone(),
            model,
            request: call.request.clone(),
        };
        let gone = || LlmError::Provider("the host is gone".into());
        self.models.wishes.send(Wish::Ask { ticket, ask: Box::new(ask), heard }).map_err(|_| gone())?;
        // However the wait ends, the client hears of it; where it has answered, there is nothing to forget.
        let _forget = Forget(ticket, &self.models.wishes);
        let answer = async {
            while let Some(heard) = hears.recv().await {
                match heard {
                    Heard::Text(text) if call.request.streamed => progress(&text),
                    Heard::Text(_) => {}
                    Heard::Answer(answer) => return answer,
                }
            }
            Err(gone())
        };
        tokio::time::timeout(timeout, answer).await.unwrap_or(Err(LlmError::TimedOut))
    }
}

struct Forget<'w>(Ticket, &'w UnboundedSender<Wish>);

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        // Where the pipe is gone, nobody has to be told.
        let _ = self.1.send(Wish::Forget(self.0));
    }
}

impl Provider for Host {
    fn name(&self) -> &str {
        HOST_PROVIDER
    }

    fn models(&self) -> Vec<ModelInfo> {
        self.models.known.to_vec()
    }

    fn serves(&self, provider: &str) -> bool {
        provider == HOST_PROVIDER || self.models.known.iter().any(|model| model.id.provider == provider)
    }

    fn complete<'a>(&'a self, call: &'a Call, progress: &'a (dyn Fn(&str) + Send + Sync)) -> BoxFuture<'a, Answer> {
        Box::pin(self.ask(call, progress))
    }
}

/// What an error of the client means for the plugin that asked: the contract's own error where the client names one.
pub fn failure(error: ErrorIn) -> LlmError {
    match error.data.map(serde_json::from_value) {
        Some(Ok(error)) => error,
        _ if error.code == i64::from(Code::Cancelled as i32) => LlmError::Cancelled,
        _ => LlmError::Provider(error.message),
    }
}

/// A result of the client that is no answer.
pub fn nonsense(fault: &Fault) -> LlmError {
    LlmError::Provider(format!("the host answered with what is no completion: {}", fault.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(provider: &str, model: &str) -> ModelId {
        ModelId { provider: provider.into(), model: model.into() }
    }

    fn host() -> Host {
        let known = ["large-1", "small-1"].map(|name| ModelInfo {
            id: model("acme", name),
            context_window: None,
            max_output_tokens: None,
            reasons: false,
        });
        let (models, _) = Models::lent(known.into());
        Host { models, timeout: Duration::ZERO }
    }

    #[test]
    fn a_name_of_the_command_line_is_one_of_the_clients_models_or_one_in_full() {
        let meant = |name: &str| host().model(Some(&model("host", name)));
        assert_eq!(meant("small-1"), Ok(Some(model("acme", "small-1"))));
        assert_eq!(meant("other/small/2"), Ok(Some(model("other", "small/2"))));
        let told = "the host has no model `tiny`; it has large-1, small-1";
        assert_eq!(meant("tiny"), Err(LlmError::UnknownModel(told.into())));
    }

    #[test]
    fn what_a_plugin_or_the_session_names_is_passed_on_as_it_is() {
        assert_eq!(host().model(Some(&model("acme", "unheard-of"))), Ok(Some(model("acme", "unheard-of"))));
        assert_eq!(host().model(None), Ok(None));
        assert!(host().serves("acme") && host().serves("host") && !host().serves("other"));
    }
}
