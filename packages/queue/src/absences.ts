import type { Gate } from './gate.js';
import { lostError, type Holder } from './holder.js';
import type { LaneError } from './errors.js';
import type { Ticket } from './ticket.js';

/**
 * Lends the slots of those who wait for something themselves, and gives them one again.
 *
 * A slot is lent from when the first part of the work waits until the last one has come back: a part that comes back before
 * that goes on without one.
 */
export class Absences {
  readonly #gate: Gate<Ticket>;
  readonly #letIn: () => void;

  constructor(gate: Gate<Ticket>, letIn: () => void) {
    this.#gate = gate;
    this.#letIn = letIn;
  }

  stepOut(holder: Holder): void {
    holder.absences += 1;
    if (holder.slot === 'wanted') {
      this.#leaveGate(holder);
      this.back(holder);
    } else if (holder.slot === 'held') {
      if (holder.ticket.pass) this.#gate.free(holder.ticket.pass);
    }
    holder.slot = 'lent';
    this.#letIn();
  }

  stepIn(holder: Holder): Promise<void> {
    holder.absences -= 1;
    if (!holder.isCurrent) return Promise.reject(lostError(holder.session));
    if (holder.stopError) return Promise.reject(holder.stopError);
    if (holder.absences > 0 || holder.slot !== 'lent') return Promise.resolve();
    holder.slot = 'wanted';
    return new Promise((resolve, reject) => {
      holder.onReturn = { resolve, reject };
      if (holder.ticket.pass) this.#gate.rejoin(holder.ticket.pass);
      this.#letIn();
    });
  }

  /** It may go on. */
  back(holder: Holder): void {
    holder.onReturn?.resolve();
    holder.onReturn = undefined;
  }

  /** Who is to stop does not come back. */
  giveUp(holder: Holder, error: LaneError): void {
    if (holder.slot === 'wanted') {
      this.#leaveGate(holder);
      holder.slot = 'lent';
    }
    holder.onReturn?.reject(error);
    holder.onReturn = undefined;
  }

  #leaveGate({ ticket: { pass } }: Holder): void {
    if (pass) this.#gate.leave(pass);
  }
}
