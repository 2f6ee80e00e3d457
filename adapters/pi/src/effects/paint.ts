/** Lines of text with tones, as pi shows them. */

import type { Theme, ThemeColor } from "@earendil-works/pi-coding-agent";

import type { Line, Tone } from "../contract.ts";

const COLOURS: Record<Exclude<Tone, "normal">, ThemeColor> = {
  muted: "muted",
  success: "success",
  warning: "warning",
  error: "error",
};

/** Control characters, which would move the cursor or start an escape sequence of the terminal. */
const CONTROL = /\p{Cc}/gu;

/** A text on one line, without anything that a terminal would obey. */
export function tame(text: string): string {
  return text.replace(/\r\n?|\n|\t/gu, " ").replace(CONTROL, "");
}

/** The words of a line. */
export function plain(line: Line): string {
  return line.map((span) => tame(span.text)).join("");
}

/** A line in the colours of a theme; without one, its words. */
export function paint(line: Line, theme: Theme | undefined): string {
  if (!theme) return plain(line);
  return line.map(({ text, tone }) => (tone === "normal" ? tame(text) : theme.fg(COLOURS[tone], tame(text)))).join("");
}

/** How pi's passing messages are called. */
export function notifyType(tone: Tone): "info" | "warning" | "error" {
  return tone === "warning" || tone === "error" ? tone : "info";
}
