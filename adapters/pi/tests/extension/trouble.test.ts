/** What becomes of pi when the sidecar is in trouble. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { FakePi, startedPi } from "../fakes/pi.ts";
import { said, user } from "../fakes/session.ts";
import { count, PLUGIN } from "../fakes/sidecar.ts";

test("a sidecar that dies is started again with the session as it is, and the user hears of it once", async () => {
  const pi = await startedPi(({ session }) => session.say(user("one")));
  pi.sidecars.last.die("was killed by SIGKILL", "thread panicked");
  pi.session.say(said("two"));
  await pi.clock.pass(100);
  assert.equal(pi.sidecars.all.length, 2);
  const [open] = pi.sidecars.last.told("session/open");
  assert.deepEqual([open?.["reason"], count(open)], ["reload", 2]);
  pi.sidecars.last.die("was killed by SIGKILL");
  await pi.clock.pass(500);
  assert.equal(pi.sidecars.all.length, 3);
  assert.deepEqual(pi.notified, [
    "warning: Chaperone's sidecar was killed by SIGKILL. It is started again.\nIts last words: thread panicked",
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
  assert.match(pi.notified.at(-1) ?? "", /^error: .*\nNo watcher runs until \/reload/u);
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
  for (const line of ["oops", '{"method":"session/effect","params":{"session":"s1"}}', "[1]", "oops"])
    pi.sidecars.last.line(line);
  pi.sidecars.last.line(
    '{"method":"session/effect","params":{"session":"s1","plugin":"guard","effect":{"some_day":{}}}}',
  );
  await pi.happen("agent_end", { messages: [] });
  assert.equal(pi.notified.length, 2);
  assert.ok(pi.sidecars.last.methods().includes("agent_end"));
});

test("a watcher in trouble is spoken of once", async () => {
  const pi = await startedPi();
  const note = (said: unknown) =>
    pi.sidecars.last.say({ method: "session/note", params: { session: "s1", plugin: "guard", note: said } });
  note({ failed: { hook: "turn_end", reason: "trapped" } });
  note({ failed: { hook: "turn_end", reason: "trapped elsewhere" } });
  note({ answered: { label: "guard", usage: null, ok: true, took_ms: 3 } });
  note({ denied: { effect: "inject" } });
  note({ quarantined: { failures: 5 } });
  note({ ran_away: { hooks: 1000 } });
  assert.deepEqual(pi.notified, [
    "warning: The watcher guard failed at turn_end: trapped",
    "warning: The watcher guard may not inject; its grants in chaperone.toml say what it may.",
    "warning: The watcher guard is set aside: 5 of its hooks failed in a row. /reload brings it back.",
    "warning: The watcher guard is set aside: 1000 of its hooks followed from one event. /reload brings it back.",
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
  const pi = await startedPi((fake) => fake.sidecars.answer("initialize", () => ({ result: { protocol_version: 2 } })));
  assert.match(pi.notified[0] ?? "", /^error: .*speaks version 2 of the protocol.*\nNo watcher runs until \/reload/u);
  assert.equal(pi.sidecars.last.told("session/open").length, 0);
  assert.equal(pi.sidecars.last.ended, true);
});

test("a configuration with a fault is told, and not tried again", async () => {
  const message = "chaperone.toml:3: no such plugin";
  const pi = await startedPi((fake) =>
    fake.sidecars.answer("session/open", () => ({ error: { code: -32000, message } })),
  );
  await pi.clock.pass(60_000);
  assert.equal(pi.sidecars.all.length, 1);
  assert.deepEqual(pi.notified, [
    `error: Chaperone's sidecar cannot watch this session: ${message}\nNo watcher runs until /reload.`,
  ]);
  await pi.happen("agent_end", { messages: [] });
});

test("entries that the sidecar did not take are told anew with the whole branch", async () => {
  const pi = await startedPi();
  pi.sidecars.answer("session/append", () => ({ error: { code: -32602, message: "entries[0]: no id" } }));
  await pi.finish(user("one"));
  pi.sidecars.answers.clear();
  await pi.happen("agent_end", { messages: [] });
  const [branch] = pi.sidecars.last.told("session/branch");
  assert.deepEqual([branch?.["leaf"], count(branch)], ["e1", 1]);
});

test("a sidecar that dies while the session ends is not started again", async () => {
  const pi = await startedPi();
  pi.sidecars.answer("session/close", () => {
    pi.sidecars.last.die("ended with status 101");
    return "silence";
  });
  await pi.emit("session_shutdown", { reason: "quit" });
  await pi.clock.pass(60_000);
  assert.deepEqual([pi.sidecars.all.length, pi.notified], [1, []]);
});

test("a sidecar that does not end is killed, and pi is kept no longer than that takes", async () => {
  const pi = await startedPi();
  const { last } = pi.sidecars;
  last.isStubborn = true;
  pi.sidecars.answer("session/close", () => "silence");
  const ending = pi.emit("session_shutdown", { reason: "quit" });
  await pi.clock.pass(6000);
  await ending;
  assert.equal(last.ended, true);
});
