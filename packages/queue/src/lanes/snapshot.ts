import type { TurnPriority } from '@h/turn';
import type { Keeper } from './keeper.js';
import type { SlotHolder } from './waiter.js';

/** A holder. */
export interface RunningSnapshot {
  readonly label: string | undefined;
  readonly priority: TurnPriority;
  readonly fence: number;
  /** `away` while its slot is lent in `yieldWhile()` or for a person; `stopping` in its grace period. */
  readonly state: 'running' | 'away' | 'returning' | 'stopping';
  readonly runningMs: number;
  readonly idleMs: number;
}

/** A waiting request. */
export interface WaitingSnapshot {
  readonly label: string | undefined;
  readonly priority: TurnPriority;
  readonly for: 'session' | 'slot';
  /** Position among the requests that wait for the same, from 1. */
  readonly position: number;
  readonly waitedMs: number;
}

/** A session with a holder or with waiting requests. */
export interface LaneSnapshot {
  readonly session: string;
  readonly running: RunningSnapshot | undefined;
  readonly waiting: readonly WaitingSnapshot[];
}

/** The lanes at one moment, as plain data. */
export interface LanesSnapshot {
  readonly state: 'open' | 'closed';
  readonly concurrency: number;
  /** Held slots, by priority. */
  readonly active: Readonly<Record<TurnPriority, number>>;
  /** Requests that wait for a slot, by priority, without those that wait behind others of their session. */
  readonly atGate: Readonly<Record<TurnPriority, number>>;
  /** All waiting requests. */
  readonly waiting: number;
  readonly sessions: readonly LaneSnapshot[];
  readonly groups: readonly {
    readonly kind: string;
    readonly key: string;
    readonly active: number;
    readonly concurrency: number;
  }[];
}

/** Describes the current state of the lanes. */
export const snapshotOf = (keeper: Keeper, concurrency: number): LanesSnapshot => {
  const now = keeper.now();
  const { gate } = keeper;
  const positions = new Map(gate.inOrder().map((entry, index) => [entry.owner, index + 1]));
  return {
    state: keeper.closing === undefined ? 'open' : 'closed',
    concurrency,
    active: { ...gate.active },
    atGate: { ...gate.waiting },
    waiting: keeper.waitingCount,
    sessions: [...keeper.lanes.values()].map(({ session, waiters }) => {
      const all = [...waiters];
      const waiting = all.filter(({ isWaiting }) => isWaiting);
      const holder = all[0]?.holder;
      return {
        session,
        running: holder && runningOf(holder, now),
        waiting: waiting.map((waiter, index) => ({
          label: waiter.request.label,
          priority: waiter.priority,
          for: waiter.state === 'behind' ? 'session' : 'slot',
          position: positions.get(waiter) ?? index + 1,
          waitedMs: now - waiter.queuedAt,
        })),
      };
    }),
    groups: [...gate.groups].map(({ kind, key, active, capacity }) => ({ kind, key, active, concurrency: capacity })),
  };
};

const runningOf = (holder: SlotHolder, now: number): RunningSnapshot => ({
  label: holder.waiter.request.label,
  priority: holder.waiter.priority,
  fence: holder.fence,
  state: holder.stopError ? 'stopping' : stateOf[holder.slot],
  runningMs: now - holder.startedAt,
  idleMs: now - holder.progressAt,
});

const stateOf = { held: 'running', lent: 'away', wanted: 'returning' } as const;
