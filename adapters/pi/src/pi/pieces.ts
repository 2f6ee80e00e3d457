/** Branches that are too long for one line of the protocol. */

import type { Entry } from "../contract.ts";

/** A line may have 64 MiB, and a character of JSON takes three bytes at most. */
export const LONGEST_PIECE = 16 * 1024 * 1024;

/**
 * Entries in their order, in pieces whose JSON has at most `longest` characters each; an entry that is longer has one of
 * its own. There is at least one piece.
 */
export function pieces(entries: readonly Entry[], longest = LONGEST_PIECE): [Entry[], ...Entry[][]] {
  let last: Entry[] = [];
  const all: [Entry[], ...Entry[][]] = [last];
  let length = 0;
  for (const entry of entries) {
    const more = JSON.stringify(entry).length + 1;
    if (last.length > 0 && length + more > longest) {
      last = [];
      all.push(last);
      length = 0;
    }
    last.push(entry);
    length += more;
  }
  return all;
}
