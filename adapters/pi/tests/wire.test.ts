import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { document, encode, parsed } from "../src/wire/json.ts";
import { LineReader } from "../src/wire/lines.ts";
import { Disconnected, ErrorCode, type Handlers, Peer, RpcError } from "../src/wire/peer.ts";

test("halves of surrogate pairs become replacement characters, in values and in keys", () => {
  assert.equal(encode({ text: "a\ud83d" }), '{"text":"a\ufffd"}');
  assert.equal(encode({ "\ude00": ["\ud83d\ude00"] }), '{"\ufffd":["😀"]}');
  assert.equal(encode(undefined), "null");
});

test("whatever others attached becomes a document or nothing", () => {
  assert.equal(document(null), null);
  assert.equal(document({ n: 1n }), '{"n":"1"}');
  const loop: Record<string, unknown> = {};
  loop["loop"] = loop;
  assert.equal(document(loop), null);
  assert.equal(parsed("{"), undefined);
  assert.deepEqual(parsed("[1]"), [1]);
});

test("any value survives the wire in well-formed text", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (value, text) => {
      const line = encode({ value, text });
      assert.ok(!line.includes("\n"));
      assert.ok(line.isWellFormed());
      assert.equal((JSON.parse(line) as { text: string }).text, text.toWellFormed());
    }),
  );
});

function read(chunks: Buffer[], longest?: number): { lines: string[]; dropped: number } {
  const lines: string[] = [];
  let dropped = 0;
  const reader = new LineReader(
    (line) => lines.push(line),
    () => dropped++,
    longest,
  );
  for (const chunk of chunks) reader.push(chunk);
  return { lines, dropped };
}

test("lines come out whole, however the bytes are cut", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" })), fc.array(fc.nat(200)), (texts, cuts) => {
      const wanted = texts.map((text) => JSON.stringify(text));
      const bytes = Buffer.from(wanted.map((line) => `${line}\n`).join(""));
      const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
      const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
      assert.deepEqual(read(chunks).lines, wanted);
    }),
  );
});

test("a line that is too long is dropped once, and the next one is read", () => {
  const chunks = ["aaaa", "aaaa", "aaaa\nok\r\n", "\n"].map((text) => Buffer.from(text));
  assert.deepEqual(read(chunks, 6), { lines: ["ok"], dropped: 1 });
});

interface Conversation {
  peer: Peer;
  sent: Record<string, unknown>[];
  malformed: string[];
  notified: unknown[][];
}

function conversation(request: Handlers["request"] = async () => null): Conversation {
  const sent: Record<string, unknown>[] = [];
  const malformed: string[] = [];
  const notified: unknown[][] = [];
  const peer = new Peer((line) => sent.push(JSON.parse(line) as Record<string, unknown>), {
    request,
    notification: (...said) => notified.push(said),
    malformed: (why) => malformed.push(why),
  });
  return { peer, sent, malformed, notified };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("answers find their requests in any order", async () => {
  const { peer, sent } = conversation();
  const [one, two] = [peer.request("a", {}), peer.request("b", { x: 1 })];
  assert.deepEqual(sent[1], { jsonrpc: "2.0", id: 2, method: "b", params: { x: 1 } });
  peer.receive('{"jsonrpc":"2.0","id":2,"result":"second"}');
  peer.receive('{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":{"at":"x"}}}');
  assert.equal(await two, "second");
  await assert.rejects(one, (error: RpcError) => error.code === -32602 && error.message === "no");
});

test("a request that is given up is cancelled, and its answer still awaited", async () => {
  const { peer, sent } = conversation();
  const giveUp = new AbortController();
  const quiet = peer.request("session/quiet", {}, giveUp.signal);
  giveUp.abort();
  assert.deepEqual(sent[1], { jsonrpc: "2.0", method: "$/cancel_request", params: { id: 1 } });
  peer.receive('{"id":1,"error":{"code":-32800,"message":"cancelled"}}');
  await assert.rejects(quiet, { code: ErrorCode.cancelled });
});

test("the other side's requests are answered, and given up when it cancels them", async () => {
  let signal: AbortSignal | undefined;
  const { peer, sent } = conversation(async (method, _params, incoming) => {
    if (method === "fails") throw new RpcError(-32000, "why", "timed_out");
    if (method === "breaks") throw new Error("oh");
    signal = incoming.signal;
    return new Promise((resolve) => incoming.signal.addEventListener("abort", () => resolve("late")));
  });
  peer.receive('{"id":"x","method":"fails","params":{}}');
  peer.receive('{"id":"y","method":"breaks"}');
  peer.receive('{"id":7,"method":"waits"}');
  await settle();
  peer.receive('{"method":"$/cancel_request","params":{"id":7}}');
  await settle();
  assert.equal(signal?.aborted, true);
  assert.deepEqual(sent, [
    { jsonrpc: "2.0", id: "x", error: { code: -32000, message: "why", data: "timed_out" } },
    { jsonrpc: "2.0", id: "y", error: { code: -32000, message: "oh" } },
    { jsonrpc: "2.0", id: 7, result: "late" },
  ]);
});

test("what cannot be understood is reported, and the conversation goes on", async () => {
  const { peer, malformed, notified } = conversation();
  peer.receive("thread 'main' panicked");
  peer.receive("[]");
  peer.receive('{"id":9,"result":1}');
  peer.receive('{"id":null,"error":{"code":-32700,"message":"parse"}}');
  peer.receive('{"method":"session/note","params":{"a":1}}');
  assert.equal(malformed.length, 4);
  assert.match(malformed[3] ?? "", /parse/);
  assert.deepEqual(notified, [["session/note", { a: 1 }]]);
});

test("when the other side is gone nobody waits for it, and nothing is sent", async () => {
  let signal: AbortSignal | undefined;
  const { peer, sent } = conversation(async (_method, _params, incoming) => {
    signal = incoming.signal;
    return new Promise(() => {});
  });
  const waiting = peer.request("a", {});
  peer.receive('{"id":1,"method":"llm/complete"}');
  await settle();
  peer.close("gone");
  await assert.rejects(waiting, Disconnected);
  await assert.rejects(peer.request("b", {}), { message: "gone" });
  peer.notify("c", {});
  assert.equal(signal?.aborted, true);
  assert.equal(sent.length, 1);
});
