/** Runs tasks, some now and some later; the place to let a queue of your own decide. */
export type Limit = <Result>(task: () => Promise<Result>) => Promise<Result>;

/** Runs so many tasks at a time, in the order in which they come. */
export const atMost = (count: number): Limit => {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (running >= count) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await task();
    } finally {
      // Whoever waits takes over the place, so that nobody else can slip in.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
};
