import type { Child } from './family.js';
import type { AgentPolicy } from './policy.js';
import type { ChildEnd, ChildReceiver } from './record.js';
import type { Team } from './team.js';
import { waitFor } from './wait.js';

/** What is asked for. */
export interface SpawnRequest {
  /** The session that the sub-agent works for. */
  readonly parent: string;
  /** The kind of agent: its name in `agents`. */
  readonly agent: string;
  /** What it is to do: all that it is told. */
  readonly task: string;
  /** What it may do at most, besides what its kind and its parent may. */
  readonly policy?: Partial<AgentPolicy> | undefined;
  /**
   * Who gets the result: the parent's turns as a message, or you by `ended`.
   *
   * @defaultValue `'caller'`
   */
  readonly receiver?: ChildReceiver | undefined;
}

/** A sub-agent that was spawned: it works, or waits for its place. */
export interface Spawned {
  readonly status: 'accepted';
  readonly child: string;
  readonly agent: string;
  readonly session: string;
  /** What becomes of it. Never rejected. Whoever awaits it in a tool keeps the slot of the agent meanwhile: `wait` does not. */
  readonly ended: Promise<ChildEnd>;
  /**
   * Waits for its end without the slot and the place of the agent that it works for, as the tool `wait` does: for tools that
   * spawn. Without a turn of that agent it only waits.
   *
   * @param signal Ends the wait, as does that of the tool call; then it is rejected with the reason. The sub-agent goes on.
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

/** What whoever asked for a sub-agent is told of it. */
export const spawnedOf = (team: Team, child: Child): Spawned => {
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
