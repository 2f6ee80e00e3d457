/** The session as it is at this moment, in the words of the contract. */

import type { ExtensionContext, SessionEntry } from "@earendil-works/pi-coding-agent";

import type { Mode, ModelId, ModelInfo, SettledReason, StartReason } from "../contract.ts";
import type { Circumstances } from "../protocol.ts";

/** What hooks see of the session beside its branch. */
export function circumstances(ctx: ExtensionContext): Circumstances {
  return { idle: ctx.isIdle(), input_pending: ctx.hasPendingMessages(), model: modelId(ctx.model), mode: mode(ctx) };
}

/** Who is on the other side. */
export function mode(ctx: Pick<ExtensionContext, "mode">): Mode {
  switch (ctx.mode) {
    case "tui":
      return "interactive";
    case "rpc":
      return "rpc";
    default:
      return "one_shot";
  }
}

/** The model's name in the contract. */
export function modelId(model: { provider: string; id: string } | undefined): ModelId | null {
  return model ? { provider: model.provider, model: model.id } : null;
}

/** The models that pi has keys for. */
export function models(ctx: ExtensionContext): ModelInfo[] {
  return ctx.modelRegistry.getAvailable().map((model) => ({
    id: { provider: model.provider, model: model.id },
    context_window: whole(model.contextWindow),
    max_output_tokens: whole(model.maxTokens),
    reasons: model.reasoning === true,
  }));
}

function whole(tokens: number | undefined): number | null {
  return tokens !== undefined && Number.isSafeInteger(tokens) && tokens > 0 ? tokens : null;
}

/** Why the session starts for the plugins, and where it comes from. */
export interface Origin {
  reason: StartReason;
  /** The file of the session that this one was copied from, and the newest entry of the copy. */
  parent?: { file: string; entry: string | null };
}

/**
 * Why a session starts. pi says `startup` of a new session, of one that is continued and of one that was copied with
 * `--fork`; the last is told from the others by its entries, which are all older than the session itself.
 */
export function origin(
  said: "startup" | "reload" | "new" | "resume" | "fork",
  header: { timestamp: string; parentSession?: string | undefined } | null,
  branch: readonly SessionEntry[],
): Origin {
  const file = header?.parentSession;
  if (said === "reload") return { reason: "reload" };
  if (file !== undefined && (said === "fork" || said === "startup") && header && !hasOwnMessages(header, branch)) {
    const copied = branch.findLast((entry) => isOlder(entry, header));
    return { reason: "fork", parent: { file, entry: copied?.id ?? null } };
  }
  if (said === "fork" || said === "resume") return { reason: said };
  return { reason: branch.some(isMessage) ? "resume" : "new" };
}

function hasOwnMessages(header: { timestamp: string }, branch: readonly SessionEntry[]): boolean {
  return branch.some((entry) => isMessage(entry) && !isOlder(entry, header));
}

function isMessage(entry: SessionEntry): boolean {
  return entry.type === "message" || entry.type === "custom_message";
}

function isOlder(entry: SessionEntry, header: { timestamp: string }): boolean {
  return Date.parse(entry.timestamp) <= Date.parse(header.timestamp);
}

/** How the agent came to rest. */
export function settledReason(
  aborted: boolean,
  branch: { getLeafEntry(): SessionEntry | undefined } & ParentView,
): SettledReason {
  if (aborted) return "interrupted";
  let entry = branch.getLeafEntry();
  while (entry && !(entry.type === "message" && entry.message.role === "assistant")) {
    entry = entry.parentId === null ? undefined : branch.getEntry(entry.parentId);
  }
  const failed =
    entry?.type === "message" && entry.message.role === "assistant" && entry.message.stopReason === "error";
  return failed ? "failed" : "finished";
}

interface ParentView {
  getEntry(id: string): SessionEntry | undefined;
}
