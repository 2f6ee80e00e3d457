//! A provider whose answers stand in a file, for demonstrations, tests and replays.
//!
//! The file is YAML: a list of `rules`, of which the first that fits a call answers it. `docs/eval.md` has the format.

mod format;

use std::path::Path;
use std::time::Duration;

use chaperone_contract::{Completion, LlmError, ModelId, ModelInfo, StopReason, Usage};
use regex::Regex;

use super::{Answer, BoxFuture, Call, Provider};
pub use format::{Fault, ScriptError};

/// The provider's name, and that of its model where a rule names none.
const NAME: &str = "script";

/// Answers from a file, each marked as coming from the provider `script`, whatever model was asked for.
#[derive(Debug)]
pub struct Script {
    file: String,
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    when: When,
    delay: Duration,
    reply: Reply,
}

#[derive(Debug, Default)]
struct When {
    plugin: Option<String>,
    session: Option<String>,
    monitor: Option<String>,
    prompt_contains: Option<String>,
    prompt_matches: Option<Regex>,
}

#[derive(Debug)]
enum Reply {
    Answer { text: String, stop: StopReason, usage: Option<Usage>, model: Option<String> },
    Error(LlmError),
}

impl Script {
    /// Reads a script from the file at `path`.
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        let file = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&file, &text),
            Err(source) => Err(ScriptError::Read { file, source }),
        }
    }

    /// Reads a script from its `text`; `file` names it in errors.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScriptError> {
        Ok(Self { file: file.to_owned(), rules: format::rules(file, text)? })
    }

    async fn answer(&self, call: &Call, progress: &(dyn Fn(&str) + Send + Sync)) -> Answer {
        let prompt = prompt(call);
        let Some(rule) = self.rules.iter().find(|rule| rule.when.fits(call, &prompt)) else {
            let label = &call.request.label;
            return Err(LlmError::Provider(format!(
                "no rule of {} fits this call of the plugin `{}` for `{label}`; add one with `when: {{ monitor: {label} }}` \
                 and an `answer`; its prompt:\n{prompt}",
                self.file, call.plugin
            )));
        };
        match call.request.timeout_ms.map(|ms| Duration::from_millis(ms.into())) {
            Some(patience) if patience < rule.delay => {
                tokio::time::sleep(patience).await;
                return Err(LlmError::TimedOut);
            }
            _ => tokio::time::sleep(rule.delay).await,
        }
        match &rule.reply {
            Reply::Error(error) => Err(error.clone()),
            Reply::Answer { text, stop, usage, model } => {
                if call.request.streamed && !text.is_empty() {
                    progress(text);
                }
                Ok(Completion {
                    text: text.clone(),
                    stop_reason: *stop,
                    usage: usage.clone(),
                    model: scripted(model.as_deref().unwrap_or(NAME)),
                    parts: match text.chars().count() {
                        0 => Vec::new(),
                        size => vec![("text".to_owned(), u32::try_from(size).unwrap_or(u32::MAX))],
                    },
                })
            }
        }
    }
}

impl Provider for Script {
    fn name(&self) -> &str {
        NAME
    }

    /// `script`, then the names that rules give, in their order.
    fn models(&self) -> Vec<ModelInfo> {
        let mut names = vec![NAME];
        for rule in &self.rules {
            if let Reply::Answer { model: Some(model), .. } = &rule.reply
                && !names.contains(&model.as_str())
            {
                names.push(model);
            }
        }
        names
            .into_iter()
            .map(|name| ModelInfo { id: scripted(name), context_window: None, max_output_tokens: None, reasons: false })
            .collect()
    }

    fn complete<'a>(&'a self, call: &'a Call, progress: &'a (dyn Fn(&str) + Send + Sync)) -> BoxFuture<'a, Answer> {
        Box::pin(self.answer(call, progress))
    }
}

impl When {
    fn fits(&self, call: &Call, prompt: &str) -> bool {
        self.plugin.as_ref().is_none_or(|plugin| *plugin == call.plugin)
            && self.session.as_ref().is_none_or(|session| *session == call.session)
            && self.monitor.as_ref().is_none_or(|monitor| *monitor == call.request.label)
            && self.prompt_contains.as_ref().is_none_or(|part| prompt.contains(part))
            && self.prompt_matches.as_ref().is_none_or(|pattern| pattern.is_match(prompt))
    }
}

fn prompt(call: &Call) -> String {
    let system = call.request.system.as_deref();
    let messages = call.request.messages.iter().map(|message| message.text.as_str());
    system.into_iter().chain(messages).collect::<Vec<_>>().join("\n\n")
}

fn scripted(model: &str) -> ModelId {
    ModelId { provider: NAME.to_owned(), model: model.to_owned() }
}

#[cfg(test)]
mod tests;
