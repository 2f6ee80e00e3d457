//! The content of a message of Claude Code, block by block.

use std::borrow::Cow;

use chaperone_contract::{Content, ToolCall, ToolResult};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::{Host, tools};
use crate::session::line;
use crate::session::pi::Report;

/// One block of a message's content.
#[derive(Deserialize)]
struct Block<'b> {
    #[serde(rename = "type")]
    kind: Option<Cow<'b, str>>,
    text: Option<String>,
    thinking: Option<String>,
    id: Option<String>,
    name: Option<String>,
    tool_use_id: Option<String>,
    is_error: Option<bool>,
    source: Option<Source>,
    #[serde(borrow)]
    input: Option<&'b RawValue>,
    #[serde(borrow)]
    content: Option<&'b RawValue>,
}

#[derive(Deserialize)]
struct Source {
    media_type: Option<String>,
}

/// One part of a message.
pub(super) enum Part {
    Content(Content),
    Result(ToolResult),
}

/// A text, or a list of blocks.
pub(super) fn parts(content: Option<&RawValue>, report: &mut Report) -> Result<Vec<Part>, serde_json::Error> {
    let Some(content) = content.map(RawValue::get) else { return Ok(Vec::new()) };
    match parse(content, Within::Message, report) {
        Ok(parts) => Ok(parts),
        Err(error) => match line::without_lone_surrogates(content) {
            Some(mended) => parse(&mended, Within::Message, report),
            None => Err(error),
        },
    }
}

/// What blocks are part of. No result has results in it.
#[derive(Clone, Copy, PartialEq)]
enum Within {
    Message,
    Result,
}

fn parse(content: &str, within: Within, report: &mut Report) -> Result<Vec<Part>, serde_json::Error> {
    match content.as_bytes().first() {
        Some(b'"') => Ok(vec![Part::Content(Content::Text(serde_json::from_str(content)?))]),
        Some(b'[') => {
            let blocks: Vec<Block<'_>> = serde_json::from_str(content)?;
            let mut parts = Vec::with_capacity(blocks.len());
            for block in blocks {
                parts.extend(part(block, within, report)?);
            }
            Ok(parts)
        }
        _ => Ok(Vec::new()),
    }
}

fn part(block: Block<'_>, within: Within, report: &mut Report) -> Result<Option<Part>, serde_json::Error> {
    let kind = block.kind.as_deref().unwrap_or_default();
    Ok(Some(Part::Content(match kind {
        "text" => Content::Text(block.text.unwrap_or_default()),
        "thinking" => Content::Thinking(block.thinking.unwrap_or_default()),
        "redacted_thinking" => Content::Thinking(String::new()),
        "tool_use" | "server_tool_use" => Content::ToolCall(ToolCall {
            id: block.id.unwrap_or_default(),
            name: tools::name(Host::ClaudeCode, &block.name.unwrap_or_default()).into(),
            arguments: block.input.map_or_else(|| "{}".into(), |input| input.get().into()),
        }),
        "tool_result" if within == Within::Message => {
            return Ok(Some(Part::Result(ToolResult {
                content: match block.content.map(RawValue::get) {
                    Some(content) => self::content(parse(content, Within::Result, report)?),
                    None => Vec::new(),
                },
                call_id: block.tool_use_id.unwrap_or_default(),
                tool_name: String::new(),
                is_error: block.is_error.unwrap_or(false),
                details: None,
            })));
        }
        "image" | "document" => Content::Image(block.source.and_then(|source| source.media_type).unwrap_or_default()),
        _ => {
            report.count_unknown(format!("content/{kind}"));
            return Ok(None);
        }
    })))
}

/// The parts, without results.
pub(super) fn content(parts: Vec<Part>) -> Vec<Content> {
    let content = parts.into_iter().filter_map(|part| match part {
        Part::Content(content) => Some(content),
        Part::Result(_) => None,
    });
    content.collect()
}

/// The texts among the parts, each on lines of its own.
pub(super) fn text_of(parts: &[Content]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Content::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
