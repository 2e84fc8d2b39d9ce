import { LaneError } from '../errors.js';
import type { LaneEvent } from '../events.js';
import type { SlotHolder, Waiter } from './waiter.js';

/** Tracks which work made which requests, and detects requests that would wait for themselves or for each other. */
export class Parents {
  /** Number of holders with waiting child requests. */
  #count = 0;
  #isReported = false;

  /** Counts a request that waits. */
  waits(waiter: Waiter): void {
    const parent = parentOf(waiter);
    if (parent) this.#change(parent, 1);
  }

  /** Stops counting a request. */
  waitsNoLonger(waiter: Waiter): void {
    const parent = parentOf(waiter);
    if (parent) this.#change(parent, -1);
  }

  /** A holder has released its slot: its waiting child requests now belong to its parent. */
  over(holder: SlotHolder): void {
    const { waitingChildren } = holder;
    this.#change(holder, -waitingChildren);
    const parent = parentOf(holder.waiter);
    if (parent) this.#change(parent, waitingChildren);
  }

  /** The event to report, once, when every holder of a slot has a child request that waits for one. */
  deadlock(activeCount: number, holders: Iterable<SlotHolder>): LaneEvent | undefined {
    const isSeen =
      this.#count >= activeCount &&
      activeCount > 0 &&
      [...holders].every(({ slot, waitingChildren }) => slot !== 'held' || waitingChildren > 0);
    const isNew = isSeen && !this.#isReported;
    this.#isReported = isSeen;
    return isNew ? { type: 'slots-held-by-parents', sessions: [...holders].map(({ session }) => session) } : undefined;
  }

  #change(parent: SlotHolder, by: number): void {
    const before = parent.waitingChildren;
    parent.waitingChildren = before + by;
    if (before === 0 && parent.waitingChildren > 0) this.#count += 1;
    else if (before > 0 && parent.waitingChildren === 0) this.#count -= 1;
  }
}

/** The nearest ancestor that still holds a slot. Ancestors that have ended are dropped from the chain. */
export const parentOf = (waiter: Waiter): SlotHolder | undefined => {
  while (waiter.parent?.isCurrent === false) waiter.parent = waiter.parent.waiter.parent;
  return waiter.parent;
};

/** The error for a request that would wait for the work that it is a part of. */
export const reentryError = (waiter: Waiter): LaneError | undefined => {
  const { session } = waiter;
  for (let parent = parentOf(waiter); parent; parent = parentOf(parent.waiter)) {
    if (parent.session !== session || parent.isEnding) continue;
    const advice =
      'Use another session, start it after this work has ended, or start it in detach() if nothing waits for it.';
    return new LaneError(
      'lane-reentered',
      session,
      `Session ${JSON.stringify(session)} is already held by this work; waiting for it would deadlock. ${advice}`,
    );
  }
  return undefined;
};
