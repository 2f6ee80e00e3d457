/** Agents and judges that several tests play with. */

import type { Reply, Request, Script } from "./fake-model.ts";

/** An agent that changes a file, says that it is done, and says something else once a monitor has spoken. */
export function hastyAgent({ messages }: Request): Reply {
  const last = messages.at(-1);
  if (last?.role === "tool") return { text: "Done." };
  if (last?.text.includes("[fragility]")) return { text: "You are right: the tests pass now." };
  return { call: "bash", arguments: { command: "echo 'exit 0' > check.sh; echo 1 failed" } };
}

/** A judge that finds a fault until it has been put right. */
export function fairJudge({ messages }: Request): Reply {
  const isMended = messages.some(({ text }) => text.includes("You are right"));
  return { text: isMended ? "CLEAN" : "FLAG:one test still fails" };
}

/** A judge that nothing is good enough for. */
export function strictJudge(): Reply {
  return { text: "FLAG:one test still fails" };
}

/** What answers for the two models of a sandbox. */
export function models(agent: Script, judge: Script): Script {
  return (request) => (request.model === "judge-1" ? judge(request) : agent(request));
}

/** The text of the last message that a model was sent. */
export function last(request: Request | undefined): string {
  return request?.messages.at(-1)?.text ?? "";
}

/** A monitor that asks its judge once for each prompt. */
export function askedOnce(monitor: { classify?: Record<string, unknown> }): void {
  monitor.classify = { ...monitor.classify, max_per_prompt: 1 };
}
