/**
 * A sidecar whose one watcher follows rules, for what no built-in watcher does. Started in the place of the program; the
 * rules are JSON in `SIDECAR_RULES`.
 */

import { createInterface } from "node:readline";

/** What the watcher does when a hook, command or tool of this name comes. */
export interface Rule {
  on: string;
  /** Which time it does it, from 1; every time where it is missing. */
  time?: number;
  reply?: unknown;
  /** Effects before the answer. */
  effects?: unknown[];
  /** Effects after it. */
  after?: unknown[];
}

const rules = JSON.parse(process.env["SIDECAR_RULES"] ?? "[]") as Rule[];
const times = new Map<string, number>();

const plugin = {
  name: "scripted",
  source: "file:scripted",
  error: null,
  description: {
    name: "scripted",
    version: "1.0.0",
    summary: "",
    hooks: ["message_update", "context"],
    commands: [{ name: "scripted", description: "Follows its rules" }],
    tools: [
      {
        name: "ask_scripted",
        label: "Ask",
        description: "Asks the watcher",
        parameters: '{"type":"object","properties":{"question":{"type":"string"}},"required":["question"]}',
      },
    ],
  },
};

const results: Record<string, unknown> = {
  initialize: { protocol_version: 1 },
  "session/open": { plugins: [plugin] },
  "session/command": { known: true },
};

function say(message: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function nameOf(method: string, params: Record<string, unknown>): string {
  const { event } = params;
  if (method !== "session/event") return method;
  return typeof event === "string" ? event : (Object.keys(event as object)[0] ?? "");
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line) as { id?: number; method: string; params: Record<string, unknown> };
  if (id === undefined) continue;
  const name = nameOf(method, params);
  const time = (times.get(name) ?? 0) + 1;
  times.set(name, time);
  const rule = rules.find((candidate) => candidate.on === name && (candidate.time ?? time) === time);
  const effect = (effect: unknown): void =>
    say({ method: "session/effect", params: { session: params["session"], plugin: "scripted", effect } });
  rule?.effects?.forEach(effect);
  const standard = method === "session/event" ? { reply: rule?.reply ?? null } : (results[method] ?? {});
  say({ id, result: method === "session/tool" ? { outcome: rule?.reply ?? null } : standard });
  rule?.after?.forEach(effect);
}
