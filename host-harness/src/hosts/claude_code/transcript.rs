//! Transcripts of Claude Code.
//!
//! Each line names its parent, so a file is a tree; its branch is the way from the newest line to the root. A line stands
//! for one part of a message: those of one answer share the id of the answer, and become one entry here. Where tools ran
//! side by side, their results hang on different parts of the answer, and only one of them is on the way to the root:
//! the others are on the branch all the same. After a compaction the way goes on where the new root says.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chaperone_contract::{
    AssistantMessage, Content, CustomMessage, Entry, EntryBody, EntryId, ModelId, StopReason, Timestamp, Usage,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::Host;
use super::super::told::FEEDBACK;
use super::super::transcript::{self, Transcript, Whose};
use super::NOTIFICATION;
use super::content::{Part, content, parts, text_of};
use crate::session::BranchEntry;
use crate::session::line;
use crate::session::pi::Report;

/// What is needed of a line to find its place. Anything else in it may be as it likes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields<'l> {
    #[serde(rename = "type")]
    kind: Option<Cow<'l, str>>,
    uuid: Option<String>,
    parent_uuid: Option<String>,
    logical_parent_uuid: Option<String>,
    timestamp: Option<String>,
    is_sidechain: Option<bool>,
    is_meta: Option<bool>,
    is_compact_summary: Option<bool>,
    is_api_error_message: Option<bool>,
    /// Who says it.
    #[serde(borrow)]
    origin: Option<&'l RawValue>,
    /// Which session the line was copied from.
    #[serde(borrow)]
    forked_from: Option<&'l RawValue>,
    #[serde(borrow)]
    message: Option<Message<'l>>,
}

#[derive(Deserialize)]
struct Origin {
    kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ForkedFrom {
    session_id: String,
}

/// Who may speak in the place of the user without being one. Of the other kinds, such as `human`, nothing is known that
/// says so.
const NOT_THE_USER: [&str; 5] = ["task-notification", "auto-continuation", "peer", "coordinator", "observer-activity"];

/// A message whose content has not been looked at.
#[derive(Deserialize)]
struct Message<'l> {
    id: Option<String>,
    model: Option<String>,
    stop_reason: Option<String>,
    usage: Option<Tokens>,
    #[serde(borrow)]
    content: Option<&'l RawValue>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    #[serde(default)]
    cache_read_input_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: u64,
}

/// A line that has a place in the tree.
struct Placed<'t> {
    line: transcript::Line<'t>,
    uuid: String,
    fields: Fields<'t>,
    role: Role,
}

/// What the place of a line depends on.
#[derive(PartialEq)]
enum Role {
    /// A part of an answer; the answer's id, where it has one.
    Answer(Option<String>),
    /// Results of tools.
    Results,
    Other,
}

/// Reads a transcript.
pub(in super::super) fn transcript(text: &str, whose: Whose) -> Transcript {
    let mut report = Report::default();
    let placed = placed(text, whose, &mut report);
    let on_branch = on_branch(&placed);
    let mut reader = Reader { report, ..Reader::default() };
    for (placed, is_on_branch) in placed.into_iter().zip(on_branch) {
        if is_on_branch {
            reader.take(placed);
        }
    }
    reader.finish()
}

fn placed<'t>(text: &'t str, whose: Whose, report: &mut Report) -> Vec<Placed<'t>> {
    let mut placed = Vec::new();
    for line in transcript::lines(text) {
        let mut fields = match serde_json::from_str::<Fields<'t>>(line.text) {
            Ok(fields) => fields,
            Err(error) => {
                transcript::pass_over(report, line, error);
                continue;
            }
        };
        let is_foreign = whose == Whose::Main && fields.is_sidechain == Some(true);
        if let Some(uuid) = fields.uuid.take().filter(|_| !is_foreign) {
            let role = role(&fields);
            placed.push(Placed { line, uuid, fields, role });
        }
    }
    placed
}

fn role(fields: &Fields<'_>) -> Role {
    let Some(message) = &fields.message else { return Role::Other };
    match fields.kind.as_deref() {
        Some("assistant") => Role::Answer(message.id.clone()),
        // A text that a user wrote may hold the word as well: then its line only counts as one that may stand aside.
        Some("user") if message.content.is_some_and(|content| content.get().contains("\"tool_result\"")) => {
            Role::Results
        }
        _ => Role::Other,
    }
}

/// For each line, whether it is on the branch that ends at the newest one.
fn on_branch(placed: &[Placed<'_>]) -> Vec<bool> {
    let places: HashMap<&str, usize> =
        placed.iter().enumerate().map(|(at, placed)| (placed.uuid.as_str(), at)).collect();
    let mut on_branch = vec![false; placed.len()];
    let mut next = placed.len().checked_sub(1);
    while let Some(at) = next.filter(|&at| !on_branch[at]) {
        on_branch[at] = true;
        let Fields { parent_uuid, logical_parent_uuid, .. } = &placed[at].fields;
        next = match parent_uuid.as_ref().or(logical_parent_uuid.as_ref()) {
            None => None,
            // Where the parent could not be read, the way goes on with what was written before.
            Some(parent) => places.get(parent.as_str()).copied().or_else(|| at.checked_sub(1)),
        };
    }
    let answers: HashSet<String> = placed
        .iter()
        .zip(&on_branch)
        .filter_map(|(placed, is_on_branch)| match &placed.role {
            Role::Answer(Some(id)) if *is_on_branch => Some(id.clone()),
            _ => None,
        })
        .collect();
    for at in 0..placed.len() {
        let parent = placed[at].fields.parent_uuid.as_deref().and_then(|parent| places.get(parent));
        let stands_aside = match &placed[at].role {
            Role::Answer(Some(id)) => answers.contains(id),
            // Results follow the answer that asked for them.
            Role::Results => {
                parent.is_some_and(|&parent| on_branch[parent] && matches!(placed[parent].role, Role::Answer(_)))
            }
            Role::Answer(None) | Role::Other => false,
        };
        on_branch[at] |= stands_aside;
    }
    on_branch
}

/// Makes entries of lines.
#[derive(Default)]
struct Reader {
    entries: Vec<Draft>,
    /// Where the entry of an answer stands, by the answer's id.
    answers: HashMap<String, usize>,
    /// The names of the tools, by the ids of their calls.
    tools: HashMap<String, String>,
    at: Timestamp,
    forked_from: Option<String>,
    report: Report,
}

/// An entry; that of an answer may still get more parts.
struct Draft {
    id: EntryId,
    timestamp: Timestamp,
    body: EntryBody,
}

impl Reader {
    fn take(&mut self, placed: Placed<'_>) {
        let Placed { line, uuid, fields, role } = placed;
        if let Some(at) = fields.timestamp.as_deref().and_then(line::date_time) {
            self.at = at;
        }
        if let Some(ForkedFrom { session_id }) = fields.forked_from.and_then(read) {
            self.forked_from = Some(session_id);
        }
        let Some(message) = fields.message else { return };
        let parts = match parts(message.content, &mut self.report) {
            Ok(parts) => parts,
            Err(error) => return transcript::pass_over(&mut self.report, line, error),
        };
        match (fields.kind.as_deref(), role) {
            (Some("assistant"), Role::Answer(_)) => {
                self.answer(uuid, message, parts, fields.is_api_error_message == Some(true));
            }
            (Some("user"), _) if fields.is_compact_summary == Some(true) => {
                self.push(uuid, EntryBody::Compaction(text_of(&content(parts))));
            }
            (Some("user"), _) => {
                let origin = fields.origin.and_then(read::<Origin>).map(|origin| origin.kind);
                self.user(uuid, parts, fields.is_meta == Some(true), origin.as_deref());
            }
            _ => {}
        }
    }

    fn push(&mut self, id: EntryId, body: EntryBody) {
        self.entries.push(Draft { id, timestamp: self.at, body });
    }

    fn answer(&mut self, uuid: String, message: Message<'_>, parts: Vec<Part>, has_failed: bool) {
        let content = content(parts);
        for part in &content {
            if let Content::ToolCall(call) = part {
                self.tools.insert(call.id.clone(), call.name.clone());
            }
        }
        let usage = message.usage.map(usage);
        let reason = message.stop_reason.as_deref();
        let earlier = message.id.as_ref().and_then(|id| self.answers.get(id)).copied();
        if let Some(EntryBody::Assistant(answer)) = earlier.map(|at| &mut self.entries[at].body) {
            answer.content.extend(content);
            answer.usage = usage.or(answer.usage.take());
            answer.stop_reason = stop_reason(reason, &answer.content, has_failed);
            return;
        }
        if let Some(id) = message.id {
            self.answers.insert(id, self.entries.len());
        }
        let model = message.model.filter(|model| !model.starts_with('<'));
        let answer = AssistantMessage {
            stop_reason: stop_reason(reason, &content, has_failed),
            usage,
            model: model.map(|model| ModelId { provider: Host::ClaudeCode.vendor().into(), model }),
            error: has_failed.then(|| text_of(&content)),
            content,
        };
        self.push(uuid, EntryBody::Assistant(answer));
    }

    fn user(&mut self, uuid: String, parts: Vec<Part>, is_meta: bool, origin: Option<&str>) {
        let mut said = Vec::new();
        let mut results = 0;
        for part in parts {
            match part {
                Part::Content(content) => said.push(content),
                Part::Result(mut result) => {
                    result.tool_name = self.tools.get(&result.call_id).cloned().unwrap_or_default();
                    results += 1;
                    let id = if results == 1 { uuid.clone() } else { format!("{uuid}#{results}") };
                    self.push(id, EntryBody::ToolResult(result));
                }
            }
        }
        if said.is_empty() {
            return;
        }
        let id = if results == 0 { uuid } else { format!("{uuid}#said") };
        self.push(id, said_by_user(said, is_meta, origin));
    }

    fn finish(self) -> Transcript {
        let entries = self.entries.into_iter().map(|Draft { id, timestamp, body }| BranchEntry {
            entry: Arc::new(Entry { id, timestamp, body }),
            model: None,
        });
        Transcript { entries: entries.collect(), forked_from: self.forked_from, report: self.report }
    }
}

/// What is of another kind than expected counts as missing.
fn read<'l, T: Deserialize<'l>>(value: &'l RawValue) -> Option<T> {
    serde_json::from_str(value.get()).ok()
}

/// What stands in a line of the user, but is not always the user's word.
fn said_by_user(said: Vec<Content>, is_meta: bool, origin: Option<&str>) -> EntryBody {
    let text = match said.first() {
        Some(Content::Text(text)) => text.trim_start(),
        _ => "",
    };
    if text.starts_with("[Request interrupted by user") {
        // That is how a turn ends which the user stopped.
        return EntryBody::Assistant(AssistantMessage {
            content: Vec::new(),
            stop_reason: StopReason::Aborted,
            usage: None,
            model: None,
            error: None,
        });
    }
    let custom = |custom_type: &str| {
        let content = text_of(&said);
        EntryBody::Custom(CustomMessage { custom_type: custom_type.into(), content, display: false, details: None })
    };
    match text {
        _ if text.starts_with("Stop hook feedback:") => custom(FEEDBACK),
        // A command that the program carries out itself, and what it printed: the agent is not asked.
        _ if text.starts_with("<local-command-") || text.starts_with("<command-name>") => {
            EntryBody::Other("local-command".into())
        }
        _ if is_meta => custom("meta"),
        _ if text.starts_with(NOTIFICATION) => custom("task-notification"),
        _ => match (origin.filter(|origin| NOT_THE_USER.contains(origin)), command_line(text)) {
            (Some(origin), _) => custom(origin),
            (None, Some(line)) => EntryBody::User(vec![Content::Text(line)]),
            (None, None) => EntryBody::User(said),
        },
    }
}

/// The line that the user typed to give the agent a prompt that has a name. What it stands for follows.
fn command_line(text: &str) -> Option<String> {
    text.starts_with("<command-message>").then_some(())?;
    let within = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        Some(rest.split_once(&format!("</{tag}>"))?.0.trim())
    };
    let line = format!("{} {}", within("command-name")?, within("command-args").unwrap_or_default());
    Some(line.trim().to_owned())
}

/// Parts that come before the last one of an answer have no reason yet; what is missing or unknown follows from whether
/// the answer asks for tools.
fn stop_reason(reason: Option<&str>, content: &[Content], has_failed: bool) -> StopReason {
    match reason {
        _ if has_failed => StopReason::Error,
        Some("end_turn" | "stop_sequence" | "refusal") => StopReason::Stop,
        Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
        Some("tool_use") => StopReason::ToolUse,
        _ if content.iter().any(|part| matches!(part, Content::ToolCall(_))) => StopReason::ToolUse,
        _ => StopReason::Stop,
    }
}

fn usage(tokens: Tokens) -> Usage {
    let Tokens { input_tokens: input, output_tokens: output, .. } = tokens;
    let (cache_read, cache_write) = (tokens.cache_read_input_tokens, tokens.cache_creation_input_tokens);
    let total = [output, cache_read, cache_write].into_iter().fold(input, u64::saturating_add);
    Usage { input, output, cache_read, cache_write, total }
}
