import {
  memorySessions,
  type JournalRecord,
  type MaybePromise,
  type MemorySessions,
  type Message,
  type OpenSession,
} from '../src/index.js';

export type StoreOperation = 'open' | 'append' | 'close';

export interface SlowSessionsOptions {
  /** How long an operation takes, told how many of its kind came before. Without it the store answers at once, and so where it says nothing. */
  readonly delayMs?: number | ((operation: StoreOperation, count: number) => number | undefined);
  /** What an operation fails with, told how many of its kind came before. */
  readonly failWith?: (operation: StoreOperation, count: number) => Error | undefined;
  readonly initial?: Readonly<Record<string, readonly Message[]>>;
}

/** An in-memory store with delays and failures on demand. Records are stored in the order of the calls. */
export interface SlowSessions extends MemorySessions {
  /** How often each operation was asked for. */
  readonly counts: Readonly<Record<StoreOperation, number>>;
  /** Types of the records that were confirmed, in the order in which they were. */
  readonly confirmed: readonly string[];
  /** The journal of the latest turn of a session that is not held. */
  journal(session: string): readonly JournalRecord[];
}

export const slowSessions = ({ delayMs, failWith, initial }: SlowSessionsOptions = {}): SlowSessions => {
  const inner = memorySessions(initial);
  const counts: Record<StoreOperation, number> = { open: 0, append: 0, close: 0 };
  const confirmed: string[] = [];
  const run = <Value>(operation: StoreOperation, work: () => Value): MaybePromise<Value> => {
    const count = counts[operation];
    counts[operation] += 1;
    const failure = failWith?.(operation, count);
    const perform = (): Value => {
      if (failure) throw failure;
      return work();
    };
    const wait = typeof delayMs === 'function' ? delayMs(operation, count) : delayMs;
    if (wait === undefined) return perform();
    return new Promise<void>((resolve) => setTimeout(resolve, wait)).then(perform);
  };
  // A journal has no gaps: behind a record that could not be stored, none is stored.
  const damaged = new WeakSet<OpenSession>();
  const append = (open: OpenSession, record: JournalRecord): MaybePromise<void> => {
    if (failWith?.('append', counts.append)) damaged.add(open);
    if (!damaged.has(open)) void open.append(record);
    return run('append', () => void confirmed.push(record.event.type));
  };
  return {
    ...inner,
    counts,
    confirmed,
    open: (session) =>
      run('open', () => {
        const open = inner.open(session) as OpenSession;
        return {
          snapshot: open.snapshot,
          journal: open.journal,
          append: (record) => append(open, record),
          close: () => run('close', () => void open.close()),
        };
      }),
    journal: (session) => {
      const open = inner.open(session) as OpenSession;
      void open.close();
      return [...open.journal];
    },
  };
};
