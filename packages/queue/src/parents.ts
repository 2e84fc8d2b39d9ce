import { LaneError } from './errors.js';
import type { LaneEvent } from './events.js';
import type { SlotHolder } from './holder.js';
import type { Waiter } from './waiter.js';

/** Knows who has asked for a place as a part of whose work, and sees those who would wait for themselves or for each other. */
export class Parents {
  /** How many have started something that waits. */
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

  /** Somebody has given its place back: what it has started and still waits is a part of the work of its own parent. */
  over(holder: SlotHolder): void {
    const { waitingChildren } = holder;
    this.#change(holder, -waitingChildren);
    const parent = parentOf(holder.waiter);
    if (parent) this.#change(parent, waitingChildren);
  }

  /** What to report, once, when everybody who has a slot has started something that waits for one. */
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

/** The nearest of those as part of whose work it was asked for that still has a place; those before it are forgotten. */
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
