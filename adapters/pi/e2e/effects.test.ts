/** What a watcher can do to the real pi, shown by one that follows rules. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Sandbox } from "./sandbox.ts";
import { last } from "./scenes.ts";

const inject = (content: string, fields: Record<string, unknown> = {}) => ({
  inject: {
    custom_type: "note",
    content,
    display: true,
    details: null,
    delivery: "steer",
    trigger_turn: true,
    ...fields,
  },
});

test("a stream that is going nowhere is cut, and the agent goes on with what the watcher says", async (t) => {
  const sandbox = await Sandbox.make(t, (request) =>
    last(request) === "Stop looping." ? { text: "Done." } : { endless: "and " },
  );
  await sandbox.rules([{ on: "message_update", time: 1, effects: [inject("Stop looping."), "abort"] }]);
  const pi = await sandbox.rpc(t);
  await pi.prompt("Tell me a story.");
  await pi.atRest();
  assert.deepEqual(sandbox.model.sent("agent-1").map(last), ["Tell me a story.", "Stop looping."]);
  assert.equal((await pi.ask({ type: "get_last_assistant_text" }))["text"], "Done.");
  const { status, stdout } = await sandbox.print("Tell me a story.");
  assert.deepEqual([status, stdout], [0, "Done.\n"]);
});

test("a tool call that a watcher refuses does not run, and the model reads why", async (t) => {
  const sandbox = await Sandbox.make(t, (request) =>
    request.messages.at(-1)?.role === "tool"
      ? { text: "Well." }
      : { call: "bash", arguments: { command: "touch made" } },
  );
  await sandbox.rules([{ on: "tool_start", time: 1, reply: { gate: { refuse: "Not while the build runs." } } }]);
  const pi = await sandbox.rpc(t);
  await pi.prompt("Make it.");
  assert.equal(last(sandbox.model.sent("agent-1")[1]), "Not while the build runs.");
  assert.equal(await sandbox.has("made"), false);
  await pi.prompt("Make it now.");
  assert.equal(await sandbox.has("made"), true);
});

test("a tool call that a watcher holds runs when it is released", async (t) => {
  const sandbox = await Sandbox.make(t, (request) =>
    request.messages.at(-1)?.role === "tool"
      ? { text: "Well." }
      : { call: "bash", arguments: { command: "touch made" } },
  );
  const release = (refusal: string | null) => [{ release: { call_id: "call_1", refusal } }];
  await sandbox.rules([{ on: "tool_start", time: 1, reply: { gate: "hold" }, after: release(null) }]);
  await (await sandbox.rpc(t)).prompt("Make it.");
  assert.equal(await sandbox.has("made"), true);
});

test("what a watcher leaves out is not in the request, but stays in the session", async (t) => {
  const sandbox = await Sandbox.make(t, () => ({ text: "Yes." }));
  await sandbox.rules([{ on: "context", time: 2, reply: { leave_out: [0] } }]);
  const pi = await sandbox.rpc(t);
  await pi.prompt("One.");
  await pi.prompt("Two.");
  await pi.prompt("Three.");
  const users = sandbox.model
    .sent("agent-1")
    .map(({ messages }) => messages.filter(({ role }) => role === "user").map(({ text }) => text));
  assert.deepEqual(users, [["One."], ["Two."], ["One.", "Two.", "Three."]]);
});

test("messages reach the agent when they are to: now, at the end, with the user's next words, or when it is woken", async (t) => {
  const sandbox = await Sandbox.make(t, (request) =>
    last(request) === "Begin." ? { call: "bash", arguments: { command: "true" } } : { text: "Yes." },
  );
  const notes = [
    inject("At the end.", { delivery: "follow_up" }),
    inject("Next time.", { delivery: "next_turn" }),
    inject("Now."),
  ];
  await sandbox.rules([
    { on: "tool_start", time: 1, effects: notes },
    { on: "session/command", time: 1, effects: [inject("Only for the record.", { trigger_turn: false })] },
    { on: "session/command", time: 2, effects: [inject("Wake up.")] },
  ]);
  const pi = await sandbox.rpc(t);
  await pi.prompt("Begin.");
  assert.deepEqual(sandbox.model.sent("agent-1").map(last).slice(1), ["Now.", "At the end."]);
  await pi.prompt("Go on.");
  const fourth = sandbox.model
    .sent("agent-1")[3]
    ?.messages.slice(-2)
    .map(({ text }) => text);
  assert.deepEqual(fourth?.toSorted(), ["Go on.", "Next time."]);
  await pi.command("/scripted");
  assert.equal(sandbox.model.sent("agent-1").length, 4);
  const from = pi.records.length;
  await pi.command("/scripted");
  await pi.first(({ type }) => type === "agent_settled", from);
  const texts = sandbox.model
    .sent("agent-1")[4]
    ?.messages.slice(-2)
    .map(({ text }) => text);
  assert.deepEqual(texts, ["Only for the record.", "Wake up."]);
});

test("a tool of a watcher is the model's to call", async (t) => {
  const sandbox = await Sandbox.make(t, (request) =>
    request.messages.at(-1)?.role === "tool"
      ? { text: last(request) }
      : { call: "ask_scripted", arguments: { question: "May I?" } },
  );
  await sandbox.rules([
    { on: "session/tool", time: 1, reply: { ok: { content: "You may.", details: null } } },
    { on: "session/tool", time: 2, reply: { err: "Not twice." } },
  ]);
  const pi = await sandbox.rpc(t);
  await pi.prompt("Ask.");
  await pi.prompt("Ask again.");
  const agent = sandbox.model.sent("agent-1");
  assert.ok(agent[0]?.tools.includes("ask_scripted"));
  assert.deepEqual([last(agent[1]), last(agent[3])], ["You may.", "Not twice."]);
});

test("status, widget and notices are on the screen, and not in the model's context", async (t) => {
  const sandbox = await Sandbox.make(t, () => ({ text: "Yes." }));
  const line = [{ text: "All is well.", tone: "success" }];
  await sandbox.rules([
    {
      on: "input",
      time: 1,
      effects: [
        { set_status: { text: line } },
        { set_widget: { lines: [line] } },
        { show: { custom_type: "verdict", title: line, details: [line], data: null } },
        { notify: { text: "All is well.", tone: "success" } },
      ],
    },
  ]);
  const pi = await sandbox.rpc(t);
  await pi.prompt("Well?");
  const shown = pi.records.filter(({ type }) => type === "extension_ui_request");
  assert.deepEqual(
    shown.map(({ method, statusText, widgetLines, message }) => [method, statusText ?? widgetLines ?? message]),
    [
      ["setStatus", "All is well."],
      ["setWidget", ["All is well."]],
      ["notify", "All is well."],
    ],
  );
  assert.ok(!JSON.stringify(sandbox.model.requests).includes("All is well."));
  assert.equal(pi.said(), "All is well.\nAll is well.\nAll is well.");
});
