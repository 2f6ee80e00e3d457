/** A sidecar in this process: answers what it is asked, and says what a test has it say. */

import type { Child, ChildEvents } from "../../src/sidecar/child.ts";
import { check } from "./schema.ts";

/** A message of the protocol. */
export type Message = Record<string, unknown>;

/** How a request is answered: with a result, with an error, or not at all. */
export type Answer = { result: unknown } | { error: { code: number; message: string } } | "silence";

/** The plugin that the sidecar has unless a test says otherwise. */
export const PLUGIN = {
  name: "guard",
  source: "builtin:guard",
  error: null,
  description: {
    name: "guard",
    version: "1.0.0",
    summary: "",
    hooks: ["message_end", "message_update", "context"],
    commands: [{ name: "config:guard", description: "Configures the guard" }],
    tools: [
      {
        name: "ask_guard",
        label: "Ask the guard",
        description: "Asks",
        parameters: '{"type":"object","properties":{}}',
      },
    ],
  },
};

/** One process of the sidecar. */
export class FakeSidecar implements Child {
  readonly heard: Message[] = [];
  readonly #events: ChildEvents;
  readonly #answers: Map<string, (params: Message) => Answer>;
  ended = false;
  /** It does not end when its input does. */
  isStubborn = false;

  constructor(events: ChildEvents, answers: Map<string, (params: Message) => Answer>) {
    this.#events = events;
    this.#answers = answers;
  }

  write(line: string): void {
    if (this.ended) return;
    const message = JSON.parse(line) as Message;
    this.heard.push(message);
    const { id, method, params } = message;
    if (typeof method === "string") check(method, "params", params);
    if (typeof method !== "string" || id === undefined) return;
    const answer = this.#answers.get(method)?.(params as Message) ?? { result: STANDARD[method] ?? {} };
    if (answer !== "silence") this.say({ id, ...answer });
  }

  end(): void {
    if (!this.isStubborn) this.die("ended with status 0");
  }

  kill(): void {
    this.die("was killed by SIGKILL");
  }

  /** Says something of its protocol. */
  say(message: Message): void {
    if (typeof message["method"] === "string" && message["id"] === undefined) {
      check(message["method"], "params", message["params"]);
    }
    this.line(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  /** Writes a line, whatever it is. */
  line(line: string): void {
    this.#events.line(line);
  }

  /** Has an effect of the plugin. */
  effect(effect: unknown, session = "s1"): void {
    this.say({ method: "session/effect", params: { session, plugin: "guard", effect } });
  }

  /** Ends. */
  die(how: string, log = ""): void {
    if (this.ended) return;
    this.ended = true;
    this.#events.ended({ how, log });
  }

  /** Requests and notifications of a method, by their parameters. */
  told(method: string): Message[] {
    return this.heard.filter((message) => message["method"] === method).map((message) => message["params"] as Message);
  }

  /** The methods that were called, with the hook where one was run. */
  methods(): string[] {
    return this.heard.flatMap(({ method, params }) => {
      if (typeof method !== "string") return [];
      const event = (params as Message)["event"];
      if (event === undefined) return [method];
      return [typeof event === "string" ? event : (Object.keys(event as Message)[0] ?? "")];
    });
  }
}

const STANDARD: Record<string, unknown> = {
  initialize: { protocol_version: 1 },
  "session/open": { plugins: [PLUGIN] },
  "session/event": { reply: null },
  "session/command": { known: true },
  "session/complete_command": { completions: [] },
  "session/tool": { outcome: null },
};

/** Starts sidecars, one after the other. */
export class FakeSidecars {
  readonly all: FakeSidecar[] = [];
  readonly answers = new Map<string, (params: Message) => Answer>();

  readonly start = (_path: string, _cwd: string, events: ChildEvents): Child => {
    const sidecar = new FakeSidecar(events, this.answers);
    this.all.push(sidecar);
    return sidecar;
  };

  /** The one that was started last. */
  get last(): FakeSidecar {
    const last = this.all.at(-1);
    if (!last) throw new Error("no sidecar was started");
    return last;
  }

  /** Answers a method from now on. */
  answer(method: string, answer: (params: Message) => Answer): void {
    this.answers.set(method, answer);
  }
}

/** A message to the agent, as an effect. */
export function steer(content: string, fields: Record<string, unknown> = {}): unknown {
  const standard = { custom_type: "steer", display: true, details: null, delivery: "steer", trigger_turn: true };
  return { inject: { ...standard, content, ...fields } };
}

/** How many entries a message of the protocol has. */
export function count(params: Message | undefined): number {
  return (params?.["entries"] as unknown[] | undefined)?.length ?? 0;
}
