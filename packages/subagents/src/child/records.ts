import { toErrorInfo } from '@h/turn';
import type { Child } from '../team/family.js';
import { inTime, type After } from '../team/in-time.js';
import type { ChildRecord, ChildStore } from './record.js';

/** Options of {@link Records}. */
export interface RecordsHost {
  /** Time limit of the store for one record, in milliseconds. */
  readonly storeMs: number;
  readonly after: After;
  /** Receives records that could not be stored. */
  readonly onProblem: (child: Child, reason: string) => void;
}

/** Writes the records of sub-agents, in the order of their changes. A slow store does not block callers. */
export class Records {
  readonly #store: ChildStore | undefined;
  readonly #host: RecordsHost;
  readonly #removed = new WeakSet<Child>();
  readonly #writing = new Set<Promise<unknown>>();

  constructor(store: ChildStore | undefined, host: RecordsHost) {
    this.#store = store;
    this.#host = host;
  }

  /** Number of pending writes. */
  get size(): number {
    return this.#writing.size;
  }

  /** Stores the first record. Rejects if the store fails or takes longer than `storeMs`. */
  async begin(child: Child): Promise<void> {
    const store = this.#store;
    if (!store) return;
    const { record } = child;
    const saving = child.saving.then(() => store.save(record));
    child.saving = saving.then(undefined, () => undefined);
    try {
      if (!(await this.#inTime(saving))) throw new Error(this.#lateness);
    } catch (error) {
      // The store may have saved it all the same, or save it later, and recovery must not find it then.
      void this.remove(child);
      throw error;
    }
  }

  /** Changes the record in the background. A failure is reported. */
  change(child: Child, changes: Partial<ChildRecord>): Promise<void> {
    child.record = { ...child.record, ...changes };
    const { record } = child;
    return this.#removed.has(child) ? Promise.resolve() : this.#inOrder(child, (store) => store.save(record));
  }

  /** Deletes a record that is no longer needed. */
  remove(child: Child): Promise<void> {
    this.#removed.add(child);
    return this.#inOrder(child, (store) => store.delete(child.record.id));
  }

  /** Resolves when all writes have completed or were abandoned. */
  async settled(): Promise<void> {
    await Promise.all(this.#writing);
  }

  async #inOrder(child: Child, write: (store: ChildStore) => unknown): Promise<void> {
    const store = this.#store;
    if (!store) return;
    const written = child.saving.then(() => write(store));
    child.saving = written.then(
      () => undefined,
      () => undefined,
    );
    try {
      if (!(await this.#inTime(written))) this.#host.onProblem(child, this.#lateness);
    } catch (error) {
      this.#host.onProblem(child, toErrorInfo(error).message);
    }
  }

  get #lateness(): string {
    return `The store did not answer within ${this.#host.storeMs} ms.`;
  }

  /** Returns whether an operation completes within the time limit; rejects if it fails. */
  async #inTime(work: Promise<unknown>): Promise<boolean> {
    const done = inTime(work, this.#host.storeMs, this.#host.after);
    const settled = done.catch(() => false);
    this.#writing.add(settled);
    try {
      return await done;
    } finally {
      this.#writing.delete(settled);
    }
  }
}
