import type { Gate } from './gate.js';
import type { ChildLease } from './lanes.js';

/** The place of one sub-agent among those that work. It gives it back while it waits for others, and for good at its end. */
export class RunPlace {
  readonly #gate: Gate;
  readonly #closing = new AbortController();
  #isHeld = false;
  /** Its lane, while it has one. */
  lease: ChildLease | undefined;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** Resolves once it may work; with `false` when it is not to work any more. */
  async enter(signal?: AbortSignal, isBack = false): Promise<boolean> {
    const isIn = await this.#gate.enter(signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal, isBack);
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
    await this.enter(undefined, true);
  }

  close(): void {
    this.pause();
    this.#closing.abort();
  }
}
