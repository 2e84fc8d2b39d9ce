import type { TurnPriority } from '@h/turn';

/** How a turn waits for its lane. */
export interface LaneOptions {
  /** Aborted when it is not wanted any more: one that waits for its lane leaves it. */
  readonly signal?: AbortSignal | undefined;
  readonly priority?: TurnPriority | undefined;
}

/**
 * Where turns line up: one at a time in a session, so many at a time altogether. The lanes of `@h/queue` are ones.
 *
 * Contract:
 * - `run` begins the task once its session and a global slot are free, and gives both back however it ends.
 * - `whileWaiting` gives back the global slot of the turn that runs in the session, keeps its session lane, and takes a slot
 *   again before it answers; a turn that has no slot waits all the same. Without it, as many parents as there are slots
 *   would wait for children for which there is none.
 */
export interface ChildLanes {
  run<Result>(session: string, task: () => Promise<Result>, options?: LaneOptions): PromiseLike<Result>;
  whileWaiting<Result>(session: string, wait: () => Promise<Result>): PromiseLike<Result>;
}

/** Where nobody lines up. */
export const noLanes: ChildLanes = {
  run: (_session, task) => task(),
  whileWaiting: (_session, wait) => wait(),
};
