/** Questions of plugins to the user. */

import type { Answer, Choice, Prompt, Setting } from "../contract.ts";
import { tame } from "./paint.ts";

/** The part of pi's user interface that asks. Each gives `undefined` where the user closed the dialog. */
export interface Asking {
  confirm(title: string, message: string): Promise<boolean>;
  select(title: string, options: string[]): Promise<string | undefined>;
  input(title: string, placeholder?: string): Promise<string | undefined>;
  editor(title: string, prefill?: string): Promise<string | undefined>;
}

/** Shows a dialog. `answer` is called once; for a settings panel once for each change, and once more at its end. */
export async function ask(ui: Asking, prompt: Prompt, answer: (answer: Answer) => void): Promise<void> {
  if ("confirm" in prompt) {
    const [title, body] = prompt.confirm;
    answer({ confirmed: await ui.confirm(tame(title), body) });
  } else if ("select" in prompt) {
    const [title, choices] = prompt.select;
    const value = await choose(ui, title, choices);
    answer(value === undefined ? "dismissed" : { selected: value });
  } else if ("input" in prompt) {
    const [title, initial] = prompt.input;
    const text = await enter(ui, title, initial);
    answer(text === undefined ? "dismissed" : { entered: text });
  } else {
    await settings(ui, prompt.settings[0], prompt.settings[1], answer);
  }
}

/** pi's `input` shows a hint, but cannot hold a text; its editor can. */
async function enter(ui: Asking, title: string, initial: string): Promise<string | undefined> {
  return initial === "" ? ui.input(tame(title)) : ui.editor(tame(title), initial);
}

/** pi's list is of texts: the one that comes back says which choice it was, so no two may be equal. */
async function choose(ui: Asking, title: string, choices: readonly Choice[]): Promise<string | undefined> {
  const byText = new Map<string, string>();
  for (const { value, label, description } of choices) byText.set(unused(byText, row(label, description)), value);
  const chosen = await ui.select(tame(title), [...byText.keys()]);
  return chosen === undefined ? undefined : byText.get(chosen);
}

/** A list of the settings, again after each change, until the user closes it. */
async function settings(
  ui: Asking,
  title: string,
  given: readonly Setting[],
  answer: (answer: Answer) => void,
): Promise<void> {
  const values = new Map(given.map((setting) => [setting.key, setting.value]));
  for (;;) {
    const rows = given.map(({ key, label, description, choices }) => {
      const value = values.get(key) ?? "";
      const shown = choices.find((choice) => choice.value === value)?.label ?? value;
      return { value: key, label: `${label}: ${shown}`, description };
    });
    const key = await choose(ui, title, rows);
    const setting = given.find((candidate) => candidate.key === key);
    if (!setting) break;
    const value = await change(ui, setting, values.get(setting.key) ?? "");
    if (value === undefined || value === values.get(setting.key)) continue;
    values.set(setting.key, value);
    answer({ changed: [setting.key, value] });
  }
  answer("dismissed");
}

async function change(ui: Asking, { label, choices }: Setting, value: string): Promise<string | undefined> {
  return choices.length > 0 ? choose(ui, label, choices) : enter(ui, label, value);
}

function row(label: string, description: string): string {
  return tame(description === "" ? label : `${label} (${description})`);
}

function unused(taken: ReadonlyMap<string, string>, text: string): string {
  let candidate = text;
  for (let number = 2; taken.has(candidate); number++) candidate = `${text} (${number})`;
  return candidate;
}
