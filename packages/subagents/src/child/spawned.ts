import type { Child } from '../team/family.js';
import type { AgentPolicy } from '../rights/policy.js';
import type { ParentTurn } from '../team/parent-turn.js';
import type { Pauses } from '../team/pauses.js';
import type { ChildEnd, ChildReceiver } from './record.js';
import { waitFor, type WaitUntil } from '../team/wait.js';

/** Request to spawn a sub-agent. */
export interface SpawnRequest {
  /** The session of its parent. */
  readonly parent: string;
  /** The kind of agent: its name in `agents`. */
  readonly agent: string;
  /** The task, which is its only input. */
  readonly task: string;
  /** Further restricts the rights of its kind and its parent. */
  readonly policy?: Partial<AgentPolicy> | undefined;
  /**
   * Receiver of the result: the parent's turns as a message, or the caller through `ended`.
   *
   * @defaultValue `'caller'`
   */
  readonly receiver?: ChildReceiver | undefined;
}

/** A sub-agent that runs or waits for a place. */
export interface Spawned {
  readonly status: 'accepted';
  readonly child: string;
  readonly agent: string;
  readonly session: string;
  /**
   * Its result. Never rejects. A tool that awaits it keeps the slot of its agent; use `wait` to release it meanwhile.
   */
  readonly ended: Promise<ChildEnd>;
  /**
   * Waits for the result and releases the slot of the parent meanwhile, as the tool `wait` does. For tools that spawn.
   *
   * @param signal Aborts the wait, which then rejects with its reason. The sub-agent continues.
   *
   * @example
   * ```ts
   * const research = async (task: string, session: string, signal: AbortSignal) => {
   *   const spawned = await team.spawn({ parent: session, agent: 'explore', task });
   *   return spawned.status === 'refused' ? spawned.reason : (await spawned.wait(signal)).text;
   * };
   * ```
   */
  wait(signal?: AbortSignal): Promise<ChildEnd>;
}

/** The parts of a team that a wait needs. */
export interface WaitHost {
  readonly turns: ReadonlyMap<string, ParentTurn>;
  readonly pauses: Pauses;
  readonly after: WaitUntil['after'];
}

/** Creates the handle of a sub-agent for its caller. */
export const spawnedOf = (team: WaitHost, child: Child): Spawned => {
  const { id, agent, session, parent } = child.record;
  const isDone = (): boolean => child.end !== undefined;
  return {
    status: 'accepted',
    child: id,
    agent,
    session,
    ended: child.ended.promise,
    wait: async (signal) => {
      const waiter = { session: parent, turn: team.turns.get(parent), place: child.parent.child?.place };
      const why = isDone()
        ? 'all-ended'
        : await team.pauses.during(waiter, () => waitFor(child.parent, isDone, { signal, after: team.after }));
      if (why === 'aborted') throw signal?.reason;
      return child.ended.promise;
    },
  };
};
