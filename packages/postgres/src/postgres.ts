import type { PoolClient } from 'pg';
import { newId, monotonicMs } from './clock.js';
import { toPostgresError, type PostgresError } from './errors.js';
import { Listener } from './listener.js';
import { checkVersion, latestVersion, migrate, type TableVersion } from './migrations.js';
import { settingsOf, type PostgresOptions, type PostgresSettings } from './options.js';
import { closedError, Statements, type StatementLimits } from './statements.js';

/** Work that is done before the connection closes, such as the release of sessions. */
export type Closer = () => Promise<void>;

/**
 * A connection to PostgreSQL that the stores of this process share: a pool, the lease of the process and one connection
 * that listens for notifications. Use {@link connectPostgres}.
 */
export class Postgres {
  /** Identifies this process in the tables. */
  readonly id = newId();
  readonly settings: PostgresSettings;
  /** The messages that inboxes of this process have, by their tags, with the number of these inboxes. */
  readonly inboxTags = new Map<string, number>();
  readonly #statements: Statements;
  readonly #listener: Listener;
  readonly #closers = new Set<Closer>();
  readonly #onRenewal = new Set<() => void>();
  #ready: Promise<void> | undefined;
  #leased: Promise<void> | undefined;
  #renewal: ReturnType<typeof setTimeout> | undefined;
  #renewedAt = -Infinity;
  #closing: Promise<void> | undefined;
  /** Why this process can no longer work with the database. */
  #refusal: PostgresError | undefined;
  /** Set when the stores have released what they held. */
  #isEnded = false;

  constructor(options: PostgresOptions) {
    const settings = settingsOf(options);
    this.settings = settings;
    const { pool, queryTimeoutMs, retryMs, onProblem, schema } = settings;
    this.#statements = new Statements(pool, { timeoutMs: queryTimeoutMs, retryMs });
    this.#listener = new Listener({
      pool,
      channel: channelOf(schema),
      onProblem,
      onRefused: (error) => (this.#refusal ??= error),
    });
    pool.on('error', this.#onPoolError);
    pool.on('connect', this.#onConnect);
  }

  /** Returns the quoted name of a table or function. */
  name(table: string): string {
    return `"${this.settings.schema}".${table}`;
  }

  /** Creates or updates the tables. Called before the first statement. */
  ready(): Promise<void> {
    if (this.#isEnded) return Promise.reject(closedError());
    this.#ready ??= this.#migrate().catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  /** Runs one statement, which must have no further effect when it is repeated. @throws PostgresError */
  async query<Row extends object>(
    text: string,
    values: readonly unknown[] = [],
    limits?: StatementLimits,
  ): Promise<readonly Row[]> {
    await this.ready();
    if (this.#refusal) throw this.#refusal;
    return this.#statements.run<Row>(text, values, limits);
  }

  /** Acquires the lease of this process, and renews it until {@link close}. */
  lease(): Promise<void> {
    this.#leased ??= this.#renew(undefined).catch((error: unknown) => {
      this.#leased = undefined;
      throw error;
    });
    return this.#leased;
  }

  /** Whether other processes still respect the lease of this one. */
  get isLeased(): boolean {
    return monotonicMs() - this.#renewedAt < this.settings.leaseMs;
  }

  /** Calls back after each renewal. @returns the function that unsubscribes */
  onRenewal(callback: () => void): () => void {
    this.#onRenewal.add(callback);
    return () => this.#onRenewal.delete(callback);
  }

  /** Calls back when another process calls `notify` with this topic, and when notifications may have been lost. */
  listen(topic: string, onNotice: () => void): () => void {
    return this.#listener.subscribe(topic, onNotice);
  }

  /** The channel of notifications. */
  get channel(): string {
    return channelOf(this.settings.schema);
  }

  /** Registers work that is done before the connection closes. @returns the function that cancels it */
  onClose(closer: Closer): () => void {
    this.#closers.add(closer);
    return () => this.#closers.delete(closer);
  }

  /**
   * Releases what this process holds and closes the connections. Stores that use it reject all further calls with
   * `database-closed`. If the database is unavailable, others wait for the end of the lease.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #migrate(): Promise<void> {
    const { pool, schema, retryMs } = this.settings;
    const until = monotonicMs() + retryMs;
    for (;;) {
      try {
        return await migrate(pool, schema);
      } catch (thrown) {
        const error = toPostgresError(thrown);
        if (!error.isRetryable || this.#closing || monotonicMs() > until) throw error;
        await new Promise((resolve) => void setTimeout(resolve, migrationPauseMs));
      }
    }
  }

  async #renew(retryMs: number | undefined): Promise<void> {
    const { leaseMs, label } = this.settings;
    const everyMs = leaseMs / renewalsPerLease;
    const startedAt = monotonicMs();
    try {
      const [row] = await this.query<TableVersion>(
        `with dead as (
           delete from ${this.name('process')} where id in (
             select id from ${this.name('process')} where lease_until < clock_timestamp() - interval '1 day' and id <> $1
             for update skip locked
           )
         )
         insert into ${this.name('process')} as p (id, label, lease_until)
         values ($1, $2, clock_timestamp() + $3 * interval '1 ms')
         on conflict (id) do update set lease_until = excluded.lease_until
         returning ${latestVersion(this.name('migration'))}`,
        [this.id, label, leaseMs],
        retryMs === undefined ? {} : { timeoutMs: Math.max(everyMs, 100), retryMs },
      );
      this.#checkVersion(row);
      // The lease begins before the statement does.
      this.#renewedAt = startedAt;
      for (const callback of this.#onRenewal) callback();
    } finally {
      this.#scheduleRenewal(everyMs);
    }
  }

  /** A later release may have changed the tables while this process runs. */
  #checkVersion(tables: TableVersion | undefined): void {
    try {
      if (tables) checkVersion(this.settings.schema, tables);
    } catch (error) {
      this.#refusal ??= toPostgresError(error);
      throw this.#refusal;
    }
  }

  #scheduleRenewal(everyMs: number): void {
    clearTimeout(this.#renewal);
    if (this.#closing) return;
    this.#renewal = setTimeout(() => {
      this.#renew(0).catch((error: unknown) => this.settings.onProblem(toPostgresError(error)));
    }, everyMs);
    this.#renewal.unref();
  }

  async #close(): Promise<void> {
    const { pool, isOwnPool, onProblem } = this.settings;
    clearTimeout(this.#renewal);
    const problems = await Promise.allSettled(Array.from(this.#closers, (closer) => closer()));
    for (const each of problems) if (each.status === 'rejected') onProblem(toPostgresError(each.reason));
    if (this.#renewedAt > -Infinity) {
      await this.#statements
        .run(`delete from ${this.name('process')} where id = $1`, [this.id], { timeoutMs: 2_000, retryMs: 0 })
        .catch((error: unknown) => onProblem(toPostgresError(error)));
    }
    this.#isEnded = true;
    await this.#listener.close();
    await this.#statements.end();
    // The listeners stay on a pool that ends: it reports connections that are cut meanwhile.
    if (isOwnPool) {
      await pool.end();
      return;
    }
    pool.off('error', this.#onPoolError);
    pool.off('connect', this.#onConnect);
  }

  /** A connection can be cut while the pool has no listener on it, which would end the process. */
  readonly #onConnect = (client: PoolClient): void => {
    client.on('error', ignore);
  };

  /** An idle connection was cut; the pool has removed it. Without a listener the process would end. */
  readonly #onPoolError = (error: Error): void => this.settings.onProblem(toPostgresError(error));
}

/** A statement on the connection reports the failure. */
const ignore = (): void => undefined;

const renewalsPerLease = 3;
const migrationPauseMs = 250;

const channelOf = (schema: string): string => `h_${schema}`;

/**
 * Connects to PostgreSQL. The stores of a process share one connection; the tables are created with the first call.
 *
 * @throws InvalidOptionError
 *
 * @example
 * ```ts
 * const database = connectPostgres({ connectionString: process.env.DATABASE_URL });
 * const agent = harness({ model, sessions: postgresSessions(database) }).pipe();
 * process.once('SIGTERM', () => void database.close());
 * ```
 */
export const connectPostgres = (options: PostgresOptions = {}): Postgres => new Postgres(options);
