import { checkValue, InvalidOptionError, instanceOf, nonEmptyString, numberFrom, maxTimerMs } from '@h/options';
import type { Lanes } from '@h/queue';
import { createSharedLanes, type SharedLanesOptions } from '@h/queue/shared';
import { keyOf } from '../keys.js';
import { Postgres } from '../postgres.js';
import { maxConcurrency, PostgresSlots } from './slots.js';

/** Options of {@link postgresLanes}. */
export interface PostgresLanesOptions extends SharedLanesOptions {
  /**
   * The name of the lanes. Processes with the same name share slots and sessions. The process that started last sets
   * `concurrency`, `reservedForeground` and `ageAfterMs` for all.
   *
   * @defaultValue `'lanes'`
   */
  readonly name?: string | undefined;
  /**
   * How long a process that shows no sign of life keeps its slots, in milliseconds. A process that cannot renew the
   * lease for this time loses its slots as well (`lane-lost`), so choose it longer than a restart of the database.
   *
   * @defaultValue the `leaseMs` of the connection
   */
  readonly leaseMs?: number | undefined;
}

/** Lanes that processes share. */
export interface PostgresLanes extends Lanes {
  /**
   * Calls back when this process has lost its slots, before its work is asked to stop. The sessions of the work can be
   * handed over there, so that another process resumes it: `lanes.onLost(() => void sessions.handOver())`.
   */
  onLost(callback: () => void): () => void;
}

const owner = 'postgresLanes()';

/**
 * Creates lanes that processes share: one request at a time in a session, `concurrency` over all processes, the most
 * urgent first.
 *
 * The limit is exact, because a row lock orders all admissions. A slot is handed to a waiting process by a
 * notification. The slots of a process that died or was suspended pass to others at the end of its lease; its fence is
 * lower than theirs.
 *
 * @throws InvalidOptionError
 *
 * @example
 * ```ts
 * const lanes = postgresLanes(database, { concurrency: 16, reservedForeground: 4 });
 * const agent = harness({ model, sessions }).pipe(queue(lanes));
 * ```
 */
export const postgresLanes = (database: Postgres, options: PostgresLanesOptions = {}): PostgresLanes => {
  checkValue(owner, 'database', database, instanceOf(Postgres, 'a connection of connectPostgres()'));
  const { name = 'lanes', leaseMs = database.settings.leaseMs, ...rest } = options;
  checkValue(owner, 'name', name, nonEmptyString);
  checkValue(owner, 'leaseMs', leaseMs, numberFrom(500, maxTimerMs));
  const { concurrency = 4, ageAfterMs = Infinity, reservedForeground = 0 } = rest;
  if (concurrency > maxConcurrency) {
    const message = `${owner}: "concurrency" must be at most ${maxConcurrency}; received ${concurrency}.`;
    throw new InvalidOptionError({ owner, option: 'concurrency', message });
  }
  const onLost = new Set<() => void>();
  const slots = new PostgresSlots(database, {
    name: keyOf(name),
    concurrency,
    reserved: reservedForeground,
    ageMs: ageAfterMs === Infinity ? null : ageAfterMs,
    leaseMs,
    onLost: () => {
      for (const callback of onLost) callback();
    },
  });
  const lanes = createSharedLanes(slots, rest);
  const shutdown = async (reason?: string): Promise<void> => {
    await lanes.shutdown({ reason });
    await slots.close();
  };
  const forget = database.onClose(() => shutdown('The connection to PostgreSQL was closed.'));
  return {
    ...lanes,
    onLost: (callback) => {
      onLost.add(callback);
      return () => onLost.delete(callback);
    },
    shutdown: async ({ reason } = {}) => {
      forget();
      await shutdown(reason);
    },
  };
};
