import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { FakePi, startedPi } from "./fakes/pi.ts";
import { result, said, user } from "./fakes/session.ts";
import { PLUGIN } from "./fakes/sidecar.ts";

const steer = (content: string, fields: Record<string, unknown> = {}) => ({
  inject: { custom_type: "steer", content, display: true, details: null, delivery: "steer", trigger_turn: true, ...fields },
});

/** What pi says of a run that is about to end, as far as it is looked at. */
const BOUNDARY = { continue: false, context: { pendingMessages: [] } };

test("a session is opened with its branch, and closed at its end", async () => {
  const pi = await startedPi(({ session }) => session.say(user("hi")));
  const { last } = pi.sidecars;
  const [initialize] = last.told("initialize");
  assert.deepEqual(initialize?.["capabilities"], {
    dialogs: true,
    gate: "hold",
    models: [{ id: { provider: "fake", model: "fake-1" }, context_window: 1000, max_output_tokens: 100, reasons: false }],
  });
  const [open] = last.told("session/open");
  assert.deepEqual({ ...open, entries: (open?.["entries"] as unknown[]).length }, {
    session: "s1",
    cwd: "/work",
    mode: "rpc",
    model: { provider: "fake", model: "fake-1" },
    reason: "resume",
    entries: 1,
    circumstances: { idle: true, input_pending: false, model: { provider: "fake", model: "fake-1" }, mode: "rpc" },
  });
  await pi.happen("session_shutdown", { reason: "quit" });
  assert.deepEqual(last.methods().slice(2), ["session/close", "shutdown", "exit"]);
  assert.equal(last.ended, true);
  assert.equal(pi.sidecars.all.length, 1);
});

test("a fork names the session that it was copied from", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chaperone-pi-"));
  try {
    const parent = join(folder, "parent.jsonl");
    await writeFile(parent, '{"type":"session","version":3,"id":"parent","timestamp":"2026-01-01T00:00:00.000Z"}\n{"type":"message"}\n');
    const pi = new FakePi();
    pi.session.parentSession = parent;
    pi.session.clock = -5;
    pi.session.say(user("hi"));
    await pi.happen("session_start", { reason: "fork" });
    const [open] = pi.sidecars.last.told("session/open");
    assert.deepEqual([open?.["reason"], open?.["forked_from"]], ["fork", { session: "parent", entry: "e1" }]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("one turn of pi becomes the hooks of one turn", async () => {
  const pi = await startedPi();
  const { last } = pi.sidecars;
  await pi.happen("input", { text: "Fix it.", source: "rpc", images: [{ type: "image", data: "A", mimeType: "image/png" }] });
  pi.idle = false;
  await pi.happen("agent_start");
  await pi.happen("turn_start", { turnIndex: 0, timestamp: 1 });
  await pi.finish(user("Fix it."));
  const call = said("On it.", "c1");
  await pi.happen("message_update", { message: call, assistantMessageEvent: {} });
  await pi.finish(call);
  await pi.happen("tool_call", { toolCallId: "c1", toolName: "bash", input: { command: "make" } });
  const outcome = { content: [{ type: "text", text: "ok" }], details: { n: 1 } };
  await pi.happen("tool_execution_end", { toolCallId: "c1", toolName: "bash", result: outcome, isError: false });
  await pi.finish(result("c1", "ok"));
  await pi.happen("turn_end", { turnIndex: 0, message: call, toolResults: [result("c1", "ok")], context: "never sent" });
  await pi.happen("agent_end", { messages: [] });
  await pi.happen("agent_before_settle", BOUNDARY);
  pi.idle = true;
  await pi.happen("agent_settled", { aborted: false });
  assert.deepEqual(last.methods().slice(2), [
    "input",
    "agent_start",
    "turn_start",
    "session/append",
    "message_end",
    "message_update",
    "session/append",
    "message_end",
    "tool_start",
    "tool_end",
    "session/append",
    "message_end",
    "turn_end",
    "agent_end",
    "session/quiet",
    "agent_settled",
    "session/quiet",
  ]);
  const events = last.told("session/event").map(({ event }) => event);
  assert.deepEqual(events[0], { input: { content: [{ text: "Fix it." }, { image: "image/png" }] } });
  assert.deepEqual(events[3], {
    message_end: { message: { id: "e1", timestamp: Date.parse("2026-01-01T00:00:01.000Z"), body: { user: [{ text: "Fix it." }] } } },
  });
  assert.deepEqual(events[6], { tool_start: { call: { id: "c1", name: "bash", arguments: '{"command":"make"}' } } });
  assert.deepEqual(events[7], {
    tool_end: { outcome: { call_id: "c1", tool_name: "bash", content: [{ text: "ok" }], is_error: false, details: '{"n":1}' } },
  });
  assert.deepEqual(events.at(-1), { agent_settled: { reason: "finished" } });
  assert.deepEqual(last.told("session/event")[1]?.["circumstances"], {
    idle: false,
    input_pending: false,
    model: { provider: "fake", model: "fake-1" },
    mode: "rpc",
  });
  assert.ok(!JSON.stringify(last.heard).includes("never sent"));
});

test("a message is told of when it is stored, even if nothing else happens", async () => {
  const pi = await startedPi();
  const ending = pi.emit("message_end", { message: user("hi") });
  await ending;
  assert.deepEqual(pi.sidecars.last.told("session/append"), []);
  pi.session.say(user("hi"));
  await pi.clock.settle();
  assert.equal(pi.sidecars.last.told("session/append").length, 1);
});

test("what an extension puts into the session is told, but only what it says is a message", async () => {
  const pi = await startedPi();
  const note = { type: "custom_message" as const, customType: "note", content: "x", display: true };
  pi.session.append(note);
  await pi.emit("message_end", { message: { role: "custom", ...note, timestamp: 1 } });
  pi.session.append(note);
  await pi.clock.settle();
  // Both are in the session by then; pi announced one of them.
  assert.deepEqual(pi.sidecars.last.methods().slice(2), ["session/append", "message_end", "session/append"]);
});

test("another extension's words are not the user's input", async () => {
  const pi = await startedPi();
  await pi.happen("input", { text: "go on", source: "extension" });
  assert.deepEqual(pi.sidecars.last.methods().slice(2), []);
});

test("going to another entry changes the branch, and a notice does not", async () => {
  const pi = await startedPi(({ session }) => {
    session.say(user("one"));
    session.say(said("two"));
  });
  const { last } = pi.sidecars;
  pi.session.goTo("e1");
  await pi.happen("session_tree", { newLeafId: "e1", oldLeafId: "e2" });
  assert.deepEqual(last.told("session/branch"), [{ session: "s1", leaf: "e1" }]);
  const span = { text: "seen", tone: "normal" };
  last.effect({ show: { custom_type: "verdict", title: [span], details: [], data: null } });
  await pi.happen("turn_start", { turnIndex: 0 });
  assert.deepEqual(pi.entries, [["chaperone-notice", { plugin: "guard", custom_type: "verdict", title: [span], details: [] }]]);
  assert.deepEqual(last.told("session/append"), []);
});

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
  const contexts = pi.sidecars.last.told("session/event").filter(({ event }) => JSON.stringify(event).startsWith('{"context"'));
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
  assert.deepEqual(await command?.getArgumentCompletions?.("o"), [{ value: "on", label: "on", description: "Switches on" }]);
  await command?.handler("on", {});
  assert.deepEqual(pi.sidecars.last.told("session/command"), [{ session: "s1", name: "config:guard", arguments: "on" }]);
  pi.sidecars.answer("session/command", () => ({ result: { known: false } }));
  await command?.handler("on", {});
  assert.deepEqual(pi.notified, ["warning: No watcher has the command /config:guard any more."]);
});

test("tools of plugins answer the agent, and leave when their plugin does", async () => {
  const pi = await startedPi();
  const tool = pi.tools.get("ask_guard");
  pi.sidecars.answer("session/tool", () => ({ result: { outcome: { ok: { content: "yes", details: '{"a":1}' } } } }));
  assert.deepEqual(await tool?.execute("c1", { q: 1 }), { content: [{ type: "text", text: "yes" }], details: { a: 1 } });
  assert.deepEqual(pi.sidecars.last.told("session/tool"), [{ session: "s1", name: "ask_guard", arguments: '{"q":1}' }]);
  pi.sidecars.answer("session/tool", () => ({ result: { outcome: { err: "no such question" } } }));
  await assert.rejects(async () => tool?.execute("c2", {}), { message: "no such question" });
  pi.sidecars.last.say({ method: "session/plugins", params: { session: "s1", plugins: [] } });
  assert.deepEqual(pi.activeTools, ["bash"]);
});

test("a plugin's tool never takes the place of another one", async () => {
  const pi = await startedPi((fake) => {
    const tools = [{ ...PLUGIN.description.tools[0], name: "bash" }, { ...PLUGIN.description.tools[0], name: "odd", parameters: "[]" }];
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

/** Has the judges be at work until they are told to be done. */
function busyJudges(pi: FakePi): () => void {
  pi.sidecars.answer("session/quiet", () => "silence");
  return () => pi.sidecars.last.say({ id: pi.sidecars.last.heard.findLast(({ method }) => method === "session/quiet")?.["id"], result: {} });
}

test("a program is kept waiting for the judges of the run, and what they say makes the agent go on", async () => {
  const pi = await startedPi();
  pi.idle = false;
  const done = busyJudges(pi);
  let over = false;
  const settling = pi.emit("agent_before_settle", BOUNDARY).then(() => (over = true));
  await pi.clock.settle();
  assert.equal(over, false);
  pi.sidecars.last.effect(steer("Not yet."));
  done();
  await settling;
  assert.deepEqual(pi.sent.map(([message, options]) => [message.content, options]), [["Not yet.", { deliverAs: "steer" }]]);
  assert.ok(!pi.sidecars.last.methods().includes("agent_settled"));
});

test("plugins hear that the agent is at rest while a program is still waiting, and only the last of them starts it", async () => {
  const pi = await startedPi();
  pi.idle = false;
  pi.sidecars.answer("session/event", (params) => {
    if (JSON.stringify(params["event"]) !== '{"agent_settled":{"reason":"finished"}}') return { result: { reply: null } };
    pi.sidecars.last.effect(steer("Not yet."));
    pi.sidecars.last.effect(steer("By the way.", { trigger_turn: false }));
    return { result: { reply: null } };
  });
  await pi.happen("agent_before_settle", BOUNDARY);
  assert.deepEqual(pi.sent.map(([message, options]) => [message.content, options]), [
    ["By the way.", { deliverAs: "steer", triggerTurn: false }],
    ["Not yet.", { deliverAs: "steer", triggerTurn: true }],
  ]);
  await pi.happen("agent_start");
  pi.sidecars.last.effect(steer("On your way."));
  await pi.clock.settle();
  assert.deepEqual(pi.sent[2]?.[1], { deliverAs: "steer" });
});

test("an agent that others keep at work is not at rest", async () => {
  const pi = await startedPi();
  await pi.happen("agent_before_settle", { ...BOUNDARY, continue: true });
  await pi.happen("agent_before_settle", { ...BOUNDARY, context: { pendingMessages: [user("and this")] } });
  assert.deepEqual(pi.sidecars.last.methods().slice(2), ["session/quiet", "session/quiet"]);
});

test("a person at a terminal is not kept waiting", async () => {
  const pi = await startedPi((fake) => (fake.mode = "tui"));
  busyJudges(pi);
  await pi.emit("agent_before_settle", BOUNDARY);
  await pi.emit("agent_settled", { aborted: false });
  assert.deepEqual(pi.sidecars.last.methods().slice(2), ["agent_settled"]);
  pi.sidecars.last.effect(steer("Not yet."));
  await pi.clock.settle();
  assert.deepEqual(pi.sent[0]?.[1], { deliverAs: "steer", triggerTurn: true });
});

test("a judge that takes too long is not waited for", async () => {
  const pi = await startedPi((fake) => (fake.settings = { chaperone: { settleSeconds: 10 } }));
  busyJudges(pi);
  const settling = pi.emit("agent_before_settle", { ...BOUNDARY, continue: true });
  await pi.clock.pass(10_000);
  await settling;
  assert.deepEqual(pi.notified, ["warning: Watchers were still at work after 10 s, so pi goes on without them."]);
  assert.equal(pi.sidecars.last.told("$/cancel_request").length, 1);
});

test("after a plugin's own stop its message starts the agent again, and the agent has not come to rest", async () => {
  const pi = await startedPi();
  pi.idle = false;
  pi.sidecars.last.effect("abort");
  pi.sidecars.last.effect(steer("You are looping."));
  await pi.clock.settle();
  assert.deepEqual([pi.aborts, pi.sent.length], [1, 0]);
  pi.idle = true;
  await pi.happen("agent_settled", { aborted: true });
  assert.deepEqual(pi.sent[0]?.[1], { deliverAs: "steer", triggerTurn: true });
  assert.ok(!pi.sidecars.last.methods().includes("agent_settled"));
});

test("the user's interrupt is told as one, also when it comes while judges are waited for", async () => {
  const pi = await startedPi();
  await pi.happen("agent_settled", { aborted: true });
  await pi.happen("agent_before_settle", BOUNDARY);
  await pi.happen("agent_settled", { aborted: true });
  const events = pi.sidecars.last.told("session/event").map(({ event }) => event);
  assert.deepEqual(events, ["interrupted", "finished", "interrupted"].map((reason) => ({ agent_settled: { reason } })));
});

test("a sidecar that dies is started again with the session as it is, and the user hears of it once", async () => {
  const pi = await startedPi(({ session }) => session.say(user("one")));
  pi.sidecars.last.die("was killed by SIGKILL", "thread panicked");
  pi.session.say(said("two"));
  await pi.clock.pass(100);
  assert.equal(pi.sidecars.all.length, 2);
  const [open] = pi.sidecars.last.told("session/open");
  assert.deepEqual([open?.["reason"], (open?.["entries"] as unknown[]).length], ["reload", 2]);
  pi.sidecars.last.die("was killed by SIGKILL");
  await pi.clock.pass(500);
  assert.equal(pi.sidecars.all.length, 3);
  assert.deepEqual(pi.notified, [
    "warning: Chaperone's sidecar was killed by SIGKILL. It is started again. Its last words: thread panicked",
  ]);
});

test("a hook that finds the sidecar dead waits for the next one", async () => {
  const pi = await startedPi();
  pi.sidecars.last.die("was killed by SIGKILL");
  const hook = pi.emit("agent_end", { messages: [] });
  await pi.clock.pass(100);
  await hook;
  assert.ok(pi.sidecars.last.methods().includes("agent_end"));
});

test("a sidecar that keeps dying is given up, and pi is not kept waiting", async () => {
  const pi = await startedPi();
  for (let death = 0; death < 6; death++) {
    pi.sidecars.last.die("ended with status 101");
    await pi.clock.pass(10_000);
  }
  assert.equal(pi.sidecars.all.length, 6);
  assert.match(pi.notified.at(-1) ?? "", /^error: .*no watcher runs until \/reload/u);
  await pi.emit("agent_end", { messages: [] });
  assert.equal(await pi.emit("tool_call", { toolCallId: "c", toolName: "bash", input: {} }), undefined);
});

test("a call that was held runs when the sidecar dies", async () => {
  const pi = await startedPi();
  pi.sidecars.answer("session/event", () => ({ result: { reply: { gate: "hold" } } }));
  const held = pi.emit("tool_call", { toolCallId: "c1", toolName: "bash", input: {} });
  await pi.clock.settle();
  pi.sidecars.last.die("was killed by SIGKILL");
  assert.equal(await held, undefined);
});

test("a hook that is late is not waited for, and a sidecar that always is gets replaced", async () => {
  const pi = await startedPi();
  pi.sidecars.answer("session/event", () => "silence");
  for (let hook = 0; hook < 3; hook++) {
    const late = pi.emit("agent_end", { messages: [] });
    await pi.clock.pass(5000);
    await late;
  }
  pi.sidecars.answers.clear();
  await pi.clock.pass(100);
  assert.equal(pi.sidecars.all.length, 2);
  assert.match(pi.notified[0] ?? "", /does not answer any more/u);
});

test("a start that takes long does not keep pi", async () => {
  const pi = new FakePi();
  pi.sidecars.answer("session/open", () => "silence");
  const starting = pi.emit("session_start", { reason: "startup" });
  await pi.clock.pass(20_000);
  await starting;
  await pi.emit("agent_start");
  const { last } = pi.sidecars;
  const open = last.heard.find(({ method }) => method === "session/open");
  last.say({ id: open?.["id"], result: { plugins: [PLUGIN] } });
  await pi.clock.settle();
  await pi.happen("agent_end", { messages: [] });
  assert.deepEqual(last.methods().slice(2), ["agent_end"]);
});

test("lines that are no messages are reported once, and nothing breaks", async () => {
  const pi = await startedPi();
  for (const line of ["oops", '{"method":"session/effect","params":{"session":"s1"}}', "[1]", "oops"]) pi.sidecars.last.line(line);
  pi.sidecars.last.effect({ some_day: {} });
  await pi.happen("agent_end", { messages: [] });
  assert.equal(pi.notified.length, 2);
  assert.ok(pi.sidecars.last.methods().includes("agent_end"));
});

test("a watcher in trouble is spoken of once", async () => {
  const pi = await startedPi();
  const note = (said: unknown) => pi.sidecars.last.say({ method: "session/note", params: { session: "s1", plugin: "guard", note: said } });
  note({ failed: { hook: "turn_end", reason: "trapped" } });
  note({ failed: { hook: "turn_end", reason: "trapped elsewhere" } });
  note({ answered: { label: "guard", usage: null, ok: true } });
  note({ denied: { effect: "inject" } });
  note({ quarantined: { failures: 5 } });
  assert.deepEqual(pi.notified, [
    "warning: The watcher guard failed at turn_end: trapped",
    "warning: The watcher guard may not inject; its grants in chaperone.toml say what it may.",
    "warning: The watcher guard is set aside: 5 of its hooks failed in a row. /reload brings it back.",
  ]);
});

test("without the program pi works as ever, and says what to do", async () => {
  const pi = await startedPi((fake) => (fake.runnable = false));
  await pi.happen("agent_start");
  assert.deepEqual(await pi.happen("tool_call", { toolCallId: "c", toolName: "bash", input: {} }), undefined);
  await pi.happen("session_shutdown", { reason: "quit" });
  assert.deepEqual(pi.sidecars.all, []);
  assert.match(pi.notified[0] ?? "", /CHAPERONE_BIN names \/bin\/chaperone, which is not a program/u);
});

test("a sidecar of another protocol is not used", async () => {
  const pi = new FakePi();
  pi.sidecars.answer("initialize", () => ({ result: { protocol_version: 2 } }));
  void pi.emit("session_start", { reason: "startup" });
  await pi.clock.pass(20_000);
  assert.match(pi.notified[0] ?? "", /speaks version 2 of the protocol/u);
  assert.equal(pi.sidecars.last.told("session/open").length, 0);
});

test("entries that the sidecar did not take are told anew with the whole branch", async () => {
  const pi = await startedPi();
  pi.sidecars.answer("session/append", () => ({ error: { code: -32602, message: "entries[0]: no id" } }));
  await pi.finish(user("one"));
  pi.sidecars.answers.clear();
  await pi.happen("agent_end", { messages: [] });
  const [branch] = pi.sidecars.last.told("session/branch");
  assert.deepEqual([branch?.["leaf"], (branch?.["entries"] as unknown[]).length], ["e1", 1]);
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
  last.say({ id: 2, method: "llm/complete", params: { session: "s1", plugin: "guard", model: { provider: "x", model: "y" }, request } });
  last.say({ id: 3, method: "fs/delete", params: {} });
  await pi.clock.settle();
  const answers = last.heard.filter(({ method }) => method === undefined);
  assert.deepEqual(
    answers.find(({ id }) => id === 1)?.["result"],
    {
      text: "CLEAN",
      stop_reason: "stop",
      usage: { input: 10, output: 3, cache_read: 0, cache_write: 0, total: 13 },
      model: { provider: "fake", model: "fake-1" },
      parts: [["text", 5]],
    },
  );
  const error = answers.find(({ id }) => id === 2)?.["error"] as { code: number; data: unknown };
  assert.deepEqual([error.code, error.data], [-32000, { unknown_model: "x/y" }]);
  assert.equal((answers.find(({ id }) => id === 3)?.["error"] as { code: number }).code, -32601);
});
