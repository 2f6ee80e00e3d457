/** Lending pi's models, with its keys, to the judges of plugins. */

import type {
  Api,
  AssistantMessageEventStream,
  Message,
  Model,
  AssistantMessage as PiAssistantMessage,
} from "@earendil-works/pi-ai";

import type { Completion, CompletionRequest, Effort, LlmError, ModelId } from "./contract.ts";
import { stopReason, usage } from "./pi/entries.ts";
import type { Timers } from "./timers.ts";

/** pi's registry of models, as far as it is needed. */
export interface Registry {
  find(provider: string, model: string): Model<Api> | undefined;
  hasConfiguredAuth(model: Model<Api>): boolean;
  streamSimple(
    model: Model<Api>,
    context: { systemPrompt?: string; messages: Message[] },
    options: StreamOptions,
  ): AssistantMessageEventStream;
}

/** What is asked of pi beside the prompt. */
export interface StreamOptions {
  signal: AbortSignal;
  maxTokens?: number;
  reasoning?: "minimal" | "low" | "medium" | "high";
  sessionId?: string;
}

/** How a call is made. */
export interface Call {
  registry: Registry;
  /** The model that the agent runs on. */
  own: Model<Api> | undefined;
  /** The model that was asked for; `null`: the agent's. */
  wanted: ModelId | null;
  request: CompletionRequest;
  /** Aborted where the sidecar no longer wants the answer. */
  signal: AbortSignal;
  timers: Timers;
  /** Gets the text as it comes, where the request wants it. */
  progress(text: string): void;
}

/** A call that came to no answer, in the contract's terms. */
export class CallFailed extends Error {
  readonly reason: LlmError;

  constructor(reason: LlmError) {
    super(typeof reason === "string" ? reason : JSON.stringify(reason));
    this.name = "CallFailed";
    this.reason = reason;
  }
}

/** How long an answer may take where the request does not say, in milliseconds. */
const STANDARD_TIMEOUT = 60_000;

/** Asks a model of pi's. Rejects with `CallFailed`. */
export async function complete(call: Call): Promise<Completion> {
  const { registry, request, timers } = call;
  const model = choose(call);
  if (!registry.hasConfiguredAuth(model)) {
    throw new CallFailed({ authentication: `pi has no key for ${model.provider}; log in with /login` });
  }
  const timeout = new AbortController();
  const forget = timers.after(request.timeout_ms ?? STANDARD_TIMEOUT, () => timeout.abort());
  const signal = AbortSignal.any([call.signal, timeout.signal]);
  try {
    const answer = await Promise.race([answerOf(call, model, signal), aborted(signal)]);
    if (answer === "aborted") throw new CallFailed(call.signal.aborted ? "cancelled" : "timed_out");
    if (answer.stopReason === "aborted") throw new CallFailed(timeout.signal.aborted ? "timed_out" : "cancelled");
    if (answer.stopReason === "error")
      throw new CallFailed(reason(answer.errorMessage ?? "the provider gave no reason"));
    return completion(answer, model);
  } catch (error) {
    if (error instanceof CallFailed) throw error;
    throw new CallFailed(reason(error instanceof Error ? error.message : String(error)));
  } finally {
    forget();
  }
}

function choose({ registry, own, wanted }: Call): Model<Api> {
  if (!wanted) {
    if (own) return own;
    throw new CallFailed({ unknown_model: "the session has no model" });
  }
  const model = registry.find(wanted.provider, wanted.model);
  if (model) return model;
  throw new CallFailed({ unknown_model: `${wanted.provider}/${wanted.model}` });
}

async function answerOf(call: Call, model: Model<Api>, signal: AbortSignal): Promise<PiAssistantMessage> {
  const { request } = call;
  const options: StreamOptions = { signal };
  if (request.max_output_tokens !== null) options.maxTokens = Math.min(request.max_output_tokens, model.maxTokens);
  const reasoning = thinking(request.effort, model);
  if (reasoning) options.reasoning = reasoning;
  if (request.cache_key !== null) options.sessionId = request.cache_key;
  const context = { messages: request.messages.map((message) => prompt(message, model)) };
  const stream = call.registry.streamSimple(
    model,
    request.system === null ? context : { ...context, systemPrompt: request.system },
    options,
  );
  if (request.streamed) {
    for await (const event of stream) if (event.type === "text_delta") call.progress(event.delta);
  }
  return stream.result();
}

/** The level of thinking for an effort; none turns it off, where the model can do without. */
function thinking(effort: Effort, model: Model<Api>): StreamOptions["reasoning"] {
  if (!model.reasoning) return undefined;
  if (effort !== "lowest") return effort;
  return model.thinkingLevelMap?.off === null ? "minimal" : undefined;
}

function prompt({ role, text }: CompletionRequest["messages"][number], model: Model<Api>): Message {
  if (role === "user") return { role, content: text, timestamp: 0 };
  return {
    role,
    content: [{ type: "text", text }],
    api: model.api,
    provider: model.provider,
    model: model.id,
    usage: {
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 0,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: "stop",
    timestamp: 0,
  };
}

/** A provider that does not look at the signal must not keep its caller waiting. */
function aborted(signal: AbortSignal): Promise<"aborted"> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve("aborted");
    else signal.addEventListener("abort", () => resolve("aborted"), { once: true });
  });
}

function completion(answer: PiAssistantMessage, model: Model<Api>): Completion {
  const texts: string[] = [];
  const parts: [string, number][] = [];
  for (const part of answer.content) {
    if (part.type === "text") {
      texts.push(part.text);
      parts.push(["text", characters(part.text)]);
    } else if (part.type === "thinking") {
      parts.push(["thinking", characters(part.thinking)]);
    } else {
      parts.push(["tool_call", characters(JSON.stringify(part.arguments) ?? "")]);
    }
  }
  return {
    text: texts.join(""),
    stop_reason: stopReason(answer.stopReason),
    usage: usage(answer.usage),
    model: { provider: model.provider, model: model.id },
    parts,
  };
}

function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** pi hands on what the provider said as text; the contract tells the cases apart that a plugin can do something about. */
function reason(said: string): LlmError {
  const status = /\b(401|403|408|429|5\d\d)\b/u.exec(said)?.[1];
  if (status === "401" || status === "403" || /api key|unauthori[sz]ed|authentication/iu.test(said)) {
    return { authentication: said };
  }
  if (status === "429" || /rate.?limit|too many requests/iu.test(said)) return { rate_limited: waitingTime(said) };
  if (status === "408" || /timed? ?out|ETIMEDOUT/iu.test(said)) return "timed_out";
  return { provider: said };
}

/** Seconds to wait, where the provider said it as in `retry after 20s`. */
function waitingTime(said: string): number | null {
  const seconds = /(?:retry|try again)\D{0,20}?(\d+(?:\.\d+)?)\s*(?:s\b|sec)/iu.exec(said)?.[1];
  return seconds === undefined ? null : Math.ceil(Number(seconds));
}
