/** Where the program `chaperone` is. */

import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join, resolve } from "node:path";

/** Where to look. */
export interface Places {
  env: Record<string, string | undefined>;
  /** The setting `chaperone.bin`. */
  setting: string | undefined;
  /** What relative paths start from. */
  cwd: string;
  platform: NodeJS.Platform;
  /** Whether a path is a program that may be run. */
  isRunnable(path: string): boolean;
}

/** The program, or why there is none and what to do about it. */
export type Found = { path: string } | { missing: string };

/** Looks in `CHAPERONE_BIN`, then in the setting, then on `PATH`. A place that is named and empty is not passed over. */
export function findBinary(places: Places): Found {
  const { env, setting, platform } = places;
  const named = env["CHAPERONE_BIN"]
    ? ["CHAPERONE_BIN", env["CHAPERONE_BIN"]]
    : ["chaperone.bin in settings.json", setting];
  const [where, path] = named;
  if (path) {
    const full = absolute(path, places.cwd);
    if (places.isRunnable(full)) return { path: full };
    return {
      missing: `${where} names ${full}, which is not a program that can be run. Correct it, or remove it to use PATH.`,
    };
  }
  const names = platform === "win32" ? ["chaperone.exe"] : ["chaperone"];
  // An empty or relative part of PATH would be a folder of the project.
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  for (const folder of folders) {
    const program = names.map((name) => join(folder, name)).find((candidate) => places.isRunnable(candidate));
    if (program) return { path: program };
  }
  return {
    missing:
      "The program `chaperone` is not on PATH, so no watcher runs. Install it (cargo install --path host-harness), " +
      "or name it with CHAPERONE_BIN or with chaperone.bin in pi's settings.json.",
  };
}

function absolute(path: string, cwd: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : resolve(cwd, path);
}

/** Whether a path is a file that this user may run. */
export function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
