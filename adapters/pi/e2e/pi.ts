/** The real pi, as a program uses it. */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

import { LineReader } from "../src/wire/lines.ts";

/** A record of pi's RPC mode. */
export type PiRecord = Record<string, unknown>;

/** How long anything that a test waits for may take, in milliseconds. */
const PATIENCE = 60_000;

const ADAPTER = resolve(import.meta.dirname, "..");
const PI = join(dirname(fileURLToPath(import.meta.resolve("@earendil-works/pi-coding-agent"))), "bundle/cli.js");

/** Nothing but this package is loaded, and no project file is trusted or read but by the sidecar. */
const ALWAYS = [
  "-ne",
  "-e",
  ADAPTER,
  "-ns",
  "-np",
  "--no-themes",
  "-nc",
  "-na",
  "--provider",
  "fake",
  "--model",
  "agent-1",
];

function start(env: NodeJS.ProcessEnv, cwd: string, args: string[]): ChildProcessByStdio<Writable, Readable, Readable> {
  return spawn(process.execPath, [PI, ...ALWAYS, ...args], { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
}

/** What pi printed. */
export interface Printed {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** `pi -p`. */
export async function print(env: NodeJS.ProcessEnv, cwd: string, args: string[]): Promise<Printed> {
  const pi = start(env, cwd, ["-p", ...args]);
  pi.stdin.end();
  const printed: Printed = { status: null, stdout: "", stderr: "" };
  pi.stdout.setEncoding("utf8").on("data", (text: string) => (printed.stdout += text));
  pi.stderr.setEncoding("utf8").on("data", (text: string) => (printed.stderr += text));
  const timer = setTimeout(() => pi.kill("SIGKILL"), PATIENCE);
  printed.status = await new Promise((resolve) => pi.on("close", resolve));
  clearTimeout(timer);
  return printed;
}

/** `pi --mode rpc`. */
export class RpcPi {
  readonly records: PiRecord[] = [];
  stderr = "";
  readonly #pi: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #ended: Promise<void>;
  readonly #watchers = new Set<() => void>();
  #lastId = 0;
  #isOver = false;

  private constructor(pi: ChildProcessByStdio<Writable, Readable, Readable>) {
    this.#pi = pi;
    const reader = new LineReader(
      (line) => this.#take(JSON.parse(line) as PiRecord),
      () => this.#take({ type: "dropped" }),
    );
    pi.stdout.on("data", (chunk: Buffer) => reader.push(chunk));
    pi.stderr.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.#ended = new Promise((resolve) =>
      pi.on("close", () => {
        this.#isOver = true;
        this.#look();
        resolve();
      }),
    );
  }

  /** Starts pi, and ends it with the test. */
  static async start(test: TestContext, env: NodeJS.ProcessEnv, cwd: string, args: string[]): Promise<RpcPi> {
    const pi = new RpcPi(start(env, cwd, ["--mode", "rpc", ...args]));
    test.after(() => pi.stop());
    await pi.ask({ type: "get_state" });
    return pi;
  }

  /** Sends something that is not answered. */
  send(command: PiRecord): void {
    this.#pi.stdin.write(`${JSON.stringify(command)}\n`);
  }

  /** Sends a command, and gives the data of its answer. */
  async ask(command: PiRecord): Promise<PiRecord> {
    const id = `r${++this.#lastId}`;
    this.send({ id, ...command });
    const answer = await this.first((record) => record["type"] === "response" && record["id"] === id);
    if (answer["success"] !== true) throw new Error(`${String(command["type"])}: ${JSON.stringify(answer["error"])}`);
    return (answer["data"] ?? {}) as PiRecord;
  }

  /** Sends a prompt, and waits until the agent has come to rest. */
  async prompt(message: string): Promise<void> {
    const from = this.records.length;
    await this.ask({ type: "prompt", message });
    await this.first(({ type }) => type === "agent_settled", from);
  }

  /** Waits until nothing runs: a watcher may have started the agent again after it came to rest. */
  async atRest(): Promise<void> {
    for (;;) {
      const from = this.records.length;
      if ((await this.ask({ type: "get_state" }))["isStreaming"] !== true) return;
      await this.first(({ type }) => type === "agent_settled", from);
    }
  }

  /** Runs a command of an extension, and gives what was said to the user meanwhile. */
  async command(line: string): Promise<string> {
    const from = this.records.length;
    await this.ask({ type: "prompt", message: line });
    return this.said(from);
  }

  /** Everything that was said to the user since some record: passing messages and notices. */
  said(from = 0): string {
    return this.records.slice(from).flatMap(wordsOf).join("\n");
  }

  /** Waits for a record. */
  async first(wanted: (record: PiRecord) => boolean, from = 0): Promise<PiRecord> {
    return this.until(() => this.records.slice(from).find(wanted), wanted.toString());
  }

  /** Waits until something is there. */
  async until<T>(look: () => T | undefined, what: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        this.#watchers.delete(watch);
        settle();
      };
      const fail = (why: string): void =>
        end(() => {
          const tail = this.records.slice(-8).map((record) => JSON.stringify(record).slice(0, 300));
          reject(new Error(`${why} while waiting for ${what}\n${tail.join("\n")}\n${this.stderr.slice(-2000)}`));
        });
      const watch = (): void => {
        const found = look();
        if (found !== undefined) end(() => resolve(found));
        else if (this.#isOver) fail("pi has ended");
      };
      const timer = setTimeout(() => fail("nothing came"), PATIENCE);
      this.#watchers.add(watch);
      watch();
    });
  }

  /** Ends pi as its users do: by closing its input. */
  async stop(): Promise<void> {
    this.#pi.stdin.end();
    const timer = setTimeout(() => this.#pi.kill("SIGKILL"), PATIENCE);
    await this.#ended;
    clearTimeout(timer);
  }

  #take(record: PiRecord): void {
    this.records.push(record);
    this.#look();
  }

  #look(): void {
    for (const watch of [...this.#watchers]) watch();
  }
}

function wordsOf(record: PiRecord): string[] {
  if (record["type"] === "extension_ui_request" && record["method"] === "notify") return [String(record["message"])];
  const entry = record["type"] === "entry_appended" ? (record["entry"] as PiRecord) : undefined;
  if (entry?.["customType"] !== "chaperone-notice") return [];
  const { title, details } = entry["data"] as { title: { text: string }[]; details: { text: string }[][] };
  return [title, ...details].map((line) => line.map(({ text }) => text).join(""));
}
