import { checkValue, integerFrom } from '@h/options';
import type { JSONValue } from '@h/turn';
import { keyOf } from './keys.js';
import type { Postgres } from './postgres.js';

/** How a stream ended. */
export type StreamStatus = 'completed' | 'errored';

/** An answer of `liveEvents().read()`. */
export type StreamItem =
  /** An event. Pass the latest `seq` as `after` to continue. */
  | { readonly type: 'event'; readonly seq: number; readonly event: JSONValue }
  /** The reader has every event that was written so far; more may follow. */
  | { readonly type: 'caught-up'; readonly seq: number }
  /** The stream has ended; no event follows. */
  | { readonly type: 'ended'; readonly status: StreamStatus };

/** Options of `liveEvents().read()`. */
export interface ReadOptions {
  /** The number of the latest event that the reader has. @defaultValue `0`, from the first */
  readonly after?: number | undefined;
  /** Ends the reader. */
  readonly signal?: AbortSignal | undefined;
}

/** Events of one page. */
const pageSize = 500;
/** A reader asks again after this time even if it was not notified. */
const pollMs = 5_000;

/** The topic of the notifications about a stream. */
export const topicOf = (key: string): string => `events:${key}`;

interface StateRow {
  readonly id: string;
  readonly last_seq: string;
  readonly status: 'open' | StreamStatus;
}

/** Yields the stored events after a number, and then those that are written. */
export async function* readStream(
  database: Postgres,
  stream: string,
  { after = 0, signal }: ReadOptions,
): AsyncGenerator<StreamItem> {
  checkValue('read()', 'after', after, integerFrom(0));
  const key = keyOf(stream);
  const bell = new Bell(signal);
  const stop = database.listen(topicOf(key), () => bell.ring());
  let seq = after;
  let isCaughtUp = false;
  try {
    for (;;) {
      if (signal?.aborted === true) return;
      const rung = bell.next();
      // The state is read before the events: what was written in between is read in the next round.
      const [state] = await database.query<StateRow>(
        `select id, last_seq, status from ${database.name('stream')} where key = $1`,
        [key],
      );
      const last = Number(state?.last_seq ?? 0);
      while (seq < last) {
        const rows = await database.query<{ seq: string; body: string }>(
          `select seq, body from ${database.name('stream_event')} where stream = $1 and seq > $2 and seq <= $3
           order by seq limit ${pageSize}`,
          [state?.id, seq, last],
        );
        for (const row of rows) {
          seq = Number(row.seq);
          isCaughtUp = false;
          yield { type: 'event', seq, event: JSON.parse(row.body) as JSONValue };
        }
        // Deltas may have been removed at the end.
        if (rows.length < pageSize) seq = last;
      }
      if (state && state.status !== 'open') {
        yield { type: 'ended', status: state.status };
        return;
      }
      if (!isCaughtUp) yield { type: 'caught-up', seq };
      isCaughtUp = true;
      await rung;
    }
  } finally {
    stop();
    bell.close();
  }
}

/** Wakes a reader when it is notified, after a time, and when its signal is aborted. */
class Bell {
  readonly #signal: AbortSignal | undefined;
  #wake: () => void = () => undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener('abort', this.ring);
  }

  readonly ring = (): void => {
    clearTimeout(this.#timer);
    this.#wake();
  };

  /** Resolves when it rings for the first time after this call. */
  next(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.ring, pollMs);
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.ring);
  }
}
