import { Subscription, type SchedulerLike } from 'rxjs';

/** A clock that a test advances, with the number of pending timers. */
export interface VirtualTime {
  readonly scheduler: SchedulerLike;
  readonly timers: number;
  advance(ms: number): void;
}

export const virtualTime = (): VirtualTime => {
  let now = 0;
  let timers: { readonly at: number; readonly run: () => void }[] = [];
  const schedule = (work: (this: never, state: never) => void, delay = 0, state?: unknown): Subscription => {
    const timer = { at: now + delay, run: () => work.call(undefined as never, state as never) };
    timers.push(timer);
    return new Subscription(() => {
      timers = timers.filter((other) => other !== timer);
    });
  };
  return {
    scheduler: { now: () => now, schedule },
    get timers() {
      return timers.length;
    },
    advance: (ms) => {
      const end = now + ms;
      for (;;) {
        const [next] = timers.filter(({ at }) => at <= end).toSorted((left, right) => left.at - right.at);
        if (!next) break;
        timers = timers.filter((other) => other !== next);
        now = Math.max(now, next.at);
        next.run();
      }
      now = end;
    },
  };
};
