//! The question to a judge.

use chaperone_sdk::{CompletionRequest, Effort, PromptMessage, Role};

use crate::definition::{Monitor, Trigger};
use crate::desk::Desk;
use crate::evidence::Window;
use crate::roster::{self, Listed};
use crate::template::Prompt;
use crate::verdict::form;
use crate::{patterns, rules, trust};

/// The most tokens that a judge may write.
pub const MAX_OUTPUT_TOKENS: u32 = 300;

/// How long a judge may take, in milliseconds.
pub const TIMEOUT_MS: u32 = 30_000;

/// How long a judge may take while a tool call waits for it, in milliseconds.
pub const GATE_MS: u32 = 10_000;

/// What stands for evidence where there is none: a message must not be empty.
const NO_EVIDENCE: &str = "(There is no evidence.)";

/// Reads a monitor's files and puts its question together.
///
/// # Errors
/// Why it cannot be asked: a file that cannot be used, or a list of patterns with nothing in it.
pub fn question(desk: &Desk, listed: &Listed, window: &Window) -> Result<CompletionRequest, String> {
    let monitor = roster::load(desk.cx, listed).map_err(|fault| fault.to_string())?;
    let patterns = patterns::load(desk.cx, &monitor.patterns).map_err(|fault| fault.to_string())?.entries;
    if patterns.is_empty() {
        return Err(format!("there are no patterns in {}:{}", monitor.patterns.mount, monitor.patterns.path));
    }
    let rules = rules::load(desk.cx, &monitor.instructions).map_err(|fault| fault.to_string())?.entries;
    trust::check(desk.cx, listed, &monitor)?;
    let evidence = window.evidence(&monitor.classify.shows);
    let iteration = desk.memory.count(&listed.name);
    let prompt = Prompt::new(&monitor.classify, &evidence, &patterns, &rules, iteration);
    Ok(request(monitor, prompt, desk.watch.plain_answers))
}

fn request(monitor: Monitor, prompt: Prompt, is_plain: bool) -> CompletionRequest {
    let evidence = if prompt.user.is_empty() { NO_EVIDENCE.into() } else { prompt.user };
    let timeout = if monitor.event == Trigger::ToolCall { GATE_MS } else { TIMEOUT_MS };
    CompletionRequest {
        cache_key: Some(monitor.name.clone()),
        label: monitor.name,
        model: monitor.classify.model,
        system: Some(prompt.system),
        messages: vec![PromptMessage { role: Role::User, text: evidence }],
        max_output_tokens: Some(MAX_OUTPUT_TOKENS),
        effort: Effort::Lowest,
        response_schema: (!is_plain).then(|| form::SCHEMA.into()),
        timeout_ms: Some(timeout),
        streamed: false,
    }
}
