import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChildLanes } from '../src/index.js';
import type { ChildLease } from '../src/lanes.js';

export interface Slots extends ChildLanes {
  /** Maximum number of concurrent holders so far. */
  readonly most: number;
  readonly taken: number;
  readonly sessions: readonly string[];
}

/** Minimal lanes with a number of slots, acquired in order of request. */
export const slots = (count: number): Slots => {
  const context = new AsyncLocalStorage<ChildLease>();
  const waiting: (() => void)[] = [];
  const sessions: string[] = [];
  const counts = { taken: 0, most: 0 };
  const enter = async (): Promise<void> => {
    if (counts.taken < count) counts.taken += 1;
    else await new Promise<void>((resolve) => void waiting.push(resolve));
    counts.most = Math.max(counts.most, counts.taken);
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else counts.taken -= 1;
  };
  const createLease = (): ChildLease => ({
    signal: new AbortController().signal,
    yieldWhile: async (work) => {
      leave();
      try {
        return await work();
      } finally {
        await enter();
      }
    },
  });
  return {
    get most() {
      return counts.most;
    },
    get taken() {
      return counts.taken;
    },
    sessions,
    run: async (session, task) => {
      await enter();
      sessions.push(session);
      try {
        const lease = createLease();
        return await context.run(lease, () => task(lease));
      } finally {
        leave();
      }
    },
    yieldWhile: (work) => context.getStore()?.yieldWhile(work) ?? work(),
  };
};
