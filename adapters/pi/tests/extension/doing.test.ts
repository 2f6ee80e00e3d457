/** What plugins have done to pi. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { startedPi } from "../fakes/pi.ts";
import { said, user } from "../fakes/session.ts";
import { PLUGIN, steer } from "../fakes/sidecar.ts";

test("effects of a hook reach pi before pi goes on", async () => {
  const pi = await startedPi();
  pi.idle = false;
  const { last } = pi.sidecars;
  pi.sidecars.answer("session/event", () => {
    last.effect(steer("Run the tests."));
    return { result: { reply: null } };
  });
  const ending = pi.emit("turn_end", { turnIndex: 0, message: said("done"), toolResults: [] });
  await ending;
  assert.deepEqual(pi.sent, [
    [{ customType: "steer", content: "Run the tests.", display: true, details: undefined }, { deliverAs: "steer" }],
  ]);
});

test("status, widget and messages are shown, and taken away at the end", async () => {
  const pi = await startedPi();
  const { last } = pi.sidecars;
  last.effect({ set_status: { text: [{ text: "guard:on", tone: "muted" }] } });
  last.effect({ set_widget: { lines: [[{ text: "a", tone: "normal" }]] } });
  last.effect({ notify: { text: "Careful.", tone: "warning" } });
  last.effect({ notify: { text: "Elsewhere.", tone: "warning" } }, "another session");
  await pi.happen("session_shutdown", { reason: "reload" });
  assert.deepEqual(pi.statuses, [
    ["chaperone:guard", "guard:on"],
    ["chaperone:guard", undefined],
  ]);
  assert.deepEqual(pi.widgets, [
    ["chaperone:guard", ["a"]],
    ["chaperone:guard", undefined],
  ]);
  assert.deepEqual(pi.notified, ["warning: Careful."]);
});

test("a tool call is refused with the plugin's reason, or held until it is released", async () => {
  const pi = await startedPi();
  const call = { toolCallId: "c1", toolName: "bash", input: { command: "rm" } };
  pi.sidecars.answer("session/event", () => ({ result: { reply: { gate: { refuse: "not that" } } } }));
  assert.deepEqual(await pi.happen("tool_call", call), { block: true, reason: "not that" });
  pi.sidecars.answer("session/event", () => ({ result: { reply: { gate: "hold" } } }));
  const held = pi.emit("tool_call", call);
  await pi.clock.pass(59_000);
  pi.sidecars.last.effect({ release: { call_id: "c1", refusal: null } });
  assert.equal(await held, undefined);
  const forgotten = pi.emit("tool_call", call);
  await pi.clock.pass(60_000);
  assert.equal(await forgotten, undefined);
});

test("messages that plugins leave out are not in the request", async () => {
  const pi = await startedPi();
  const messages = [user("one", 1), user("two", 2)];
  for (const message of messages) pi.session.say(message);
  assert.equal(await pi.happen("context", { messages }), undefined);
  pi.sidecars.answer("session/event", () => ({ result: { reply: { leave_out: [0] } } }));
  assert.deepEqual(await pi.happen("context", { messages }), { messages: [messages[1]] });
  const contexts = pi.sidecars.last
    .told("session/event")
    .filter(({ event }) => JSON.stringify(event).startsWith('{"context"'));
  assert.deepEqual(contexts[0]?.["event"], {
    context: { messages: [1, 2].map((n) => ({ entry: `e${n}`, kind: "user", details: null })) },
  });
});

test("hooks that run often are run only for plugins that asked for them", async () => {
  const pi = await startedPi((fake) => {
    const deaf = { ...PLUGIN, description: { ...PLUGIN.description, hooks: [] } };
    fake.sidecars.answer("session/open", () => ({ result: { plugins: [deaf] } }));
  });
  await pi.happen("context", { messages: [] });
  await pi.happen("message_update", { message: said("x") });
  assert.deepEqual(pi.sidecars.last.methods().slice(2), []);
});

test("commands run, complete, and say when nobody has them any more", async () => {
  const pi = await startedPi();
  const command = pi.commands.get("config:guard");
  pi.sidecars.answer("session/complete_command", () => ({
    result: { completions: [{ value: "on", label: "on", description: "Switches on" }] },
  }));
  assert.deepEqual(await command?.getArgumentCompletions?.("o"), [
    { value: "on", label: "on", description: "Switches on" },
  ]);
  await command?.handler("on", {});
  assert.deepEqual(pi.sidecars.last.told("session/command"), [
    { session: "s1", name: "config:guard", arguments: "on" },
  ]);
  pi.sidecars.answer("session/command", () => ({ result: { known: false } }));
  await command?.handler("on", {});
  assert.deepEqual(pi.notified, ["warning: No watcher has the command /config:guard any more."]);
});

test("tools of plugins answer the agent, and leave when their plugin does", async () => {
  const pi = await startedPi();
  const tool = pi.tools.get("ask_guard");
  pi.sidecars.answer("session/tool", () => ({ result: { outcome: { ok: { content: "yes", details: '{"a":1}' } } } }));
  assert.deepEqual(await tool?.execute("c1", { q: 1 }), {
    content: [{ type: "text", text: "yes" }],
    details: { a: 1 },
  });
  assert.deepEqual(pi.sidecars.last.told("session/tool"), [{ session: "s1", name: "ask_guard", arguments: '{"q":1}' }]);
  pi.sidecars.answer("session/tool", () => ({ result: { outcome: { err: "no such question" } } }));
  await assert.rejects(async () => tool?.execute("c2", {}), { message: "no such question" });
  pi.sidecars.last.say({ method: "session/plugins", params: { session: "s1", plugins: [] } });
  assert.deepEqual(pi.activeTools, ["bash"]);
});

test("a plugin's tool never takes the place of another one", async () => {
  const pi = await startedPi((fake) => {
    const tools = [
      { ...PLUGIN.description.tools[0], name: "bash" },
      { ...PLUGIN.description.tools[0], name: "odd", parameters: "[]" },
    ];
    const plugin = { ...PLUGIN, description: { ...PLUGIN.description, tools } };
    fake.sidecars.answer("session/open", () => ({ result: { plugins: [plugin] } }));
  });
  assert.equal(pi.tools.size, 0);
  assert.equal(pi.notified.length, 2);
});

test("dialogs wait for each other, and nobody to ask is an answer", async () => {
  const pi = await startedPi();
  const { last } = pi.sidecars;
  pi.answers.push(true, "x");
  last.effect({ ask: { id: 1, prompt: { confirm: ["One?", ""] } } });
  last.effect({ ask: { id: 2, prompt: { input: ["Two?", ""] } } });
  await pi.clock.settle();
  pi.mode = "print";
  last.effect({ ask: { id: 3, prompt: { confirm: ["Three?", ""] } } });
  await pi.clock.settle();
  assert.deepEqual(
    last.told("session/answer").map(({ id, answer }) => [id, answer]),
    [
      [1, { confirmed: true }],
      [2, { entered: "x" }],
      [3, "unavailable"],
    ],
  );
});

test("judges are lent pi's models", async () => {
  const pi = await startedPi();
  const { last } = pi.sidecars;
  pi.streamSimple = () => ({ result: async () => said("CLEAN"), [Symbol.asyncIterator]: async function* () {} });
  const request = {
    label: "guard",
    model: null,
    system: null,
    messages: [{ role: "user", text: "Is it?" }],
    max_output_tokens: null,
    effort: "lowest",
    response_schema: null,
    timeout_ms: null,
    streamed: false,
    cache_key: null,
  };
  last.say({ id: 1, method: "llm/complete", params: { session: "s1", plugin: "guard", model: null, request } });
  last.say({
    id: 2,
    method: "llm/complete",
    params: { session: "s1", plugin: "guard", model: { provider: "x", model: "y" }, request },
  });
  last.say({ id: 3, method: "fs/delete", params: {} });
  await pi.clock.settle();
  const answers = last.heard.filter(({ method }) => method === undefined);
  assert.deepEqual(answers.find(({ id }) => id === 1)?.["result"], {
    text: "CLEAN",
    stop_reason: "stop",
    usage: { input: 10, output: 3, cache_read: 0, cache_write: 0, total: 13 },
    model: { provider: "fake", model: "fake-1" },
    parts: [["text", 5]],
  });
  const error = answers.find(({ id }) => id === 2)?.["error"] as { code: number; data: unknown };
  assert.deepEqual([error.code, error.data], [-32000, { unknown_model: "x/y" }]);
  const unknown = answers.find(({ id }) => id === 3)?.["error"] as { code: number };
  assert.equal(unknown.code, -32601);
});

test("an effect that cannot be carried out does not keep the next one from being", async () => {
  const pi = await startedPi();
  const { last } = pi.sidecars;
  pi.fails = true;
  last.effect({ set_status: { text: null } });
  pi.fails = false;
  last.effect({ notify: { text: "Here.", tone: "normal" } });
  assert.deepEqual(pi.notified, ["warning: What guard wanted cannot be done: no status", "info: Here."]);
});
