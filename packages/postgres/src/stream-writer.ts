import { anyBoolean, checkOptions } from '@h/options';
import { TurnError, type JSONValue } from '@h/turn';
import { newId } from './clock.js';
import { PostgresError, toPostgresError } from './errors.js';
import { encodeName, keyOf } from './keys.js';
import type { Postgres } from './postgres.js';
import { topicOf, type StreamStatus } from './stream-reader.js';

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
  /** Releases what the writer holds, if it holds something. Another one may continue the stream. */
  release?(): Promise<void>;
}

interface Pending {
  readonly body: string;
  readonly isDelta: boolean;
}

/** Settings of {@link StreamWriter}. */
export interface WriterSettings {
  readonly batchMs: number;
  readonly maxPending: number;
  readonly fence: number;
}

/** Writes the events of a stream in batches, while no later writer has opened it. */
export class StreamWriter implements EventWriter {
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
