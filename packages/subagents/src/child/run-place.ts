import type { Gate } from '../team/gate.js';
import type { ChildLease } from '../lanes.js';

/** The slot of a sub-agent among the running ones. It is released during waits and at the end. */
export class RunPlace {
  readonly #gate: Gate;
  readonly #closing = new AbortController();
  readonly #signal: AbortSignal;
  #isHeld = false;
  /** Its lane, while it holds one. */
  lease: ChildLease | undefined;

  /** @param signal - aborted when it must stop; it then waits for no slot */
  constructor(gate: Gate, signal: AbortSignal) {
    this.#gate = gate;
    this.#signal = AbortSignal.any([signal, this.#closing.signal]);
  }

  /** Resolves to `true` once it holds a slot; to `false` if it must stop. */
  async enter(isBack = false): Promise<boolean> {
    const isIn = await this.#gate.enter(this.#signal, isBack);
    if (!isIn) return false;
    if (this.#closing.signal.aborted) {
      this.#gate.leave();
      return false;
    }
    this.#isHeld = true;
    return true;
  }

  pause(): void {
    if (this.#isHeld) this.#gate.leave();
    this.#isHeld = false;
  }

  async goOn(): Promise<void> {
    await this.enter(true);
  }

  close(): void {
    this.pause();
    this.#closing.abort();
  }
}
