/** Schedules tasks, for instance through a queue. */
export type Limit = <Result>(task: () => Promise<Result>) => Promise<Result>;

/** Runs at most `count` tasks at a time, in order of arrival. */
export const atMost = (count: number): Limit => {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (running >= count) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await task();
    } finally {
      // The first waiter takes over the slot, so that no later task overtakes it.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
};
