/** What users can set, under `chaperone` in pi's settings.json. */

import { isFields } from "./wire/json.ts";

/** Times are in milliseconds. */
export interface Settings {
  /** The program, where it is set. */
  bin: string | undefined;
  /** How long pi's start waits until the plugins are ready. */
  startMs: number;
  /** How long one of pi's events waits until the hooks have run. */
  hookMs: number;
  /** How long a tool call is held until the plugin releases it. */
  holdMs: number;
  /** How long the end of a run waits for judges, where nobody sits at a terminal. */
  settleMs: number;
}

/** Settings, and what is wrong with those that were not taken. */
export interface ReadSettings {
  settings: Settings;
  faults: string[];
}

const SECONDS = {
  startSeconds: ["startMs", 20],
  hookSeconds: ["hookMs", 5],
  holdSeconds: ["holdMs", 60],
  settleSeconds: ["settleMs", 120],
} as const;

/** Longest time that can be set, in seconds: what a timer can count, and longer than anybody waits. */
const LONGEST = 24 * 60 * 60;

/** Reads the settings; what is not understood keeps its default, and is reported with its key. */
export function readSettings(piSettings: unknown): ReadSettings {
  const faults: string[] = [];
  const settings: Settings = { bin: undefined, startMs: 0, hookMs: 0, holdMs: 0, settleMs: 0 };
  const given = isFields(piSettings) ? piSettings["chaperone"] : undefined;
  if (given !== undefined && !isFields(given)) faults.push('"chaperone" in settings.json must be an object');
  const fields = isFields(given) ? given : {};
  for (const [key, value] of Object.entries(fields)) {
    if (key === "bin") {
      if (typeof value === "string" && value !== "") settings.bin = value;
      else faults.push('"chaperone.bin" in settings.json must be the path of the program');
    } else if (!(key in SECONDS)) {
      const known = ["bin", ...Object.keys(SECONDS)].join(", ");
      faults.push(`"chaperone.${key}" in settings.json is not known; there are ${known}`);
    }
  }
  for (const [key, [name, standard]] of Object.entries(SECONDS)) {
    const value = fields[key];
    const usable = typeof value === "number" && value >= 0 && value <= LONGEST;
    if (value !== undefined && !usable) {
      faults.push(`"chaperone.${key}" in settings.json must be seconds, from 0 to ${LONGEST}`);
    }
    settings[name] = (usable ? value : standard) * 1000;
  }
  return { settings, faults };
}
