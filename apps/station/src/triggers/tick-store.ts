import type { ProcessMark } from '@h/process';

/** A tick, or another event that must have one effect. */
export interface Tick {
  readonly trigger: string;
  /** Unique for the trigger: the time of a tick, or the id of a webhook. */
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The process that claimed it. */
  readonly process: ProcessMark;
  readonly isDone: boolean;
  /** JSON that the trigger passes on, so that another process can continue after a crash. Removed after its effect. */
  readonly payload: string;
}

/** Claims of ticks. A confirmed change survives `kill -9` and is atomic between processes. */
export interface TickStore {
  /** Adds a tick unless it was claimed before. @returns whether it was added */
  claim(tick: Tick): Promise<boolean>;
  /** Marks a tick whose effect is stored. */
  finish(tick: Tick): Promise<void>;
  /** Takes over an unfinished tick. @returns whether it still belonged to `from` */
  takeOver(tick: Tick, to: ProcessMark): Promise<boolean>;
  /** The latest ticks of a trigger, latest first. */
  latest(trigger: string, limit: number): Promise<readonly Tick[]>;
}

/** Keeps claims until the process ends. */
export const memoryTicks = (): TickStore => {
  const ticks = new Map<string, Tick>();
  const idOf = ({ trigger, key }: Pick<Tick, 'trigger' | 'key'>): string => `${trigger}\n${key}`;
  return {
    claim: (tick) => {
      const isNew = !ticks.has(idOf(tick));
      if (isNew) ticks.set(idOf(tick), tick);
      return Promise.resolve(isNew);
    },
    finish: (tick) => {
      ticks.set(idOf(tick), { ...tick, isDone: true });
      return Promise.resolve();
    },
    takeOver: (tick, to) => {
      const current = ticks.get(idOf(tick));
      const isOpen = current?.isDone === false && JSON.stringify(current.process) === JSON.stringify(tick.process);
      if (isOpen) ticks.set(idOf(tick), { ...tick, process: to });
      return Promise.resolve(isOpen);
    },
    latest: (trigger, limit) =>
      Promise.resolve(
        [...ticks.values()]
          .filter((tick) => tick.trigger === trigger)
          .toSorted((left, right) => right.at - left.at)
          .slice(0, limit),
      ),
  };
};
