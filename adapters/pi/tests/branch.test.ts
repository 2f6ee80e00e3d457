import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";
import { isNotice, NOTICE } from "../src/effects/notices.ts";
import { BranchTracker } from "../src/pi/branch.ts";
import { FakeSession, user } from "./fakes/session.ts";

/** What a sidecar has, which believes what it is told. */
class Told {
  readonly parents = new Map<string, string | null>();
  branch: string[] = [];

  take(change: ReturnType<BranchTracker["advance"]>): void {
    if (change.kind === "grown") this.append(change.entries.map(({ id }) => id));
    else if (change.kind === "moved" && change.entries === null) this.goTo(change.leaf);
    else if (change.kind === "moved") this.anew(change.entries?.map(({ id }) => id) ?? []);
  }

  anew(ids: string[]): void {
    this.branch = [];
    this.append(ids);
  }

  append(ids: string[]): void {
    for (const id of ids) {
      this.parents.set(id, this.branch.at(-1) ?? null);
      this.branch.push(id);
    }
  }

  goTo(leaf: string | null): void {
    this.branch = [];
    for (let at = leaf; at !== null; at = this.parents.get(at) ?? null) {
      assert.ok(this.parents.has(at), "an entry that it was never told of");
      this.branch.unshift(at);
    }
  }
}

const shown = (session: FakeSession): string[] =>
  session
    .getBranch()
    .filter((entry) => !isNotice(entry))
    .map(({ id }) => id);

test("only what is new is told", () => {
  const session = new FakeSession();
  session.say(user("one"));
  const tracker = new BranchTracker(isNotice);
  assert.deepEqual(
    tracker.whole(session).map(({ id }) => id),
    ["e1"],
  );
  assert.deepEqual(tracker.advance(session), { kind: "none" });
  session.say(user("two"));
  session.say(user("three"));
  const change = tracker.advance(session);
  assert.deepEqual(change.kind === "grown" && change.entries.map(({ id }) => id), ["e2", "e3"]);
});

test("going back is told by the leaf, and what was never told of by the whole branch", () => {
  const session = new FakeSession();
  for (const text of ["one", "two"]) session.say(user(text));
  const tracker = new BranchTracker(isNotice);
  session.goTo("e1");
  tracker.whole(session);
  session.say(user("three"));
  tracker.advance(session);
  session.goTo("e1");
  assert.deepEqual(tracker.advance(session), { kind: "moved", leaf: "e1", entries: null });
  session.goTo("e2");
  const change = tracker.advance(session, true);
  assert.deepEqual(change.kind === "moved" && change.entries?.map(({ id }) => id), ["e1", "e2"]);
  session.goTo(null);
  assert.deepEqual(tracker.advance(session), { kind: "moved", leaf: null, entries: null });
});

test("a sidecar that did not take something is told the whole branch", () => {
  const session = new FakeSession();
  session.say(user("one"));
  const tracker = new BranchTracker(isNotice);
  tracker.whole(session);
  tracker.lost();
  const change = tracker.advance(session);
  assert.deepEqual(change.kind === "moved" && change.entries?.length, 1);
  assert.deepEqual(tracker.advance(session), { kind: "none" });
});

test("whatever the session does, the sidecar has its branch without the notices", () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("say" as const) }),
    fc.record({ do: fc.constant("notice" as const) }),
    fc.record({ do: fc.constant("go" as const), to: fc.nat(12) }),
    fc.record({ do: fc.constant("tell" as const), jumped: fc.boolean() }),
    fc.record({ do: fc.constant("lose" as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.nat(3), (steps, before) => {
      const session = new FakeSession();
      for (let n = 0; n < before; n++) session.say(user("x"));
      const tracker = new BranchTracker(isNotice);
      const told = new Told();
      told.anew(tracker.whole(session).map(({ id }) => id));
      for (const next of [...steps, { do: "tell" as const, jumped: false }]) {
        if (next.do === "say") session.say(user("x"));
        if (next.do === "notice") session.append({ type: "custom", customType: NOTICE, data: {} });
        if (next.do === "go")
          session.goTo(next.to === 0 || session.size === 0 ? null : `e${1 + (next.to % session.size)}`);
        if (next.do === "lose") tracker.lost();
        if (next.do === "tell") {
          told.take(tracker.advance(session, next.jumped));
          assert.deepEqual(told.branch, shown(session));
        }
      }
    }),
  );
});
