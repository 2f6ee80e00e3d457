/** The commands and tools of plugins, as pi offers them to the user and to the agent. */

import type { ExtensionAPI, ToolDefinition } from "@earendil-works/pi-coding-agent";

import type { Command, CompletionItem, Tool, ToolOutcome } from "../contract.ts";
import type { Plugin } from "../protocol.ts";
import { isFields, parsed } from "../wire/json.ts";

/** Runs what is called by name. */
export interface Callee {
  /** Runs `/name args`; false where no plugin has such a command, `undefined` where there was no answer. */
  command(name: string, args: string): Promise<boolean | undefined>;
  /** What could stand next on that line. */
  complete(name: string, prefix: string): Promise<CompletionItem[]>;
  /** Runs a tool; `null` where no plugin has it, or where it broke down. */
  tool(name: string, args: string): Promise<ToolOutcome | null>;
  /** Tells the user. */
  warn(text: string): void;
}

/** pi's side. */
export type Registry = Pick<
  ExtensionAPI,
  "registerCommand" | "registerTool" | "getAllTools" | "getActiveTools" | "setActiveTools"
>;

/** Keeps pi's commands and tools to what the plugins offer. */
export class Registrations {
  readonly #pi: Registry;
  readonly #callee: Callee;
  readonly #tools = new Set<string>();
  readonly #refused = new Set<string>();

  constructor(pi: Registry, callee: Callee) {
    this.#pi = pi;
    this.#callee = callee;
  }

  /** Takes the plugins as they are now. */
  update(plugins: readonly Plugin[]): void {
    const offered = plugins.flatMap(({ description }) => (description ? [description] : []));
    for (const command of offered.flatMap(({ commands }) => commands)) this.#command(command);
    const tools = offered.flatMap(({ tools }) => tools);
    for (const tool of tools) this.#tool(tool);
    // pi cannot forget a tool, but it can keep it from the model.
    const gone = [...this.#tools].filter((name) => !tools.some((tool) => tool.name === name));
    if (gone.length > 0) this.#pi.setActiveTools(this.#pi.getActiveTools().filter((name) => !gone.includes(name)));
    for (const name of gone) this.#tools.delete(name);
  }

  #command({ name, description }: Command): void {
    this.#pi.registerCommand(name, {
      description,
      handler: async (args) => {
        const known = await this.#callee.command(name, args);
        if (known === undefined)
          this.#callee.warn(`/${name} was not answered: Chaperone's sidecar is not there, or busy.`);
        else if (!known) this.#callee.warn(`No watcher has the command /${name} any more.`);
      },
      getArgumentCompletions: async (prefix) => {
        const items = await this.#callee.complete(name, prefix);
        return items.length === 0
          ? null
          : items.map(({ value, label, description: hint }) => ({ value, label, description: hint }));
      },
    });
  }

  #tool(tool: Tool): void {
    const { name } = tool;
    if (this.#refused.has(name)) return;
    if (!this.#tools.has(name) && this.#pi.getAllTools().some((other) => other.name === name)) {
      this.#refused.add(name);
      this.#callee.warn(`A watcher offers the tool ${name}, but there is one of that name already. It is left out.`);
      return;
    }
    const parameters = parsed(tool.parameters);
    if (!isFields(parameters)) {
      this.#refused.add(name);
      this.#callee.warn(
        `The parameters of the watcher's tool ${name} are no JSON Schema of an object. It is left out.`,
      );
      return;
    }
    this.#tools.add(name);
    this.#pi.registerTool(this.#definition(tool, parameters));
  }

  #definition({ name, label, description }: Tool, parameters: ToolDefinition["parameters"]): ToolDefinition {
    return {
      name,
      label,
      description,
      parameters,
      execute: async (_id, params) => {
        const outcome = await this.#callee.tool(name, JSON.stringify(params) ?? "{}");
        if (outcome === null) throw new Error(`The tool ${name} is not there, or broke down.`);
        if ("err" in outcome) throw new Error(outcome.err);
        const { content, details } = outcome.ok;
        return { content: [{ type: "text", text: content }], details: parsed(details) };
      },
    };
  }
}
