import { checkOptions, checkValue, instanceOf, integerFrom, InvalidOptionError, numberFrom } from '@h/options';
import { isAlive } from './holders.js';
import { decodeName } from './keys.js';
import { Postgres } from './postgres.js';
import { readStream, type ReadOptions, type StreamItem } from './stream-reader.js';
import { StreamWriter, type EventWriter } from './stream-writer.js';

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
   * @defaultValue `4_000_000`, about 10,000 deltas
   */
  readonly maxPending?: number | undefined;
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
/** Streams that `unended()` returns at once. */
const pageSize = 500;

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
      return new StreamWriter(database, checkedName(stream), { batchMs, maxPending, fence: writeOptions.fence ?? 0 });
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
