import type { MaybePromise } from '@h/turn';
import { isChildSession } from './family.js';
import { inTime, type After } from './in-time.js';

/** The store of the sub-agents' sessions, such as `fileSessions()` of `@h/session`. */
export interface ChildSessions {
  /** Lists all sessions. Sessions that belong to no sub-agent are ignored. */
  list(): MaybePromise<readonly { readonly session: string; readonly updatedAt: number }[]>;
  /** Removes a session with all its files; fails while a turn runs in it. */
  delete(session: string): MaybePromise<void>;
}

/** Limits the sessions of ended sub-agents. */
export interface KeepSessions {
  /** Number of sessions to keep; the latest ones are kept. */
  readonly latest: number;
  readonly store: ChildSessions;
}

/** Options for limiting stored sessions. */
export interface EndedSessionsHost {
  /** Time limit of the store for one operation, in milliseconds. */
  readonly storeMs: number;
  readonly after: After;
  /** Returns whether a sub-agent works in a session. */
  readonly isAlive: (session: string) => boolean;
}

/** The sessions of ended sub-agents, oldest first. Sessions beyond the limit are removed one by one. */
export class EndedSessions {
  readonly #keep: KeepSessions | undefined;
  readonly #host: EndedSessionsHost;
  /** Number of failed removals by session. */
  #kept = new Map<string, number>();
  #hasLooked = false;
  #isClosed = false;
  #isRemoving = false;
  #removed: Promise<void> = Promise.resolve();

  constructor(keep: KeepSessions | undefined, host: EndedSessionsHost) {
    this.#keep = keep;
    this.#host = host;
  }

  /** Called when a turn has ended. Removal runs in the background. */
  add(session: string): void {
    if (!this.#keep || this.#isClosed) return;
    this.#kept.set(session, 0);
    // If sub-agents end faster than the store removes sessions, a later process removes the rest.
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size > this.#keep.latest + mostBehind) this.#kept.delete(oldest);
    if (this.#isRemoving) return;
    this.#isRemoving = true;
    this.#removed = this.#removeOldest(this.#keep);
  }

  /** Stops removing. Resolves when running removals have ended or were abandoned. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#removed;
  }

  async #removeOldest({ store, latest }: KeepSessions): Promise<void> {
    const failed: (readonly [session: string, times: number])[] = [];
    if (!this.#hasLooked) await this.#look(store);
    while (this.#kept.size > latest && failed.length < mostFailures && !this.#isClosed) {
      const [[session, times] = ['', 0]] = this.#kept;
      this.#kept.delete(session);
      if (!(await this.#isDone(async () => store.delete(session)))) failed.push([session, times + 1]);
    }
    // A session that is still in use is retried first, a limited number of times.
    const again = failed.filter(([, times]) => times < mostTries);
    if (again.length > 0) this.#kept = new Map([...again, ...this.#kept]);
    this.#isRemoving = false;
  }

  /** Adds sessions that earlier processes left. */
  async #look(store: ChildSessions): Promise<void> {
    this.#hasLooked = true;
    await this.#isDone(async () => {
      const found = (await store.list()).filter(
        ({ session }) => isChildSession(session) && !this.#host.isAlive(session),
      );
      const left = found.toSorted((one, other) => one.updatedAt - other.updatedAt).map(({ session }) => session);
      const own = new Set(this.#kept.keys());
      this.#kept = new Map([...left.filter((session) => !own.has(session)), ...own].map((session) => [session, 0]));
    });
  }

  async #isDone(work: () => Promise<void>): Promise<boolean> {
    try {
      return await inTime(work(), this.#host.storeMs, this.#host.after);
    } catch {
      return false;
    }
  }
}

const mostTries = 3;
/** Number of consecutive failures after which the store is not used until another sub-agent has ended. */
const mostFailures = 100;
const mostBehind = 10_000;
