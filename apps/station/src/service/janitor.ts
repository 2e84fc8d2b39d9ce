import { journalEvents } from '@h/turn';
import type { Backend } from './backend.js';
import type { StoredRun } from '../workflows/run-store.js';
import type { Projector } from './projector.js';

/** Options of {@link startJanitor}. */
export interface JanitorOptions {
  readonly backend: Backend;
  readonly projector: Projector;
  /** Whether a turn of the session runs in this process. */
  readonly isRunning: (session: string) => boolean;
  readonly keepEventsMs: number;
  readonly now: () => number;
  readonly onProblem: (error: unknown) => void;
}

/** Interval of the search for sessions whose process died between the end of a turn and its record, in milliseconds. */
const reconcileEveryMs = 20_000;
/** A session whose record has not changed for this long is examined, in milliseconds. */
const staleMs = 30_000;
const pruneEveryMs = 3_600_000;
const dayMs = 86_400_000;

/** Records and how long they are kept. */
const limits = [
  { kind: 'idempotency', days: 1, keep: 100_000 },
  { kind: 'message', days: 1, keep: 100_000 },
  { kind: 'link', days: 2, keep: 100_000 },
  { kind: 'cancel', days: 1, keep: 10_000 },
  // The latest tick of a yearly trigger shows what was missed.
  { kind: 'tick', days: 400, keep: 100_000 },
  { kind: 'approval', days: 90, keep: 100_000 },
  // A run ends within 24 days, the longest timeout of a workflow.
  { kind: 'run', days: 90, keep: 100_000 },
  { kind: 'audit', days: 365, keep: 1_000_000 },
] as const;

/** Removes what has expired, and completes records of turns whose process died. @returns the function that ends it */
export const startJanitor = (options: JanitorOptions): (() => void) => {
  let prunedAt = 0;
  let timer: ReturnType<typeof setTimeout>;
  let isEnded = false;
  const work = async (): Promise<void> => {
    await reconcile(options, staleMs);
    if (options.now() - prunedAt < pruneEveryMs) return;
    prunedAt = options.now();
    await prune(options);
  };
  const again = (): void => {
    timer = setTimeout(() => {
      work()
        .catch(options.onProblem)
        .finally(() => {
          if (!isEnded) again();
        });
    }, reconcileEveryMs);
    timer.unref();
  };
  again();
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
};

/** Removes records and events that have expired, and sessions and runs that their store keeps no longer. */
export const prune = async (options: Omit<JanitorOptions, 'projector'>): Promise<void> => {
  const { backend, now, keepEventsMs } = options;
  const { records, events, retention } = backend;
  for (const { kind, days, keep } of limits) await records.prune(kind, { before: now() - days * dayMs, keep });
  await events.prune(keepEventsMs);
  if (!retention) return;
  await expire(options, now() - retention.ms);
  await retention.sweep();
};

/** Deletes sessions that have no turn, and ended runs, if they were not used since a time. */
const expire = async (
  { backend, isRunning, onProblem }: Omit<JanitorOptions, 'projector'>,
  before: number,
): Promise<void> => {
  const { records, sessions, artifacts } = backend;
  for (const { id } of await records.list('session', { to: before, limit: 100_000 })) {
    const current = (await records.get('session', id))?.body;
    if (!current || current.turn !== null || current.state === 'queued' || current.updatedAt > before) continue;
    if (isRunning(id)) continue;
    try {
      await sessions.delete(id);
      await artifacts.deleteSession(id);
      await records.delete('session', id);
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== 'session-busy') onProblem(error);
    }
  }
  for (const { id, body } of await records.list('run', { to: before, limit: 100_000 })) {
    const { endedAt } = body.run as StoredRun;
    if (endedAt !== null && endedAt <= before) await records.delete('run', id);
  }
};

/**
 * Completes the records of turns whose journal has an end that the records do not have: shows the journal to the
 * projector again.
 */
export const reconcile = async (
  { backend, projector, isRunning, now, onProblem }: JanitorOptions,
  staleAfterMs: number,
): Promise<void> => {
  const { records, sessions } = backend;
  // The first search, at the start, examines all.
  const from = staleAfterMs === 0 ? 0 : now() - dayMs;
  for (const { body } of await records.list('session', { from, to: now() - staleAfterMs, limit: 100_000 })) {
    if (body.turn === null || body.updatedAt > now() - staleAfterMs || isRunning(body.id)) continue;
    try {
      // Fails if another process holds the session: then its turn is alive.
      const open = await sessions.open(body.id);
      try {
        const last = open.journal.at(-1)?.event;
        // An unfinished turn is resumed.
        if (last && last.type !== 'turn.end') continue;
        if (last?.turn !== body.turn) {
          // The turn never held its session, or its process died before it stored anything.
          await records.update('session', body.id, (current) =>
            current?.body.turn === body.turn
              ? { ...current, body: { ...current.body, turn: null, state: 'idle' } }
              : undefined,
          );
          continue;
        }
        for (const event of journalEvents(open.journal, open.snapshot)) projector.add({ ...event, replayed: true });
      } finally {
        await open.close();
      }
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== 'session-busy') onProblem(error);
    }
  }
};
