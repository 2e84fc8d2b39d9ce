import { ServerEventParser, type ServerEvent } from '../state/sse.js';

export interface EventStreamOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The id to continue after, asked for each connection. */
  readonly after?: () => string | null;
  readonly onOpen?: () => void;
  /** Events of one chunk, so that a replay of thousands changes the page once. */
  readonly onEvents: (events: readonly ServerEvent[]) => void;
  readonly onStatus: (status: 'connecting' | 'offline' | 'denied' | 'gone', retryAt?: number) => void;
}

/** A station sends a comment at least every 15 seconds, so silence for longer than this is a lost connection. */
const silenceMs = 45_000;
/** A timer this late means that the computer was asleep. */
const sleepMs = 20_000;
const checkMs = 5_000;
const minDelayMs = 500;
const maxDelayMs = 15_000;
/** A connection that lasted this long was a good one: the delay of the next attempt begins from the minimum. */
const stableMs = 10_000;

/**
 * Reads server-sent events with `fetch`, so that the token is a header. It begins with `resume`, and connects again
 * until it is closed: after errors, silence and sleep, and when the network returns.
 */
export class EventStream {
  readonly #options: EventStreamOptions;
  #connection: AbortController | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #lastByte = 0;
  #lastCheck = Date.now();
  #isClosed = false;
  #isPaused = true;
  readonly #watch: ReturnType<typeof setInterval>;
  readonly #reconnect = (): void => this.#connect();

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#watch = setInterval(() => this.#check(), checkMs);
    addEventListener('online', this.#reconnect);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#watch);
    clearTimeout(this.#retry);
    removeEventListener('online', this.#reconnect);
    this.#connection?.abort();
  }

  /** Releases the connection until `resume`. */
  pause(): void {
    this.#isPaused = true;
    clearTimeout(this.#retry);
    this.#connection?.abort();
  }
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#connect();
  }

  #check(): void {
    const now = Date.now();
    const wasAsleep = now - this.#lastCheck > sleepMs;
    this.#lastCheck = now;
    const isSilent = this.#connection !== undefined && now - this.#lastByte > silenceMs;
    if (wasAsleep || isSilent) this.#connect();
  }

  #connect(): void {
    if (this.#isClosed || this.#isPaused) return;
    clearTimeout(this.#retry);
    this.#connection?.abort();
    const connection = new AbortController();
    this.#connection = connection;
    void this.#read(connection);
  }

  async #read(connection: AbortController): Promise<void> {
    const { url, headers, after, onOpen, onEvents, onStatus } = this.#options;
    const isCurrent = (): boolean => this.#connection === connection && !connection.signal.aborted;
    const startedAt = Date.now();
    this.#lastByte = startedAt;
    try {
      onStatus('connecting');
      const id = after?.() ?? null;
      const response = await fetch(url, {
        headers: { ...headers, accept: 'text/event-stream', ...(id !== null && { 'last-event-id': id }) },
        signal: connection.signal,
        cache: 'no-store',
      });
      if (response.status === 401 || response.status === 403) {
        this.close();
        onStatus('denied');
        return;
      }
      if (response.status === 404 || response.status === 410) {
        this.close();
        onStatus('gone');
        return;
      }
      if (!response.ok || !response.body) throw new Error(`Status ${response.status}`);
      onOpen?.();
      const parser = new ServerEventParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
        if (!isCurrent()) return;
        this.#lastByte = Date.now();
        const events = parser.push(chunk.value);
        if (events.length > 0) onEvents(events);
      }
    } catch {
      // Every failure is answered by the next attempt below.
    }
    if (!isCurrent() || this.#isClosed) return;
    connection.abort();
    this.#connection = undefined;
    this.#failures = Date.now() - startedAt > stableMs ? 0 : this.#failures + 1;
    const delay = Math.min(maxDelayMs, minDelayMs * 2 ** Math.min(this.#failures, 6)) * (0.75 + Math.random() / 2);
    this.#retry = setTimeout(() => this.#connect(), delay);
    onStatus('offline', Date.now() + delay);
  }
}
