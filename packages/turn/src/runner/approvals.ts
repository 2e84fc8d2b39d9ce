import { TurnError } from '../contract/errors.js';
import type { ApprovalDecision, NewEventOf } from '../contract/events.js';

/** A turn that waits for approvals. */
export interface ApprovalHolder {
  readonly isEnding: boolean;
  feed(event: NewEventOf<'approval.answer'>): void;
}

/** The pending approval requests of all turns of a harness. */
export class Approvals {
  readonly #waiting = new Map<string, ApprovalHolder>();

  /**
   * Registers a turn that waits for an answer.
   *
   * @throws TurnError with the code `approval-id-in-use` if another turn waits for an answer with the same id
   */
  open(id: string, holder: ApprovalHolder): void {
    const other = this.#waiting.get(id);
    if (other !== undefined && other !== holder && !other.isEnding) {
      throw new TurnError(
        'approval-id-in-use',
        `Another turn waits for an approval with the id ${JSON.stringify(id)}. Make approval ids unique, for example by adding the turn id.`,
      );
    }
    this.#waiting.set(id, holder);
  }

  close(id: string, holder: ApprovalHolder): void {
    if (this.#waiting.get(id) === holder) this.#waiting.delete(id);
  }

  /** Removes all requests of a turn. */
  forget(holder: ApprovalHolder): void {
    for (const [id, waiting] of this.#waiting) if (waiting === holder) this.#waiting.delete(id);
  }

  /** Passes an answer to the turn that waits for it, once; returns `false` if no turn does. */
  answer(id: string, decision: ApprovalDecision): boolean {
    const holder = this.#waiting.get(id);
    if (holder === undefined || holder.isEnding) return false;
    this.#waiting.delete(id);
    holder.feed({ type: 'approval.answer', id, ...decision });
    return true;
  }
}
