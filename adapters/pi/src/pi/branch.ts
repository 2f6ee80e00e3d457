/** Which entries of pi's session the sidecar has, and what it must be told to have the current branch. */

import type { SessionEntry } from "@earendil-works/pi-coding-agent";

/** The part of pi's session manager that is read here. */
export interface SessionView {
  getLeafId(): string | null;
  getEntry(id: string): SessionEntry | undefined;
  getBranch(): SessionEntry[];
}

/** How the branch differs from what the sidecar has. */
export type Change =
  | { kind: "none" }
  /** These came behind the leaf. */
  | { kind: "grown"; entries: SessionEntry[] }
  /** The session went elsewhere; `entries` is the whole branch where the sidecar does not know its leaf. */
  | { kind: "moved"; leaf: string | null; entries: SessionEntry[] | null };

/**
 * Keeps the sidecar's idea of the branch. An entry that `hidden` picks is never sent: for the sidecar, the branch is
 * what remains.
 */
export class BranchTracker {
  readonly #hidden: (entry: SessionEntry) => boolean;
  readonly #known = new Set<string>();
  #leaf: string | null = null;
  /** pi's own leaf when last looked at: most looks find nothing new, and cost no walk. */
  #seen: string | null = null;
  #lost = false;

  constructor(hidden: (entry: SessionEntry) => boolean) {
    this.#hidden = hidden;
  }

  /** The whole branch, for a sidecar that knows nothing yet. */
  whole(session: SessionView): SessionEntry[] {
    this.#known.clear();
    this.#lost = false;
    this.#leaf = null;
    this.#seen = session.getLeafId();
    return this.#sent(session.getBranch().filter((entry) => !this.#hidden(entry)));
  }

  /** The sidecar did not accept what it was told: the next change is the whole branch. */
  lost(): void {
    this.#lost = true;
  }

  /**
   * What has changed since the last call; the sidecar is taken to have it from then on. `jumped` where the user went to
   * another entry: what lies behind the leaf then was there before, and has not come just now.
   */
  advance(session: SessionView, jumped = false): Change {
    if (this.#lost) return this.#anew(session);
    const target = session.getLeafId();
    if (target === this.#seen) return { kind: "none" };
    this.#seen = target;
    const fresh: SessionEntry[] = [];
    let at = target;
    while (at !== null && !this.#known.has(at)) {
      const entry = session.getEntry(at);
      if (!entry) return this.#anew(session);
      if (!this.#hidden(entry)) fresh.unshift(entry);
      at = entry.parentId;
    }
    if (at === this.#leaf && !jumped)
      return fresh.length === 0 ? { kind: "none" } : { kind: "grown", entries: this.#sent(fresh) };
    if (fresh.length > 0) return this.#anew(session);
    this.#leaf = at;
    return { kind: "moved", leaf: at, entries: null };
  }

  #anew(session: SessionView): Change {
    const entries = this.whole(session);
    return { kind: "moved", leaf: this.#leaf, entries };
  }

  #sent(entries: SessionEntry[]): SessionEntry[] {
    for (const { id } of entries) {
      this.#known.add(id);
      this.#leaf = id;
    }
    return entries;
  }
}
