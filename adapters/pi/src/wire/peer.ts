/** One end of a JSON-RPC 2.0 conversation in which both sides ask. */

import { encode, type Fields, isFields } from "./json.ts";

/** Codes of errors that this package sends or acts on. */
export const ErrorCode = { unknownMethod: -32601, cancelled: -32800, other: -32000 } as const;

/** An error that the other side answered with, or that we answer with. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    this.data = data;
  }
}

/** The conversation is over; no answer will come. */
export class Disconnected extends Error {
  constructor(why: string) {
    super(why);
    this.name = "Disconnected";
  }
}

/** A request of the other side, while it is being answered. */
export interface Incoming {
  /** Names the request in notifications about it. */
  id: string | number;
  /** Aborted when the other side cancels, or goes away. */
  signal: AbortSignal;
}

/** What to do with what the other side says. */
export interface Handlers {
  /** Answers a request; an `RpcError` that is thrown goes back as it is. */
  request(method: string, params: unknown, incoming: Incoming): Promise<unknown>;
  /** Takes a notification. */
  notification(method: string, params: unknown): void;
  /** Hears of a line that could not be understood; the conversation goes on. */
  malformed(why: string): void;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** The conversation. Messages are sent in the order of the calls, and one line each. */
export class Peer {
  readonly #write: (line: string) => void;
  readonly #handlers: Handlers;
  readonly #waiting = new Map<number, Waiting>();
  readonly #answering = new Map<string | number, AbortController>();
  #lastId = 0;
  #over: Disconnected | undefined;

  /** `write` sends one line; it is given without its line break. */
  constructor(write: (line: string) => void, handlers: Handlers) {
    this.#write = write;
    this.#handlers = handlers;
  }

  /**
   * Asks for something. When `signal` is aborted the other side is told to cancel, and its answer is still awaited.
   *
   * Rejects with an `RpcError` where that is the answer, and with `Disconnected` where none will come.
   */
  request(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    if (this.#over) return Promise.reject(this.#over);
    const id = ++this.#lastId;
    const answer = new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#send({ jsonrpc: "2.0", id, method, params });
    if (!signal) return answer;
    const cancel = (): void => this.notify("$/cancel_request", { id });
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
    return answer.finally(() => signal.removeEventListener("abort", cancel));
  }

  /** Says something that needs no answer. */
  notify(method: string, params: unknown): void {
    this.#send({ jsonrpc: "2.0", method, params });
  }

  /** Takes one line of the other side. */
  receive(line: string): void {
    if (this.#over) return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      this.#handlers.malformed(`no JSON: ${line.slice(0, 200)}`);
      return;
    }
    if (!isFields(message)) this.#handlers.malformed(`no message: ${line.slice(0, 200)}`);
    else if (typeof message["method"] === "string") this.#asked(message["method"], message);
    else this.#answered(message);
  }

  /** Ends the conversation: all who wait are told why, and what the other side asked for is given up. */
  close(why: string): void {
    if (this.#over) return;
    const over = new Disconnected(why);
    this.#over = over;
    for (const waiting of this.#waiting.values()) waiting.reject(over);
    this.#waiting.clear();
    for (const answering of this.#answering.values()) answering.abort();
    this.#answering.clear();
  }

  #send(message: Fields): void {
    if (!this.#over) this.#write(encode(message));
  }

  #answered(message: Fields): void {
    const id = message["id"];
    const waiting = typeof id === "number" ? this.#waiting.get(id) : undefined;
    if (typeof id !== "number" || !waiting) {
      const error = message["error"];
      const about = isFields(error) ? `: ${String(error["message"])}` : "";
      this.#handlers.malformed(`an answer that nobody waits for${about}`);
      return;
    }
    this.#waiting.delete(id);
    const error = message["error"];
    if (isFields(error)) {
      const code = typeof error["code"] === "number" ? error["code"] : ErrorCode.other;
      waiting.reject(new RpcError(code, String(error["message"]), error["data"]));
    } else {
      waiting.resolve(message["result"]);
    }
  }

  #asked(method: string, message: Fields): void {
    const id = message["id"];
    const params = message["params"];
    if (typeof id !== "string" && typeof id !== "number") {
      if (method === "$/cancel_request") this.#cancelled(params);
      else this.#handlers.notification(method, params);
      return;
    }
    const controller = new AbortController();
    this.#answering.set(id, controller);
    const answer = async (): Promise<unknown> =>
      this.#handlers.request(method, params, { id, signal: controller.signal });
    answer().then(
      (result) => this.#answer(id, { result: result ?? null }),
      (error: unknown) => this.#answer(id, { error: asError(error) }),
    );
  }

  #answer(id: string | number, outcome: Fields): void {
    if (this.#answering.delete(id)) this.#send({ jsonrpc: "2.0", id, ...outcome });
  }

  #cancelled(params: unknown): void {
    const id = isFields(params) ? params["id"] : undefined;
    if (typeof id === "string" || typeof id === "number") this.#answering.get(id)?.abort();
  }
}

function asError(error: unknown): Fields {
  if (error instanceof RpcError) {
    return { code: error.code, message: error.message, ...(error.data === undefined ? {} : { data: error.data }) };
  }
  return { code: ErrorCode.other, message: error instanceof Error ? error.message : String(error) };
}
