/** One session of pi, watched: what pi's events mean to the plugins, and what the plugins' effects do to pi. */

import type { AgentMessage } from "@earendil-works/pi-agent-core";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

import type { Answer, Completion, Effect, Event, Gate, Prompt, SettledReason, ToolCall } from "./contract.ts";
import { describe, without } from "./effects/context-filter.ts";
import { ask } from "./effects/dialogs.ts";
import { Gates, type Verdict } from "./effects/gates.ts";
import { isNotice, NOTICE, stored } from "./effects/notices.ts";
import { Outbox } from "./effects/outbox.ts";
import { notifyType } from "./effects/paint.ts";
import { Surface } from "./effects/surface.ts";
import { Link, type LinkMeans } from "./link.ts";
import { CallFailed, complete } from "./models.ts";
import type { Origin } from "./pi/circumstances.ts";
import { Registrations } from "./pi/registrations.ts";
import { completionsOf, knownOf, type LlmCall, outcomeOf, type Plugin, troubleOf } from "./protocol.ts";
import type { Exit } from "./sidecar/child.ts";
import { ErrorCode, RpcError } from "./wire/peer.ts";

/** What a session is watched with. */
export interface Means extends LinkMeans {
  pi: ExtensionAPI;
  /** Tells the user, or whoever reads pi's log. */
  tell(text: string, type: "info" | "warning" | "error"): void;
}

/** Stands between pi's events and the plugins. */
export class Watch {
  readonly #means: Means;
  readonly #link: Link;
  readonly #outbox: Outbox;
  readonly #gates: Gates;
  readonly #surface: Surface;
  readonly #registrations: Registrations;
  readonly #told = new Set<string>();
  #plugins: readonly Plugin[] | undefined;
  #updating = false;
  /** The agent is about to come to rest, and the plugins have been told that it has. */
  #atRest = false;
  #dialogs: Promise<void> = Promise.resolve();

  constructor(means: Means, origin: Origin) {
    const { pi, ctx, timers } = means;
    this.#means = means;
    this.#gates = new Gates(timers);
    const agent = {
      isAtRest: () => this.#atRest || ctx.isIdle(),
      abort: () => ctx.abort(),
      send: (...message: Parameters<ExtensionAPI["sendMessage"]>) => pi.sendMessage(...message),
    };
    this.#outbox = new Outbox(agent, timers);
    this.#surface = new Surface(() => ({ ui: ctx.ui, theme: ctx.mode === "tui" ? ctx.ui.theme : undefined }));
    this.#registrations = new Registrations(pi, {
      command: async (name, args) => knownOf(await this.#link.ask("session/command", { name, arguments: args })),
      complete: async (name, prefix) =>
        completionsOf(await this.#link.ask("session/complete_command", { name, prefix })),
      tool: async (name, args) => outcomeOf(await this.#link.ask("session/tool", { name, arguments: args })),
      warn: (text) => means.tell(text, "warning"),
    });
    this.#link = new Link(means, origin, isNotice, {
      effect: (plugin, effect) => this.#attempt(plugin, effect),
      effectsComplete: () => this.#outbox.flush(),
      plugins: (plugins) => this.#take(plugins),
      note: (params) => {
        const trouble = troubleOf(params);
        if (trouble) this.#once(trouble.text, trouble.about);
      },
      llm: (call, signal, progress) => this.#lend(call, signal, progress),
      died: (exit, final) => this.#died(exit, final),
      misunderstood: (what) => this.#once(`Chaperone's sidecar and this package do not understand each other: ${what}`),
    });
  }

  /** Starts the sidecar, and waits for the plugins as long as the settings allow. */
  start(): Promise<void> {
    return this.#link.start();
  }

  /** Ends the session for the plugins, and the sidecar. */
  async stop(): Promise<void> {
    this.#gates.releaseAll();
    this.#surface.clear();
    this.#outbox.close();
    await this.#link.stop();
  }

  /** Runs a hook that needs no reply. */
  async hook(event: Event): Promise<void> {
    await this.#link.hook(event);
  }

  /** Entries have come that no other event tells of. */
  entries(): Promise<void> {
    return this.#link.tellEntries(false);
  }

  /** The user went to another entry of the session tree. */
  jumped(): Promise<void> {
    return this.#link.tellEntries(true);
  }

  /** pi has finished a message, and is about to store it. */
  message(message: AgentMessage): void {
    this.#link.announced(message.role === "custom");
  }

  /** A message is streaming in. pi is not kept waiting, and one hook runs at a time: the next has newer figures. */
  update(event: Event): void {
    if (this.#updating || !this.#wants("message_update")) return;
    this.#updating = true;
    void this.#link.hook(event).finally(() => (this.#updating = false));
  }

  /** Whether a tool call may run. */
  gate(call: ToolCall): Promise<Verdict> {
    const { ctx, settings } = this.#means;
    const question = async (): Promise<Gate> => {
      const reply = await this.#link.hook({ tool_start: { call } });
      return reply !== null && "gate" in reply ? reply.gate : "allow";
    };
    return this.#gates.pass(call.id, question, settings.holdMs, ctx.signal);
  }

  /** The messages of a request without those that plugins leave out; `undefined` where they leave all of them in. */
  async filter(messages: AgentMessage[]): Promise<AgentMessage[] | undefined> {
    if (!this.#wants("context")) return undefined;
    const { entries } = this.#means.ctx.sessionManager.buildSessionProjection();
    const reply = await this.#link.hook({ context: { messages: describe(messages, entries) } });
    const indices = reply !== null && "leave_out" in reply ? reply.leave_out : [];
    return indices.length === 0 ? undefined : without(messages, indices);
  }

  /** The agent begins to work. */
  async agentStarts(): Promise<void> {
    this.#atRest = false;
    await this.#link.hook("agent_start");
  }

  /**
   * The agent will come to rest unless somebody has something to say. Programs that drive pi take its next word for the
   * last one, so for them the judges are waited for here, and plugins hear already now that the agent is at rest: what
   * they say then still belongs to the run. A person at a terminal is not kept waiting.
   */
  async beforeRest(reason: SettledReason, othersGoOn: boolean): Promise<void> {
    if (this.#means.ctx.mode === "tui") return;
    const { spurs } = this.#outbox;
    await this.#quiet();
    if (othersGoOn || this.#outbox.spurs > spurs) return;
    this.#atRest = true;
    await this.#link.hook({ agent_settled: { reason } });
    await this.#quiet();
  }

  /** The agent has come to rest, unless a message that waited for that makes it go on. */
  async rests(reason: SettledReason): Promise<void> {
    const isKnown = this.#atRest && reason !== "interrupted";
    this.#atRest = false;
    if (this.#outbox.runEnded() || isKnown) return;
    await this.#link.hook({ agent_settled: { reason } });
    if (this.#means.ctx.mode !== "tui") await this.#quiet();
  }

  async #quiet(): Promise<void> {
    const { settings, tell } = this.#means;
    if (await this.#link.quiet()) return;
    tell(`Watchers were still at work after ${settings.settleMs / 1000} s, so pi goes on without them.`, "warning");
  }

  /** Whether a plugin asked for a hook; until it is known, it counts as asked for. */
  #wants(hook: string): boolean {
    return this.#plugins?.some(({ description }) => description?.hooks.includes(hook) === true) ?? true;
  }

  #take(plugins: readonly Plugin[]): void {
    this.#plugins = plugins;
    this.#registrations.update(plugins);
    for (const { name, error } of plugins)
      if (error !== null) this.#once(`The watcher ${name} is not running: ${error}`);
  }

  /** An effect that pi does not take must not keep the next one from being carried out. */
  #attempt(plugin: string, effect: Effect): void {
    try {
      this.#carryOut(plugin, effect);
    } catch (error) {
      this.#once(`What ${plugin} wanted cannot be done: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #carryOut(plugin: string, effect: Effect): void {
    if (effect === "abort") this.#outbox.abort();
    else if ("inject" in effect) this.#outbox.inject(effect.inject);
    else if ("release" in effect) this.#gates.release(effect.release.call_id, effect.release.refusal);
    else if ("notify" in effect) this.#means.tell(effect.notify.text, notifyType(effect.notify.tone));
    else if ("set_status" in effect) this.#surface.status(plugin, effect.set_status.text);
    else if ("set_widget" in effect) this.#surface.widget(plugin, effect.set_widget.lines);
    else if ("show" in effect) this.#means.pi.appendEntry(NOTICE, stored(plugin, effect.show));
    else if ("ask" in effect) this.#ask(plugin, effect.ask.id, effect.ask.prompt);
  }

  /** One dialog at a time; the others wait for it. */
  #ask(plugin: string, id: number, prompt: Prompt): void {
    const { ctx } = this.#means;
    const answer = (answer: Answer): void => void this.#link.ask("session/answer", { plugin, id, answer });
    if (!ctx.hasUI) {
      answer("unavailable");
      return;
    }
    this.#dialogs = this.#dialogs.then(() => ask(ctx.ui, prompt, answer)).catch(() => answer("dismissed"));
  }

  async #lend({ model, request }: LlmCall, signal: AbortSignal, progress: (text: string) => void): Promise<Completion> {
    const { ctx, timers } = this.#means;
    const wanted = model ?? request.model;
    try {
      return await complete({ registry: ctx.modelRegistry, own: ctx.model, wanted, request, signal, timers, progress });
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error;
      const code = error.reason === "cancelled" ? ErrorCode.cancelled : ErrorCode.other;
      throw new RpcError(code, error.message, error.reason);
    }
  }

  #died({ how, log }: Exit, final: boolean): void {
    this.#gates.releaseAll();
    const what = `Chaperone's sidecar ${how}`;
    const words = log === "" ? "" : `\nIts last words: ${log}`;
    if (final) this.#means.tell(`${what}\nNo watcher runs until /reload.${words}`, "error");
    else if (!this.#told.has("died")) this.#means.tell(`${what}. It is started again.${words}`, "warning");
    this.#told.add("died");
  }

  #once(text: string, about = text): void {
    if (this.#told.has(about)) return;
    this.#told.add(about);
    this.#means.tell(text, "warning");
  }
}
