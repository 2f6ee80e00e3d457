/** The stop guard beside the real pi. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Reply, Request } from "./fake-model.ts";
import { Sandbox } from "./sandbox.ts";
import { last, models } from "./scenes.ts";

/** An agent that does half of what it was asked for, and the rest when it is sent back. */
function halfHearted(request: Request): Reply {
  return { text: last(request).startsWith("[auto-goal]") ? "Both are done." : "One is done." };
}

/** A judge that sends the agent back until both are done. */
function fair({ messages }: Request): Reply {
  const isDone = messages.some(({ text }) => text.includes("Both are done."));
  return verdict(isDone ? "stop" : "continue", isDone ? "all is there" : "the second one is missing");
}

function verdict(verdict: "continue" | "stop", reason: string): Reply {
  return { text: JSON.stringify({ reason, verdict, confidence: 0.9 }) };
}

test("an agent that stops halfway is sent back, and comes to rest once", async (t) => {
  const sandbox = await Sandbox.make(t, models(halfHearted, fair));
  await sandbox.stopGuard();
  const pi = await sandbox.rpc(t);
  await pi.prompt("Do both.");
  const agent = sandbox.model.sent("agent-1");
  assert.equal(agent.length, 2);
  assert.match(last(agent[1]), /^\[auto-goal\].*Still missing: the second one is missing/su);
  assert.deepEqual(sandbox.model.sent("judge-1").length, 2);
  assert.match(last(sandbox.model.sent("judge-1")[0]), /Do both\..*One is done\./su);
  assert.equal(pi.records.filter(({ type }) => type === "agent_settled").length, 1);
  assert.equal((await pi.ask({ type: "get_state" }))["isStreaming"], false);
  assert.match(pi.said(), /the second one is missing/u);
});

test("an agent that does not mend its ways is sent back no more often than is set", async (t) => {
  const sandbox = await Sandbox.make(
    t,
    models(
      () => ({ text: "One is done." }),
      () => verdict("continue", "the second one is missing"),
    ),
  );
  await sandbox.stopGuard({ maxAutoContinues: 2 });
  const pi = await sandbox.rpc(t);
  await pi.prompt("Do both.");
  const sentBack = () =>
    sandbox.model.sent("agent-1").filter((request) => last(request).startsWith("[auto-goal]")).length;
  assert.equal(sentBack(), 2);
  assert.equal((await pi.ask({ type: "get_state" }))["isStreaming"], false);
  await pi.prompt("Do both, I said.");
  assert.equal(sentBack(), 4);
});

test("an agent that the user interrupts is not sent back", async (t) => {
  const sandbox = await Sandbox.make(
    t,
    models(
      () => ({ endless: "and " }),
      () => verdict("continue", "the story has no end"),
    ),
  );
  await sandbox.stopGuard();
  const pi = await sandbox.rpc(t);
  await pi.ask({ type: "prompt", message: "Tell me a story." });
  await pi.first(({ type }) => type === "message_update");
  await pi.ask({ type: "abort" });
  await pi.first(({ type }) => type === "agent_settled");
  assert.deepEqual(sandbox.model.sent("judge-1"), []);
  assert.equal(sandbox.model.sent("agent-1").length, 1);
});

test("the command switches the guard off, and shows how it stands", async (t) => {
  const sandbox = await Sandbox.make(t, models(halfHearted, fair));
  await sandbox.stopGuard();
  const pi = await sandbox.rpc(t);
  const { commands } = await pi.ask({ type: "get_commands" });
  assert.ok((commands as { name: string }[]).some(({ name }) => name === "config:auto-goal"));
  assert.match(await pi.command("/config:auto-goal status"), /judge-1/u);
  assert.match(await pi.command("/config:auto-goal disable"), /judgement is off/u);
  await pi.prompt("Do both.");
  assert.equal(sandbox.model.sent("agent-1").length, 1);
  assert.deepEqual(sandbox.model.sent("judge-1"), []);
});

test("the settings panel is a dialog of pi's, and what is chosen there holds", async (t) => {
  const sandbox = await Sandbox.make(t, models(halfHearted, fair));
  await sandbox.stopGuard();
  const pi = await sandbox.rpc(t);
  const dialog = async (from: number) =>
    pi.first(({ type, method }) => type === "extension_ui_request" && method === "select", from) as Promise<{
      id: string;
      options: string[];
    }>;
  const answer = (id: string, value: string | undefined): void =>
    pi.send({ type: "extension_ui_response", id, ...(value === undefined ? { cancelled: true } : { value }) });
  await pi.ask({ type: "prompt", message: "/config:auto-goal" });
  const panel = await dialog(0);
  const row = panel.options.find((option) => /judg|enabled/iu.test(option)) ?? assert.fail(panel.options.join("\n"));
  let from = pi.records.length;
  answer(panel.id, row);
  const choices = await dialog(from);
  const off = choices.options.find((option) => /off|no/iu.test(option)) ?? assert.fail(choices.options.join("\n"));
  from = pi.records.length;
  answer(choices.id, off);
  const again = await dialog(from);
  assert.notDeepEqual(again.options, panel.options);
  answer(again.id, undefined);
  await pi.prompt("Do both.");
  assert.deepEqual(sandbox.model.sent("judge-1"), []);
});
