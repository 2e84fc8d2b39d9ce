import type { Gate } from './gate.js';
import type { ChildLease } from './lanes.js';

/** The place of one sub-agent among those that work. It gives it back while it waits for others, and for good at its end. */
export class RunPlace {
  readonly #gate: Gate;
  readonly #closing = new AbortController();
  readonly #signal: AbortSignal;
  #isHeld = false;
  /** Its lane, while it has one. */
  lease: ChildLease | undefined;

  /** @param signal Aborted when it is to stop: it waits for no place any more. */
  constructor(gate: Gate, signal: AbortSignal) {
    this.#gate = gate;
    this.#signal = AbortSignal.any([signal, this.#closing.signal]);
  }

  /** Resolves once it may work; with `false` when it is not to work any more. */
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
