/** Chaperone's watchers beside the pi coding agent: an extension that starts `chaperone serve` for each session. */

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

import manifest from "../package.json" with { type: "json" };
import { drawNotice, NOTICE } from "./effects/notices.ts";
import { origin, settledReason } from "./pi/circumstances.ts";
import { assistant, content, toolResult, usage } from "./pi/entries.ts";
import { readSettings } from "./settings.ts";
import { findBinary, isRunnable } from "./sidecar/binary.ts";
import { type Child, type ChildEvents, startChild } from "./sidecar/child.ts";
import { realTimers, type Timers } from "./timers.ts";
import { Watch } from "./watch.ts";
import { document } from "./wire/json.ts";

/** What the extension needs of the system; tests bring their own. */
export interface World {
  env: Record<string, string | undefined>;
  platform: NodeJS.Platform;
  timers: Timers;
  isRunnable(path: string): boolean;
  start(path: string, cwd: string, events: ChildEvents): Child;
  /** Where there is no screen. */
  log(text: string): void;
}

/** The extension, as pi loads it. */
export default function chaperone(pi: ExtensionAPI): void {
  install(pi, {
    env: process.env,
    platform: process.platform,
    timers: realTimers,
    isRunnable,
    start: startChild,
    log: (text) => console.error(text),
  });
}

/** Has pi tell of what happens. Nothing is started before a session is. */
export function install(pi: ExtensionAPI, world: World): void {
  let watch: Watch | undefined;

  pi.registerEntryRenderer(NOTICE, drawNotice);

  pi.on("session_start", async ({ reason }, ctx) => {
    watch = watchOf(pi, ctx, world, reason);
    await watch?.start();
  });
  pi.on("session_shutdown", async () => {
    const ending = watch;
    watch = undefined;
    await ending?.stop();
  });
  pi.on("session_tree", () => watch?.jumped());
  pi.on("session_compact", () => watch?.entries());

  pi.on("input", async ({ text, images, source }) => {
    // What another extension writes in the user's place is not the user's word.
    if (source !== "extension") await watch?.hook({ input: { content: [...content(text), ...content(images)] } });
  });
  pi.on("agent_start", () => watch?.agentStarts());
  pi.on("turn_start", ({ turnIndex }) => watch?.hook({ turn_start: { index: turnIndex } }));
  pi.on("context", async ({ messages }) => {
    const kept = await watch?.filter(messages);
    return kept && { messages: kept };
  });
  pi.on("message_update", ({ message }) => {
    if (message.role === "assistant") watch?.update({ message_update: { usage: usage(message.usage) } });
  });
  pi.on("message_end", ({ message }) => watch?.message(message));
  pi.on("tool_call", async ({ toolCallId, toolName, input }) => {
    const verdict = await watch?.gate({ id: toolCallId, name: toolName, arguments: document(input) ?? "{}" });
    return verdict === undefined || verdict === "run" ? undefined : { block: true, reason: verdict.refuse };
  });
  pi.on("tool_execution_end", ({ toolCallId, toolName, result, isError }) =>
    watch?.hook({
      tool_end: {
        outcome: toolResult({ toolCallId, toolName, isError, content: result?.content, details: result?.details }),
      },
    }),
  );
  pi.on("turn_end", async ({ turnIndex, message, toolResults }) => {
    if (message.role !== "assistant") return;
    const turn = { index: turnIndex, message: assistant(message), tool_results: toolResults.map(toolResult) };
    await watch?.hook({ turn_end: { turn } });
  });
  pi.on("agent_end", () => watch?.hook("agent_end"));
  pi.on("agent_before_settle", async ({ continue: othersGoOn, context }, { sessionManager }) => {
    await watch?.beforeRest(settledReason(false, sessionManager), othersGoOn || context.pendingMessages.length > 0);
  });
  pi.on("agent_settled", ({ aborted }, { sessionManager }) => watch?.rests(settledReason(aborted, sessionManager)));
}

/** What watches a session; `undefined` where there is no program to do it with, which is said. */
function watchOf(
  pi: ExtensionAPI,
  ctx: ExtensionContext,
  world: World,
  said: Parameters<typeof origin>[0],
): Watch | undefined {
  const tell = (text: string, type: "info" | "warning" | "error"): void => {
    if (ctx.hasUI) ctx.ui.notify(text, type);
    else world.log(`chaperone: ${text}`);
  };
  const { settings, faults } = readSettings(pi.getSettings());
  for (const fault of faults) tell(fault, "warning");
  const { env, platform, isRunnable, timers } = world;
  const found = findBinary({ env, platform, isRunnable, setting: settings.bin, cwd: ctx.cwd });
  if ("missing" in found) {
    tell(found.missing, "warning");
    return undefined;
  }
  const start = (events: ChildEvents): Child => world.start(found.path, ctx.cwd, events);
  const { sessionManager } = ctx;
  return new Watch(
    { pi, ctx, settings, timers, version: manifest.version, start, tell },
    origin(said, sessionManager.getHeader(), sessionManager.getBranch()),
  );
}
