import {
  anyFunction,
  checkOptions,
  integerFrom,
  InvalidOptionError,
  numberFrom,
  objectWithMethods,
  secret,
  maxTimerMs,
  type OptionCheck,
  type OptionChecks,
} from '@h/options';
import { Pool } from 'pg';
import type { PostgresError } from './errors.js';

/** Options of {@link connectPostgres}. */
export interface PostgresOptions {
  /**
   * The server and the database, such as `postgres://user:password@host:5432/name`.
   *
   * @defaultValue the environment variables of `psql`, such as `PGHOST`
   */
  readonly connectionString?: string | undefined;
  /**
   * A pool of the caller, instead of `connectionString`. `close()` does not end it. One of its connections listens for
   * notifications, so it needs at least two. A pooler in transaction mode, such as PgBouncer's, is rejected with
   * `database-pooler`.
   */
  readonly pool?: Pool | undefined;
  /**
   * The schema of the tables. It is created with the tables.
   *
   * @defaultValue `'h'`
   */
  readonly schema?: string | undefined;
  /**
   * The name of this process in error messages and in the table `process`.
   *
   * @defaultValue the process id
   */
  readonly label?: string | undefined;
  /**
   * How long a process that no longer renews its lease keeps its sessions, in milliseconds. It renews the lease three
   * times in that period, by the clock of the database.
   *
   * @defaultValue `15_000`, which tolerates a failover of the database by a standby
   */
  readonly leaseMs?: number | undefined;
  /**
   * How long the server may take for a statement, in milliseconds.
   *
   * @defaultValue `10_000`, statements take milliseconds
   */
  readonly queryTimeoutMs?: number | undefined;
  /**
   * How long a statement is retried while the database is unavailable, in milliseconds. All statements can be repeated
   * without effect. `0` reports the first failure.
   *
   * @defaultValue `30_000`, the time of a restart
   */
  readonly retryMs?: number | undefined;
  /**
   * The maximum number of connections of the pool that is created for `connectionString`.
   *
   * @defaultValue `10`, the default of `pg`
   */
  readonly maxConnections?: number | undefined;
  /** Receives failures of work in the background: renewals, notifications. Errors that it throws are ignored. */
  readonly onProblem?: ((error: PostgresError) => void) | undefined;
}

/** The options with their defaults. */
export interface PostgresSettings {
  readonly pool: Pool;
  readonly isOwnPool: boolean;
  readonly schema: string;
  readonly label: string;
  readonly leaseMs: number;
  readonly queryTimeoutMs: number;
  readonly retryMs: number;
  readonly onProblem: (error: PostgresError) => void;
}

const owner = 'connectPostgres()';
/** One listens for notifications, and the others run statements. */
const minConnections = 2;
const urlOfServer: OptionCheck = {
  expected: 'a URL such as postgres://user:password@host:5432/name, or the path of a socket',
  accepts: (value) => typeof value === 'string' && /^(?:postgres(?:ql)?:\/\/|socket:|\/)/iu.test(value),
};

/** PostgreSQL stores no NUL character. */
const textWithoutNul: OptionCheck = {
  expected: 'a non-empty string without NUL characters',
  accepts: (value) => typeof value === 'string' && value !== '' && !value.includes('\0'),
};

const schemaName = /^[a-z_][a-z0-9_]{0,39}$/u;

const checks: OptionChecks<PostgresOptions> = {
  connectionString: secret(urlOfServer),
  pool: objectWithMethods('query', 'connect', 'on'),
  schema: {
    expected: 'a name of at most 40 lower-case letters, digits and underscores',
    accepts: (value) => typeof value === 'string' && schemaName.test(value),
  },
  label: textWithoutNul,
  leaseMs: numberFrom(500, maxTimerMs),
  queryTimeoutMs: numberFrom(100, maxTimerMs),
  retryMs: numberFrom(0, maxTimerMs),
  maxConnections: integerFrom(minConnections),
  onProblem: anyFunction,
};

/** @throws InvalidOptionError */
export const settingsOf = (options: PostgresOptions): PostgresSettings => {
  checkOptions(owner, options, checks);
  const { connectionString, pool, maxConnections = 10, queryTimeoutMs = 10_000, onProblem } = options;
  if (pool && connectionString !== undefined) {
    const message = `${owner}: "pool" and "connectionString" exclude each other. Pass one of them.`;
    throw new InvalidOptionError({ owner, option: 'pool', message });
  }
  const { max = minConnections } = pool?.options ?? {};
  if (max < minConnections) {
    const message = `${owner}: "pool" must have at least ${minConnections} connections; received "max": ${max}. One of them listens for notifications.`;
    throw new InvalidOptionError({ owner, option: 'pool', message });
  }
  return {
    pool:
      pool ??
      new Pool({
        ...(connectionString !== undefined && { connectionString }),
        max: maxConnections,
        connectionTimeoutMillis: Math.min(5_000, queryTimeoutMs),
        keepAlive: true,
        allowExitOnIdle: true,
        fallback_application_name: 'h',
      }),
    isOwnPool: pool === undefined,
    schema: options.schema ?? 'h',
    label: options.label ?? `process ${process.pid}`,
    leaseMs: options.leaseMs ?? 15_000,
    queryTimeoutMs,
    retryMs: options.retryMs ?? 30_000,
    onProblem: (error) => {
      try {
        onProblem?.(error);
      } catch {
        // An error of the callback has no effect.
      }
    },
  };
};
