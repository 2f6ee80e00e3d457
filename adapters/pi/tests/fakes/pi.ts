/** pi, as far as the extension meets it. */

import type { AgentMessage } from "@earendil-works/pi-agent-core";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

import { install, type World } from "../../src/index.ts";
import { FakeClock } from "./clock.ts";
import { FakeSession } from "./session.ts";
import { FakeSidecars } from "./sidecar.ts";

type Handler = (event: unknown, ctx: unknown) => unknown;

/** A command that was registered. */
export interface RegisteredCommand {
  description?: string;
  handler(args: string, ctx: unknown): Promise<void>;
  getArgumentCompletions?(prefix: string): Promise<unknown>;
}

/** A tool that was registered. */
export interface RegisteredTool {
  name: string;
  parameters: unknown;
  execute(id: string, params: unknown): Promise<unknown>;
}

/** pi with the extension in it, and everything that it did there. */
export class FakePi {
  readonly clock = new FakeClock();
  readonly session = new FakeSession();
  readonly sidecars = new FakeSidecars();
  readonly sent: [message: { content: unknown; customType: string }, options: unknown][] = [];
  readonly entries: [type: string, data: unknown][] = [];
  readonly notified: string[] = [];
  readonly logged: string[] = [];
  readonly statuses: [key: string, text: string | undefined][] = [];
  readonly widgets: [key: string, lines: string[] | undefined][] = [];
  readonly commands = new Map<string, RegisteredCommand>();
  readonly tools = new Map<string, RegisteredTool>();
  readonly #handlers = new Map<string, Handler[]>();
  activeTools = ["bash"];
  aborts = 0;
  idle = true;
  pending = false;
  /** The session has been replaced: what belonged to it may not be used any more. */
  isStale = false;
  /** The status bar is out of order. */
  fails = false;
  mode: ExtensionContext["mode"] = "rpc";
  settings: unknown = {};
  env: Record<string, string> = { CHAPERONE_BIN: "/bin/chaperone" };
  runnable = true;
  streamSimple: (...args: unknown[]) => unknown = () => {
    throw new Error("no model is expected to be asked");
  };
  readonly dialogs: unknown[][] = [];
  readonly answers: unknown[] = [];
  readonly model = { provider: "fake", id: "fake-1", contextWindow: 1000, maxTokens: 100, reasoning: false };
  readonly ctx: ExtensionContext;

  constructor() {
    this.ctx = this.#context() as ExtensionContext;
    install(this.#api() as ExtensionAPI, this.#world());
  }

  /** Has something happen, and gives what the extension makes of it. */
  async emit(type: string, fields: Record<string, unknown> = {}): Promise<unknown> {
    let result: unknown;
    for (const handler of this.#handlers.get(type) ?? [])
      result = (await handler({ type, ...fields }, this.ctx)) ?? result;
    return result;
  }

  /** Emits, and lets everything that follows happen. */
  async happen(type: string, fields: Record<string, unknown> = {}): Promise<unknown> {
    const result = this.emit(type, fields);
    await this.clock.settle();
    return result;
  }

  /** A message is finished, then stored, as pi does it. */
  async finish(message: AgentMessage): Promise<void> {
    await this.emit("message_end", { message });
    this.session.say(message);
    await this.clock.settle();
  }

  #world(): World {
    return {
      env: this.env,
      platform: "linux",
      timers: this.clock,
      isRunnable: () => this.runnable,
      start: this.sidecars.start,
      log: (text) => this.logged.push(text),
    };
  }

  #api() {
    return {
      on: (type: string, handler: Handler) => {
        this.#handlers.set(type, [...(this.#handlers.get(type) ?? []), handler]);
        return () => {};
      },
      registerEntryRenderer: () => {},
      registerCommand: (name: string, command: RegisteredCommand) => this.commands.set(name, command),
      registerTool: (tool: RegisteredTool) => {
        this.tools.set(tool.name, tool);
        this.activeTools = [...new Set([...this.activeTools, tool.name])];
      },
      getAllTools: () => [{ name: "bash" }, ...[...this.tools.keys()].map((name) => ({ name }))],
      getActiveTools: () => this.activeTools,
      setActiveTools: (names: string[]) => (this.activeTools = names),
      getSettings: () => this.settings,
      sendMessage: (...sent: FakePi["sent"][number]) => this.sent.push(sent),
      appendEntry: (customType: string, data: unknown) => {
        this.entries.push([customType, data]);
        this.session.append({ type: "custom", customType, data });
      },
    } as unknown;
  }

  #context() {
    const fake = this;
    const dialog =
      (kind: string) =>
      async (...args: unknown[]): Promise<unknown> => {
        fake.dialogs.push([kind, ...args]);
        return fake.answers.shift();
      };
    return {
      cwd: "/project",
      sessionManager: fake.session,
      signal: undefined,
      get mode() {
        return fake.mode;
      },
      get hasUI() {
        return fake.mode === "tui" || fake.mode === "rpc";
      },
      get model() {
        return fake.model;
      },
      isIdle: () => {
        if (fake.isStale) throw new Error("This extension ctx is stale");
        return fake.idle;
      },
      hasPendingMessages: () => fake.pending,
      abort: () => fake.aborts++,
      modelRegistry: {
        getAvailable: () => [fake.model],
        find: (provider: string, id: string) => (provider === "fake" && id === "fake-1" ? fake.model : undefined),
        hasConfiguredAuth: () => true,
        streamSimple: (...args: unknown[]) => fake.streamSimple(...args),
      },
      ui: {
        notify: (text: string, type: string) => fake.notified.push(`${type}: ${text}`),
        setStatus: (...status: FakePi["statuses"][number]) => {
          if (fake.fails) throw new Error("no status");
          fake.statuses.push(status);
        },
        setWidget: (...widget: FakePi["widgets"][number]) => fake.widgets.push(widget),
        confirm: dialog("confirm"),
        select: dialog("select"),
        input: dialog("input"),
        editor: dialog("editor"),
      },
    } as unknown;
  }
}

/** pi with a session that has started. */
export async function startedPi(prepare: (pi: FakePi) => void = () => {}): Promise<FakePi> {
  const pi = new FakePi();
  prepare(pi);
  await pi.happen("session_start", { reason: "startup" });
  return pi;
}

/** What pi says of a run that is about to end, as far as it is looked at. */
export const BOUNDARY = { continue: false, context: { pendingMessages: [] } };
