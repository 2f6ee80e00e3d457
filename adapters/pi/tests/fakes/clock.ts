/** Time that goes on when a test says so. */

import type { Timers } from "../../src/timers.ts";

interface Due {
  at: number;
  run: () => void;
}

/** Timers under a test's control. */
export class FakeClock implements Timers {
  #now = 0;
  #due: Due[] = [];
  #soon: (() => void)[] = [];

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, run: () => void): () => void {
    const due = { at: this.#now + milliseconds, run };
    this.#due.push(due);
    return () => {
      this.#due = this.#due.filter((other) => other !== due);
    };
  }

  soon(run: () => void): void {
    this.#soon.push(run);
  }

  /** Lets everything happen that waits for nothing but its turn. */
  async settle(): Promise<void> {
    for (let idle = 0; idle < 3; idle++) {
      for (let turn = 0; turn < 50; turn++) await Promise.resolve();
      const soon = this.#soon;
      this.#soon = [];
      if (soon.length > 0) idle = 0;
      for (const run of soon) run();
      // What reads files comes back through the event loop.
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  /** Lets time pass, and what is due happen at its time. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await this.settle();
    for (;;) {
      const next = this.#due.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0];
      if (!next) break;
      this.#due = this.#due.filter((due) => due !== next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
      await this.settle();
    }
    this.#now = end;
    await this.settle();
  }
}
