/** The protocol as its schema has it, which is made from the types that the sidecar reads and writes. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

const SCHEMA = JSON.parse(readFileSync(new URL("../../../../docs/sidecar.schema.json", import.meta.url), "utf8")) as {
  methods: Record<string, Record<"params" | "result", { $ref: string } | undefined>>;
};

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(SCHEMA, "sidecar");
const known = new Map<string, ValidateFunction | undefined>();

/** Fails a test where the parameters, or the result, of a method are not what the protocol has. */
export function check(method: string, what: "params" | "result", value: unknown): void {
  const key = `${method} ${what}`;
  if (!known.has(key)) {
    const ref = SCHEMA.methods[method]?.[what]?.$ref;
    known.set(key, ref === undefined ? undefined : ajv.compile({ $ref: `sidecar${ref}` }));
  }
  const validate = known.get(key) ?? assert.fail(`the protocol has no ${key}`);
  assert.ok(validate(value), `${key}: ${ajv.errorsText(validate.errors?.slice(0, 3))} in ${JSON.stringify(value)}`);
}
