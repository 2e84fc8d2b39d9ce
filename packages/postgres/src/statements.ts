import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { monotonicMs } from './clock.js';
import { PostgresError, toPostgresError } from './errors.js';

/** Limits of one statement. */
export interface StatementLimits {
  /** How long the server may take, in milliseconds. */
  readonly timeoutMs?: number;
  /** How long it is retried while the database is unavailable, in milliseconds. */
  readonly retryMs?: number;
}

const firstPauseMs = 25;
const longestPauseMs = 1_000;

/**
 * Runs statements, and repeats those that fail because the database is unavailable.
 *
 * A connection that is cut after a commit loses the answer, so every statement must have the same effect when it runs a
 * second time.
 */
export class Statements {
  readonly #pool: Pool;
  readonly #defaults: Required<StatementLimits>;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(pool: Pool, defaults: Required<StatementLimits>) {
    this.#pool = pool;
    this.#defaults = defaults;
    // Each statement that waits for a retry adds a listener.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Runs one statement and returns its rows. @throws PostgresError */
  run<Row extends object>(
    text: string,
    values: readonly unknown[] = [],
    limits: StatementLimits = {},
  ): Promise<readonly Row[]> {
    const running = this.#run<Row>(text, values, limits);
    const settled = running.then(
      () => undefined,
      () => undefined,
    );
    this.#running.add(settled);
    void settled.then(() => this.#running.delete(settled));
    return running;
  }

  /** Rejects new statements, ends retries and waits for statements under way. */
  async end(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  async #run<Row extends object>(
    text: string,
    values: readonly unknown[],
    { timeoutMs = this.#defaults.timeoutMs, retryMs = this.#defaults.retryMs }: StatementLimits,
  ): Promise<readonly Row[]> {
    const until = monotonicMs() + retryMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      if (this.#closing.signal.aborted) throw closedError();
      try {
        const query = { text, values: [...values], query_timeout: timeoutMs };
        const { rows } = await this.#pool.query<Row>(query);
        return rows;
      } catch (thrown) {
        const error = toPostgresError(thrown);
        const isLast = !error.isRetryable || monotonicMs() + pauseMs > until;
        if (isLast || this.#closing.signal.aborted) throw error;
        await delay(pauseMs, undefined, { signal: this.#closing.signal }).catch(() => undefined);
      }
    }
  }
}

export const closedError = (): PostgresError =>
  new PostgresError('database-closed', 'The connection to PostgreSQL was closed by close(). Connect again.');
