import type { ErrorInfo, MaybePromise, TurnOutcome, Usage } from '@h/turn';

/**
 * How a sub-agent ended, as the runtime saw it.
 *
 * | status | meaning |
 * |---|---|
 * | `ok` | its turn was completed |
 * | `failed` | its turn ended in another way, or could not begin |
 * | `timed-out` | it outlived its time |
 * | `cancelled` | it was stopped, by itself or with its parent |
 * | `interrupted` | the process died while it was under way |
 */
export type ChildStatus = 'ok' | 'failed' | 'timed-out' | 'cancelled' | 'interrupted';

/** What became of a sub-agent. There is one for each, and it never changes. */
export interface ChildEnd {
  readonly child: string;
  readonly agent: string;
  readonly session: string;
  readonly task: string;
  readonly status: ChildStatus;
  /** How its turn ended, where it had one. */
  readonly outcome?: TurnOutcome | undefined;
  readonly reason?: string | undefined;
  /** Without headers and body, and long messages cut: it is kept until it is read. */
  readonly error?: ErrorInfo | undefined;
  /** What it said last, cut to `limits.resultChars`. */
  readonly text: string;
  /** Length of what it said, in characters. */
  readonly textChars: number;
  /** Where all of it is kept, where it was cut. */
  readonly artifact?: string | undefined;
  readonly steps: number;
  readonly usage: Usage;
  /** From when it began to work, in milliseconds; 0 where nobody knows. */
  readonly durationMs: number;
  /** What isolation left behind: a branch, say. */
  readonly note?: string | undefined;
}

/** Who gets the result: the parent's turns, or the code that spawned it. */
export type ChildReceiver = 'parent' | 'caller';

/** A sub-agent as it is kept, so that it is found after a crash. Plain JSON. */
export interface ChildRecord {
  /** Version of the format. */
  readonly v: 1;
  readonly id: string;
  readonly agent: string;
  readonly task: string;
  readonly session: string;
  /** Id of its turn. */
  readonly turn: string;
  /** The session that it works for. */
  readonly parent: string;
  /** The session at the top of the tree. */
  readonly root: string;
  readonly depth: number;
  readonly receiver: ChildReceiver;
  /** As milliseconds since 1970. */
  readonly spawnedAt: number;
  /** The folder of its copy, where it works in one. */
  readonly isolated?: string | undefined;
  readonly end?: ChildEnd | undefined;
  /** The tool call of the parent that took its result, until that is known to be safe. */
  readonly takenBy?: string | undefined;
}

/**
 * Where records of sub-agents are kept, so that those whose process died are found.
 *
 * Contract: each `subagents()` has one of its own. `save` replaces the record of the same id; what it has confirmed survives a crash. `list` may leave out what is not
 * wanted, so that another process finds it.
 */
export interface ChildStore {
  save(record: ChildRecord): MaybePromise<void>;
  delete(id: string): MaybePromise<void>;
  list(isWanted?: (record: ChildRecord) => boolean): MaybePromise<readonly ChildRecord[]>;
}

/**
 * Keeps records in memory: for tests, and for objects that outlive another.
 *
 * @example
 * ```ts
 * const store = memoryChildStore();
 * const team = subagents({ agents, store });
 * ```
 */
export const memoryChildStore = (): ChildStore => {
  const records = new Map<string, ChildRecord>();
  return {
    save: (record) => void records.set(record.id, record),
    delete: (id) => void records.delete(id),
    list: () => [...records.values()],
  };
};
