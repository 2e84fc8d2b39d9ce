import {
  anyBoolean,
  checkOptions,
  checkValue,
  instanceOf,
  InvalidOptionError,
  numberFrom,
  integerFrom,
} from '@h/options';
import { TurnError, type JSONValue } from '@h/turn';
import { PostgresError, toPostgresError } from './errors.js';
import { newId } from './clock.js';
import { isAlive } from './holders.js';
import { decodeName, encodeName, keyOf } from './keys.js';
import { Postgres } from './postgres.js';

/** Options of {@link liveEvents}. */
export interface LiveEventsOptions {
  /**
   * How long events are collected before they are written together, in milliseconds. Readers are notified as often.
   *
   * @defaultValue `75`, which a reader does not notice
   */
  readonly batchMs?: number | undefined;
  /**
   * The size of the events that wait to be written, in characters. Beyond it, `append()` waits.
   *
   * @defaultValue `4_000_000`
   */
  readonly maxPending?: number | undefined;
}

/** How a stream ended. */
export type StreamStatus = 'completed' | 'errored';

/** An answer of {@link LiveEvents.read}. */
export type StreamItem =
  /** An event. Pass the latest `seq` as `after` to continue. */
  | { readonly type: 'event'; readonly seq: number; readonly event: JSONValue }
  /** The reader has every event that was written so far; more may follow. */
  | { readonly type: 'caught-up'; readonly seq: number }
  /** The stream has ended; no event follows. */
  | { readonly type: 'ended'; readonly status: StreamStatus };

/** Options of {@link LiveEvents.read}. */
export interface ReadOptions {
  /** The number of the latest event that the reader has. @defaultValue `0`, from the first */
  readonly after?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Options of {@link LiveEvents.write}. */
export interface WriteOptions {
  /**
   * The fence of what the writer writes about, such as a session: a writer with a smaller fence is rejected from then
   * on. Writers with a fence do not open streams that have ended.
   *
   * @defaultValue `0`
   */
  readonly fence?: number | undefined;
}

/** Options of {@link EventWriter.append}. */
export interface AppendOptions {
  /** Whether the event is a part of a later one, and is removed by `dropDeltas()`. @defaultValue `false` */
  readonly isDelta?: boolean | undefined;
}

/**
 * Writes the events of one stream. A stream has one writer: the next one that opens it takes it over, and all calls of
 * the earlier one are rejected with `stream-taken`.
 */
export interface EventWriter {
  /** Adds an event. Resolves when it may be followed by more, not when it is stored; see `flush()`. */
  append(event: JSONValue, options?: AppendOptions): Promise<void>;
  /**
   * Appends those of a complete list of earlier events that are not stored, because the previous writer died first.
   *
   * @param isSame - compares a stored event with a given one. Stored events that match none are left out of account.
   */
  complete(events: readonly JSONValue[], isSame: (stored: JSONValue, given: JSONValue) => boolean): Promise<void>;
  /** Resolves when all events are stored. @throws PostgresError */
  flush(): Promise<void>;
  /** Removes the stored deltas, because a later event contains them. Readers that are behind skip them. */
  dropDeltas(): Promise<void>;
  /** Stores all events and ends the stream. */
  end(status: StreamStatus): Promise<void>;
}

/** A stream that {@link LiveEvents.unended} returns. */
export interface UnendedStream {
  readonly stream: string;
  /** The fence of the session, which no earlier writer of the stream exceeds. */
  readonly fence: number;
}

/** Streams of events that other processes read while they are written. */
export interface LiveEvents {
  /** Opens a stream for writing, with the first event; one that exists continues behind its last event. */
  write(stream: string, options?: WriteOptions): EventWriter;
  /** Yields the events of a stream after a number, first the stored ones and then those that are written. */
  read(stream: string, options?: ReadOptions): AsyncGenerator<StreamItem>;
  /**
   * Returns open streams whose turn has ended in a session that no process holds, or that has a later turn: their writer
   * may have died between the last record of the turn and the last event of the stream. `runWorker()` completes them.
   */
  unended?(): Promise<readonly UnendedStream[]>;
  /** Removes streams that ended this long ago, in milliseconds. @returns their number */
  prune(olderThanMs: number): Promise<number>;
}

const owner = 'liveEvents()';
/** Events of one page. */
const pageSize = 500;
/** A reader asks again after this time even if it was not notified. */
const pollMs = 5_000;

/**
 * Streams of events in PostgreSQL, such as the events of a turn for a browser that is connected to another process.
 *
 * The table is the truth, and a notification is a hint: a reader that reconnects with the number of its latest event
 * misses nothing and receives nothing twice. Events are written in batches, never one by one.
 *
 * @throws InvalidOptionError
 *
 * @example
 * ```ts
 * const live = liveEvents(database);
 * for await (const item of live.read('turn-1', { after: lastEventId, signal })) {
 *   if (item.type === 'event') response.write(`id: ${item.seq}\ndata: ${JSON.stringify(item.event)}\n\n`);
 * }
 * ```
 */
export const liveEvents = (database: Postgres, options: LiveEventsOptions = {}): LiveEvents => {
  checkValue(owner, 'database', database, instanceOf(Postgres, 'a connection of connectPostgres()'));
  checkOptions(owner, options, { batchMs: numberFrom(0, 10_000), maxPending: integerFrom(1) });
  const { batchMs = 75, maxPending = 4_000_000 } = options;
  return {
    write: (stream, writeOptions = {}) => {
      checkOptions('write()', writeOptions, { fence: integerFrom(0) });
      return new Writer(database, checkedName(stream), { batchMs, maxPending, fence: writeOptions.fence ?? 0 });
    },
    read: (stream, readOptions = {}) => readStream(database, checkedName(stream), readOptions),
    unended: async () => {
      const name = (table: string): string => database.name(table);
      const rows = await database.query<{ name: string; fence: string }>(
        `select s.name, o.fence from ${name('stream')} s join ${name('turn')} t on t.key = s.key
           join ${name('session')} o on o.id = t.session
         where s.status = 'open' and t.outcome is not null
           and (o.owner is null or o.latest_key <> s.key or not ${isAlive(database, 'o.owner')})
         order by s.id limit ${pageSize}`,
      );
      return rows.map((row) => ({ stream: decodeName(row.name), fence: Number(row.fence) }));
    },
    prune: async (olderThanMs) => {
      checkValue('prune()', 'olderThanMs', olderThanMs, numberFrom(0));
      const [row] = await database.query<{ count: number }>(
        `with gone as (
           delete from ${database.name('stream')} where ended_at < clock_timestamp() - $1 * interval '1 ms' returning id
         ),
         events as (delete from ${database.name('stream_event')} using gone where stream = gone.id)
         select count(*)::integer as count from gone`,
        [olderThanMs],
      );
      return row?.count ?? 0;
    },
  };
};

const checkedName = (stream: string): string => {
  if (typeof stream === 'string' && stream !== '') return stream;
  throw new InvalidOptionError({
    owner,
    option: 'stream',
    message: `${owner}: the name of a stream must be a non-empty string.`,
  });
};

interface Pending {
  readonly body: string;
  readonly isDelta: boolean;
}

interface WriterSettings {
  readonly batchMs: number;
  readonly maxPending: number;
  readonly fence: number;
}

class Writer implements EventWriter {
  readonly #database: Postgres;
  readonly #key: string;
  readonly #name: string;
  readonly #settings: WriterSettings;
  readonly #writer = newId();
  #pending: Pending[] = [];
  #size = 0;
  #opening: Promise<string> | undefined;
  #seq = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> = Promise.resolve();
  #failure: Error | undefined;
  #isEnded = false;

  constructor(database: Postgres, stream: string, settings: WriterSettings) {
    this.#database = database;
    this.#key = keyOf(stream);
    this.#name = stream;
    this.#settings = settings;
  }

  async append(event: JSONValue, options: AppendOptions = {}): Promise<void> {
    checkOptions('append()', options, { isDelta: anyBoolean });
    if (this.#failure) throw this.#failure;
    if (this.#isEnded) throw endedError(this.#name);
    const body = JSON.stringify(event);
    this.#pending.push({ body, isDelta: options.isDelta ?? false });
    this.#size += body.length;
    if (this.#size > this.#settings.maxPending) await this.flush();
    else this.#schedule();
  }

  async complete(
    events: readonly JSONValue[],
    isSame: (stored: JSONValue, given: JSONValue) => boolean,
  ): Promise<void> {
    const id = await this.#open();
    const rows = await this.#database.query<{ body: string }>(
      `select body from ${this.#database.name('stream_event')} where stream = $1 and not is_delta order by seq`,
      [id],
    );
    let known = 0;
    for (const { body } of rows) {
      const next = events[known];
      if (next !== undefined && isSame(JSON.parse(body) as JSONValue, next)) known += 1;
    }
    for (const event of events.slice(known)) await this.append(event);
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    await this.#writing;
    if (this.#failure) throw this.#failure;
  }

  async dropDeltas(): Promise<void> {
    await this.flush();
    await this.#change(
      `with own as (select id from ${this.#database.name('stream')} where id = $1 and writer = $2 for update),
       gone as (delete from ${this.#database.name('stream_event')} e using own where e.stream = own.id and e.is_delta)
       select 1 from own`,
    );
  }

  async end(status: StreamStatus): Promise<void> {
    this.#isEnded = true;
    await this.flush();
    await this.#change(
      `with own as (
         update ${this.#database.name('stream')} set status = $3, ended_at = clock_timestamp()
         where id = $1 and writer = $2 returning id
       )
       select pg_notify($4, $5) from own`,
      [status, this.#database.channel, topicOf(this.#key)],
    );
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      // The next call is rejected with any other error.
      this.flush().catch((error: unknown) => {
        if (error instanceof PostgresError) this.#database.settings.onProblem(error);
      });
    }, this.#settings.batchMs);
  }

  /** Never rejects: the failure is reported by the next call. */
  async #write(): Promise<void> {
    if (this.#pending.length === 0 || this.#failure) return;
    const batch = this.#pending;
    this.#pending = [];
    this.#size = 0;
    try {
      await this.#open();
      const from = this.#seq + 1;
      this.#seq += batch.length;
      await this.#change(
        `with own as (
           update ${this.#database.name('stream')} set last_seq = greatest(last_seq, $3)
           where id = $1 and writer = $2 returning id
         ),
         added as (
           insert into ${this.#database.name('stream_event')} (stream, seq, is_delta, body)
           select own.id, $4 + given.number - 1, given.is_delta, given.body
           from own, unnest($5::boolean[], $6::text[]) with ordinality as given (is_delta, body, number)
           on conflict do nothing
         )
         select pg_notify($7, $8) from own`,
        [
          this.#seq,
          from,
          batch.map(({ isDelta }) => isDelta),
          batch.map(({ body }) => body),
          this.#database.channel,
          topicOf(this.#key),
        ],
      );
    } catch (error) {
      this.#failure = error instanceof TurnError ? error : toPostgresError(error);
    }
  }

  /** Runs a statement that changes the stream while this is its writer, and returns a row then. */
  async #change(sql: string, values: readonly unknown[] = []): Promise<void> {
    const id = await this.#open();
    const rows = await this.#database.query(sql, [id, this.#writer, ...values]);
    if (rows.length === 0) throw takenError(this.#name);
  }

  #open(): Promise<string> {
    this.#opening ??= this.#create();
    return this.#opening;
  }

  async #create(): Promise<string> {
    const { fence } = this.#settings;
    const [row] = await this.#database.query<{ id: string; last_seq: string }>(
      `insert into ${this.#database.name('stream')} as s (key, name, fence, writer) values ($1, $2, $3, $4)
       on conflict (key) do update
         set fence = excluded.fence, writer = excluded.writer, status = 'open', ended_at = null
         where s.fence <= excluded.fence and (s.status = 'open' or excluded.fence = 0)
       returning id, last_seq`,
      [this.#key, encodeName(this.#name), fence, this.#writer],
    );
    if (!row) throw takenError(this.#name);
    this.#seq = Number(row.last_seq);
    return row.id;
  }
}

const takenError = (stream: string): TurnError =>
  new TurnError(
    'stream-taken',
    `Another writer has taken over the stream ${JSON.stringify(stream)}. Write nothing more to it.`,
  );

const endedError = (stream: string): TurnError =>
  new TurnError(
    'stream-ended',
    `The stream ${JSON.stringify(stream)} has ended and accepts no more events. Write to another stream.`,
  );

const topicOf = (key: string): string => `events:${key}`;

interface StateRow {
  readonly id: string;
  readonly last_seq: string;
  readonly status: 'open' | StreamStatus;
}

async function* readStream(
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
      const heard = bell.next();
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
      await heard;
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
