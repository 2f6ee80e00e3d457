/** What watchers remember: over the end of pi, in copies of a session, and over the death of the sidecar. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Sandbox } from "./sandbox.ts";
import { askedOnce, fairJudge, hastyAgent, last, models, strictJudge } from "./scenes.ts";

/** How `/monitors` shows a monitor that has steered once. */
const ENGAGED = /fragility.*\(1\/\d\)/u;
const IDLE = /fragility.*idle/u;

test("a session that is resumed has its state, and a new one has none", async (t) => {
  const sandbox = await Sandbox.make(t, models(hastyAgent, strictJudge));
  await sandbox.monitor("fragility", askedOnce);
  const first = await sandbox.rpc(t);
  await first.prompt("Mend the check.");
  assert.match(await first.command("/monitors"), ENGAGED);
  await first.stop();
  const second = await sandbox.rpc(t, "--continue");
  assert.match(await second.command("/monitors"), ENGAGED);
  await second.ask({ type: "new_session" });
  assert.match(await second.command("/monitors"), IDLE);
});

test("a fork has the state of the place where it was made", async (t) => {
  const sandbox = await Sandbox.make(t, models(hastyAgent, strictJudge));
  await sandbox.monitor("fragility", askedOnce);
  const pi = await sandbox.rpc(t);
  await pi.prompt("Mend the check.");
  await pi.prompt("And now?");
  const { messages } = await pi.ask({ type: "get_fork_messages" });
  const [first, second] = (messages as { entryId: string }[]).map(({ entryId }) => entryId);
  const before = (await pi.ask({ type: "get_state" }))["sessionFile"];
  const counted = /\(([12])\/\d\)/u.exec(await pi.command("/monitors"))?.[1];
  assert.equal(counted, "2");
  await pi.ask({ type: "fork", entryId: second });
  assert.match(await pi.command("/monitors"), ENGAGED);
  await pi.ask({ type: "switch_session", sessionPath: before });
  await pi.ask({ type: "fork", entryId: first });
  assert.match(await pi.command("/monitors"), IDLE);
  // The copy goes its own way; the original keeps what it had.
  await pi.ask({ type: "switch_session", sessionPath: before });
  assert.match(await pi.command("/monitors"), /\(2\/\d\)/u);
});

test("a sidecar that is killed in the middle of a run comes back with its state, and goes on watching", async (t) => {
  const sandbox = await Sandbox.make(t, models(hastyAgent, strictJudge));
  await sandbox.monitor("fragility", askedOnce);
  const pi = await sandbox.rpc(t);
  await pi.prompt("Mend the check.");
  const [killed] = await sandbox.sidecars();
  assert.ok(killed);
  const from = pi.records.length;
  await pi.ask({ type: "prompt", message: "Once more." });
  await pi.first(({ type }) => type === "tool_execution_start", from);
  process.kill(killed, "SIGKILL");
  await pi.first(({ type }) => type === "agent_settled", from);
  assert.match(pi.said(from), /was killed by SIGKILL\. It is started again/u);
  const [next, ...others] = await sandbox.sidecars();
  assert.deepEqual(others, []);
  assert.notEqual(next, killed);
  // The first steer was counted before the death, the second one after it.
  assert.match(await pi.command("/monitors"), /\(2\/\d\)/u);
  assert.equal(sandbox.model.sent("agent-1").filter((request) => last(request).startsWith("[fragility]")).length, 2);
});

test("no sidecar outlives pi", async (t) => {
  const sandbox = await Sandbox.make(t, models(hastyAgent, fairJudge));
  const pi = await sandbox.rpc(t);
  assert.equal((await sandbox.sidecars()).length, 1);
  await pi.ask({ type: "new_session" });
  assert.equal((await sandbox.sidecars()).length, 1);
  await pi.stop();
  assert.deepEqual(await sandbox.sidecars(), []);
});
