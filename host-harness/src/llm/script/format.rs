//! The YAML of a script, and what can be wrong with it.

use std::fmt;
use std::time::Duration;

use chaperone_contract::{LlmError, StopReason, Usage};
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;
use serde_saphyr::{Location, MessageFormatter as _, Spanned, UserMessageFormatter};

use super::{Reply, Rule, When};

/// Why a script could not be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file could not be read.
    #[error("{file}: the script could not be read: {source}")]
    Read {
        /// The file.
        file: String,
        /// The operating system's words.
        source: std::io::Error,
    },
    /// The file is not a script.
    #[error("{file}:{line}:{column}: {fault}")]
    Fault {
        /// The file.
        file: String,
        /// Counted from 1; 0 where the whole file is meant.
        line: u64,
        /// In characters, counted from 1; 0 where the whole file is meant.
        column: u64,
        /// What is wrong there.
        fault: Fault,
    },
}

/// What is wrong at one place of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It is not YAML, or a key or value is not one that scripts have.
    Yaml(String),
    /// It is YAML, and no list of rules under its key.
    NoRules,
    /// A rule has neither an answer nor an error.
    NoReply,
    /// A rule has both an answer and an error.
    TwoReplies,
    /// A regular expression that is none; why.
    Pattern(String),
    /// A `stop` that the contract does not have.
    Stop(String),
    /// A key that its rule's reply has no use for.
    Misplaced {
        /// The key.
        key: &'static str,
        /// What it goes with.
        goes_with: &'static str,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yaml(text) => f.write_str(text),
            Self::NoRules => {
                f.write_str("this is no script; begin it with `rules:`, and below it a list such as `- answer: CLEAN`")
            }
            Self::NoReply => {
                f.write_str("this rule says nothing; give it an `answer` (which may be \"\") or an `error`")
            }
            Self::TwoReplies => f.write_str("this rule has an `answer` and an `error`; remove one of them"),
            Self::Pattern(why) => {
                write!(f, "`prompt_matches` is not a regular expression: {why}; use `prompt_contains` for plain text")
            }
            Self::Stop(name) => {
                let known: Vec<_> = StopReason::ALL.iter().map(|stop| format!("`{}`", stop.name())).collect();
                write!(f, "`{name}` is not a reason to stop; use one of {}", known.join(", "))
            }
            Self::Misplaced { key, goes_with } => write!(f, "`{key}` goes with {goes_with} only; remove it here"),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptText {
    rules: Vec<Spanned<RuleText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    when: Option<WhenText>,
    answer: Option<String>,
    error: Option<ErrorName>,
    retry_after: Option<Spanned<u32>>,
    message: Option<Spanned<String>>,
    #[serde(default)]
    delay_ms: u32,
    usage: Option<Spanned<UsageText>>,
    stop: Option<Spanned<String>>,
    model: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WhenText {
    plugin: Option<String>,
    session: Option<String>,
    monitor: Option<String>,
    prompt_contains: Option<String>,
    prompt_matches: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UsageText {
    input: u64,
    output: u64,
}

/// The contract's names of [`LlmError`].
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ErrorName {
    UnknownModel,
    Authentication,
    RateLimited,
    TimedOut,
    Cancelled,
    AllowanceSpent,
    Provider,
}

/// The rules of the script `text`.
pub(super) fn rules(file: &str, text: &str) -> Result<Vec<Rule>, ScriptError> {
    let at = |(location, fault): (Location, Fault)| ScriptError::Fault {
        file: file.to_owned(),
        line: location.line(),
        column: location.column(),
        fault,
    };
    let script: ScriptText = serde_saphyr::from_str(text).map_err(|error| {
        let fault = match serde_saphyr::from_str::<Value>(text) {
            Ok(value) if !value.is_object() => Fault::NoRules,
            _ => Fault::Yaml(UserMessageFormatter.format_message(error.without_snippet()).into_owned()),
        };
        at((error.location().unwrap_or(Location::UNKNOWN), fault))
    })?;
    script.rules.into_iter().map(|rule| rule_of(rule).map_err(at)).collect()
}

fn rule_of(Spanned { value: rule, referenced: place, .. }: Spanned<RuleText>) -> Result<Rule, (Location, Fault)> {
    let delay = Duration::from_millis(rule.delay_ms.into());
    let reply = match (rule.answer, rule.error) {
        (None, None) => return Err((place, Fault::NoReply)),
        (Some(_), Some(_)) => return Err((place, Fault::TwoReplies)),
        (Some(text), None) => {
            absent(&rule.retry_after, "retry_after", RATE_LIMITED)?;
            absent(&rule.message, "message", WITH_TEXT)?;
            Reply::Answer {
                text,
                stop: rule.stop.map_or(Ok(StopReason::Stop), stop_of)?,
                usage: rule.usage.map(|usage| usage_of(&usage.value)),
                model: rule.model.map(|model| model.value),
            }
        }
        (None, Some(name)) => {
            absent(&rule.usage, "usage", ANSWER)?;
            absent(&rule.stop, "stop", ANSWER)?;
            absent(&rule.model, "model", ANSWER)?;
            Reply::Error(error_of(name, rule.retry_after, rule.message)?)
        }
    };
    Ok(Rule { when: rule.when.map_or(Ok(When::default()), when_of)?, delay, reply })
}

const ANSWER: &str = "an `answer`";
const RATE_LIMITED: &str = "`error: rate-limited`";
const WITH_TEXT: &str = "an `error` that carries a text (unknown-model, authentication, allowance-spent, provider)";

fn absent<T>(value: &Option<Spanned<T>>, key: &'static str, goes_with: &'static str) -> Result<(), (Location, Fault)> {
    match value {
        None => Ok(()),
        Some(value) => Err((value.referenced, Fault::Misplaced { key, goes_with })),
    }
}

fn when_of(text: WhenText) -> Result<When, (Location, Fault)> {
    let pattern = |text: Spanned<String>| {
        Regex::new(&text.value).map_err(|error| (text.referenced, Fault::Pattern(error.to_string())))
    };
    Ok(When {
        plugin: text.plugin,
        session: text.session,
        monitor: text.monitor,
        prompt_contains: text.prompt_contains,
        prompt_matches: text.prompt_matches.map(pattern).transpose()?,
    })
}

fn stop_of(text: Spanned<String>) -> Result<StopReason, (Location, Fault)> {
    let known = StopReason::ALL.iter().find(|stop| stop.name() == text.value);
    known.copied().ok_or((text.referenced, Fault::Stop(text.value)))
}

fn usage_of(text: &UsageText) -> Usage {
    let UsageText { input, output } = *text;
    Usage { input, output, cache_read: 0, cache_write: 0, total: input.saturating_add(output) }
}

fn error_of(
    name: ErrorName,
    retry_after: Option<Spanned<u32>>,
    message: Option<Spanned<String>>,
) -> Result<LlmError, (Location, Fault)> {
    if !matches!(name, ErrorName::RateLimited) {
        absent(&retry_after, "retry_after", RATE_LIMITED)?;
    }
    if matches!(name, ErrorName::RateLimited | ErrorName::TimedOut | ErrorName::Cancelled) {
        absent(&message, "message", WITH_TEXT)?;
    }
    let text = message.map_or_else(|| "as the script says".to_owned(), |message| message.value);
    Ok(match name {
        ErrorName::UnknownModel => LlmError::UnknownModel(text),
        ErrorName::Authentication => LlmError::Authentication(text),
        ErrorName::RateLimited => LlmError::RateLimited(retry_after.map(|seconds| seconds.value)),
        ErrorName::TimedOut => LlmError::TimedOut,
        ErrorName::Cancelled => LlmError::Cancelled,
        ErrorName::AllowanceSpent => LlmError::AllowanceSpent(text),
        ErrorName::Provider => LlmError::Provider(text),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error(text: &str) -> String {
        rules("judge.yaml", text).map(|rules| rules.len()).unwrap_err().to_string()
    }

    #[test]
    fn an_unknown_key_is_named_with_its_place_and_the_known_ones() {
        let text = "rules:\n  - when: { monitr: hedge }\n    answer: CLEAN\n";
        assert_eq!(
            error(text),
            "judge.yaml:2:13: unknown field `monitr`, expected one of plugin, session, monitor, prompt_contains, prompt_matches"
        );
        assert!(error("rules: []\nrule: []\n").starts_with("judge.yaml:2:1: unknown field `rule`"));
        assert!(error("rules:\n  - answr: CLEAN\n").starts_with("judge.yaml:2:5: unknown field `answr`"));
    }

    #[test]
    fn a_rule_without_a_reply_and_one_with_two_are_refused() {
        assert_eq!(
            error("rules:\n  - when: { monitor: hedge }\n"),
            "judge.yaml:2:5: this rule says nothing; give it an `answer` (which may be \"\") or an `error`"
        );
        assert_eq!(
            error("rules:\n  - answer: CLEAN\n  - answer: CLEAN\n    error: provider\n"),
            "judge.yaml:3:5: this rule has an `answer` and an `error`; remove one of them"
        );
    }

    #[test]
    fn an_answer_may_be_empty() {
        let rules = rules("judge.yaml", "rules:\n  - answer: \"\"\n").unwrap();
        assert!(matches!(&rules[0].reply, Reply::Answer { text, .. } if text.is_empty()));
    }

    #[test]
    fn a_bad_pattern_is_shown_at_its_place() {
        let message = error("rules:\n  - when: { prompt_matches: \"a(b\" }\n    answer: CLEAN\n");
        assert!(message.starts_with("judge.yaml:2:29: `prompt_matches` is not a regular expression: "), "{message}");
        assert!(message.contains("unclosed group") && message.contains("use `prompt_contains`"), "{message}");
    }

    #[test]
    fn an_unknown_stop_lists_the_known_ones() {
        assert_eq!(
            error("rules:\n  - answer: x\n    stop: done\n"),
            "judge.yaml:3:11: `done` is not a reason to stop; use one of `stop`, `length`, `tool-use`, `aborted`, \
             `error`"
        );
    }

    #[test]
    fn an_unknown_error_lists_the_known_ones() {
        let message = error("rules:\n  - error: broken\n");
        assert!(message.starts_with("judge.yaml:2:12: "), "{message}");
        assert!(message.contains("broken") && message.contains("allowance-spent"), "{message}");
    }

    #[test]
    fn keys_that_the_reply_has_no_use_for_are_refused() {
        for (rule, key) in [
            ("answer: x\n    retry_after: 3", "retry_after"),
            ("answer: x\n    message: m", "message"),
            ("error: provider\n    usage: { input: 1, output: 1 }", "usage"),
            ("error: provider\n    stop: stop", "stop"),
            ("error: provider\n    model: m", "model"),
            ("error: provider\n    retry_after: 3", "retry_after"),
            ("error: timed-out\n    message: m", "message"),
            ("error: rate-limited\n    message: m", "message"),
        ] {
            let message = error(&format!("rules:\n  - {rule}\n"));
            assert!(message.starts_with("judge.yaml:3:"), "{message}");
            assert!(message.contains(&format!("`{key}` goes with")), "{message}");
        }
    }

    #[test]
    fn what_is_no_list_of_rules_is_told_how_to_begin() {
        let mend = "this is no script; begin it with `rules:`, and below it a list such as `- answer: CLEAN`";
        assert_eq!(error("- answer: CLEAN\n"), format!("judge.yaml:1:1: {mend}"));
        for text in ["", "CLEAN", "# nothing\n"] {
            assert!(error(text).ends_with(mend), "{text:?}: {}", error(text));
        }
        assert!(
            error("answer: CLEAN\n").contains("unknown field `answer`, expected one of rules"),
            "{}",
            error("answer: CLEAN\n")
        );
    }

    #[test]
    fn what_is_not_yaml_is_refused_with_its_place() {
        assert!(error("rules: [\n").starts_with("judge.yaml:"));
        assert!(error("").starts_with("judge.yaml:"));
        assert!(error("rules:\n  - answer: [1\n").starts_with("judge.yaml:"));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = super::super::Script::read("/nowhere/judge.yaml".as_ref()).unwrap_err().to_string();
        assert!(error.starts_with("/nowhere/judge.yaml: the script could not be read: "), "{error}");
    }

    proptest! {
        #[test]
        fn any_text_is_a_script_or_an_error_that_names_the_file(text in "(?s).{0,80}") {
            if let Err(error) = rules("judge.yaml", &text) {
                prop_assert!(error.to_string().starts_with("judge.yaml:"));
            }
        }

        #[test]
        fn any_printable_answer_survives_its_way_through_yaml(answer in "[\\PC\\n\\t]{0,40}") {
            let text = format!("rules:\n  - answer: {}\n", serde_json::to_string(&answer).unwrap());
            let parsed = rules("judge.yaml", &text).unwrap();
            let Reply::Answer { text, .. } = &parsed[0].reply else { panic!("expected an answer") };
            prop_assert_eq!(text, &answer);
        }
    }
}
