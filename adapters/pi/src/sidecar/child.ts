/** The sidecar as a process. */

import { spawn } from "node:child_process";

import { LineReader } from "../wire/lines.ts";

/** How a process ended. */
export interface Exit {
  /** In words, such as `was killed by SIGKILL`. */
  how: string;
  /** The last lines that it wrote to its log. */
  log: string;
}

/** What happens to the process. */
export interface ChildEvents {
  /** It wrote a line. */
  line(line: string): void;
  /** It wrote a line that was too long to take. */
  dropped(): void;
  /** It has ended, or could not be started. Called once. */
  ended(exit: Exit): void;
}

/** A running sidecar. */
export interface Child {
  /** Sends one line. */
  write(line: string): void;
  /** Closes its input, which asks it to end. */
  end(): void;
  /** Ends it at once. */
  kill(): void;
}

/** How many characters of the log are kept for the case that it dies. */
const LOG_KEPT = 4000;

/** Starts `chaperone serve`. Never throws: a program that cannot be started has `ended`. */
export function startChild(path: string, cwd: string, events: ChildEvents): Child {
  const child = spawn(path, ["serve"], { cwd, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
  const reader = new LineReader(events.line, events.dropped);
  let log = "";
  let over = false;
  const end = (how: string): void => {
    if (over) return;
    over = true;
    events.ended({ how, log: log.trim().split("\n").slice(-5).join("\n") });
  };
  child.stdout.on("data", (chunk: Buffer) => reader.push(chunk));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-LOG_KEPT);
  });
  // A write to a process that has just died fails; that it died is told by its end.
  child.stdin.on("error", () => {});
  child.on("error", (error) => end(`cannot be started: ${error.message}`));
  child.on("close", (code, signal) => end(signal ? `was killed by ${signal}` : `ended with status ${code}`));
  return {
    write: (line) => void child.stdin.write(`${line}\n`),
    end: () => void child.stdin.end(),
    kill: () => void child.kill("SIGKILL"),
  };
}
