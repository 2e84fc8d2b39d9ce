import type { ErrorInfo, MaybePromise, TurnOutcome, Usage } from '@h/turn';

/**
 * How a sub-agent ended.
 *
 * | status | meaning |
 * |---|---|
 * | `ok` | its turn was completed |
 * | `failed` | its turn ended otherwise, or could not start |
 * | `timed-out` | it exceeded its time limit |
 * | `cancelled` | it was cancelled, alone or with its parent |
 * | `interrupted` | the process died while it ran |
 */
export type ChildStatus = 'ok' | 'failed' | 'timed-out' | 'cancelled' | 'interrupted';

/** Result of a sub-agent. It is created once and never changes. */
export interface ChildEnd {
  readonly child: string;
  readonly agent: string;
  readonly session: string;
  readonly task: string;
  readonly status: ChildStatus;
  /** Outcome of its turn, if it had one. */
  readonly outcome?: TurnOutcome | undefined;
  readonly reason?: string | undefined;
  /** The error without headers and body, with messages cut. */
  readonly error?: ErrorInfo | undefined;
  /** Its last message, cut to `limits.resultChars`. */
  readonly text: string;
  /** Length of its last message in characters. */
  readonly textChars: number;
  /** Artifact with the full message, if it was cut. */
  readonly artifact?: string | undefined;
  readonly steps: number;
  readonly usage: Usage;
  /** Duration of its work in milliseconds; 0 if unknown. */
  readonly durationMs: number;
  /** Result of isolation, such as a branch name. */
  readonly note?: string | undefined;
}

/** Receiver of the result: the parent's turns, or the code that spawned the sub-agent. */
export type ChildReceiver = 'parent' | 'caller';

/** Stored state of a sub-agent, so that it is found after a crash. Plain JSON. */
export interface ChildRecord {
  /** Version of the format. */
  readonly v: 1;
  readonly id: string;
  readonly agent: string;
  readonly task: string;
  readonly session: string;
  /** Id of its turn. */
  readonly turn: string;
  /** The session of its parent. */
  readonly parent: string;
  /** The session at the top of the tree. */
  readonly root: string;
  readonly depth: number;
  readonly receiver: ChildReceiver;
  /** As milliseconds since 1970. */
  readonly spawnedAt: number;
  /** The folder of its copy, if it is isolated. */
  readonly isolated?: string | undefined;
  readonly end?: ChildEnd | undefined;
  /** The tool call of the parent that received its result, until that is stored. */
  readonly takenBy?: string | undefined;
}

/**
 * Stores records of sub-agents, so that those whose process died are found.
 *
 * Contract:
 * - Each `subagents()` has a separate store.
 * - `save` replaces the record with the same id. A confirmed record survives a crash.
 * - `list` may omit records that are not wanted; another process can then find them.
 */
export interface ChildStore {
  save(record: ChildRecord): MaybePromise<void>;
  delete(id: string): MaybePromise<void>;
  list(isWanted?: (record: ChildRecord) => boolean): MaybePromise<readonly ChildRecord[]>;
}
