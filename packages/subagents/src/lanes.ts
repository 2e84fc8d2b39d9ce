import type { TurnPriority } from '@h/turn';

/** A lane and a slot that somebody has. */
export interface ChildLease {
  /** Aborted when it has to stop. */
  readonly signal: AbortSignal;
  /** Gives the slot to others while it waits, and has one again when it answers; the lane stays its own. */
  yieldWhile<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** How somebody waits for its lane, and how long it may do nothing in it. */
export interface LaneOptions {
  readonly signal?: AbortSignal | undefined;
  readonly priority?: TurnPriority | undefined;
  readonly idleTimeoutMs?: number | undefined;
}

/**
 * Where turns line up: one at a time in a session, so many at a time altogether. Those of `createLanes()` of `@h/queue` are
 * such lanes.
 *
 * Contract:
 * - `run` begins the task once its session and a slot are free, and gives both back however it ends.
 * - `yieldWhile` gives back the slot of whoever calls it, found by its asynchronous context, and has one again before it
 *   answers; without a slot it only does the work. As many parents as there are slots would else wait for sub-agents for
 *   which there is none.
 */
export interface ChildLanes {
  run<Result>(session: string, task: (lease: ChildLease) => Promise<Result>, options?: LaneOptions): Promise<Result>;
  yieldWhile<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Where nobody lines up. */
export const noLanes: ChildLanes = {
  run: (_session, task) => task({ signal: new AbortController().signal, yieldWhile: (work) => work() }),
  yieldWhile: (work) => work(),
};
