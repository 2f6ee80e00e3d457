/** Monitors beside the real pi: what the models are really sent. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Request } from "./fake-model.ts";
import { Sandbox } from "./sandbox.ts";
import { askedOnce, fairJudge, hastyAgent, last, models, strictJudge } from "./scenes.ts";

test("a monitor steers, and the agent goes on before it comes to rest", async (t) => {
  const sandbox = await Sandbox.make(t, models(hastyAgent, fairJudge));
  await sandbox.monitor("fragility");
  const pi = await sandbox.rpc(t);
  await pi.prompt("Mend the check.");
  const agent = sandbox.model.sent("agent-1");
  assert.equal(agent.length, 3);
  assert.match(last(agent[2]), /^\[fragility\] .*one test still fails/u);
  assert.equal(agent[2]?.messages.at(-1)?.role, "user");
  const [judged, again] = sandbox.model.sent("judge-1");
  assert.match(last(judged), /1 failed/u);
  assert.equal(judged?.maxTokens, 300);
  assert.match(last(again), /You are right/u);
  assert.equal(pi.records.filter(({ type }) => type === "agent_settled").length, 1);
  // The user sees the verdict; the model gets the steer and nothing else of it.
  assert.match(pi.said(), /one test still fails/u);
  assert.equal(agent[2]?.messages.filter(({ text }) => text.includes("one test still fails")).length, 1);
});

test("print mode prints the answer that the agent gave after the monitor spoke", async (t) => {
  const sandbox = await Sandbox.make(t, models(hastyAgent, fairJudge));
  await sandbox.monitor("fragility");
  assert.deepEqual(await sandbox.print("Mend the check."), {
    status: 0,
    stdout: "You are right: the tests pass now.\n",
    stderr: "",
  });
  assert.equal(sandbox.model.sent("agent-1").length, 3);
});

test("what the user interrupts is not judged", async (t) => {
  const sandbox = await Sandbox.make(
    t,
    models((request) => (last(request) === "Tell me a story." ? { endless: "and " } : { text: "Done." }), strictJudge),
  );
  await sandbox.monitor("hedge");
  const pi = await sandbox.rpc(t);
  await pi.ask({ type: "prompt", message: "Tell me a story." });
  await pi.first(({ type }) => type === "message_update");
  await pi.ask({ type: "abort" });
  const settled = await pi.first(({ type }) => type === "agent_settled");
  assert.equal(settled["aborted"], true);
  assert.deepEqual(sandbox.model.sent("judge-1"), []);
  // The watcher is there all the same: what comes next is judged.
  await pi.prompt("Go on.");
  assert.ok(sandbox.model.sent("judge-1").length > 0);
});

test("a judge that the provider refuses costs the agent nothing, and the user is told", async (t) => {
  const sandbox = await Sandbox.make(
    t,
    models(hastyAgent, () => ({ status: 401, error: "invalid key" })),
  );
  await sandbox.monitor("fragility");
  const pi = await sandbox.rpc(t);
  await pi.prompt("Mend the check.");
  assert.equal(sandbox.model.sent("agent-1").length, 2);
  assert.match(pi.said(), /invalid key/u);
});

test("half a character from the model does not break the sidecar", async (t) => {
  const agent = (request: Request) =>
    request.messages.at(-1)?.role === "tool" ? { text: "Cut \ud83d" } : hastyAgent(request);
  const sandbox = await Sandbox.make(
    t,
    models(agent, () => ({ text: "CLEAN" })),
  );
  await sandbox.monitor("fragility");
  const pi = await sandbox.rpc(t);
  await pi.prompt("Mend the check.");
  assert.match(last(sandbox.model.sent("judge-1")[0]), /Cut \ufffd/u);
  assert.deepEqual(
    pi.records.filter(({ type }) => type === "extension_error"),
    [],
  );
});

test("commands are listed and run, without a word to the model", async (t) => {
  const sandbox = await Sandbox.make(t, models(hastyAgent, strictJudge));
  await sandbox.monitor("fragility", askedOnce);
  const pi = await sandbox.rpc(t);
  const { commands } = await pi.ask({ type: "get_commands" });
  assert.ok((commands as { name: string }[]).some(({ name }) => name === "monitors"));
  assert.match(await pi.command("/monitors"), /fragility/u);
  await pi.command("/monitors fragility rules add Never mind check.sh.");
  assert.match(await pi.command("/monitors fragility rules"), /Never mind check\.sh\./u);
  assert.deepEqual(sandbox.model.requests, []);
  await pi.prompt("Mend the check.");
  assert.match(sandbox.model.sent("judge-1")[0]?.messages[0]?.text ?? "", /Never mind check\.sh\./u);
});

test("a program that is missing costs nothing but a word", async (t) => {
  const sandbox = await Sandbox.make(t, models(hastyAgent, strictJudge));
  sandbox.env["CHAPERONE_BIN"] = "/no/chaperone";
  const { status, stdout, stderr } = await sandbox.print("Mend the check.");
  assert.deepEqual([status, stdout], [0, "Done.\n"]);
  assert.match(stderr, /^chaperone: CHAPERONE_BIN names \/no\/chaperone/u);
});

test("a configuration with a fault is told with its place, and the agent works as ever", async (t) => {
  const sandbox = await Sandbox.make(t, models(hastyAgent, strictJudge));
  await sandbox.file("chaperone.toml", "[[plugin]]\nname = 3\n");
  const { status, stdout, stderr } = await sandbox.print("Mend the check.");
  assert.deepEqual([status, stdout], [0, "Done.\n"]);
  assert.match(stderr, /cannot watch this session: .*chaperone\.toml:2/su);
});
