//! Rollouts of Codex: what went to the model and came from it, item by item, among events for the screen.
//!
//! The items of one answer (thoughts, text, calls) follow each other and become one entry. Items have no ids that last,
//! so an entry is named after the place of its first line in the file, which only grows.

use std::borrow::Cow;
use std::sync::Arc;

use chaperone_contract::{
    AssistantMessage, Content, CustomMessage, Entry, EntryBody, ModelId, StopReason, Timestamp, ToolCall, ToolResult,
    Usage,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::told::FEEDBACK;
use super::super::transcript::{self, Transcript};
use super::super::{Host, tools};
use crate::session::BranchEntry;
use crate::session::line::{self, Object};
use crate::session::pi::Report;

#[derive(Deserialize)]
struct Fields<'l> {
    timestamp: Option<String>,
    #[serde(rename = "type")]
    kind: Option<Cow<'l, str>>,
    #[serde(borrow)]
    payload: Option<&'l RawValue>,
}

/// Texts of the role `user` that Codex itself put there.
const CIRCUMSTANCES: [&str; 6] = [
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<skill>",
];

/// The events that are read.
const EVENTS: [&str; 4] = ["turn_aborted", "thread_rolled_back", "task_complete", "token_count"];

/// Reads a rollout, of which `text` is the part from byte `start` on.
pub(in super::super) fn transcript(text: &str, start: u64) -> Transcript {
    let mut reader = Reader { start, ..Reader::default() };
    for line in transcript::lines(text) {
        match serde_json::from_str::<Fields<'_>>(line.text) {
            Ok(fields) => reader.take(line, &fields),
            Err(error) => transcript::pass_over(&mut reader.report, line, error),
        }
    }
    reader.end_answer();
    let entries = reader.entries.into_iter().map(|entry| BranchEntry { entry: Arc::new(entry), model: None });
    Transcript { entries: entries.collect(), forked_from: reader.forked_from, report: reader.report }
}

/// An answer; more items may come.
struct Draft {
    /// That of its first item.
    id: String,
    timestamp: Timestamp,
    content: Vec<Content>,
    usage: Option<Usage>,
}

#[derive(Default)]
struct Reader {
    start: u64,
    entries: Vec<Entry>,
    /// The answer that is being read, with the id and time of its first item.
    answer: Option<Draft>,
    model: Option<String>,
    /// What the session had cost when that was said last, in tokens.
    spent: Option<u64>,
    forked_from: Option<String>,
    at: Timestamp,
    report: Report,
}

impl Reader {
    fn take(&mut self, line: transcript::Line<'_>, fields: &Fields<'_>) {
        if let Some(at) = fields.timestamp.as_deref().and_then(line::date_time) {
            self.at = at;
        }
        let Some(payload) = fields.payload.map(RawValue::get) else { return };
        let matters = match fields.kind.as_deref() {
            Some("response_item" | "turn_context" | "compacted" | "token_usage_record") => true,
            Some("session_meta") => payload.contains("\"history_base\""),
            // Of the events only these say what the items do not.
            Some("event_msg") => EVENTS.iter().any(|event| payload.contains(event)),
            _ => false,
        };
        if !matters {
            return;
        }
        let mut payload = match line::object(payload) {
            Ok(read) => read.object,
            Err(reason) => return transcript::pass_over(&mut self.report, line, reason),
        };
        let id = format!("@{}", self.start.saturating_add(line.offset as u64));
        match fields.kind.as_deref() {
            Some("turn_context") => self.model = line::text(&mut payload, "model").or(self.model.take()),
            Some("compacted") => {
                let summary = line::text(&mut payload, "message").unwrap_or_default();
                self.push(id, EntryBody::Compaction(summary));
            }
            Some("session_meta") => {
                let base = payload.get("history_base").and_then(|base| base.get("thread_id")).and_then(Value::as_str);
                self.forked_from = base.map(Into::into).or(self.forked_from.take());
            }
            Some("token_usage_record") => self.cost(payload.get("usage")),
            Some("event_msg") => self.event(id, &mut payload),
            _ => self.item(id, payload),
        }
    }

    fn event(&mut self, id: String, payload: &mut Object) {
        match line::text(payload, "type").as_deref() {
            Some("turn_aborted") => self.push(id, EntryBody::Assistant(self.message(Vec::new(), StopReason::Aborted))),
            Some("thread_rolled_back") => self.roll_back(line::count(payload, "num_turns").unwrap_or(0)),
            Some("task_complete") => {
                let error = payload.get("error").and_then(|error| error.get("message")).and_then(Value::as_str);
                if let Some(error) = error {
                    let failed = self.message(Vec::new(), StopReason::Error);
                    let failed = AssistantMessage { error: Some(error.into()), ..failed };
                    self.push(id, EntryBody::Assistant(failed));
                }
            }
            Some("token_count") => {
                let info = payload.get("info");
                let of_all = info.and_then(|info| info.get("total_token_usage")?.get("total_tokens")?.as_u64());
                // It is said again whenever limits change.
                if of_all != self.spent {
                    self.cost(info.and_then(|info| info.get("last_token_usage")));
                }
                self.spent = of_all.or(self.spent);
            }
            _ => {}
        }
    }

    /// What the newest answer cost, unless that is known. Older versions say it only once the answer's tools have run.
    fn cost(&mut self, tokens: Option<&Value>) {
        let Some(tokens) = tokens.and_then(Value::as_object).map(usage) else { return };
        let of_entry = |entry| match entry {
            &mut Entry { body: EntryBody::Assistant(ref mut message), .. } => Some(&mut message.usage),
            _ => None,
        };
        let newest = match &mut self.answer {
            Some(answer) => Some(&mut answer.usage),
            None => self.entries.iter_mut().rev().find_map(of_entry),
        };
        if let Some(usage) = newest {
            usage.get_or_insert(tokens);
        }
    }

    /// The user took back so many messages, and all that came of them.
    fn roll_back(&mut self, turns: u64) {
        self.end_answer();
        for _ in 0..turns {
            let Some(at) = self.entries.iter().rposition(|entry| matches!(entry.body, EntryBody::User(_))) else {
                return;
            };
            self.entries.truncate(at);
        }
    }

    fn item(&mut self, id: String, mut item: Object) {
        let kind = line::text(&mut item, "type").unwrap_or_default();
        match kind.as_str() {
            "message" => self.said(id, item),
            "reasoning" => {
                let summary = item.get("summary").map(texts).unwrap_or_default();
                self.part(id, Content::Thinking(summary.join("\n")));
            }
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                let call = call(&kind, &mut item);
                self.part(id, Content::ToolCall(call));
            }
            "function_call_output" | "custom_tool_call_output" => self.result(id, item),
            _ => self.report.count_unknown(format!("response_item/{kind}")),
        }
    }

    fn said(&mut self, id: String, mut item: Object) {
        let texts = item.get("content").map(texts).unwrap_or_default();
        let role = line::text(&mut item, "role").unwrap_or_default();
        let first = texts.first().map_or("", |text| text.trim_start());
        match role.as_str() {
            "assistant" => texts.into_iter().for_each(|text| self.part(id.clone(), Content::Text(text))),
            "user" if first.starts_with("<hook_prompt") => {
                let content = texts.join("\n");
                let custom_type = FEEDBACK.into();
                self.push(id, EntryBody::Custom(CustomMessage { custom_type, content, display: false, details: None }));
            }
            "user" if !CIRCUMSTANCES.iter().any(|circumstance| first.starts_with(circumstance)) => {
                self.push(id, EntryBody::User(texts.into_iter().map(Content::Text).collect()));
            }
            _ => self.push(id, EntryBody::Other(format!("message/{role}"))),
        }
    }

    fn result(&mut self, id: String, mut item: Object) {
        let call_id = line::text(&mut item, "call_id").unwrap_or_default();
        let (text, has_failed) = match item.remove("output") {
            Some(Value::String(text)) => (text, false),
            Some(Value::Object(mut output)) => {
                let text = output.get("content").map(texts).unwrap_or_default().join("\n");
                (text, matches!(output.remove("success"), Some(Value::Bool(false))))
            }
            Some(other) => (texts(&other).join("\n"), false),
            None => (String::new(), false),
        };
        self.end_answer();
        let calls = self.entries.iter().rev().filter_map(|entry| match &entry.body {
            EntryBody::Assistant(message) => Some(&message.content),
            _ => None,
        });
        let tool_name = calls
            .flatten()
            .find_map(|part| match part {
                Content::ToolCall(call) if call.id == call_id => Some(call.name.clone()),
                _ => None,
            })
            .unwrap_or_default();
        let is_error = has_failed || exit_code(&text).is_some_and(|code| code != 0);
        let content = vec![Content::Text(text)];
        self.push(id, EntryBody::ToolResult(ToolResult { call_id, tool_name, content, is_error, details: None }));
    }

    fn part(&mut self, id: String, part: Content) {
        let timestamp = self.at;
        let draft = || Draft { id, timestamp, content: Vec::new(), usage: None };
        self.answer.get_or_insert_with(draft).content.push(part);
    }

    fn end_answer(&mut self) {
        let Some(Draft { id, timestamp, content, usage }) = self.answer.take() else { return };
        let reason = match content.iter().any(|part| matches!(part, Content::ToolCall(_))) {
            true => StopReason::ToolUse,
            false => StopReason::Stop,
        };
        let body = EntryBody::Assistant(AssistantMessage { usage, ..self.message(content, reason) });
        self.entries.push(Entry { id, timestamp, body });
    }

    fn message(&self, content: Vec<Content>, stop_reason: StopReason) -> AssistantMessage {
        let model = self.model.clone().map(|model| ModelId { provider: Host::Codex.vendor().into(), model });
        AssistantMessage { content, stop_reason, usage: None, model, error: None }
    }

    fn push(&mut self, id: String, body: EntryBody) {
        self.end_answer();
        self.entries.push(Entry { id, timestamp: self.at, body });
    }
}

fn call(kind: &str, item: &mut Object) -> ToolCall {
    let id = line::text(item, "call_id").unwrap_or_default();
    let name = line::text(item, "name").unwrap_or_else(|| "local_shell".into());
    let arguments = match kind {
        // What is no JSON is what a tool of free form was given.
        "function_call" => line::text(item, "arguments").map(|text| match serde_json::from_str::<Value>(&text) {
            Ok(Value::Object(_)) => text,
            _ => serde_json::json!({ "input": text }).to_string(),
        }),
        "custom_tool_call" => line::text(item, "input").map(|input| serde_json::json!({ "input": input }).to_string()),
        _ => line::json(item, "action"),
    };
    let name = tools::name(Host::Codex, &name).into();
    ToolCall { id, name, arguments: arguments.unwrap_or_else(|| "{}".into()) }
}

/// The texts of a text, or of a list of parts.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).map(Into::into).collect()
        }
        _ => Vec::new(),
    }
}

/// What a command exited with: newer versions say so in the head of the output, older ones in the output's metadata.
fn exit_code(output: &str) -> Option<i64> {
    let head = output.lines().take_while(|line| !line.starts_with("Output:")).take(8);
    let said = head
        .filter_map(|line| line.strip_prefix("Process exited with code "))
        .find_map(|code| code.trim().parse().ok());
    said.or_else(|| {
        let output: Value = serde_json::from_str(output).ok().filter(|_| output.starts_with('{'))?;
        output.get("metadata")?.get("exit_code")?.as_i64()
    })
}

/// Input counts what was read from and written to the cache, output counts thoughts.
fn usage(tokens: &Object) -> Usage {
    let count = |name| line::count(tokens, name).unwrap_or(0);
    let (cache_read, cache_write) = (count("cached_input_tokens"), count("cache_write_input_tokens"));
    Usage {
        input: count("input_tokens").saturating_sub(cache_read).saturating_sub(cache_write),
        output: count("output_tokens"),
        cache_read,
        cache_write,
        total: count("total_tokens"),
    }
}
