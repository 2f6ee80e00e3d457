/** The id in the head of a session file. */

import { type FileHandle, open } from "node:fs/promises";

import { isFields, parsed } from "../wire/json.ts";

/** The longest head that is read, in bytes. */
const LONGEST_HEAD = 64 * 1024;

/** The id of the session in a file; `undefined` where the file cannot be read or is none of pi's. */
export async function sessionIdOf(file: string): Promise<string | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(LONGEST_HEAD), 0, LONGEST_HEAD, 0);
    const head = parsed(buffer.toString("utf8", 0, bytesRead).split("\n", 1)[0] ?? "");
    return isFields(head) && head["type"] === "session" && typeof head["id"] === "string" ? head["id"] : undefined;
  } catch {
    return undefined;
  } finally {
    await handle?.close();
  }
}
