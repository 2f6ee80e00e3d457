import assert from "node:assert/strict";
import { test } from "node:test";

import type { SessionEntry } from "@earendil-works/pi-coding-agent";

import { content, entry, stopReason, usage } from "../src/pi/entries.ts";
import { check } from "./fakes/schema.ts";
import { type Draft, FakeSession, result, said, user } from "./fakes/session.ts";

function only(draft: Draft): SessionEntry {
  return new FakeSession().append(draft);
}

test("an entry keeps pi's id, and its time in milliseconds", () => {
  const { id, timestamp } = entry(only({ type: "message", message: user("hi") }));
  assert.deepEqual([id, timestamp], ["e1", Date.parse("2026-01-01T00:00:01.000Z")]);
  assert.equal(entry({ ...only({ type: "label", targetId: "x", label: "y" }), timestamp: "?" }).timestamp, 0);
});

test("messages become what the contract has for their role", () => {
  const bodies = [user("hi"), said("I'll look.", "c1"), result("c1", "1 failed")].map(
    (message) => entry(only({ type: "message", message })).body,
  );
  assert.deepEqual(bodies, [
    { user: [{ text: "hi" }] },
    {
      assistant: {
        content: [{ text: "I'll look." }, { tool_call: { id: "c1", name: "bash", arguments: '{"command":"make"}' } }],
        stop_reason: "tool_use",
        usage: { input: 10, output: 3, cache_read: 0, cache_write: 0, total: 13 },
        model: { provider: "fake", model: "fake-1" },
        error: null,
      },
    },
    {
      tool_result: {
        call_id: "c1",
        tool_name: "bash",
        content: [{ text: "1 failed" }],
        is_error: false,
        details: null,
      },
    },
  ]);
});

test("an extension's message is text, whichever way it is stored", () => {
  const parts = [
    { type: "text" as const, text: "one" },
    { type: "image" as const, data: "AAAA", mimeType: "image/png" },
    { type: "text" as const, text: "two" },
  ];
  const body = { custom: { custom_type: "steer", content: "one\ntwo", display: true, details: '{"a":1}' } };
  const fields = { customType: "steer", content: parts, display: true, details: { a: 1 } };
  assert.deepEqual(entry(only({ type: "custom_message", ...fields })).body, body);
  assert.deepEqual(entry(only({ type: "message", message: { role: "custom", ...fields, timestamp: 1 } })).body, body);
});

test("entries that plugins have no use for say what they are", () => {
  const bodies = [
    only({ type: "model_change", provider: "p", modelId: "m" }),
    only({ type: "custom", customType: "x" }),
    only({
      type: "message",
      message: {
        role: "bashExecution",
        command: "ls",
        output: "",
        exitCode: 0,
        cancelled: false,
        truncated: false,
        timestamp: 1,
      },
    }),
    only({ type: "compaction", summary: "So far.", firstKeptEntryId: "e1", tokensBefore: 9 }),
  ].map((from) => entry(from).body);
  assert.deepEqual(bodies, [
    { other: "model_change" },
    { other: "custom" },
    { other: "bashExecution" },
    { compaction: "So far." },
  ]);
});

test("bytes of images stay here", () => {
  assert.deepEqual(content([{ type: "image", data: "AAAA", mimeType: "image/png" }]), [{ image: "image/png" }]);
  assert.deepEqual(content(undefined), []);
});

test("an answer that is not complete is no answer", () => {
  assert.deepEqual(
    (["stop", "length", "toolUse", "error", "aborted", "pending", "deferred"] as const).map(stopReason),
    ["stop", "length", "tool_use", "error", "aborted", "aborted", "aborted"],
  );
});

test("the provider's words are kept only where it failed", () => {
  const failed = { ...said(""), stopReason: "error" as const, errorMessage: "503" };
  const stopped = { ...said(""), stopReason: "aborted" as const, errorMessage: "aborted" };
  const errors = [failed, stopped].map((message) => entry(only({ type: "message", message })).body);
  assert.deepEqual(
    errors.map((body) => "assistant" in body && body.assistant.error),
    ["503", null],
  );
});

test("counts are whole and not negative", () => {
  const strange = {
    input: -1,
    output: 1.6,
    cacheRead: Number.NaN,
    cacheWrite: 2,
    totalTokens: 4,
    cost: said("").usage.cost,
  };
  assert.deepEqual(usage(strange), { input: 0, output: 2, cache_read: 0, cache_write: 2, total: 4 });
  assert.equal(usage(undefined), null);
});

test("a whole session of pi is one of the contract's", () => {
  const session = new FakeSession();
  const content = [{ type: "image" as const, data: "A", mimeType: "image/png" }];
  session.say({ role: "user", content, timestamp: 1 });
  session.say({ ...said("", "c1"), stopReason: "error", errorMessage: "503" });
  session.say(result("c1", "ok"));
  session.append({ type: "compaction", summary: "So far.", firstKeptEntryId: "e1", tokensBefore: 9 });
  session.append({ type: "custom_message", customType: "note", content, display: false, details: { a: [1] } });
  session.append({ type: "label", targetId: "e1", label: "here" });
  check("session/append", "params", { session: "s1", entries: session.getBranch().map(entry) });
  assert.throws(() => check("session/append", "params", { session: "s1", entries: [{ id: "e1", body: { user: 3 } }] }));
});
