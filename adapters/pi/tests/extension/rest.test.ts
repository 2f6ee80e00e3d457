/** How the agent comes to rest, and is kept from it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { BOUNDARY, type FakePi, startedPi } from "../fakes/pi.ts";
import { user } from "../fakes/session.ts";
import { steer } from "../fakes/sidecar.ts";

/** Has the judges be at work until they are told to be done. */
function busyJudges(pi: FakePi): () => void {
  pi.sidecars.answer("session/quiet", () => "silence");
  return () =>
    pi.sidecars.last.say({
      id: pi.sidecars.last.heard.findLast(({ method }) => method === "session/quiet")?.["id"],
      result: {},
    });
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
  assert.deepEqual(
    pi.sent.map(([message, options]) => [message.content, options]),
    [["Not yet.", { deliverAs: "steer" }]],
  );
  assert.ok(!pi.sidecars.last.methods().includes("agent_settled"));
});

test("plugins hear that the agent is at rest while a program is still waiting, and only the last of them starts it", async () => {
  const pi = await startedPi();
  pi.idle = false;
  pi.sidecars.answer("session/event", (params) => {
    if (JSON.stringify(params["event"]) !== '{"agent_settled":{"reason":"finished"}}')
      return { result: { reply: null } };
    pi.sidecars.last.effect(steer("Not yet."));
    pi.sidecars.last.effect(steer("By the way.", { trigger_turn: false }));
    return { result: { reply: null } };
  });
  await pi.happen("agent_before_settle", BOUNDARY);
  assert.deepEqual(
    pi.sent.map(([message, options]) => [message.content, options]),
    [
      ["By the way.", { deliverAs: "steer", triggerTurn: false }],
      ["Not yet.", { deliverAs: "steer", triggerTurn: true }],
    ],
  );
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
  assert.deepEqual(
    events,
    ["interrupted", "finished", "interrupted"].map((reason) => ({ agent_settled: { reason } })),
  );
});

test("what a watcher says when the session ends reaches nobody, and breaks nothing", async () => {
  const pi = await startedPi();
  pi.sidecars.answer("session/close", () => {
    pi.sidecars.last.effect(steer("One more thing."));
    return { result: {} };
  });
  await pi.emit("session_shutdown", { reason: "new" });
  pi.isStale = true;
  await pi.clock.settle();
  assert.deepEqual(pi.sent, []);
});
