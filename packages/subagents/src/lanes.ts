import type { TurnPriority } from '@h/turn';

/** A lane and a slot that are held. */
export interface ChildLease {
  /** Aborted when the holder must stop. */
  readonly signal: AbortSignal;
  /** Releases the slot while `work` runs, and acquires one again before it resolves. The lane stays held. */
  yieldWhile<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Options of {@link ChildLanes.run}. */
export interface LaneOptions {
  readonly signal?: AbortSignal | undefined;
  readonly priority?: TurnPriority | undefined;
  readonly idleTimeoutMs?: number | undefined;
}

/**
 * Serializes the turns of a session and limits concurrent turns. `createLanes()` of `@h/queue` creates such lanes.
 *
 * Contract:
 * - `run` starts the task when its session and a slot are free, and releases both however the task ends.
 * - `yieldWhile` releases the slot of its caller, found by its asynchronous context, and acquires one again before it
 *   resolves; without a slot it only runs the work. Otherwise parents could hold all slots while they wait for sub-agents
 *   that need one.
 */
export interface ChildLanes {
  run<Result>(session: string, task: (lease: ChildLease) => Promise<Result>, options?: LaneOptions): Promise<Result>;
  yieldWhile<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Lanes without limits. */
export const noLanes: ChildLanes = {
  run: (_session, task) => task({ signal: new AbortController().signal, yieldWhile: (work) => work() }),
  yieldWhile: (work) => work(),
};
