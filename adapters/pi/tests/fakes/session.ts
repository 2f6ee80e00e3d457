/** A session of pi in memory: a tree of entries, and the leaf of its current branch. */

import type { AgentMessage } from "@earendil-works/pi-agent-core";
import type { SessionEntry } from "@earendil-works/pi-coding-agent";

/** An entry without what the session itself gives it. */
export type Draft = SessionEntry extends infer E
  ? E extends SessionEntry
    ? Omit<E, "id" | "parentId" | "timestamp">
    : never
  : never;

/** The session. Ids are `e1`, `e2` and so on; times are seconds after the session's own. */
export class FakeSession {
  id = "s1";
  file: string | undefined;
  parentSession: string | undefined;
  readonly started = Date.parse("2026-01-01T00:00:00.000Z");
  #entries = new Map<string, SessionEntry>();
  #leaf: string | null = null;
  /** Seconds between the session's start and its next entry. */
  clock = 1;

  /** How many entries there are, on all branches. */
  get size(): number {
    return this.#entries.size;
  }

  append(draft: Draft): SessionEntry {
    const id = `e${this.#entries.size + 1}`;
    const timestamp = new Date(this.started + this.clock++ * 1000).toISOString();
    const entry = { ...draft, id, parentId: this.#leaf, timestamp } as SessionEntry;
    this.#entries.set(id, entry);
    this.#leaf = id;
    return entry;
  }

  say(message: AgentMessage): SessionEntry {
    return this.append({ type: "message", message });
  }

  goTo(id: string | null): void {
    this.#leaf = id;
  }

  getSessionId(): string {
    return this.id;
  }

  getSessionFile(): string | undefined {
    return this.file;
  }

  getHeader() {
    const { id, parentSession } = this;
    return {
      type: "session" as const,
      id,
      timestamp: new Date(this.started).toISOString(),
      cwd: "/project",
      parentSession,
    };
  }

  getLeafId(): string | null {
    return this.#leaf;
  }

  getLeafEntry(): SessionEntry | undefined {
    return this.#leaf === null ? undefined : this.#entries.get(this.#leaf);
  }

  getEntry(id: string): SessionEntry | undefined {
    return this.#entries.get(id);
  }

  getBranch(): SessionEntry[] {
    const branch: SessionEntry[] = [];
    for (
      let entry = this.getLeafEntry();
      entry;
      entry = entry.parentId === null ? undefined : this.#entries.get(entry.parentId)
    ) {
      branch.unshift(entry);
    }
    return branch;
  }

  buildSessionProjection() {
    const entries = this.getBranch().map((sourceEntry) => ({
      sourceEntry,
      messages: sourceEntry.type === "message" ? [sourceEntry.message] : [],
    }));
    return { entries, messages: entries.flatMap(({ messages }) => messages) };
  }
}

/** What the user says. */
export function user(text: string, timestamp = 1): AgentMessage {
  return { role: "user", content: text, timestamp };
}

const NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

/** What the agent's model says; with a call of the tool `bash` where one is named. */
export function said(text: string, call?: string, timestamp = 2): Extract<AgentMessage, { role: "assistant" }> {
  return {
    role: "assistant",
    content: [
      { type: "text", text },
      ...(call === undefined
        ? []
        : [{ type: "toolCall" as const, id: call, name: "bash", arguments: { command: "make" } }]),
    ],
    api: "openai-completions",
    provider: "fake",
    model: "fake-1",
    usage: { input: 10, output: 3, cacheRead: 0, cacheWrite: 0, totalTokens: 13, cost: NO_COST },
    stopReason: call === undefined ? "stop" : "toolUse",
    timestamp,
  };
}

/** What a tool gave back. */
export function result(call: string, text: string, timestamp = 3): Extract<AgentMessage, { role: "toolResult" }> {
  return {
    role: "toolResult",
    toolCallId: call,
    toolName: "bash",
    content: [{ type: "text", text }],
    isError: false,
    timestamp,
  };
}
