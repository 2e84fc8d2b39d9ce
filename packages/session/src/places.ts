/** A place among so many, held by one who is at work. */
export interface Place {
  /** Gives the place to somebody else for as long as there is nothing to do here. */
  stepAside(): void;
  /** Goes on at once: there may be more at work for a while than there are places. */
  goOn(): void;
}

/** Runs work in one of so many places, those who came first first. */
export type Places = <Result>(work: (place: Place) => Promise<Result>) => Promise<Result>;

export const createPlaces = (count: number): Places => {
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
  return async (work) => {
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
      return await work({ stepAside: () => hold(false), goOn: () => hold(true) });
    } finally {
      hold(false);
    }
  };
};
