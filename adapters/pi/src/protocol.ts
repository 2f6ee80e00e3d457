/** The methods of `chaperone serve`: what they take, and how their answers are read; `docs/sidecar.md` describes them. */

import type {
  Answer,
  CompletionItem,
  CompletionRequest,
  Description,
  Effect,
  Entry,
  Event,
  Gate,
  Json,
  Mode,
  ModelId,
  ModelInfo,
  StartReason,
  ToolOutcome,
} from "./contract.ts";
import { type Fields, isFields } from "./wire/json.ts";

/** The version of the protocol that this package speaks. */
export const PROTOCOL_VERSION = 1;

/** What the sidecar is told of the session with each event, so that hooks see it as it is. */
export interface Circumstances {
  idle: boolean;
  input_pending: boolean;
  model: ModelId | null;
  mode: Mode;
}

/** A plugin as the sidecar lists it; `error` says why one could not be loaded. */
export interface Plugin {
  name: string;
  description: Description | null;
  error: string | null;
}

/** What an event may be answered with. */
export type Reply = { gate: Gate } | { leave_out: number[] } | null;

/** Requests of ours: their parameters, by method. */
export interface Requests {
  initialize: {
    protocol_version: number;
    client: { name: string; version: string };
    capabilities: { dialogs: boolean; gate: "none" | "refuse" | "hold"; models: ModelInfo[] };
  };
  "session/entries": { session: string; entries: Entry[] };
  "session/open": {
    session: string;
    cwd: string;
    mode: Mode;
    model: ModelId | null;
    reason: StartReason;
    forked_from?: { session: string; entry: string | null };
    entries: Entry[];
    circumstances: Circumstances;
  };
  "session/append": { session: string; entries: Entry[] };
  "session/branch": { session: string; leaf: string | null; entries?: Entry[] };
  "session/event": { session: string; event: Event; circumstances: Circumstances };
  "session/command": { session: string; name: string; arguments: string };
  "session/complete_command": { session: string; name: string; prefix: string };
  "session/tool": { session: string; name: string; arguments: Json };
  "session/answer": { session: string; plugin: string; id: number; answer: Answer };
  "session/quiet": { session: string };
  "session/close": { session: string };
  shutdown: Record<string, never>;
}

/** A call of a model that the sidecar asks for. */
export interface LlmCall {
  model: ModelId | null;
  request: CompletionRequest;
}

/*
 * The readers look at the outermost shape of what the sidecar says: enough to tell a sidecar of another kind from this
 * one. What is inside is of the contract, which the sidecar keeps to.
 */

/** The version that a sidecar answered `initialize` with. */
export function versionOf(answer: unknown): unknown {
  return isFields(answer) ? answer["protocol_version"] : undefined;
}

/** The plugins of an answer to `session/open`, or of `session/plugins`. */
export function pluginsOf(answer: unknown): Plugin[] {
  return listOf(answer, "plugins").map((plugin) => ({
    name: String(plugin["name"]),
    description: isFields(plugin["description"]) ? (plugin["description"] as unknown as Description) : null,
    error: typeof plugin["error"] === "string" ? plugin["error"] : null,
  }));
}

/** The reply of an answer to `session/event`. */
export function replyOf(answer: unknown): Reply {
  const reply = isFields(answer) ? answer["reply"] : undefined;
  if (!isFields(reply)) return null;
  const { gate, leave_out } = reply;
  if (gate === "allow" || gate === "hold") return { gate };
  if (isFields(gate) && typeof gate["refuse"] === "string") return { gate: { refuse: gate["refuse"] } };
  if (Array.isArray(leave_out)) return { leave_out: leave_out.filter((index) => typeof index === "number") };
  return null;
}

/** Whether a plugin had the command; `undefined` where there was no answer. */
export function knownOf(answer: unknown): boolean | undefined {
  return isFields(answer) ? answer["known"] === true : undefined;
}

/** The ways to go on of an answer to `session/complete_command`. */
export function completionsOf(answer: unknown): CompletionItem[] {
  return listOf(answer, "completions").map((item) => ({
    value: String(item["value"]),
    label: String(item["label"]),
    description: String(item["description"]),
  }));
}

/** What a tool gave back; `null` where no plugin has it, or where there was no answer. */
export function outcomeOf(answer: unknown): ToolOutcome | null {
  const outcome = isFields(answer) ? answer["outcome"] : undefined;
  if (!isFields(outcome)) return null;
  if (typeof outcome["err"] === "string") return { err: outcome["err"] };
  const ok = outcome["ok"];
  if (!isFields(ok) || typeof ok["content"] !== "string") return null;
  return { ok: { content: ok["content"], details: typeof ok["details"] === "string" ? ok["details"] : null } };
}

/** An effect of a session; `undefined` where it is of another one. */
export function effectOf(params: unknown, session: string): { plugin: string; effect: Effect } | undefined {
  if (!isFields(params) || params["session"] !== session) return undefined;
  const { plugin, effect } = params;
  if (typeof plugin !== "string" || (effect !== "abort" && !isFields(effect))) return undefined;
  return { plugin, effect: effect as Effect };
}

/** Something that the user should hear of once; `about` is the same for what need not be said twice. */
export interface Trouble {
  about: string;
  text: string;
}

/** What a note says of a watcher that is in trouble. */
export function troubleOf(params: unknown): Trouble | undefined {
  if (!isFields(params) || !isFields(params["note"])) return undefined;
  const watcher = `The watcher ${String(params["plugin"])}`;
  const { failed, denied, quarantined, ran_away: ranAway } = params["note"];
  if (isFields(quarantined)) {
    const text = `${watcher} is set aside: ${String(quarantined["failures"])} of its hooks failed in a row. /reload brings it back.`;
    return { about: text, text };
  }
  if (isFields(ranAway)) {
    const text = `${watcher} is set aside: ${String(ranAway["hooks"])} of its hooks followed from one event. /reload brings it back.`;
    return { about: text, text };
  }
  if (isFields(failed)) {
    const hook = String(failed["hook"]);
    return { about: `${watcher} ${hook}`, text: `${watcher} failed at ${hook}: ${String(failed["reason"])}` };
  }
  if (isFields(denied)) {
    const text = `${watcher} may not ${String(denied["effect"])}; its grants in chaperone.toml say what it may.`;
    return { about: text, text };
  }
  return undefined;
}

/** The call of a model in the parameters of `llm/complete`. */
export function llmCallOf(params: unknown): LlmCall | undefined {
  if (!isFields(params) || !isFields(params["request"])) return undefined;
  const model = params["model"];
  return {
    model: isFields(model) ? (model as unknown as ModelId) : null,
    request: params["request"] as unknown as CompletionRequest,
  };
}

function listOf(answer: unknown, key: string): Fields[] {
  const list = isFields(answer) ? answer[key] : undefined;
  return Array.isArray(list) ? list.filter(isFields) : [];
}
