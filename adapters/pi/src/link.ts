/** A session of pi on the sidecar: keeps its branch up to date there, and asks it to run hooks. */

import type { ExtensionContext, SessionEntry } from "@earendil-works/pi-coding-agent";

import type { Completion, Effect, Entry, Event } from "./contract.ts";
import { BranchTracker } from "./pi/branch.ts";
import { circumstances, mode, modelId, models, type Origin } from "./pi/circumstances.ts";
import { entry } from "./pi/entries.ts";
import { sessionIdOf } from "./pi/header.ts";
import { pieces } from "./pi/pieces.ts";
import {
  effectOf,
  type LlmCall,
  llmCallOf,
  type Plugin,
  PROTOCOL_VERSION,
  pluginsOf,
  type Reply,
  type Requests,
  replyOf,
  versionOf,
} from "./protocol.ts";
import type { Settings } from "./settings.ts";
import type { Child, ChildEvents, Exit } from "./sidecar/child.ts";
import { Supervisor } from "./sidecar/supervisor.ts";
import { type Timers, within } from "./timers.ts";
import { ErrorCode, type Incoming, type Peer, RpcError } from "./wire/peer.ts";

/** A sidecar that was late this many times in a row is taken for dead. */
const LATE_AT_MOST = 3;

/** What a link needs. */
export interface LinkMeans {
  ctx: ExtensionContext;
  settings: Settings;
  timers: Timers;
  /** The version of this package. */
  version: string;
  start(events: ChildEvents): Child;
}

/** What a link tells. */
export interface LinkEvents {
  /** A plugin asked for something that is this side's to do. */
  effect(plugin: string, effect: Effect): void;
  /** The effects so far are complete: those of a hook that was asked for from here. */
  effectsComplete(): void;
  /** The plugins, at the start and whenever one describes itself anew. */
  plugins(plugins: readonly Plugin[]): void;
  /** Something that the sidecar has noted of a plugin. */
  note(params: unknown): void;
  /** A judge's question to a model of pi's. */
  llm(call: LlmCall, signal: AbortSignal, progress: (text: string) => void): Promise<Completion>;
  /** The sidecar is gone; `final` where no other one will be started. */
  died(exit: Exit, final: boolean): void;
  /** The sidecar and this package do not understand each other. */
  misunderstood(what: string): void;
}

/** The link. Nothing here throws for want of a sidecar, or keeps pi waiting longer than the settings say. */
export class Link {
  readonly #means: LinkMeans;
  readonly #events: LinkEvents;
  readonly #session: string;
  readonly #origin: Origin;
  readonly #branch: BranchTracker;
  readonly #supervisor: Supervisor;
  #opened = false;
  /** Until when a sidecar that is not there yet is waited for. */
  #patience = 0;
  #late = 0;
  /** Custom messages that pi has announced and not stored yet. */
  #announced = 0;

  /** Entries that `hidden` picks are not told to the sidecar. */
  constructor(means: LinkMeans, origin: Origin, hidden: (entry: SessionEntry) => boolean, events: LinkEvents) {
    this.#means = means;
    this.#events = events;
    this.#origin = origin;
    this.#session = means.ctx.sessionManager.getSessionId();
    this.#branch = new BranchTracker(hidden);
    this.#supervisor = new Supervisor({
      start: means.start,
      handlers: {
        request: (method, params, incoming) => this.#asked(method, params, incoming),
        notification: (method, params) => this.#notified(method, params),
        malformed: (why) => events.misunderstood(`the sidecar sent ${why}`),
      },
      introduce: (peer) => this.#introduce(peer),
      died: (exit, final) => {
        this.#patience = means.timers.now() + means.settings.hookMs;
        events.died(exit, final);
      },
      timers: means.timers,
    });
  }

  /** Starts the sidecar, and waits for the plugins as long as the settings allow. */
  async start(): Promise<void> {
    this.#patience = this.#means.timers.now() + this.#means.settings.startMs;
    this.#supervisor.start();
    await this.#ready();
  }

  /** Ends the session for the plugins, and then the sidecar. */
  async stop(): Promise<void> {
    await this.#supervisor.stop(async (peer) => {
      void this.#tellEntries(peer);
      await this.#send(peer, "session/close", {});
      await peer.request("shutdown", {});
      peer.notify("exit", {});
    });
  }

  /** Runs a hook, after those of all entries that are new. Gives what the plugins replied, where it came in time. */
  async hook(event: Event): Promise<Reply> {
    const peer = await this.#ready();
    if (!peer) return null;
    void this.#tellEntries(peer);
    return replyOf(await this.#answer(this.#event(peer, event)));
  }

  /** Asks for something that is no hook. `undefined` where no answer came. */
  async ask<M extends keyof Requests>(method: M, params: Omit<Requests[M], "session">): Promise<unknown> {
    const peer = await this.#ready();
    if (!peer) return undefined;
    void this.#tellEntries(peer);
    return this.#answer(this.#send(peer, method, params));
  }

  /** Tells of new entries and waits until their hooks have run; `jumped` where the user went to another entry. */
  async tellEntries(jumped: boolean): Promise<void> {
    const peer = await this.#ready();
    if (peer) await this.#answer(this.#tellEntries(peer, jumped));
  }

  /** pi has finished a message. It is stored once pi's own work on it is done, and told then. */
  announced(custom: boolean): void {
    if (custom) this.#announced++;
    this.#means.timers.soon(() => {
      const { peer } = this.#supervisor;
      if (peer) void this.#tellEntries(peer);
    });
  }

  /** Waits until no judge is at work. False where that takes longer than the settings allow. */
  async quiet(): Promise<boolean> {
    const { settings, timers } = this.#means;
    const { peer } = this.#supervisor;
    if (!peer) return true;
    const cancel = new AbortController();
    let inTime = true;
    try {
      const quiet = this.#send(peer, "session/quiet", {}, cancel.signal);
      inTime = (await within(timers, settings.settleMs, quiet)) !== "too_late";
      if (!inTime) cancel.abort();
    } catch {
      // The sidecar is gone, and its judges with it.
    }
    this.#events.effectsComplete();
    return inTime;
  }

  async #ready(): Promise<Peer | undefined> {
    const { timers } = this.#means;
    const patience = this.#patience - timers.now();
    if (!this.#supervisor.peer && patience > 0) await within(timers, patience, this.#supervisor.settled());
    return this.#supervisor.peer;
  }

  /** What came in time, or nothing. */
  async #answer(answer: Promise<unknown>): Promise<unknown> {
    const { timers, settings } = this.#means;
    try {
      const outcome = await within(timers, settings.hookMs, answer);
      if (outcome !== "too_late") {
        this.#late = 0;
        return outcome.done;
      }
      this.#late++;
      if (this.#late >= LATE_AT_MOST) this.#supervisor.restart("does not answer any more");
    } catch (error) {
      if (error instanceof RpcError) this.#events.misunderstood(error.message);
    } finally {
      this.#events.effectsComplete();
    }
    return undefined;
  }

  #send<M extends keyof Requests>(
    peer: Peer,
    method: M,
    params: Omit<Requests[M], "session">,
    signal?: AbortSignal,
  ): Promise<unknown> {
    return peer.request(method, { session: this.#session, ...params }, signal);
  }

  #event(peer: Peer, event: Event): Promise<unknown> {
    return this.#send(peer, "session/event", { event, circumstances: circumstances(this.#means.ctx) });
  }

  /** Sends what is new of the branch, each message with its hook. Never rejects. */
  #tellEntries(peer: Peer, jumped = false): Promise<unknown> {
    const change = this.#branch.advance(this.#means.ctx.sessionManager, jumped);
    let last: Promise<unknown> = Promise.resolve();
    const send = <M extends keyof Requests>(method: M, params: Omit<Requests[M], "session">): void => {
      last = this.#send(peer, method, params).catch((error: unknown) => {
        // The next change tells the whole branch anew.
        if (error instanceof RpcError) this.#branch.lost();
      });
    };
    if (change.kind === "moved") {
      const { leaf, entries } = change;
      const rest = entries === null ? undefined : this.#bring(entries, (early) => send("session/entries", early));
      send("session/branch", rest === undefined ? { leaf } : { leaf, entries: rest });
    } else if (change.kind === "grown") {
      let entries: Entry[] = [];
      for (const stored of change.entries) {
        const message = entry(stored);
        entries.push(message);
        if (!this.#isSaid(stored)) continue;
        send("session/append", { entries });
        entries = [];
        send("session/event", { event: { message_end: { message } }, circumstances: circumstances(this.#means.ctx) });
      }
      if (entries.length > 0) send("session/append", { entries });
    }
    return last;
  }

  /** Sends the first pieces of a branch that is too long for one message, and gives what is left for that. */
  #bring(stored: SessionEntry[], send: (early: { entries: Entry[] }) => void): Entry[] {
    const all = pieces(stored.map(entry));
    const rest = all.pop() ?? [];
    for (const entries of all) send({ entries });
    return rest;
  }

  /** Whether an entry is a message that somebody has just finished, rather than one that was put into the session. */
  #isSaid(stored: SessionEntry): boolean {
    if (stored.type === "message") return ["user", "assistant", "toolResult"].includes(stored.message.role);
    if (stored.type !== "custom_message" || this.#announced === 0) return false;
    this.#announced--;
    return true;
  }

  async #introduce(peer: Peer): Promise<void> {
    const { ctx, version } = this.#means;
    const greeting = await peer.request("initialize", {
      protocol_version: PROTOCOL_VERSION,
      client: { name: "chaperone-pi", version },
      capabilities: { dialogs: ctx.hasUI, gate: "hold", models: models(ctx) },
    } satisfies Requests["initialize"]);
    const theirs = versionOf(greeting);
    if (theirs !== PROTOCOL_VERSION) {
      throw new Error(
        `it speaks version ${String(theirs)} of the protocol, and this package version ${PROTOCOL_VERSION}`,
      );
    }
    const { reason, parent } = this.#origin;
    const from = this.#opened || !parent ? undefined : await sessionIdOf(parent.file);
    const early: Promise<unknown>[] = [];
    const entries = this.#bring(this.#branch.whole(ctx.sessionManager), (piece) =>
      early.push(this.#send(peer, "session/entries", piece)),
    );
    const opened = this.#send(peer, "session/open", {
      cwd: ctx.cwd,
      mode: mode(ctx),
      model: modelId(ctx.model),
      reason: this.#opened ? "reload" : reason,
      ...(from === undefined ? {} : { forked_from: { session: from, entry: parent?.entry ?? null } }),
      entries,
      circumstances: circumstances(ctx),
    });
    const [plugins] = await Promise.all([opened, ...early]);
    this.#events.plugins(pluginsOf(plugins));
    this.#opened = true;
    this.#late = 0;
    this.#events.effectsComplete();
  }

  #notified(method: string, params: unknown): void {
    if (method === "session/effect") {
      const told = effectOf(params, this.#session);
      if (told) this.#events.effect(told.plugin, told.effect);
    } else if (method === "session/plugins") {
      this.#events.plugins(pluginsOf(params));
    } else if (method === "session/note") {
      this.#events.note(params);
    }
  }

  async #asked(method: string, params: unknown, { id, signal }: Incoming): Promise<Completion> {
    const call = method === "llm/complete" ? llmCallOf(params) : undefined;
    if (!call) throw new RpcError(ErrorCode.unknownMethod, `pi cannot do ${method} with these parameters`);
    return this.#events.llm(call, signal, (text) => this.#supervisor.peer?.notify("llm/progress", { id, text }));
  }
}
