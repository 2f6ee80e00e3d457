import assert from "node:assert/strict";
import { test } from "node:test";

import type { Api, AssistantMessage, Model } from "@earendil-works/pi-ai";

import type { CompletionRequest, LlmError } from "../src/contract.ts";
import { type Call, CallFailed, complete, type Registry } from "../src/models.ts";
import { FakeClock } from "./fakes/clock.ts";
import { check } from "./fakes/schema.ts";
import { said } from "./fakes/session.ts";

const REQUEST: CompletionRequest = {
  label: "guard",
  model: null,
  system: "Judge.",
  messages: [
    { role: "user", text: "Is it done?" },
    { role: "assistant", text: "Show me." },
    { role: "user", text: "Here." },
  ],
  max_output_tokens: 500,
  effort: "lowest",
  response_schema: null,
  timeout_ms: 1000,
  streamed: false,
  cache_key: "guard",
};

const MODEL = {
  provider: "fake",
  id: "judge-1",
  api: "openai-completions",
  maxTokens: 100,
  reasoning: false,
} as Model<Api>;

type Answer = Promise<AssistantMessage> | AssistantMessage | Error;

class FakeRegistry implements Registry {
  readonly asked: Parameters<Registry["streamSimple"]>[] = [];
  hasKey = true;
  readonly #answer: Answer;
  readonly #model: Model<Api>;

  constructor(answer: Answer, model = MODEL) {
    this.#answer = answer;
    this.#model = model;
  }

  find(provider: string, model: string): Model<Api> | undefined {
    return provider === this.#model.provider && model === this.#model.id ? this.#model : undefined;
  }

  hasConfiguredAuth(): boolean {
    return this.hasKey;
  }

  streamSimple(...asked: Parameters<Registry["streamSimple"]>): ReturnType<Registry["streamSimple"]> {
    this.asked.push(asked);
    const answer = this.#answer;
    if (answer instanceof Error) throw answer;
    const stream = {
      result: async () => answer,
      async *[Symbol.asyncIterator]() {
        yield { type: "text_delta", delta: "CLE" };
        yield { type: "thinking_delta", delta: "hm" };
        yield { type: "text_delta", delta: "AN" };
      },
    };
    return stream as unknown as ReturnType<Registry["streamSimple"]>;
  }
}

function call(registry: Registry, fields: Partial<Call> = {}, request: Partial<CompletionRequest> = {}): Call {
  return {
    registry,
    own: MODEL,
    wanted: null,
    request: { ...REQUEST, ...request },
    signal: new AbortController().signal,
    timers: new FakeClock(),
    progress: () => {},
    ...fields,
  };
}

async function failure(answer: Call): Promise<LlmError> {
  return complete(answer).then(
    () => assert.fail("there was an answer"),
    (error: unknown) => (error instanceof CallFailed ? error.reason : assert.fail(String(error))),
  );
}

test("a question reaches the model as it was asked, and its answer comes back with its parts", async () => {
  const content: AssistantMessage["content"] = [
    { type: "thinking", thinking: "Hm." },
    { type: "text", text: "CLE" },
    { type: "text", text: "AN 😀" },
  ];
  const registry = new FakeRegistry({ ...said(""), content });
  const answer = await complete(call(registry));
  check("llm/complete", "result", answer);
  assert.deepEqual(answer, {
    text: "CLEAN 😀",
    stop_reason: "stop",
    usage: { input: 10, output: 3, cache_read: 0, cache_write: 0, total: 13 },
    model: { provider: "fake", model: "judge-1" },
    parts: [
      ["thinking", 3],
      ["text", 3],
      ["text", 4],
    ],
  });
  const [model, context, options] = registry.asked[0] ?? assert.fail();
  assert.equal(model, MODEL);
  assert.equal(context.systemPrompt, "Judge.");
  assert.deepEqual(
    context.messages.map(({ role }) => role),
    ["user", "assistant", "user"],
  );
  assert.deepEqual([options.maxTokens, options.sessionId, options.reasoning], [100, "guard", undefined]);
});

test("effort becomes the nearest level that the model has", async () => {
  const level = async (model: Partial<Model<Api>>, effort: CompletionRequest["effort"]) => {
    const made = { ...MODEL, ...model } as Model<Api>;
    const registry = new FakeRegistry(said("x"), made);
    await complete(call(registry, { own: made }, { effort }));
    return registry.asked[0]?.[2].reasoning;
  };
  assert.equal(await level({}, "high"), undefined);
  assert.equal(await level({ reasoning: true }, "lowest"), undefined);
  assert.equal(await level({ reasoning: true, thinkingLevelMap: { off: null } }, "lowest"), "minimal");
  assert.equal(await level({ reasoning: true }, "medium"), "medium");
});

test("a streamed answer is told as it comes", async () => {
  const told: string[] = [];
  await complete(call(new FakeRegistry(said("CLEAN")), { progress: (text) => told.push(text) }, { streamed: true }));
  assert.deepEqual(told, ["CLE", "AN"]);
});

test("a model that pi does not have, or has no key for, is not asked", async () => {
  const registry = new FakeRegistry(said("x"));
  assert.deepEqual(await failure(call(registry, { wanted: { provider: "a", model: "b" } })), { unknown_model: "a/b" });
  assert.deepEqual(await failure(call(registry, { own: undefined })), { unknown_model: "the session has no model" });
  registry.hasKey = false;
  assert.deepEqual(Object.keys(await failure(call(registry))), ["authentication"]);
  assert.deepEqual(registry.asked, []);
});

test("what a provider said becomes what a plugin can do something about", async () => {
  const said_ = async (errorMessage: string) =>
    failure(call(new FakeRegistry({ ...said(""), stopReason: "error", errorMessage })));
  assert.deepEqual(await said_("401 invalid x-api-key"), { authentication: "401 invalid x-api-key" });
  assert.deepEqual(await said_("429 Too Many Requests, retry after 20 s"), { rate_limited: 20 });
  assert.deepEqual(await said_("Rate limit reached"), { rate_limited: null });
  assert.equal(await said_("Request timed out."), "timed_out");
  assert.deepEqual(await said_("503 overloaded"), { provider: "503 overloaded" });
  assert.deepEqual(await failure(call(new FakeRegistry(new Error("no such api")))), { provider: "no such api" });
});

test("a model that does not answer in time is given up, even if it does not listen", async () => {
  const timers = new FakeClock();
  const waiting = failure(call(new FakeRegistry(new Promise(() => {})), { timers }));
  await timers.pass(1000);
  assert.equal(await waiting, "timed_out");
});

test("a call that nobody wants any more is cancelled, and its model told so", async () => {
  const stop = new AbortController();
  const registry = new FakeRegistry(new Promise(() => {}));
  const waiting = failure(call(registry, { signal: stop.signal }));
  stop.abort();
  assert.equal(await waiting, "cancelled");
  assert.equal(registry.asked[0]?.[2].signal.aborted, true);
});
