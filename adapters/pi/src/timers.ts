/** Time, as far as this package needs it; tests bring their own. */

/** Calls a function later, and forgets it again. */
export interface Timers {
  /** Calls `run` once, after so many milliseconds; the result takes that back. */
  after(milliseconds: number, run: () => void): () => void;
  /** Calls `run` once what is being done now has been done, such as storing a message. */
  soon(run: () => void): void;
  /** Milliseconds since some moment; never goes back. */
  now(): number;
}

/** The real time. Nothing here keeps the process alive. */
export const realTimers: Timers = {
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    timer.unref();
    return () => clearTimeout(timer);
  },
  soon: (run) => void setImmediate(run),
  now: () => performance.now(),
};

/** What a promise came to within a limit. */
export type Timely<T> = { done: T } | "too_late";

/** Waits for a promise, but no longer than so many milliseconds. A rejection passes; one that comes late is dropped. */
export function within<T>(timers: Timers, milliseconds: number, promise: Promise<T>): Promise<Timely<T>> {
  return new Promise((resolve, reject) => {
    const cancel = timers.after(milliseconds, () => resolve("too_late"));
    promise.then(
      (done) => {
        cancel();
        resolve({ done });
      },
      (error: unknown) => {
        cancel();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
