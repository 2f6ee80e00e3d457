/** Keeps a sidecar running: starts it, starts it anew when it dies, and gives up on one that keeps dying. */

import { type Timers, within } from "../timers.ts";
import { Disconnected, type Handlers, Peer } from "../wire/peer.ts";
import type { Child, ChildEvents, Exit } from "./child.ts";

/** How long to wait before each new start, in milliseconds; after the last one nothing is started any more. */
const PAUSES = [100, 500, 2000, 5000, 10_000];

/** A sidecar that lived this long, in milliseconds, has recovered: the next death is the first one again. */
const RECOVERED = 60_000;

/** How long a sidecar may take to end by itself, in milliseconds. */
const FAREWELL = 3000;

/** What the supervisor is told. */
export interface Supervised {
  start(events: ChildEvents): Child;
  handlers: Handlers;
  /** Introduces a sidecar that has just been started. What it refuses now, the next one would refuse as well. */
  introduce(peer: Peer): Promise<void>;
  /** The sidecar is gone. `final` where no other one will be started. */
  died(exit: Exit, final: boolean): void;
  timers: Timers;
}

type State =
  | { is: "off" }
  | { is: "starting" | "up"; peer: Peer; child: Child; ended: Promise<void>; since: number }
  | { is: "pausing"; cancel: () => void }
  | { is: "given_up" };

/** One sidecar after the other. */
export class Supervisor {
  readonly #supervised: Supervised;
  #state: State = { is: "off" };
  #deaths = 0;
  #starts = 0;
  #waiting: (() => void)[] = [];

  constructor(supervised: Supervised) {
    this.#supervised = supervised;
  }

  /** The conversation with the sidecar; `undefined` while there is none that has been introduced. */
  get peer(): Peer | undefined {
    return this.#state.is === "up" ? this.#state.peer : undefined;
  }

  /** Starts the sidecar. */
  start(): void {
    if (this.#state.is === "off") this.#start();
  }

  /** Resolves once a sidecar is up, or once it is certain that none will be. */
  settled(): Promise<void> {
    if (this.#state.is !== "starting" && this.#state.is !== "pausing") return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Ends a sidecar that no longer answers; another one is started. */
  restart(why: string): void {
    if (this.#state.is !== "starting" && this.#state.is !== "up") return;
    const { child } = this.#state;
    this.#over({ how: why, log: "" });
    child.kill();
  }

  /** Says goodbye to the sidecar and ends it. */
  async stop(farewell: (peer: Peer) => Promise<void>): Promise<void> {
    const { timers } = this.#supervised;
    const state = this.#state;
    // From here on, its end is no death.
    this.#become({ is: "off" });
    if (state.is === "pausing") state.cancel();
    if (state.is !== "starting" && state.is !== "up") return;
    const { peer, child, ended } = state;
    // One that has nothing to say, or is gone already, is bidden farewell as well.
    if (state.is === "up") await within(timers, FAREWELL, farewell(peer)).catch(() => {});
    peer.close("pi has ended the session");
    child.end();
    if ((await within(timers, FAREWELL, ended)) === "too_late") child.kill();
  }

  #start(): void {
    const started = ++this.#starts;
    const current = (): boolean =>
      started === this.#starts && (this.#state.is === "starting" || this.#state.is === "up");
    const { handlers, timers } = this.#supervised;
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const child = this.#supervised.start({
      line: (line) => peer.receive(line),
      dropped: () => handlers.malformed("a line that is too long"),
      ended: (exit) => {
        end();
        peer.close(`the sidecar ${exit.how}`);
        if (current()) this.#over(exit);
      },
    });
    const peer = new Peer((line) => child.write(line), handlers);
    this.#become({ is: "starting", peer, child, ended, since: timers.now() });
    this.#supervised.introduce(peer).then(
      () => {
        if (current()) this.#become({ is: "up", peer, child, ended, since: timers.now() });
      },
      (error: unknown) => {
        // That it is gone is told by its end.
        if (!current() || error instanceof Disconnected) return;
        const why = error instanceof Error ? error.message : String(error);
        this.#become({ is: "given_up" });
        peer.close(why);
        child.kill();
        this.#supervised.died({ how: `cannot watch this session: ${why}`, log: "" }, true);
      },
    );
  }

  #over(exit: Exit): void {
    const { timers } = this.#supervised;
    const state = this.#state;
    if (state.is !== "starting" && state.is !== "up") return;
    state.peer.close(`the sidecar ${exit.how}`);
    if (state.is === "up" && timers.now() - state.since >= RECOVERED) this.#deaths = 0;
    const pause = PAUSES[this.#deaths++];
    if (pause === undefined) {
      this.#become({ is: "given_up" });
    } else {
      this.#become({ is: "pausing", cancel: timers.after(pause, () => this.#start()) });
    }
    this.#supervised.died(exit, pause === undefined);
  }

  #become(state: State): void {
    this.#state = state;
    if (state.is === "starting" || state.is === "pausing") return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
