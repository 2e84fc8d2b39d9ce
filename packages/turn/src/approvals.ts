import { TurnError } from './errors.js';
import type { ApprovalDecision, NewEventOf } from './events.js';

/** A turn that waits for approvals. */
export interface ApprovalHolder {
  readonly isEnding: boolean;
  feed(event: NewEventOf<'approval.answer'>): void;
}

/** The requests for approval of all turns of a harness that are not answered yet. */
export class Approvals {
  readonly #waiting = new Map<string, ApprovalHolder>();

  /**
   * Notes that a turn waits for an answer.
   *
   * @throws TurnError with the code `approval-id-in-use` when another turn waits for an answer under the same id: an
   * answer could not tell them apart
   */
  open(id: string, holder: ApprovalHolder): void {
    const other = this.#waiting.get(id);
    if (other !== undefined && other !== holder && !other.isEnding) {
      throw new TurnError(
        'approval-id-in-use',
        `Another turn waits for an approval with the id ${JSON.stringify(id)}; make ids unique, with the id of the turn, say.`,
      );
    }
    this.#waiting.set(id, holder);
  }

  close(id: string, holder: ApprovalHolder): void {
    if (this.#waiting.get(id) === holder) this.#waiting.delete(id);
  }

  /** The turn waits no longer for anything. */
  forget(holder: ApprovalHolder): void {
    for (const [id, waiting] of this.#waiting) if (waiting === holder) this.#waiting.delete(id);
  }

  /** Hands an answer to the turn that waits for it, once; `false` when none does. */
  answer(id: string, decision: ApprovalDecision): boolean {
    const holder = this.#waiting.get(id);
    if (holder === undefined || holder.isEnding) return false;
    this.#waiting.delete(id);
    holder.feed({ type: 'approval.answer', id, ...decision });
    return true;
  }
}
