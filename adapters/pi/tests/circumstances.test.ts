import assert from "node:assert/strict";
import { test } from "node:test";

import { origin, settledReason } from "../src/pi/circumstances.ts";
import { FakeSession, said, user } from "./fakes/session.ts";

function session(parent?: string): FakeSession {
  const made = new FakeSession();
  made.parentSession = parent;
  return made;
}

const of = (reason: Parameters<typeof origin>[0], from: FakeSession) =>
  origin(reason, from.getHeader(), from.getBranch());

test("a session without messages is new, one with messages is resumed, whatever pi calls it", () => {
  const empty = session();
  empty.append({ type: "model_change", provider: "p", modelId: "m" });
  assert.deepEqual(of("startup", empty), { reason: "new" });
  assert.deepEqual(of("new", empty), { reason: "new" });
  const full = session();
  full.say(user("hi"));
  assert.deepEqual(of("startup", full), { reason: "resume" });
  assert.deepEqual(of("resume", full), { reason: "resume" });
  assert.deepEqual(of("reload", full), { reason: "reload" });
});

test("a copy is a fork until it has messages of its own", () => {
  const copy = session("/sessions/a.jsonl");
  copy.clock = -10;
  copy.say(user("hi"));
  copy.say(said("yes"));
  copy.clock = 1;
  copy.append({ type: "model_change", provider: "p", modelId: "m" });
  const fork = { reason: "fork", parent: { file: "/sessions/a.jsonl", entry: "e2" } };
  assert.deepEqual(of("startup", copy), fork);
  assert.deepEqual(of("fork", copy), fork);
  assert.deepEqual(of("resume", copy), { reason: "resume" });
  copy.say(user("on"));
  assert.deepEqual(of("startup", copy), { reason: "resume" });
});

test("the agent finished, or was interrupted, or its provider failed", () => {
  const from = session();
  from.say(user("hi"));
  assert.equal(settledReason(false, from), "finished");
  from.say({ ...said(""), stopReason: "error" });
  from.append({ type: "custom", customType: "x" });
  assert.equal(settledReason(false, from), "failed");
  assert.equal(settledReason(true, from), "interrupted");
  from.say(said("done"));
  assert.equal(settledReason(false, from), "finished");
});
