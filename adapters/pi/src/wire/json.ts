/** JSON as it goes over the wire. */

/** An object of which nothing is known yet. */
export type Fields = Record<string, unknown>;

/** Whether a value is a JSON object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Writes a value as JSON. Halves of surrogate pairs, which come of a model's text that was cut, become U+FFFD: readers
 * of UTF-8 refuse the whole line otherwise. Gives `null` for what JSON has no form for.
 */
export function encode(value: unknown): string {
  return JSON.stringify(value, wellFormed) ?? "null";
}

function wellFormed(_key: string, value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "bigint") return value.toString();
  return isFields(value) && Object.keys(value).some((key) => !key.isWellFormed()) ? withWellFormedKeys(value) : value;
}

function withWellFormedKeys(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key.toWellFormed(), value]));
}

/** A value that belongs to others as a JSON document; `null` where there is none, or where it cannot be written. */
export function document(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  try {
    return encode(value);
  } catch {
    return null;
  }
}

/** Reads a JSON document that others wrote; `undefined` where it is none. */
export function parsed(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
