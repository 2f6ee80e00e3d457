/** Branches in pieces. */

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { Entry } from "../src/contract.ts";
import { pieces } from "../src/pi/pieces.ts";

function entry(text: string): Entry {
  return { id: "e", timestamp: 0, body: { user: [{ text }] } };
}

const EMPTY = JSON.stringify(entry("")).length + 1;

test("what fits is one piece, and so is nothing", () => {
  assert.deepEqual(pieces([]), [[]]);
  assert.deepEqual(pieces([entry("a"), entry("b")]), [[entry("a"), entry("b")]]);
});

test("a piece ends where the next entry would be too much for it", () => {
  const all = [entry("a"), entry("b"), entry("c")];
  assert.deepEqual(pieces(all, 2 * EMPTY + 2), [all.slice(0, 2), all.slice(2)]);
  assert.deepEqual(pieces(all, 2 * EMPTY + 1), [[all[0]], [all[1]], [all[2]]]);
});

test("all entries are there, in order, and no piece is too long that has more than one", () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.integer({ min: 1, max: 500 }), (texts, longest) => {
      const entries = texts.map(entry);
      const all = pieces(entries, longest);
      assert.deepEqual(all.flat(), entries);
      for (const piece of all) {
        assert.ok(piece.length > 0 || entries.length === 0);
        assert.ok(piece.length <= 1 || JSON.stringify(piece).length <= longest + 1);
      }
    }),
  );
});
