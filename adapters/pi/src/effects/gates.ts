/** Tool calls that plugins hold until they have made up their minds. */

import type { Gate } from "../contract.ts";
import type { Timers } from "../timers.ts";

/** What becomes of a call: it runs, or the agent reads why it did not. */
export type Verdict = "run" | { refuse: string };

interface Held {
  promise: Promise<Verdict>;
  resolve(verdict: Verdict): void;
}

/** The calls that are at the gate. */
export class Gates {
  readonly #timers: Timers;
  readonly #held = new Map<string, Held>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /**
   * Asks whether a call may run. `ask` is the question; a call that is held waits for its release, at most `limit`
   * milliseconds, after which it runs, and no longer than `signal` is not aborted.
   */
  async pass(
    callId: string,
    ask: () => Promise<Gate>,
    limit: number,
    signal: AbortSignal | undefined,
  ): Promise<Verdict> {
    let resolve: (verdict: Verdict) => void = () => {};
    const promise = new Promise<Verdict>((done) => (resolve = done));
    // Before the question, as the release may come before the answer to it.
    this.#held.set(callId, { promise, resolve });
    const free = (): void => resolve("run");
    try {
      const gate = await ask();
      if (gate === "allow") return "run";
      if (gate !== "hold") return gate;
      const cancel = this.#timers.after(limit, free);
      signal?.addEventListener("abort", free, { once: true });
      if (signal?.aborted) free();
      const verdict = await promise;
      cancel();
      return verdict;
    } finally {
      signal?.removeEventListener("abort", free);
      this.#held.delete(callId);
    }
  }

  /** A plugin lets a call run, or refuses it. */
  release(callId: string, refusal: string | null): void {
    this.#held.get(callId)?.resolve(refusal === null ? "run" : { refuse: refusal });
  }

  /** Lets all calls run: there is nobody any more who could release them. */
  releaseAll(): void {
    for (const held of this.#held.values()) held.resolve("run");
  }
}
