/** What the sidecar is told of a session. */

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { BOUNDARY, FakePi, startedPi } from "../fakes/pi.ts";
import { result, said, user } from "../fakes/session.ts";
import { count } from "../fakes/sidecar.ts";

test("a session is opened with its branch, and closed at its end", async () => {
  const pi = await startedPi(({ session }) => session.say(user("hi")));
  const { last } = pi.sidecars;
  const [initialize] = last.told("initialize");
  assert.deepEqual(initialize?.["capabilities"], {
    dialogs: true,
    gate: "hold",
    models: [
      { id: { provider: "fake", model: "fake-1" }, context_window: 1000, max_output_tokens: 100, reasons: false },
    ],
  });
  const [open] = last.told("session/open");
  assert.deepEqual(
    { ...open, entries: count(open) },
    {
      session: "s1",
      cwd: "/project",
      mode: "rpc",
      model: { provider: "fake", model: "fake-1" },
      reason: "resume",
      entries: 1,
      circumstances: { idle: true, input_pending: false, model: { provider: "fake", model: "fake-1" }, mode: "rpc" },
    },
  );
  await pi.happen("session_shutdown", { reason: "quit" });
  assert.deepEqual(last.methods().slice(2), ["session/close", "shutdown", "exit"]);
  assert.equal(last.ended, true);
  assert.equal(pi.sidecars.all.length, 1);
});

test("a branch that is too long for one line is told in several, when it is opened and when it is told anew", async () => {
  const long = "é".repeat(9 * 1024 * 1024);
  const pi = await startedPi(({ session }) => {
    for (let number = 0; number < 3; number++) session.say(user(long));
  });
  const { last } = pi.sidecars;
  assert.deepEqual(last.methods(), ["initialize", "session/entries", "session/entries", "session/open"]);
  const ids = (method: string): string[] =>
    last.told(method).flatMap((params) => (params["entries"] as { id: string }[]).map(({ id }) => id));
  assert.deepEqual([ids("session/entries"), ids("session/open")], [["e1", "e2"], ["e3"]]);

  // What the sidecar does not accept is told anew as a whole.
  pi.sidecars.answer("session/append", () => ({ error: { code: -32602, message: "no" } }));
  pi.session.say(user("more"));
  await pi.happen("session_tree", {});
  await pi.happen("session_tree", {});
  assert.deepEqual(last.methods().slice(-3), ["session/entries", "session/entries", "session/branch"]);
  assert.deepEqual(ids("session/branch"), ["e3", "e4"]);
});

test("a fork names the session that it was copied from", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chaperone-pi-"));
  try {
    const parent = join(folder, "parent.jsonl");
    await writeFile(
      parent,
      '{"type":"session","version":3,"id":"parent","timestamp":"2026-01-01T00:00:00.000Z"}\n{"type":"message"}\n',
    );
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
  await pi.happen("input", {
    text: "Fix it.",
    source: "rpc",
    images: [{ type: "image", data: "A", mimeType: "image/png" }],
  });
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
  await pi.happen("turn_end", {
    turnIndex: 0,
    message: call,
    toolResults: [result("c1", "ok")],
    context: "never sent",
  });
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
    message_end: {
      message: { id: "e1", timestamp: Date.parse("2026-01-01T00:00:01.000Z"), body: { user: [{ text: "Fix it." }] } },
    },
  });
  assert.deepEqual(events[6], { tool_start: { call: { id: "c1", name: "bash", arguments: '{"command":"make"}' } } });
  assert.deepEqual(events[7], {
    tool_end: {
      outcome: { call_id: "c1", tool_name: "bash", content: [{ text: "ok" }], is_error: false, details: '{"n":1}' },
    },
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
  assert.deepEqual(pi.entries, [
    ["chaperone-notice", { plugin: "guard", custom_type: "verdict", title: [span], details: [] }],
  ]);
  assert.deepEqual(last.told("session/append"), []);
});
