import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { readSettings } from "../src/settings.ts";
import { findBinary, isRunnable, type Places } from "../src/sidecar/binary.ts";
import { type Exit, startChild } from "../src/sidecar/child.ts";

function places(fields: Partial<Places>, programs: string[]): Places {
  return {
    env: {},
    setting: undefined,
    cwd: "/project",
    platform: "linux",
    isRunnable: (path) => programs.includes(path),
    ...fields,
  };
}

test("the program is the one that is named, else the first one on PATH", () => {
  const programs = ["/named/chaperone", "/set/chaperone", "/b/chaperone", `${homedir()}/bin/chaperone`];
  const env = { CHAPERONE_BIN: "/named/chaperone", PATH: "/a:/b" };
  assert.deepEqual(findBinary(places({ env, setting: "/set/chaperone" }, programs)), { path: "/named/chaperone" });
  assert.deepEqual(findBinary(places({ env: { PATH: "/a:/b" }, setting: "../set/chaperone" }, programs)), {
    path: "/set/chaperone",
  });
  assert.deepEqual(findBinary(places({ setting: "~/bin/chaperone" }, programs)), {
    path: `${homedir()}/bin/chaperone`,
  });
  assert.deepEqual(findBinary(places({ env: { PATH: "/a:/b" } }, programs)), { path: "/b/chaperone" });
});

test("a folder of the project on PATH is not looked into", () => {
  assert.ok(
    "missing" in
      findBinary(
        places({ env: { PATH: ":bin:." } }, ["/project/chaperone", "/project/bin/chaperone", "bin/chaperone"]),
      ),
  );
});

test("what is missing is said with its mend", () => {
  const named = findBinary(places({ setting: "/no/chaperone", env: { PATH: "/b" } }, ["/b/chaperone"]));
  assert.match("missing" in named ? named.missing : "", /^chaperone.bin in settings.json names \/no\/chaperone/u);
  const none = findBinary(places({}, []));
  assert.match("missing" in none ? none.missing : "", /not on PATH.*CHAPERONE_BIN/u);
});

test("a program is a file that may be run", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chaperone-pi-"));
  try {
    const file = join(folder, "program");
    await writeFile(file, "");
    assert.deepEqual([isRunnable(folder), isRunnable(file), isRunnable(join(folder, "no"))], [false, false, false]);
    await chmod(file, 0o755);
    assert.equal(isRunnable(file), true);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("settings are seconds, and what is wrong with them is said", () => {
  assert.deepEqual(readSettings({}), {
    settings: { bin: undefined, startMs: 20_000, hookMs: 5000, holdMs: 60_000, settleMs: 120_000 },
    faults: [],
  });
  const { settings, faults } = readSettings({
    chaperone: { bin: "/x", hookSeconds: 0.5, holdSeconds: -1, settleSecond: 3 },
  });
  assert.deepEqual([settings.bin, settings.hookMs, settings.holdMs], ["/x", 500, 60_000]);
  assert.deepEqual(faults, [
    '"chaperone.settleSecond" in settings.json is not known; there are bin, startSeconds, hookSeconds, holdSeconds, settleSeconds',
    '"chaperone.holdSeconds" in settings.json must be seconds, from 0 to 86400',
  ]);
  assert.equal(readSettings({ chaperone: [] }).faults.length, 1);
  assert.equal(readSettings({ chaperone: { bin: 3 } }).faults.length, 1);
});

/** Runs a script as the sidecar, and gives what it said and how it ended. */
async function run(
  script: string,
  use: (child: ReturnType<typeof startChild>) => void,
): Promise<{ lines: string[]; exit: Exit }> {
  const folder = await mkdtemp(join(tmpdir(), "chaperone-pi-"));
  try {
    const path = join(folder, "chaperone");
    await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const lines: string[] = [];
    const exit = await new Promise<Exit>((resolve) => {
      const child = startChild(path, folder, { line: (line) => lines.push(line), dropped: () => {}, ended: resolve });
      use(child);
    });
    return { lines, exit };
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("a sidecar is `chaperone serve` with a line for a line, and ends when its input does", async () => {
  const { lines, exit } = await run('echo "$1"; while read -r line; do echo "$line"; done', (child) => {
    child.write('{"é":1}');
    child.end();
  });
  assert.deepEqual(lines, ["serve", '{"é":1}']);
  assert.deepEqual(exit, { how: "ended with status 0", log: "" });
});

test("a sidecar that fails leaves its last words", async () => {
  const { exit } = await run("for n in 1 2 3 4 5 6; do echo line $n >&2; done; exit 3", (child) => child.write("{}"));
  assert.deepEqual(exit, { how: "ended with status 3", log: "line 2\nline 3\nline 4\nline 5\nline 6" });
});

test("a sidecar can be killed, and one that is not there has ended", async () => {
  const { exit } = await run("exec sleep 100", (child) => child.kill());
  assert.equal(exit.how, "was killed by SIGKILL");
  const missing = await new Promise<Exit>((ended) =>
    startChild("/no/chaperone", "/", { line: () => {}, dropped: () => {}, ended }),
  );
  assert.match(missing.how, /^cannot be started: .*ENOENT/u);
});
