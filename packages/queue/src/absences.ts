import type { Gate } from './gate.js';
import { lostError, type Holder } from './holder.js';
import type { LaneError } from './errors.js';
import type { Parents } from './parents.js';
import type { Ticket } from './ticket.js';

/** What {@link Absences} asks of those who keep the holders. */
export interface AbsencesKeeper {
  /** Lets in everybody for whom there is a slot. */
  letIn(): void;
  /** Lets the listener know that it may go on. */
  tellReturned(holder: Holder): void;
}

/**
 * Lends the slots of those who wait for something themselves, be it others or a person, and gives them one again.
 *
 * A slot is lent from when the first part of the work waits until the last one has come back: a part that comes back before
 * that goes on without one.
 */
export class Absences {
  readonly #gate: Gate<Ticket>;
  readonly #parents: Parents;
  readonly #keeper: AbsencesKeeper;

  constructor(gate: Gate<Ticket>, parents: Parents, keeper: AbsencesKeeper) {
    this.#gate = gate;
    this.#parents = parents;
    this.#keeper = keeper;
  }

  stepOut(holder: Holder): void {
    holder.absences += 1;
    const before = holder.slot;
    holder.slot = 'lent';
    if (before === 'wanted') {
      this.#leaveGate(holder);
      this.#tellBack(holder);
    } else if (before === 'held' && holder.ticket.pass) {
      this.#gate.free(holder.ticket.pass);
    }
    this.#keeper.letIn();
  }

  stepIn(holder: Holder): Promise<void> {
    holder.absences -= 1;
    if (!holder.isCurrent) return Promise.reject(lostError(holder.session));
    if (holder.stopError) return Promise.reject(holder.stopError);
    if (holder.absences > 0 || holder.slot !== 'lent') return Promise.resolve();
    return new Promise((resolve, reject) => {
      holder.onReturn = { resolve, reject };
      this.#comeBack(holder);
    });
  }

  /** Lends the slot of somebody who waits for a person. */
  pause(holder: Holder): void {
    holder.isPaused = true;
    this.stepOut(holder);
  }

  /** Who was paused goes on. @returns whether it may at once; else its listener hears when it may */
  goOn(holder: Holder): boolean {
    if (holder.isPaused) {
      holder.isPaused = false;
      holder.absences -= 1;
      if (holder.isCurrent && !holder.stopError && holder.absences === 0) this.#comeBack(holder);
    }
    return holder.slot !== 'wanted' || !holder.isCurrent;
  }

  /** It has a slot again. */
  back(holder: Holder): void {
    holder.slot = 'held';
    this.#parents.waitsNoLonger(holder.ticket);
    this.#tellBack(holder);
  }

  /** Who is to stop does not come back. */
  giveUp(holder: Holder, error: LaneError): void {
    if (holder.slot === 'wanted') {
      holder.slot = 'lent';
      this.#leaveGate(holder);
      this.#keeper.letIn();
    }
    holder.onReturn?.reject(error);
    holder.onReturn = undefined;
  }

  #comeBack(holder: Holder): void {
    const { ticket } = holder;
    holder.slot = 'wanted';
    this.#parents.waits(ticket);
    if (ticket.pass) this.#gate.rejoin(ticket.pass, ticket.lane?.priority ?? ticket.priority);
    this.#keeper.letIn();
  }

  #tellBack(holder: Holder): void {
    holder.onReturn?.resolve();
    holder.onReturn = undefined;
    this.#keeper.tellReturned(holder);
  }

  #leaveGate({ ticket }: Holder): void {
    this.#parents.waitsNoLonger(ticket);
    if (ticket.pass) this.#gate.leave(ticket.pass);
  }
}
