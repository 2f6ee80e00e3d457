/**
 * Messages to the agent, and stopping it.
 *
 * What one hook asked for comes as several effects. They wait here until all of them are in, since their order matters
 * to pi: a message that is queued and then followed by a stop would lie in the queue until the user writes again.
 */

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

import type { Injection } from "../contract.ts";
import type { Timers } from "../timers.ts";
import { parsed } from "../wire/json.ts";

/** How pi is to take a message. */
type SendOptions = NonNullable<Parameters<ExtensionAPI["sendMessage"]>[1]>;

/** What the outbox does to pi. */
export interface Agent {
  /** Whether nothing makes it go on but a message that starts it. */
  isAtRest(): boolean;
  abort(): void;
  send(
    message: { customType: string; content: string; display: boolean; details: unknown },
    options: SendOptions,
  ): void;
}

/** Collects what plugins say to the agent, and hands it over when pi can take it. */
export class Outbox {
  readonly #agent: Agent;
  readonly #timers: Timers;
  #messages: Injection[] = [];
  #stop = false;
  #planned = false;
  /** The agent was stopped from here, and has not come to rest yet. */
  #stopping = false;
  #spurs = 0;
  #isClosed = false;

  constructor(agent: Agent, timers: Timers) {
    this.#agent = agent;
    this.#timers = timers;
  }

  /** How many messages were handed over that make the agent go on. */
  get spurs(): number {
    return this.#spurs;
  }

  /** A plugin puts a message before the agent. */
  inject(message: Injection): void {
    this.#messages.push(message);
    this.#plan();
  }

  /** A plugin stops the agent. */
  abort(): void {
    this.#stop = true;
    this.#plan();
  }

  /** The session is over: nothing is handed over any more, since nobody is there to take it. */
  close(): void {
    this.#isClosed = true;
  }

  /** Hands over what has come. Called once the effects of a hook are complete. */
  flush(): void {
    if (this.#isClosed) return;
    if (this.#stop) {
      this.#stop = false;
      if (!this.#agent.isAtRest()) {
        this.#stopping = true;
        this.#agent.abort();
      }
    }
    if (!this.#stopping) this.#send();
  }

  /**
   * The agent's run is over. Hands over what waited for it, and says whether that makes the agent go on: then it has
   * not come to rest.
   */
  runEnded(): boolean {
    const restarts = this.#stopping && this.#messages.some(starts);
    this.#stopping = false;
    this.flush();
    return restarts;
  }

  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    this.#timers.soon(() => {
      this.#planned = false;
      this.flush();
    });
  }

  /** Of several messages to an agent at rest only the last may start it: the next one would find it running. */
  #send(): void {
    const messages = this.#messages;
    this.#messages = [];
    const atRest = this.#agent.isAtRest();
    const starter = atRest ? messages.findLast(starts) : undefined;
    const first = messages.filter((message) => message !== starter);
    for (const message of starter ? [...first, starter] : first) {
      const { custom_type, content, display, details, delivery } = message;
      if (atRest ? message === starter : delivery !== "next_turn") this.#spurs++;
      this.#agent.send(
        { customType: custom_type, content, display, details: parsed(details) },
        options(message, atRest, message === starter),
      );
    }
  }
}

function starts(message: Injection): boolean {
  return message.trigger_turn && message.delivery !== "next_turn";
}

/**
 * How pi delivers a message. While the agent runs, `triggerTurn: false` would make pi write the message down without
 * delivering it; so it is said to an agent at rest only, where it is what keeps the agent there.
 */
function options({ delivery }: Injection, atRest: boolean, start: boolean): SendOptions {
  if (delivery === "next_turn") return { deliverAs: "nextTurn" };
  const deliverAs = delivery === "steer" ? "steer" : "followUp";
  return atRest ? { deliverAs, triggerTurn: start } : { deliverAs };
}
