import type { Notification, Pool, PoolClient } from 'pg';
import { toPostgresError, type PostgresError } from './errors.js';

const firstPauseMs = 100;
const longestPauseMs = 5_000;
/** Interval and time limit of the statement that detects a connection that was cut without notice. */
const checkEveryMs = 10_000;
const checkTimeoutMs = 5_000;

/** Options of {@link Listener}. */
export interface ListenerOptions {
  readonly pool: Pool;
  readonly channel: string;
  readonly onProblem: (error: PostgresError) => void;
}

/**
 * Receives notifications on one connection, and connects again after a failure.
 *
 * A notification is a hint. Those that are sent while the connection is down are lost, so every subscriber is called
 * when it is up again.
 */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #subscribers = new Map<string, Set<() => void>>();
  #client: PoolClient | undefined;
  #connecting: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pauseMs = firstPauseMs;
  #isClosed = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Calls back when a notification has this payload. @returns the function that unsubscribes */
  subscribe(payload: string, onNotice: () => void): () => void {
    const callbacks = this.#subscribers.get(payload) ?? new Set();
    this.#subscribers.set(payload, callbacks);
    // A wrapper, so that one function can subscribe twice.
    const callback = (): void => onNotice();
    callbacks.add(callback);
    this.#connect();
    return () => {
      callbacks.delete(callback);
      if (callbacks.size === 0 && this.#subscribers.get(payload) === callbacks) this.#subscribers.delete(payload);
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#subscribers.clear();
    await this.#connecting;
    this.#drop();
  }

  #connect(): void {
    if (this.#client || this.#connecting || this.#isClosed) return;
    this.#connecting = this.#open()
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#connecting = undefined;
      });
  }

  async #open(): Promise<void> {
    const client = await this.#options.pool.connect();
    this.#client = client;
    client.on('error', (error) => this.#failed(error, client));
    client.on('end', () => this.#failed(new Error('The connection that listens has ended'), client));
    client.on('notification', ({ payload = '' }: Notification) => this.#notify(this.#subscribers.get(payload)));
    await within(client, `listen "${this.#options.channel}"`);
    if (this.#isClosed) return;
    this.#pauseMs = firstPauseMs;
    this.#scheduleCheck(client);
    for (const callbacks of this.#subscribers.values()) this.#notify(callbacks);
  }

  #scheduleCheck(client: PoolClient): void {
    this.#setTimer(checkEveryMs, () => {
      within(client, 'select 1').then(
        () => (this.#client === client ? this.#scheduleCheck(client) : undefined),
        (error: unknown) => this.#failed(error, client),
      );
    });
  }

  #failed(error: unknown, client = this.#client): void {
    if (this.#isClosed || client !== this.#client) return;
    this.#drop();
    this.#options.onProblem(toPostgresError(error));
    this.#setTimer(this.#pauseMs, () => this.#connect());
    this.#pauseMs = Math.min(2 * this.#pauseMs, longestPauseMs);
  }

  #drop(): void {
    const client = this.#client;
    this.#client = undefined;
    clearTimeout(this.#timer);
    // Destroyed, because a connection that listens must not serve statements.
    client?.release(true);
  }

  #setTimer(ms: number, action: () => void): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(action, ms);
    this.#timer.unref();
  }

  #notify(callbacks: Iterable<() => void> = []): void {
    // A callback may unsubscribe.
    for (const callback of Array.from(callbacks)) callback();
  }
}

const within = (client: PoolClient, text: string): Promise<unknown> => {
  const query = { text, query_timeout: checkTimeoutMs };
  return client.query(query);
};
