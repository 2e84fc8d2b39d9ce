import { connectPostgres, liveEvents, postgresSessions } from '@h/postgres';
import { postgresInbox, postgresLanes } from '@h/postgres/queue';
import { runWorker } from '@h/postgres/worker';
import { fileArtifacts } from '@h/tools';
import type { Agent } from '@h/turn';
import { tap } from 'rxjs';
import type { Backend } from './backend.js';
import { openPostgresRecords } from './postgres-records.js';

/** Options of {@link postgresBackend}. */
export interface PostgresBackendOptions {
  readonly databaseUrl: string;
  /** The schema of the tables. @defaultValue `'h'` */
  readonly schema?: string | undefined;
  /** A folder for artifacts, which all processes share. */
  readonly directory: string;
  /** Number of turns that run at once, over all processes. */
  readonly concurrency: number;
  /** Number of turns that each tenant may run at once. @defaultValue `concurrency` */
  readonly tenantConcurrency?: number | undefined;
  /** Number of slots that background turns never take. */
  readonly reservedForeground: number;
  /**
   * How long a process without a sign of life keeps its turns, in milliseconds.
   *
   * @defaultValue `15_000`, the default of `@h/postgres`
   */
  readonly leaseMs?: number | undefined;
  readonly onProblem: (error: unknown) => void;
}

/** How long a worker that stops waits for its turns before it hands them over, as long as Docker waits for a process. */
const drainMs = 10_000;

/** Opens a backend that several processes share through PostgreSQL. */
export const postgresBackend = async (options: PostgresBackendOptions): Promise<Backend> => {
  const { databaseUrl, schema, concurrency, reservedForeground, leaseMs, onProblem } = options;
  const database = connectPostgres({
    connectionString: databaseUrl,
    onProblem,
    ...(schema !== undefined && { schema }),
    ...(leaseMs !== undefined && { leaseMs }),
  });
  const records = await openPostgresRecords(database);
  const sessions = postgresSessions(database);
  const lanes = postgresLanes(database, {
    concurrency,
    reservedForeground,
    groups: { tenant: { concurrency: options.tenantConcurrency ?? concurrency } },
  });
  const inbox = postgresInbox(database);
  return {
    records,
    events: liveEvents(database),
    sessions,
    artifacts: await fileArtifacts({ directory: options.directory }),
    lanes,
    capacity: concurrency,
    submit: async (session, message, sendOptions) => {
      await inbox.submit(session, message, sendOptions);
      return true;
    },
    run: (agent, onEvent) => {
      const worker = runWorker({
        agent: watched(agent, onEvent),
        lanes,
        sessions,
        inbox: () => postgresInbox(database),
        inboxOptions: { mode: 'steer', maxPending: 100 },
        maxTaken: Math.max(16, 2 * concurrency),
        recoverEveryMs: Math.max(100, (leaseMs ?? 15_000) / 3),
        drainMs,
        signals: [],
        onProblem,
      });
      return Promise.resolve({ drain: () => worker.drain(), close: () => worker.drain() });
    },
    fenceOf: (session) => sessions.fenceOf(session),
    isHandedOver: (code = '') => inbox.keeps?.({ name: 'Error', message: '', code }) === true,
    check: async () => {
      await database.query('select 1', [], { timeoutMs: 2_000, retryMs: 0 });
    },
    close: async () => {
      await records.close();
      await database.close();
    },
  };
};

/** Shows the events of all turns, those that a resumed turn repeats included. */
const watched = (agent: Agent, onEvent: Parameters<Backend['run']>[1]): Agent => ({
  ...agent,
  turn: (input) => agent.turn(input).pipe(tap(onEvent)),
  resume: (turn, options) => agent.resume(turn, options).pipe(tap(onEvent)),
});
