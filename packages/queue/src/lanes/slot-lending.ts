import type { TurnPriority } from '@h/turn';
import type { Gate } from './gate.js';
import type { LaneError } from '../errors.js';
import type { Parents } from './parents.js';
import { lostError, type SlotHolder, type Waiter } from './waiter.js';

/** The operations of {@link SlotLending} that the keeper performs. */
export interface SlotLendingHost {
  /** Admits all requests that have a free slot. */
  admitAll(): void;
  /** The priority of the most urgent request of its session. */
  priorityOf(waiter: Waiter): TurnPriority;
  /** Notifies the listener that it has a slot again. */
  notifyReturned(holder: SlotHolder): void;
}

/**
 * Lends the slots of holders that wait for other work or for a person, and acquires slots for them again.
 *
 * A slot is lent from the moment at which the first part of the work waits until the last part has returned. Parts that
 * return earlier continue without a slot.
 */
export class SlotLending {
  readonly #gate: Gate<Waiter>;
  readonly #parents: Parents;
  readonly #keeper: SlotLendingHost;

  constructor(gate: Gate<Waiter>, parents: Parents, keeper: SlotLendingHost) {
    this.#gate = gate;
    this.#parents = parents;
    this.#keeper = keeper;
  }

  lendSlot(holder: SlotHolder): void {
    holder.lentParts += 1;
    const before = holder.slot;
    holder.slot = 'lent';
    if (before === 'wanted') {
      this.#leaveGate(holder);
      this.#notifyReclaimed(holder);
    } else if (before === 'held' && holder.waiter.entry) {
      this.#gate.free(holder.waiter.entry);
    }
    this.#keeper.admitAll();
  }

  reclaimSlot(holder: SlotHolder): Promise<void> {
    holder.lentParts -= 1;
    if (!holder.isCurrent) return Promise.reject(lostError(holder.session));
    if (holder.stopError) return Promise.reject(holder.stopError);
    if (holder.lentParts > 0 || holder.slot !== 'lent') return Promise.resolve();
    return new Promise((resolve, reject) => {
      holder.onReturn = { resolve, reject };
      this.#rejoinGate(holder);
    });
  }

  /** Lends the slot of work that waits for a person. */
  pause(holder: SlotHolder): void {
    if (holder.isPaused || !holder.isCurrent || holder.stopError || holder.slot === 'wanted') return;
    holder.isPaused = true;
    this.lendSlot(holder);
  }

  /** Resumes paused work. @returns whether it has a slot; otherwise its listener is notified later */
  resume(holder: SlotHolder): boolean {
    if (holder.isPaused) {
      holder.isPaused = false;
      holder.lentParts -= 1;
      if (holder.isCurrent && !holder.stopError && holder.lentParts === 0) this.#rejoinGate(holder);
    }
    return holder.slot !== 'wanted' || !holder.isCurrent;
  }

  /** Records that a holder has a slot again. */
  back(holder: SlotHolder): void {
    holder.slot = 'held';
    this.#parents.waitsNoLonger(holder.waiter);
    this.#notifyReclaimed(holder);
  }

  /** Cancels the wait of a holder that must stop. */
  giveUp(holder: SlotHolder, error: LaneError): void {
    if (holder.slot === 'wanted') {
      holder.slot = 'lent';
      this.#leaveGate(holder);
      this.#keeper.admitAll();
    }
    holder.onReturn?.reject(error);
    holder.onReturn = undefined;
  }

  #rejoinGate(holder: SlotHolder): void {
    const { waiter } = holder;
    holder.slot = 'wanted';
    this.#parents.waits(waiter);
    if (waiter.entry) this.#gate.rejoin(waiter.entry, this.#keeper.priorityOf(waiter));
    this.#keeper.admitAll();
  }

  #notifyReclaimed(holder: SlotHolder): void {
    holder.onReturn?.resolve();
    holder.onReturn = undefined;
    this.#keeper.notifyReturned(holder);
  }

  #leaveGate({ waiter }: SlotHolder): void {
    this.#parents.waitsNoLonger(waiter);
    if (waiter.entry) this.#gate.leave(waiter.entry);
  }
}
