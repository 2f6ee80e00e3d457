/** What plugins keep on the screen: a piece of the status bar and a widget each. */

import type { ExtensionUIContext, Theme } from "@earendil-works/pi-coding-agent";

import type { Line } from "../contract.ts";
import { paint } from "./paint.ts";

/** The part of pi's user interface that is used. */
export interface Screen {
  ui: Pick<ExtensionUIContext, "setStatus" | "setWidget">;
  /** The theme to paint with; none where no terminal shows the text. */
  theme: Theme | undefined;
}

/** Keeps track of what is shown, so that it can be taken away. */
export class Surface {
  readonly #screen: () => Screen;
  readonly #statuses = new Set<string>();
  readonly #widgets = new Set<string>();

  constructor(screen: () => Screen) {
    this.#screen = screen;
  }

  /** Shows a plugin's piece of the status bar; `null` takes it away. */
  status(plugin: string, text: Line | null): void {
    const { ui, theme } = this.#screen();
    ui.setStatus(key(plugin), text === null ? undefined : paint(text, theme));
    if (text === null) this.#statuses.delete(plugin);
    else this.#statuses.add(plugin);
  }

  /** Shows a plugin's widget; no lines take it away. */
  widget(plugin: string, lines: Line[]): void {
    const { ui, theme } = this.#screen();
    ui.setWidget(key(plugin), lines.length === 0 ? undefined : lines.map((line) => paint(line, theme)));
    if (lines.length === 0) this.#widgets.delete(plugin);
    else this.#widgets.add(plugin);
  }

  /** Takes everything away. */
  clear(): void {
    for (const plugin of [...this.#statuses]) this.status(plugin, null);
    for (const plugin of [...this.#widgets]) this.widget(plugin, []);
  }
}

function key(plugin: string): string {
  return `chaperone:${plugin}`;
}
