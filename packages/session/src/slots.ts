/** A slot of a running task. */
export interface Slot {
  /** Releases the slot while the task waits. */
  pause(): void;
  /** Acquires the slot again immediately, even beyond the limit. */
  resume(): void;
}

/** Runs a task as soon as a slot is free, in the order of the calls. */
export type Slots = <Result>(task: (slot: Slot) => Promise<Result>) => Promise<Result>;

/** Limits the number of concurrent tasks. */
export const createSlots = (count: number): Slots => {
  const waiting = new Set<() => void>();
  let taken = 0;
  const fill = (): void => {
    for (const enter of waiting) {
      if (taken >= count) return;
      waiting.delete(enter);
      taken += 1;
      enter();
    }
  };
  return async (task) => {
    await new Promise<void>((enter) => {
      waiting.add(enter);
      fill();
    });
    let isHeld = true;
    const hold = (wanted: boolean): void => {
      if (wanted === isHeld) return;
      isHeld = wanted;
      taken += wanted ? 1 : -1;
      fill();
    };
    try {
      return await task({ pause: () => hold(false), resume: () => hold(true) });
    } finally {
      hold(false);
    }
  };
};
