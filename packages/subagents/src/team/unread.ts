import type { Child } from './family.js';

/** Settings and callbacks of {@link Unread}. */
export interface UnreadHost {
  /** Maximum number of unread results. */
  readonly most: number;
  /** Returns whether an agent has a turn that may read them. */
  readonly isBusy: (session: string) => boolean;
  /** Drops a result. */
  readonly forget: (child: Child) => void;
}

/** Unread results, oldest first, with a limit for parents that have no turn. */
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
