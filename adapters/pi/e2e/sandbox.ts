/** A project, a home and a pi of their own for one test. */

import { execFile } from "node:child_process";
import { access, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";

import { FakeModel, type Script } from "./fake-model.ts";
import { type Printed, print, RpcPi } from "./pi.ts";
import type { Rule } from "./scripted-sidecar.ts";

const run = promisify(execFile);

const REPOSITORY = resolve(import.meta.dirname, "../../..");

/** Everything that a test works with. Nothing outlives it. */
export class Sandbox {
  readonly model: FakeModel;
  readonly root: string;
  /** What pi is started with; a test may change it. */
  readonly env: Record<string, string>;

  private constructor(model: FakeModel, root: string) {
    this.model = model;
    this.root = root;
    this.env = environment(join(root, "home"));
  }

  /** Makes a sandbox whose models answer by a script. */
  static async make(test: TestContext, script: Script): Promise<Sandbox> {
    const root = await mkdtemp(join(tmpdir(), "chaperone-pi-e2e-"));
    const sandbox = new Sandbox(await FakeModel.start(script), root);
    test.after(async () => {
      await sandbox.model.stop();
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    });
    await mkdir(sandbox.project, { recursive: true });
    const model = (id: string) => ({
      id,
      name: id,
      reasoning: false,
      input: ["text"],
      contextWindow: 128_000,
      maxTokens: 4096,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    });
    const provider = {
      baseUrl: sandbox.model.url,
      api: "openai-completions",
      apiKey: "fake-key",
      models: ["agent-1", "judge-1"].map(model),
    };
    await sandbox.#write("home/.pi/agent/models.json", JSON.stringify({ providers: { fake: provider } }));
    await sandbox.stopGuard({ enabled: false });
    // It looks only when it is called. Without any monitor, the user would be offered the bundled ones.
    await sandbox.monitor("work-quality");
    return sandbox;
  }

  /** The agent's working directory. */
  get project(): string {
    return join(this.root, "project");
  }

  /** Settings of the stop guard, which `judge-1` judges for; it is switched off unless a test calls this. */
  async stopGuard(settings: Record<string, unknown> = {}): Promise<void> {
    const file = "home/.pi/agent/extensions/pi-auto-goal/config.json";
    await this.#write(file, JSON.stringify({ model: "fake/judge-1", ...settings }));
  }

  /** Puts a file into the project. */
  async file(path: string, text: string): Promise<void> {
    await this.#write(join("project", path), text);
  }

  /** Puts one of the bundled monitors into the project, judged by `judge-1`, and says that it is trusted. */
  async monitor(name: string, change: (monitor: Record<string, unknown>) => void = () => {}): Promise<void> {
    const from = join(REPOSITORY, "monitors-examples");
    const folder = join(this.project, ".pi/monitors");
    await mkdir(folder, { recursive: true });
    for (const file of await readdir(from)) {
      if (file.startsWith(`${name}.`)) await cp(join(from, file), join(folder, file));
    }
    const file = join(folder, `${name}.monitor.json`);
    const monitor = JSON.parse(await readFile(file, "utf8")) as Record<string, unknown> & {
      classify: Record<string, unknown>;
    };
    monitor.classify["model"] = "fake/judge-1";
    // Here the judge decides, and no rule before it.
    delete monitor.classify["precheck"];
    change(monitor);
    await writeFile(file, JSON.stringify(monitor));
    const program = this.env["CHAPERONE_BIN"] ?? "chaperone";
    await run(program, ["monitors", "trust", name], { cwd: this.project, env: this.env });
  }

  /** A watcher that follows rules, in the place of the built-in ones. */
  async rules(rules: Rule[]): Promise<void> {
    const program = join(this.root, "chaperone");
    const script = join(import.meta.dirname, "scripted-sidecar.ts");
    await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`, { mode: 0o755 });
    this.env["CHAPERONE_BIN"] = program;
    this.env["SIDECAR_RULES"] = JSON.stringify(rules);
  }

  /** Whether the project has a file. */
  async has(path: string): Promise<boolean> {
    return access(join(this.project, path)).then(
      () => true,
      () => false,
    );
  }

  /** pi, driven by a program. */
  rpc(test: TestContext, ...args: string[]): Promise<RpcPi> {
    return RpcPi.start(test, this.env, this.project, args);
  }

  /** pi with one prompt, which it answers and exits. */
  print(prompt: string, ...args: string[]): Promise<Printed> {
    return print(this.env, this.project, [...args, prompt]);
  }

  /** Ids of the processes of the sidecar. */
  async sidecars(): Promise<number[]> {
    const found: number[] = [];
    for (const name of await readdir("/proc")) {
      if (!/^\d+$/u.test(name)) continue;
      const [command, environment] = await Promise.all(
        ["cmdline", "environ"].map((file) => readFile(join("/proc", name, file), "utf8").catch(() => "")),
      );
      if (command?.split("\0")[1] === "serve" && environment?.includes(`HOME=${join(this.root, "home")}\0`))
        found.push(Number(name));
    }
    return found;
  }

  async #write(path: string, text: string): Promise<void> {
    const full = join(this.root, path);
    await mkdir(dirname(full), { recursive: true });
    await writeFile(full, text);
  }
}

function environment(home: string): Record<string, string> {
  const given = process.env;
  const target = given["CARGO_TARGET_DIR"] ?? join(REPOSITORY, "target");
  return {
    PATH: given["PATH"] ?? "",
    HOME: home,
    // Compiled watchers are shared by all tests; nothing else is.
    XDG_CACHE_HOME: given["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"),
    CHAPERONE_BIN: given["CHAPERONE_BIN"] ?? join(target, "debug/chaperone"),
    PI_CODING_AGENT_DIR: join(home, ".pi/agent"),
    PI_OFFLINE: "1",
    PI_SKIP_VERSION_CHECK: "1",
    PI_TELEMETRY: "0",
  };
}
