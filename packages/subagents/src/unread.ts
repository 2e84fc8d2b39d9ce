import type { Child } from './family.js';

/** What keeping unread results takes. */
export interface UnreadHost {
  /** How many there may be. */
  readonly most: number;
  /** Whether an agent has a turn that may read them. */
  readonly isBusy: (session: string) => boolean;
  /** Nobody will read it. */
  readonly forget: (child: Child) => void;
}

/** The results that wait for their parents, the oldest first. Those for turns that never come do not pile up. */
export class Unread {
  readonly #host: UnreadHost;
  readonly #children = new Set<Child>();

  constructor(host: UnreadHost) {
    this.#host = host;
  }

  get size(): number {
    return this.#children.size;
  }

  add(child: Child): void {
    this.#children.add(child);
    for (const each of this.#children) {
      if (this.#children.size <= this.#host.most) return;
      if (!this.#host.isBusy(each.record.parent)) this.#host.forget(each);
    }
  }

  delete(child: Child): void {
    this.#children.delete(child);
  }
}
