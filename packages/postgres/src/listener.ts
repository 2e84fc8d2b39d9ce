import { setTimeout as delay } from 'node:timers/promises';
import type { Notification, Pool, PoolClient } from 'pg';
import { newId } from './clock.js';
import { PostgresError, toPostgresError } from './errors.js';

const firstPauseMs = 100;
const longestPauseMs = 5_000;
/** Interval and time limit of the statement that detects a connection that was cut without notice. */
const checkEveryMs = 10_000;
const checkTimeoutMs = 5_000;
/** How often a notification of this process to itself is sent, and how long each may take to arrive. */
const maxPings = 3;
const pingTimeoutMs = 2_000;

/** Options of {@link Listener}. */
export interface ListenerOptions {
  readonly pool: Pool;
  readonly channel: string;
  readonly onProblem: (error: PostgresError) => void;
  /** Called if notifications never arrive, before all subscribers are called. */
  readonly onRefused: (error: PostgresError) => void;
}

/**
 * Receives notifications on one connection, and connects again after a failure.
 *
 * A notification is a hint. Those that are sent while the connection is down are lost, so every subscriber is called
 * when it is up again.
 *
 * Through a pooler in transaction mode, `listen` succeeds and no notification arrives. The first connection is checked
 * for that with a notification that another connection sends.
 */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #subscribers = new Map<string, Set<() => void>>();
  #client: PoolClient | undefined;
  #connecting: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pauseMs = firstPauseMs;
  #isClosed = false;
  /** Whether a notification of another connection has arrived. */
  #isProven = false;
  /** Resolves the wait for the notification with this payload. */
  #ping: { readonly payload: string; readonly arrived: () => void } | undefined;

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
    client.on('notification', ({ payload = '' }: Notification) => {
      if (payload === this.#ping?.payload) this.#ping.arrived();
      this.#notify(this.#subscribers.get(payload));
    });
    await within(client, `listen "${this.#options.channel}"`);
    if (this.#isClosed) return;
    this.#pauseMs = firstPauseMs;
    this.#scheduleCheck(client);
    this.#notifyAll();
    // Subscribers do not wait for it. A failure of a statement proves nothing, so the next connection is checked again.
    if (!this.#isProven) void this.#prove(client).catch(() => undefined);
  }

  /** Checks that notifications of other connections arrive. */
  async #prove(client: PoolClient): Promise<void> {
    for (let ping = 1; ping <= maxPings && this.#client === client; ping += 1) {
      if (await this.#isHeard(client)) {
        this.#isProven = true;
        return;
      }
    }
    if (this.#client !== client || this.#isClosed) return;
    const message =
      'PostgreSQL: notifications of other connections do not arrive, as through a pooler in transaction or statement mode. Connect to the server directly, or through a pooler in session mode.';
    const error = new PostgresError('database-pooler', message);
    this.#options.onRefused(error);
    this.#options.onProblem(error);
    this.#notifyAll();
  }

  /** Sends a notification on another connection. @returns whether it arrived here */
  async #isHeard(client: PoolClient): Promise<boolean> {
    const { pool, channel } = this.#options;
    const payload = `ping:${newId()}`;
    const timeout = new AbortController();
    const arrived = new Promise<true>((resolve) => (this.#ping = { payload, arrived: () => resolve(true) }));
    try {
      const query = { text: 'select pg_notify($1, $2)', values: [channel, payload], query_timeout: checkTimeoutMs };
      await pool.query(query);
      const late = delay(pingTimeoutMs, false as const, { signal: timeout.signal, ref: false }).catch(() => false);
      if (await Promise.race([arrived, late])) return true;
      // What arrived while this process was busy or suspended has been read after another round trip.
      await within(client, 'select 1');
      return await Promise.race([arrived, Promise.resolve(false)]);
    } finally {
      this.#ping = undefined;
      timeout.abort();
    }
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

  #notifyAll(): void {
    for (const callbacks of this.#subscribers.values()) this.#notify(callbacks);
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
