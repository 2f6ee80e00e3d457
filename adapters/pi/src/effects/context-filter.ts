/** Leaving messages out of one request to the model. */

import type { AgentMessage } from "@earendil-works/pi-agent-core";
import type { ProjectedSessionEntry } from "@earendil-works/pi-coding-agent";

import type { ContextMessage } from "../contract.ts";
import { document } from "../wire/json.ts";

/** The messages of a request as plugins see them: by entry, kind and details; their content is in the session. */
export function describe(
  messages: readonly AgentMessage[],
  entries: readonly ProjectedSessionEntry[],
): ContextMessage[] {
  const sources = entries.flatMap(({ sourceEntry, messages: projected }) =>
    projected.filter((message) => message.role !== "system").map((message) => ({ id: sourceEntry.id, message })),
  );
  let next = 0;
  return messages.map((message) => {
    // pi hands over copies, to which other extensions may have added: each is looked for behind the last one found.
    const found = sources.findIndex((source, index) => index >= next && isSame(source.message, message));
    if (found >= 0) next = found + 1;
    return { entry: sources[found]?.id ?? null, kind: kind(message), details: details(message) };
  });
}

function isSame(one: AgentMessage, other: AgentMessage): boolean {
  if (one.role !== other.role || one.timestamp !== other.timestamp) return false;
  return one.role !== "toolResult" || other.role !== "toolResult" || one.toolCallId === other.toolCallId;
}

function kind(message: AgentMessage): string {
  if (message.role === "toolResult") return "tool-result";
  return message.role === "custom" ? message.customType : message.role;
}

function details(message: AgentMessage): string | null {
  return message.role === "toolResult" || message.role === "custom" ? document(message.details) : null;
}

/**
 * The messages without those at the indices. A call and its results stay together: providers refuse one without the
 * other, so what would be left alone is kept whole.
 */
export function without(messages: readonly AgentMessage[], indices: readonly number[]): AgentMessage[] {
  const left = new Set(indices);
  const results = new Map<string, number[]>();
  messages.forEach((message, index) => {
    if (message.role !== "toolResult") return;
    results.set(message.toolCallId, [...(results.get(message.toolCallId) ?? []), index]);
  });
  messages.forEach((message, index) => {
    if (message.role !== "assistant") return;
    const calls = message.content.flatMap((part) => (part.type === "toolCall" ? (results.get(part.id) ?? []) : []));
    const group = [index, ...calls];
    if (calls.length > 0 && !group.every((member) => left.has(member))) for (const member of group) left.delete(member);
  });
  return messages.filter((_, index) => !left.has(index));
}
