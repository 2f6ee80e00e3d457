/** A model server on loopback that says what a test has it say, and remembers what it was sent. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a model is sent. */
export interface Request {
  model: string;
  messages: Message[];
  tools: string[];
  maxTokens: number | undefined;
}

/** A message as it was sent, its text joined. */
export interface Message {
  role: string;
  text: string;
}

/** What a model answers. */
export type Reply =
  | { text: string }
  | { call: string; arguments: Record<string, unknown> }
  /** It goes on saying this until the other side has enough. */
  | { endless: string }
  | { status: number; error: string };

/** Gives the answer to a request; `undefined` where the test has none, which fails the request. */
export type Script = (request: Request) => Reply | undefined | Promise<Reply | undefined>;

/** The server. */
export class FakeModel {
  readonly requests: Request[] = [];
  readonly #script: Script;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #calls = 0;

  private constructor(script: Script) {
    this.#script = script;
  }

  /** Starts a server on a port that is free. */
  static async start(script: Script): Promise<FakeModel> {
    const model = new FakeModel(script);
    await new Promise<void>((resolve) => model.#server.listen(0, "127.0.0.1", resolve));
    return model;
  }

  /** Where it is reached. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** What a model was sent, in order. */
  sent(model: string): Request[] {
    return this.requests.filter((request) => request.model === model);
  }

  /** Ends the server, and every answer that is under way. */
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request = read(JSON.parse(Buffer.concat(chunks).toString()) as Wire);
    this.requests.push(request);
    const reply = (await this.#script(request)) ?? {
      status: 400,
      error: `the test has no answer to: ${JSON.stringify(request.messages.at(-1))}`,
    };
    if ("status" in reply) {
      response
        .writeHead(reply.status, { "content-type": "application/json" })
        .end(JSON.stringify({ error: { message: reply.error } }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (delta: Record<string, unknown>, finish: string | null = null): void => {
      const choice = { index: 0, delta, finish_reason: finish };
      response.write(
        `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: request.model, choices: [choice] })}\n\n`,
      );
    };
    send({ role: "assistant", content: "" });
    if ("endless" in reply) {
      const timer = setInterval(() => send({ content: reply.endless }), 20);
      response.on("close", () => clearInterval(timer));
      return;
    }
    if ("text" in reply) {
      send({ content: reply.text });
      send({}, "stop");
    } else {
      const call = { name: reply.call, arguments: JSON.stringify(reply.arguments) };
      send({ tool_calls: [{ index: 0, id: `call_${++this.#calls}`, type: "function", function: call }] });
      send({}, "tool_calls");
    }
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
    response.write(
      `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: request.model, choices: [], usage })}\n\n`,
    );
    response.end("data: [DONE]\n\n");
  }
}

interface Wire {
  model: string;
  messages: { role: string; content?: string | { type: string; text?: string }[] | null }[];
  tools?: { function: { name: string } }[];
  max_tokens?: number;
  max_completion_tokens?: number;
}

function read({ model, messages, tools, max_tokens, max_completion_tokens }: Wire): Request {
  return {
    model,
    messages: messages.map(({ role, content }) => ({
      role,
      text: typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join(""),
    })),
    tools: (tools ?? []).map((tool) => tool.function.name),
    maxTokens: max_tokens ?? max_completion_tokens,
  };
}
