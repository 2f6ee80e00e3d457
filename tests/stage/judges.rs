//! Who answers model calls, where no script does.

use chaperone::llm::{Answer, BoxFuture, Call, Provider};
use chaperone_contract::{Completion, ModelId, ModelInfo, StopReason};

/// Answers every call with the same text.
pub struct Judge(pub &'static str);

/// Never answers.
pub struct Silence;

impl Provider for Judge {
    fn name(&self) -> &str {
        "judge"
    }

    fn models(&self) -> Vec<ModelInfo> {
        Vec::new()
    }

    fn complete<'a>(&'a self, _: &'a Call, _: &'a (dyn Fn(&str) + Send + Sync)) -> BoxFuture<'a, Answer> {
        let text = self.0.to_owned();
        Box::pin(std::future::ready(Ok(Completion {
            parts: vec![("text".into(), text.len() as u32)],
            text,
            stop_reason: StopReason::Stop,
            usage: None,
            model: ModelId { provider: "judge".into(), model: "judge".into() },
        })))
    }
}

impl Provider for Silence {
    fn name(&self) -> &str {
        "silence"
    }

    fn models(&self) -> Vec<ModelInfo> {
        Vec::new()
    }

    fn complete<'a>(&'a self, _: &'a Call, _: &'a (dyn Fn(&str) + Send + Sync)) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::pending())
    }
}
