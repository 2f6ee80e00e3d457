/** What pi's messages and session entries are in the words of the contract. Session files are read by the same rules. */

import type { AgentMessage } from "@earendil-works/pi-agent-core";
import type {
  ImageContent,
  AssistantMessage as PiAssistantMessage,
  Usage as PiUsage,
  TextContent,
  ToolResultMessage,
} from "@earendil-works/pi-ai";
import type { SessionEntry } from "@earendil-works/pi-coding-agent";

import type {
  AssistantMessage,
  Content,
  CustomMessage,
  Entry,
  EntryBody,
  StopReason,
  ToolResult,
  Usage,
} from "../contract.ts";
import { document } from "../wire/json.ts";

/** The parts of a message that the contract knows. */
type Part = PiAssistantMessage["content"][number] | TextContent | ImageContent;

/** A session entry. */
export function entry(from: SessionEntry): Entry {
  return { id: from.id, timestamp: milliseconds(from.timestamp), body: body(from) };
}

function milliseconds(date: string): number {
  const parsed = Date.parse(date);
  return Number.isNaN(parsed) ? 0 : Math.max(0, parsed);
}

function body(from: SessionEntry): EntryBody {
  switch (from.type) {
    case "message":
      return messageBody(from.message);
    case "custom_message":
      return { custom: custom(from) };
    case "compaction":
      return { compaction: from.summary };
    default:
      return { other: from.type };
  }
}

function messageBody(message: AgentMessage): EntryBody {
  switch (message.role) {
    case "user":
      return { user: content(message.content) };
    case "assistant":
      return { assistant: assistant(message) };
    case "toolResult":
      return { tool_result: toolResult(message) };
    case "custom":
      return { custom: custom(message) };
    default:
      return { other: message.role };
  }
}

/** A message of the agent's model. */
export function assistant(message: PiAssistantMessage): AssistantMessage {
  const stop_reason = stopReason(message.stopReason);
  return {
    content: content(message.content),
    stop_reason,
    usage: usage(message.usage),
    model: { provider: message.provider, model: message.model },
    error: stop_reason === "error" ? (message.errorMessage ?? null) : null,
  };
}

/** `pending` and `deferred` mark an answer that has not come yet, so nobody should take it for one that is complete. */
export function stopReason(reason: PiAssistantMessage["stopReason"]): StopReason {
  switch (reason) {
    case "toolUse":
      return "tool_use";
    case "stop":
    case "length":
    case "error":
      return reason;
    default:
      return "aborted";
  }
}

/** Token counts; `null` where the provider told none. */
export function usage(from: PiUsage | undefined): Usage | null {
  if (!from) return null;
  const { input, output, cacheRead, cacheWrite, totalTokens } = from;
  return {
    input: count(input),
    output: count(output),
    cache_read: count(cacheRead),
    cache_write: count(cacheWrite),
    total: count(totalTokens),
  };
}

/** Counts are whole and not negative in the contract; providers of others need not keep to that. */
function count(tokens: number | undefined): number {
  return Number.isFinite(tokens) ? Math.max(0, Math.round(tokens ?? 0)) : 0;
}

/** What a tool gave back. */
export function toolResult(
  message: Pick<ToolResultMessage, "toolCallId" | "toolName" | "content" | "isError" | "details">,
): ToolResult {
  return {
    call_id: message.toolCallId,
    tool_name: message.toolName,
    content: content(message.content),
    is_error: message.isError,
    details: document(message.details),
  };
}

/** Content of a custom message is text: its parts are joined by line breaks, and images left out. */
function custom(message: {
  customType: string;
  content: string | (TextContent | ImageContent)[];
  display: boolean;
  details?: unknown;
}): CustomMessage {
  const texts = content(message.content).flatMap((part) => ("text" in part ? [part.text] : []));
  return {
    custom_type: message.customType,
    content: texts.join("\n"),
    display: message.display,
    details: document(message.details),
  };
}

/** Content of a message; pi itself takes a missing one for an empty one. */
export function content(from: string | readonly Part[] | null | undefined): Content[] {
  if (typeof from === "string") return [{ text: from }];
  return (from ?? []).flatMap(part);
}

function part(from: Part): Content[] {
  switch (from.type) {
    case "text":
      return [{ text: from.text }];
    case "thinking":
      return [{ thinking: from.thinking }];
    case "image":
      return [{ image: from.mimeType }];
    case "toolCall":
      return [{ tool_call: { id: from.id, name: from.name, arguments: document(from.arguments) ?? "{}" } }];
    default:
      return [];
  }
}
