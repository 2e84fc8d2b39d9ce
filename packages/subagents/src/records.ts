import { toErrorInfo } from '@h/turn';
import type { Child } from './family.js';
import type { ChildRecord, ChildStore } from './record.js';

/** Keeps the records of sub-agents: those of one in the order in which it changed. */
export class Records {
  readonly #store: ChildStore | undefined;
  readonly #onProblem: (child: Child, reason: string) => void;

  constructor(store: ChildStore | undefined, onProblem: (child: Child, reason: string) => void) {
    this.#store = store;
    this.#onProblem = onProblem;
  }

  /** Resolves once the first record is safe; rejects where it cannot be kept. */
  async begin({ record }: Child): Promise<void> {
    await this.#store?.save(record);
  }

  /** Changes the record. What cannot be kept is said, and nobody waits for it. */
  change(child: Child, changes: Partial<ChildRecord>): Promise<void> {
    child.record = { ...child.record, ...changes };
    const { record } = child;
    return this.#inOrder(child, () => this.#store?.save(record));
  }

  /** It is of no use any more. */
  remove(child: Child): Promise<void> {
    return this.#inOrder(child, () => this.#store?.delete(child.record.id));
  }

  #inOrder(child: Child, write: () => unknown): Promise<void> {
    if (!this.#store) return child.saving;
    child.saving = child.saving.then(write).then(
      () => undefined,
      (error: unknown) => this.#onProblem(child, toErrorInfo(error).message),
    );
    return child.saving;
  }
}
