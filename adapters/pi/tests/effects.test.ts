import assert from "node:assert/strict";
import { test } from "node:test";

import type { EntryRenderOptions, SessionEntry, Theme } from "@earendil-works/pi-coding-agent";

import type { Answer, Gate, Injection, Prompt } from "../src/contract.ts";
import { describe, without } from "../src/effects/context-filter.ts";
import { ask } from "../src/effects/dialogs.ts";
import { Gates } from "../src/effects/gates.ts";
import { drawNotice, NOTICE, stored } from "../src/effects/notices.ts";
import { Outbox } from "../src/effects/outbox.ts";
import { paint, plain } from "../src/effects/paint.ts";
import { FakeClock } from "./fakes/clock.ts";
import { FakeSession, result, said, user } from "./fakes/session.ts";

function injection(content: string, fields: Partial<Injection> = {}): Injection {
  return {
    custom_type: "steer",
    content,
    display: true,
    details: null,
    delivery: "steer",
    trigger_turn: true,
    ...fields,
  };
}

class FakeAgent {
  idle = false;
  readonly did: unknown[][] = [];
  isAtRest = (): boolean => this.idle;
  abort = (): void => void this.did.push(["abort"]);
  send = (message: { content: string }, options: unknown): void => void this.did.push([message.content, options]);
}

function outbox(): { agent: FakeAgent; clock: FakeClock; box: Outbox } {
  const agent = new FakeAgent();
  const clock = new FakeClock();
  return { agent, clock, box: new Outbox(agent, clock) };
}

test("a running agent gets messages as they are to be delivered", () => {
  const { agent, box } = outbox();
  box.inject(injection("a", { details: '{"n":1}' }));
  box.inject(injection("b", { delivery: "follow_up", trigger_turn: false }));
  box.inject(injection("c", { delivery: "next_turn" }));
  box.flush();
  assert.deepEqual(agent.did, [
    ["a", { deliverAs: "steer" }],
    ["b", { deliverAs: "followUp" }],
    ["c", { deliverAs: "nextTurn" }],
  ]);
  assert.equal(box.spurs, 2);
});

test("an idle agent is started by the last message that starts it, and by none that does not", () => {
  const { agent, box } = outbox();
  agent.idle = true;
  for (const text of ["a", "b"]) box.inject(injection(text));
  box.inject(injection("c", { trigger_turn: false }));
  box.flush();
  assert.deepEqual(agent.did, [
    ["a", { deliverAs: "steer", triggerTurn: false }],
    ["c", { deliverAs: "steer", triggerTurn: false }],
    ["b", { deliverAs: "steer", triggerTurn: true }],
  ]);
  assert.equal(box.spurs, 1);
});

test("messages go out by themselves once the effects of a hook are in", async () => {
  const { agent, clock, box } = outbox();
  box.inject(injection("a"));
  assert.equal(agent.did.length, 0);
  await clock.settle();
  assert.equal(agent.did.length, 1);
});

test("what is said around a stop waits until the agent has come to rest", async () => {
  const { agent, clock, box } = outbox();
  box.inject(injection("before"));
  box.abort();
  await clock.settle();
  box.inject(injection("after"));
  await clock.settle();
  assert.deepEqual(agent.did, [["abort"]]);
  agent.idle = true;
  assert.equal(box.runEnded(), true);
  assert.deepEqual(agent.did.slice(1), [
    ["before", { deliverAs: "steer", triggerTurn: false }],
    ["after", { deliverAs: "steer", triggerTurn: true }],
  ]);
});

test("the user's interrupt starts nothing again, nor does a stop without a message", () => {
  const { agent, box } = outbox();
  box.abort();
  box.flush();
  agent.idle = true;
  assert.equal(box.runEnded(), false);
  box.inject(injection("later"));
  assert.equal(box.runEnded(), false);
});

test("an agent that does nothing is not stopped", () => {
  const { agent, box } = outbox();
  agent.idle = true;
  box.abort();
  box.flush();
  assert.deepEqual(agent.did, []);
});

function held(limit = 100): {
  gates: Gates;
  clock: FakeClock;
  pass(gate: Gate, signal?: AbortSignal): Promise<unknown>;
} {
  const clock = new FakeClock();
  const gates = new Gates(clock);
  return { gates, clock, pass: (gate, signal) => gates.pass("c1", async () => gate, limit, signal) };
}

test("a call is refused, let through, or held until it is released", async () => {
  const { gates, pass } = held();
  assert.equal(await pass("allow"), "run");
  assert.deepEqual(await pass({ refuse: "no" }), { refuse: "no" });
  const waiting = pass("hold");
  gates.release("other", "no");
  gates.release("c1", "not today");
  assert.deepEqual(await waiting, { refuse: "not today" });
});

test("a release that comes before the answer counts", async () => {
  const clock = new FakeClock();
  const gates = new Gates(clock);
  const verdict = gates.pass(
    "c1",
    async () => {
      gates.release("c1", null);
      return "hold";
    },
    100,
    undefined,
  );
  assert.equal(await verdict, "run");
});

test("a held call runs after the limit, when the user stops the agent, and when the sidecar is gone", async () => {
  const { gates, clock, pass } = held();
  const late = pass("hold");
  await clock.pass(99);
  await clock.pass(1);
  assert.equal(await late, "run");
  const stop = new AbortController();
  const stopped = pass("hold", stop.signal);
  await clock.settle();
  stop.abort();
  assert.equal(await stopped, "run");
  assert.equal(await pass("hold", AbortSignal.abort()), "run");
  const gone = pass("hold");
  await clock.settle();
  gates.releaseAll();
  assert.equal(await gone, "run");
});

const theme = { fg: (colour: string, text: string) => `<${colour}>${text}</>` } as unknown as Theme;

test("tones become colours of the theme, and what a terminal would obey is left out", () => {
  const line = [
    { text: "a\u001b[31m\n", tone: "normal" as const },
    { text: "b", tone: "error" as const },
  ];
  assert.equal(paint(line, theme), "a[31m <error>b</>");
  assert.equal(plain(line), "a[31m b");
});

function rendered(data: unknown, expanded: boolean): string[] {
  const entry = { type: "custom", customType: NOTICE, data } as Parameters<typeof drawNotice>[0];
  const block = drawNotice(entry, { expanded } as EntryRenderOptions, theme);
  return block?.render(60).map((line) => line.trimEnd()) ?? [];
}

test("a notice shows its title, and its details where it is expanded", () => {
  const title = [{ text: "One test fails", tone: "error" as const }];
  const details = [[{ text: "make test", tone: "muted" as const }], [{ text: "1 failed", tone: "normal" as const }]];
  const notice = JSON.parse(
    JSON.stringify(stored("guard", { custom_type: "verdict", title, details, data: '{"a":1}' })),
  ) as unknown;
  assert.deepEqual(rendered(notice, false), [" <error>One test fails</><dim> (2 lines more)</>"]);
  assert.deepEqual(rendered(notice, true), [" <error>One test fails</>", "   <muted>make test</>", "   1 failed"]);
  assert.deepEqual((notice as { data: unknown }).data, { a: 1 });
});

test("what is no notice is drawn as far as it can be, and never breaks the screen", () => {
  for (const data of [undefined, 1, {}, { title: 3, details: [4] }, { title: [{ tone: "loud" }, null] }]) {
    assert.doesNotThrow(() => rendered(data, true));
  }
});

async function asked(prompt: Prompt, ...given: unknown[]): Promise<{ shown: unknown[][]; answers: Answer[] }> {
  const shown: unknown[][] = [];
  const answers: Answer[] = [];
  const dialog =
    (kind: string) =>
    async (...args: unknown[]) => {
      shown.push([kind, ...args]);
      return given.shift() as never;
    };
  const ui = { confirm: dialog("confirm"), select: dialog("select"), input: dialog("input"), editor: dialog("editor") };
  await ask(ui, prompt, (answer) => answers.push(answer));
  return { shown, answers };
}

test("dialogs are pi's, and their answers the contract's", async () => {
  assert.deepEqual(await asked({ confirm: ["Go on?", "Again."] }, false), {
    shown: [["confirm", "Go on?", "Again."]],
    answers: [{ confirmed: false }],
  });
  assert.deepEqual((await asked({ input: ["Name", ""] }, "x")).shown, [["input", "Name"]]);
  assert.deepEqual(await asked({ input: ["Name", "old"] }, "new"), {
    shown: [["editor", "Name", "old"]],
    answers: [{ entered: "new" }],
  });
  assert.deepEqual((await asked({ input: ["Name", "old"] }, undefined)).answers, ["dismissed"]);
});

test("choices that look alike can be told apart", async () => {
  const choices = ["a", "b"].map((value) => ({ value, label: "Same", description: "" }));
  assert.deepEqual(await asked({ select: ["Which?", choices] }, "Same (2)"), {
    shown: [["select", "Which?", ["Same", "Same (2)"]]],
    answers: [{ selected: "b" }],
  });
  assert.deepEqual((await asked({ select: ["Which?", choices] }, undefined)).answers, ["dismissed"]);
});

test("a settings panel tells each change, and shows it, until it is closed", async () => {
  const onOff = ["on", "off"].map((value) => ({ value, label: value.toUpperCase(), description: "" }));
  const settings = [
    { key: "mode", label: "Mode", value: "off", description: "Whether", choices: onOff },
    { key: "goal", label: "Goal", value: "", description: "", choices: [] },
  ];
  const given = ["Mode: OFF (Whether)", "ON", "Goal: ", "ship it", "Mode: ON (Whether)", "ON", undefined];
  const { shown, answers } = await asked({ settings: ["Guard", settings] }, ...given);
  assert.deepEqual(answers, [{ changed: ["mode", "on"] }, { changed: ["goal", "ship it"] }, "dismissed"]);
  assert.deepEqual(shown.at(-1), ["select", "Guard", ["Mode: ON (Whether)", "Goal: ship it"]]);
});

test("messages of a request are named by their entries, even between messages of others", () => {
  const session = new FakeSession();
  const [question, call, answer] = [user("hi", 5), said("", "c1", 6), { ...result("c1", "ok", 7), details: { n: 1 } }];
  for (const message of [question, call, answer]) session.say(message);
  const { entries } = session.buildSessionProjection();
  const note = {
    role: "custom" as const,
    customType: "note",
    content: "x",
    display: false,
    details: undefined,
    timestamp: 1,
  };
  assert.deepEqual(describe(structuredClone([note, question, call, answer]), entries), [
    { entry: null, kind: "note", details: null },
    { entry: "e1", kind: "user", details: null },
    { entry: "e2", kind: "assistant", details: null },
    { entry: "e3", kind: "tool-result", details: '{"n":1}' },
  ]);
});

test("calls and their results are left out together or not at all", () => {
  const messages = [user("hi"), said("", "c1"), result("c1", "ok"), said("done")];
  assert.deepEqual(without(messages, [0, 2]), messages.slice(1));
  assert.deepEqual(without(messages, [1]), messages);
  assert.deepEqual(without(messages, [1, 2, 9]), [messages[0], messages[3]]);
  assert.deepEqual(without(messages, [3]), messages.slice(0, 3));
});

test("only notices are kept from the sidecar", async () => {
  const { isNotice } = await import("../src/effects/notices.ts");
  const entry = (customType: string): SessionEntry => new FakeSession().append({ type: "custom", customType });
  assert.deepEqual([entry(NOTICE), entry("other")].map(isNotice), [true, false]);
});
