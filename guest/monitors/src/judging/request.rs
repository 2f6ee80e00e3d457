//! The question to a judge.

use chaperone_sdk::{CompletionRequest, Context, Effort, PromptMessage, Role};

use crate::definition::Monitor;
use crate::evidence::{Digest, Window};
use crate::roster::{self, Listed};
use crate::template::Prompt;
use crate::{patterns, rules, trust};

/// The most tokens that a judge may write.
pub const MAX_OUTPUT_TOKENS: u32 = 150;

/// How long a judge may take, in milliseconds.
pub const TIMEOUT_MS: u32 = 30_000;

/// What stands for evidence where there is none: a message must not be empty.
const NO_EVIDENCE: &str = "(There is no evidence.)";

/// A question that is ready to be asked.
pub struct Question {
    /// For the host.
    pub request: CompletionRequest,
    /// Of the evidence in it.
    pub digest: Digest,
}

/// Reads a monitor's files and puts its question together. `iteration` counts its steers in a row so far.
///
/// # Errors
/// Why it cannot be asked: a file that cannot be used, or a list of patterns with nothing in it.
pub fn question(cx: &Context, listed: &Listed, window: &Window, iteration: u32) -> Result<Question, String> {
    let monitor = roster::load(cx, listed).map_err(|fault| fault.to_string())?;
    let patterns = patterns::load(cx, &monitor.patterns).map_err(|fault| fault.to_string())?.entries;
    if patterns.is_empty() {
        return Err(format!("there are no patterns in {}:{}", monitor.patterns.mount, monitor.patterns.path));
    }
    let rules = rules::load(cx, &monitor.instructions).map_err(|fault| fault.to_string())?.entries;
    trust::check(cx, listed, &monitor)?;
    let evidence = window.evidence(&monitor.classify.context);
    let prompt = Prompt::new(&monitor.classify, &evidence, &patterns, &rules, iteration);
    Ok(Question { digest: evidence.digest(), request: request(monitor, prompt) })
}

fn request(monitor: Monitor, prompt: Prompt) -> CompletionRequest {
    let evidence = if prompt.user.is_empty() { NO_EVIDENCE.into() } else { prompt.user };
    CompletionRequest {
        cache_key: Some(monitor.name.clone()),
        label: monitor.name,
        model: monitor.classify.model,
        system: Some(prompt.system),
        messages: vec![PromptMessage { role: Role::User, text: evidence }],
        max_output_tokens: Some(MAX_OUTPUT_TOKENS),
        effort: Effort::Lowest,
        response_schema: None,
        timeout_ms: Some(TIMEOUT_MS),
        streamed: false,
    }
}
