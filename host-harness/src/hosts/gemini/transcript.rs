//! Chat files of Gemini CLI: a message a line, written anew under its id whenever it changes, among updates of what is
//! known of the session. Older versions wrote one JSON document.
//!
//! What tools answered stands in the message that called them; here it becomes entries behind it.

use std::collections::HashMap;
use std::sync::Arc;

use chaperone_contract::{
    AssistantMessage, Content, Entry, EntryBody, ModelId, StopReason, Timestamp, ToolCall, ToolResult, Usage,
};
use serde_json::Value;

use super::super::Host;
use super::super::transcript::{self, Transcript};
use crate::session::BranchEntry;
use crate::session::line::{self, Object};
use crate::session::pi::Report;

/// Reads a chat file.
pub(in super::super) fn transcript(text: &str) -> Transcript {
    let mut report = Report::default();
    let messages = match whole_document(text) {
        Some(messages) => messages,
        None => messages(text, &mut report),
    };
    let mut reader = Reader { entries: Vec::new(), at: 0, report };
    messages.into_iter().for_each(|message| reader.take(message));
    let entries = reader.entries.into_iter().map(|entry| BranchEntry { entry: Arc::new(entry), model: None });
    Transcript { entries: entries.collect(), forked_from: None, report: reader.report }
}

/// The messages of a file of the older kind, which is one object over many lines.
fn whole_document(text: &str) -> Option<Vec<Object>> {
    let first = transcript::lines(text).next()?;
    if first.text != "{" {
        return None;
    }
    let mut document = line::object(text).ok()?.object;
    Some(objects(document.remove("messages")?))
}

fn objects(list: Value) -> Vec<Object> {
    let Value::Array(list) = list else { return Vec::new() };
    let objects = list.into_iter().filter_map(|item| match item {
        Value::Object(object) => Some(object),
        _ => None,
    });
    objects.collect()
}

/// The messages that stand, each as it was written last, in the order in which they came first.
fn messages(text: &str, report: &mut Report) -> Vec<Object> {
    let mut messages: Vec<(String, Object)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for line in transcript::lines(text) {
        let mut object = match line::object(line.text) {
            Ok(read) => read.object,
            Err(reason) => {
                transcript::pass_over(report, line, reason);
                continue;
            }
        };
        if let Some(id) = line::text(&mut object, "$rewindTo") {
            messages.truncate(places.get(&id).copied().unwrap_or(0));
            places.retain(|_, place| *place < messages.len());
        } else if let Some(id) = line::text(&mut object, "id") {
            put(&mut messages, &mut places, id, object);
        } else if let Some(Value::Object(mut update)) = object.remove("$set")
            && let Some(list) = update.remove("messages")
        {
            messages.clear();
            places.clear();
            for mut object in objects(list) {
                let id = line::text(&mut object, "id").unwrap_or_else(|| format!("#{}", messages.len()));
                put(&mut messages, &mut places, id, object);
            }
        }
    }
    let with_id = messages.into_iter().map(|(id, mut object)| {
        object.insert("id".into(), id.into());
        object
    });
    with_id.collect()
}

fn put(messages: &mut Vec<(String, Object)>, places: &mut HashMap<String, usize>, id: String, object: Object) {
    match places.get(&id) {
        Some(&place) => messages[place].1 = object,
        None => {
            places.insert(id.clone(), messages.len());
            messages.push((id, object));
        }
    }
}

struct Reader {
    entries: Vec<Entry>,
    at: Timestamp,
    report: Report,
}

impl Reader {
    fn take(&mut self, mut message: Object) {
        if let Some(at) = line::timestamp(&message) {
            self.at = at;
        }
        let id = line::text(&mut message, "id").unwrap_or_else(|| format!("#{}", self.entries.len()));
        let kind = line::text(&mut message, "type").unwrap_or_default();
        match kind.as_str() {
            "user" => self.user(id, &message),
            "gemini" => self.answer(id, message),
            "info" if texts(message.get("content")).iter().any(|text| text.starts_with("Request cancelled")) => {
                self.push(id, EntryBody::Assistant(answer(Vec::new(), StopReason::Aborted, None)));
            }
            "info" | "error" | "warning" => self.push(id, EntryBody::Other(kind)),
            _ => {
                self.report.count_unknown(format!("message/{kind}"));
                self.push(id, EntryBody::Other(kind));
            }
        }
    }

    /// What the user said. What tools answered goes to the model in the user's name; that is told with their calls.
    fn user(&mut self, id: String, message: &Object) {
        let is_answer = |part: &&Value| part.get("functionResponse").is_some();
        let texts = match message.get("content") {
            Some(Value::Array(parts)) => {
                parts.iter().filter(|part| !is_answer(part)).flat_map(|part| texts(Some(part))).collect()
            }
            content => texts(content),
        };
        let is_said = |text: &String| !text.trim().is_empty() && !text.trim_start().starts_with("<session_context>");
        let said: Vec<_> = texts.into_iter().filter(is_said).map(Content::Text).collect();
        let body = if said.is_empty() { EntryBody::Other("user".into()) } else { EntryBody::User(said) };
        self.push(id, body);
    }

    fn answer(&mut self, id: String, mut message: Object) {
        let thoughts = message.remove("thoughts").map(objects).unwrap_or_default().into_iter().map(|mut thought| {
            let part = |thought: &mut Object, name| line::text(thought, name).unwrap_or_default();
            let (subject, description) = (part(&mut thought, "subject"), part(&mut thought, "description"));
            Content::Thinking(format!("{subject}\n{description}").trim().to_owned())
        });
        let mut content: Vec<Content> = thoughts.collect();
        content.extend(texts(message.get("content")).into_iter().filter(|text| !text.is_empty()).map(Content::Text));
        let mut results = Vec::new();
        for mut call in message.remove("toolCalls").map(objects).unwrap_or_default() {
            let name = line::text(&mut call, "name").unwrap_or_default();
            let made = super::call(&name, call.get("args").filter(|arguments| !arguments.is_null()));
            results.extend(result(&made, &mut call));
            content.push(Content::ToolCall(made));
        }
        let reason = match content.iter().any(|part| matches!(part, Content::ToolCall(_))) {
            true => StopReason::ToolUse,
            false => StopReason::Stop,
        };
        let model = line::text(&mut message, "model");
        let model = model.map(|model| ModelId { provider: Host::GeminiCli.vendor().into(), model });
        let usage = message.get("tokens").and_then(Value::as_object).map(usage);
        self.push(id.clone(), EntryBody::Assistant(AssistantMessage { usage, ..answer(content, reason, model) }));
        for (number, result) in results.into_iter().enumerate() {
            self.push(format!("{id}#{number}"), EntryBody::ToolResult(result));
        }
    }

    fn push(&mut self, id: String, body: EntryBody) {
        self.entries.push(Entry { id, timestamp: self.at, body });
    }
}

fn answer(content: Vec<Content>, stop_reason: StopReason, model: Option<ModelId>) -> AssistantMessage {
    AssistantMessage { content, stop_reason, usage: None, model, error: None }
}

/// What a tool answered; none while it runs.
fn result(made: &ToolCall, call: &mut Object) -> Option<ToolResult> {
    let status = line::text(call, "status").unwrap_or_default();
    let is_over = matches!(status.as_str(), "success" | "error" | "cancelled");
    let response = call.get("result").filter(|result| !result.is_null());
    if !is_over && response.is_none() {
        return None;
    }
    let text = match response {
        Some(response) => texts(Some(response)).join("\n"),
        None => call.get("resultDisplay").and_then(Value::as_str).unwrap_or_default().into(),
    };
    Some(ToolResult {
        call_id: made.id.clone(),
        tool_name: made.name.clone(),
        content: vec![Content::Text(text)],
        is_error: matches!(status.as_str(), "error" | "cancelled"),
        details: None,
    })
}

/// The texts of a text, of one part, or of a list of parts; of what a function answered, its output.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(parts)) => parts.iter().flat_map(|part| texts(Some(part))).collect(),
        Some(Value::Object(part)) => match (part.get("text"), part.get("functionResponse")) {
            (Some(Value::String(text)), _) => vec![text.clone()],
            (_, Some(function)) => {
                let response = function.get("response");
                let output = response.and_then(|response| response.get("output").or_else(|| response.get("error")));
                output
                    .or(response)
                    .map(|output| output.as_str().map_or_else(|| output.to_string(), Into::into))
                    .into_iter()
                    .collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn usage(tokens: &Object) -> Usage {
    let count = |name| line::count(tokens, name).unwrap_or(0);
    Usage {
        input: count("input").saturating_sub(count("cached")),
        output: count("output").saturating_add(count("thoughts")),
        cache_read: count("cached"),
        cache_write: 0,
        total: count("total"),
    }
}
