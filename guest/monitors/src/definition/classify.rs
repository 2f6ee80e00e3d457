//! Reading the `classify` block.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::fields::{Fields, alternatives, kind};
use super::*;
use crate::condition::{Condition, ConditionError};
use crate::evidence::selection::{DEFAULT_BUDGET, Limit, MOST_CHARACTERS, MOST_ITEMS};
use crate::fault::Report;
use crate::{template, waiting};

const CLASSIFY: &[&str] =
    &["model", "context", "limits", "budget", "precheck", "exempt", "excludes", "max_per_prompt", "prompt"];
const LIMIT: &[&str] = &["items", "characters"];
const RULE: &[&str] = &["clean_if", "ask_if"];

/// What the rest of the file says about when the monitor looks, and why.
pub struct AtRest {
    /// When it looks.
    pub event: Trigger,
    /// Whether it counts its events, and so looks also while the agent goes on.
    pub counts: bool,
    /// Whether it tells the agent something.
    pub steers: bool,
}

impl AtRest {
    fn is_so(&self) -> bool {
        matches!(self.event, Trigger::MessageEnd | Trigger::TurnEnd | Trigger::AgentEnd) && !self.counts
    }
}

/// Reads the block.
pub fn read(report: &mut Report, root: &Fields, rest: &AtRest) -> Option<Classify> {
    let classify = root.object(report, "classify");
    classify.warn_of_others(report, CLASSIFY);
    let prompt = classify.required_text(report, "prompt", "write what the judge is to decide");
    let context = context(report, &classify, rest.event);
    if let Some(prompt) = prompt {
        check_prompt(report, &classify.pointer("prompt"), prompt, &context);
    }
    let limits = limits(report, &classify, &context);
    let budget = at_most(report, &classify, "budget", DEFAULT_BUDGET, MOST_CHARACTERS);
    let max_per_prompt = match rest.event {
        Trigger::ToolCall => DEFAULT_MAX_CALLS_PER_PROMPT,
        _ => DEFAULT_MAX_PER_PROMPT,
    };
    Some(Classify {
        model: model(report, &classify),
        shows: Selection { collectors: context, limits, budget },
        precheck: precheck(report, &classify, rest.event),
        exempt: exempt(report, &classify, rest),
        excludes: excludes(report, &classify, rest.event),
        max_per_prompt: classify.count(report, "max_per_prompt", max_per_prompt),
        prompt: prompt?.to_owned(),
    })
}

fn model(report: &mut Report, classify: &Fields) -> Option<ModelId> {
    let text = classify.text(report, "model").filter(|text| !text.trim().is_empty())?;
    let model = model_id(text);
    if model.is_none() {
        let message = format!("`{text}` names no provider or no model");
        report.error(
            classify.pointer("model"),
            message,
            "write provider/model, or leave it out to use the session's model",
        );
    }
    model
}

fn context(report: &mut Report, classify: &Fields, event: Trigger) -> Vec<Collector> {
    let Some(words) = classify.texts(report, "context") else { return Collector::default_context(event) };
    let mut context = Vec::with_capacity(words.len());
    for (pointer, word) in words {
        match Collector::from_word(word.trim()) {
            None => {
                let mend = format!("write {}", alternatives(Collector::ALL, Collector::word));
                report.error(pointer, format!("`{word}` cannot be collected"), mend);
            }
            Some(collector) if context.contains(&collector) => {
                report.warning(pointer, format!("`{word}` is listed twice"), "remove one of them");
            }
            Some(Collector::ToolCall) if event != Trigger::ToolCall => {
                let message = "`tool_call` is empty: no call waits when this monitor looks";
                report.warning(pointer, message, "write tool_calls, or make the event tool_call");
            }
            Some(collector) => context.push(collector),
        }
    }
    context
}

/// How much each collector shows, where the file says so.
fn limits(report: &mut Report, classify: &Fields, context: &[Collector]) -> BTreeMap<Collector, Limit> {
    let block = classify.object(report, "limits");
    let mut limits = BTreeMap::new();
    for word in block.keys() {
        let Some(collector) = Collector::from_word(word) else {
            let mend = format!("write {}", alternatives(Collector::ALL, Collector::word));
            report.error(block.pointer(word), format!("`{word}` is not collected by anything"), mend);
            continue;
        };
        if !context.contains(&collector) {
            let message = format!("has no effect: `{word}` is not collected");
            report.warning(block.pointer(word), message, format!("add `{word}` to classify.context"));
        }
        let limit = block.object(report, word);
        limit.warn_of_others(report, LIMIT);
        let usual = Limit::of(collector);
        if !collector.has_items() && limit.value("items").is_some() {
            report.warning(limit.pointer("items"), format!("has no effect: `{word}` is one text"), "remove it");
        }
        let items = match collector.has_items() {
            true => at_most(report, &limit, "items", usual.items, MOST_ITEMS),
            false => usual.items,
        };
        let characters = at_most(report, &limit, "characters", usual.characters, MOST_CHARACTERS);
        limits.insert(collector, Limit { items, characters });
    }
    limits
}

/// A whole number from 1 to `most`.
fn at_most(report: &mut Report, fields: &Fields, key: &str, default: u32, most: u32) -> u32 {
    let default = NonZeroU32::new(default).unwrap_or(NonZeroU32::MIN);
    let number = fields.count(report, key, default).get();
    if number > most {
        let message = format!("`{number}` is more than can be shown");
        report.error(fields.pointer(key), message, format!("write a whole number from 1 to {most}"));
    }
    number.min(most)
}

/// The rules that decide before a judge is asked.
fn precheck(report: &mut Report, classify: &Fields, event: Trigger) -> Vec<precheck::Rule> {
    let mend = "write a list of rules, such as [{\"clean_if\": \"not tool(*)\"}]";
    let pointer = classify.pointer("precheck");
    let rules = match classify.value("precheck") {
        None => return Vec::new(),
        Some(Value::Array(rules)) => rules,
        Some(other) => {
            report.error(pointer, format!("is {}, not a list of rules", kind(other)), mend);
            return Vec::new();
        }
    };
    if event == Trigger::Command {
        report.warning(pointer.as_str(), "has no effect: who runs a monitor gets a judge's answer", "remove it");
    }
    let read = rules.iter().enumerate().filter_map(|(index, value)| {
        let pointer = format!("{pointer}/{index}");
        let Value::Object(members) = value else {
            report.error(pointer, format!("is {}, not a rule", kind(value)), mend);
            return None;
        };
        rule(report, &Fields::at(pointer, members), mend)
    });
    read.collect()
}

fn rule(report: &mut Report, rule: &Fields, mend: &str) -> Option<precheck::Rule> {
    rule.warn_of_others(report, RULE);
    let (key, make): (_, fn(Condition) -> precheck::Rule) =
        match (rule.value("clean_if").is_some(), rule.value("ask_if").is_some()) {
            (true, false) => ("clean_if", precheck::Rule::CleanIf),
            (false, true) => ("ask_if", precheck::Rule::AskIf),
            (true, true) => {
                report.error(rule.place(), "is two rules in one", "make two objects of it, in the order that counts");
                return None;
            }
            (false, false) => {
                report.error(rule.place(), "has neither clean_if nor ask_if", mend);
                return None;
            }
        };
    let parsed = rule.text(report, key)?.parse().map(make);
    let wrong = |error: &ConditionError| {
        report.error(rule.pointer(key), error.to_string(), error.mend());
    };
    parsed.inspect_err(wrong).ok()
}

/// The states in which the monitor does not look.
fn exempt(report: &mut Report, classify: &Fields, rest: &AtRest) -> Vec<Waiting> {
    let Some(words) = classify.texts(report, "exempt") else {
        return if rest.is_so() && rest.steers { waiting::DEFAULT.to_vec() } else { Vec::new() };
    };
    if !rest.is_so() {
        let message = "has no effect: only monitors that look when the agent is at rest are exempt from anything";
        report.warning(classify.pointer("exempt"), message, "remove it");
    }
    let mut states = Vec::with_capacity(words.len());
    for (pointer, word) in words {
        match Waiting::from_word(word.trim()) {
            None => {
                let mend = format!("write {}", alternatives(Waiting::ALL, Waiting::word));
                report.error(pointer, format!("`{word}` is no state to be exempt in"), mend);
            }
            Some(state) if states.contains(&state) => {
                report.warning(pointer, format!("`{word}` is listed twice"), "remove one of them");
            }
            Some(state) => states.push(state),
        }
    }
    if rest.is_so() { states } else { Vec::new() }
}

fn excludes(report: &mut Report, classify: &Fields, event: Trigger) -> Vec<String> {
    let names = classify.texts(report, "excludes").unwrap_or_default();
    if event == Trigger::ToolCall && !names.is_empty() {
        let message = "has no effect: a call cannot wait until others have spoken at the end of the run";
        report.warning(classify.pointer("excludes"), message, "remove it");
        return Vec::new();
    }
    names.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// Warns of placeholders that nothing is put into, and of a prompt that cannot work.
fn check_prompt(report: &mut Report, pointer: &str, prompt: &str, context: &[Collector]) {
    let mut seen = HashSet::new();
    for word in template::placeholders(prompt).filter(|&word| seen.insert(word)) {
        match Collector::from_word(word) {
            Some(collector) if context.contains(&collector) => {}
            Some(_) => report.warning(
                pointer,
                format!("`{{{word}}}` is not collected and stays as it is"),
                format!("add `{word}` to classify.context"),
            ),
            None if template::BUILT_IN.contains(&word) => {}
            None => report.warning(
                pointer,
                format!("`{{{word}}}` is not a placeholder and stays as it is"),
                format!("write one of {}, or a collector of classify.context", template::BUILT_IN.join(", ")),
            ),
        }
    }
    if !seen.contains("patterns") {
        report.warning(pointer, "does not show the judge the patterns", "put {patterns} where the list should stand");
    }
    if !prompt.contains("CLEAN") || !prompt.contains("FLAG") {
        let mend = "end it with: Reply CLEAN, FLAG:<description> or NEW:<pattern>|<description>";
        report.warning(pointer, "does not tell the judge how to answer", mend);
    }
}
