/**
 * Blocks in the transcript that the model never sees. They are stored as entries of the session that pi keeps out of
 * the model's context, and drawn from there: now, and whenever the session is opened again.
 */

import type { EntryRenderer, SessionEntry, Theme } from "@earendil-works/pi-coding-agent";
import { Container, Text } from "@earendil-works/pi-tui";

import type { Line, Notice, Tone } from "../contract.ts";
import { isFields, parsed } from "../wire/json.ts";
import { paint } from "./paint.ts";

/** The type of the entries. */
export const NOTICE = "chaperone-notice";

/** What an entry holds. */
export interface StoredNotice {
  plugin: string;
  custom_type: string;
  title: Line;
  details: Line[];
  /** What programs read. */
  data?: unknown;
}

/** A notice as it is stored. */
export function stored(plugin: string, { custom_type, title, details, data }: Notice): StoredNotice {
  return { plugin, custom_type, title, details, ...(data === null ? {} : { data: parsed(data) ?? data }) };
}

/** Whether an entry is a notice. */
export function isNotice(entry: SessionEntry): boolean {
  return entry.type === "custom" && entry.customType === NOTICE;
}

/** Draws a notice: its title, and the details where the user has expanded it. */
export const drawNotice: EntryRenderer = (entry, { expanded }, theme) => {
  const notice = read(entry.data);
  return notice && draw(notice, expanded, theme);
};

function draw({ title, details }: Pick<StoredNotice, "title" | "details">, expanded: boolean, theme: Theme): Container {
  const block = new Container();
  const more =
    expanded || details.length === 0
      ? ""
      : theme.fg("dim", details.length === 1 ? " (1 line more)" : ` (${details.length} lines more)`);
  block.addChild(new Text(paint(title, theme) + more, 1, 0));
  if (expanded) for (const line of details) block.addChild(new Text(paint(line, theme), 3, 0));
  return block;
}

/** Reads what an entry holds; others may have written it. */
function read(data: unknown): Pick<StoredNotice, "title" | "details"> | undefined {
  if (!isFields(data)) return undefined;
  const details = Array.isArray(data["details"]) ? data["details"].map(line) : [];
  return { title: line(data["title"]), details };
}

const TONES: readonly string[] = ["normal", "muted", "success", "warning", "error"] satisfies Tone[];

function line(value: unknown): Line {
  if (!Array.isArray(value)) return [];
  return value.filter(isFields).map((span) => ({
    text: String(span["text"] ?? ""),
    tone: isTone(span["tone"]) ? span["tone"] : "normal",
  }));
}

function isTone(value: unknown): value is Tone {
  return typeof value === "string" && TONES.includes(value);
}
