/** Bytes from a pipe, cut into lines. */

import { StringDecoder } from "node:string_decoder";

/** No message of the sidecar is longer, in characters; one that is gets dropped rather than kept in memory. */
export const LONGEST_LINE = 64 * 1024 * 1024;

/** Collects chunks and hands on whole lines, without their line break. */
export class LineReader {
  readonly #decoder = new StringDecoder("utf8");
  readonly #line: (line: string) => void;
  readonly #dropped: () => void;
  readonly #longest: number;
  #parts: string[] = [];
  #length = 0;
  #skipping = false;

  /** `line` gets each line that is not empty; `dropped` is called once for each line that is too long. */
  constructor(line: (line: string) => void, dropped: () => void, longest = LONGEST_LINE) {
    this.#line = line;
    this.#dropped = dropped;
    this.#longest = longest;
  }

  /** Takes what has come. */
  push(chunk: Buffer): void {
    const pieces = this.#decoder.write(chunk).split("\n");
    const rest = pieces.pop() ?? "";
    for (const piece of pieces) {
      this.#add(piece);
      this.#end();
    }
    this.#add(rest);
  }

  #add(piece: string): void {
    if (this.#skipping || piece === "") return;
    this.#length += piece.length;
    if (this.#length > this.#longest) {
      this.#skipping = true;
      this.#parts = [];
      this.#dropped();
    } else {
      this.#parts.push(piece);
    }
  }

  #end(): void {
    const line = this.#parts.join("").trim();
    const skipped = this.#skipping;
    this.#parts = [];
    this.#length = 0;
    this.#skipping = false;
    if (!skipped && line !== "") this.#line(line);
  }
}
