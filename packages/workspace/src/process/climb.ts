/** One step of a ladder: what to do, and how long after the one before. */
export interface Rung {
  readonly afterMs: number;
  readonly act: () => void;
}

/** Takes one step after the other; returns how to stop. */
export const climb = (rungs: readonly Rung[]): (() => void) => {
  let timer: NodeJS.Timeout | undefined;
  const next = (index: number): void => {
    const rung = rungs[index];
    if (rung === undefined) return;
    timer = setTimeout(() => {
      next(index + 1);
      rung.act();
    }, rung.afterMs);
  };
  next(0);
  return () => clearTimeout(timer);
};
