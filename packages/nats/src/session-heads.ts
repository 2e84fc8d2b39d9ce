import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { KV, KvEntry } from '@nats-io/kv';
import { emptyHead, isHead, parse, type Head, type StoredHead } from './head.js';
import { hashOf, newId } from './names.js';
import { beforeRetry, DamagedEntryError, isConflict, NatsError, retryEnd, retrying } from './errors.js';
import { readSubject } from './read-subject.js';

/** A process that holds sessions. */
interface Holder {
  readonly label: string;
  readonly leaseMs: number;
}

/** A key of the bucket. */
interface Entry {
  readonly key: string;
  readonly revision: number;
  readonly createdAt: number;
  readonly text: string;
}

/** Heads and leases that are read with one request. */
const perRequest = 200;
const dayMs = 86_400_000;

/** Settings of {@link SessionHeads}. */
export interface HeadSettings {
  readonly label: string;
  readonly leaseMs: number;
  readonly retryMs: number;
  readonly onProblem: (error: Error) => void;
}

/**
 * The heads of all sessions in a key-value bucket, and the leases of the processes that hold them.
 *
 * A lease is a key that its process writes every third of `leaseMs`. Its age is measured by the clock of the server.
 */
export class SessionHeads {
  readonly process = newId();
  readonly #kv: KV;
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;
  readonly #bucket: string;
  readonly #settings: HeadSettings;
  /** Sessions whose head may still name this process, which does not use them. */
  readonly #unreleased = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<unknown> = Promise.resolve();
  #releasing: Promise<unknown> | undefined;

  constructor(kv: KV, client: JetStreamClient, manager: JetStreamManager, bucket: string, settings: HeadSettings) {
    this.#kv = kv;
    this.#client = client;
    this.#manager = manager;
    this.#bucket = bucket;
    this.#settings = settings;
  }

  /** Returns the head of a session. One that another client has overwritten counts as lost. */
  async get(key: string): Promise<StoredHead | undefined> {
    const entry = await this.#get(`s.${key}`);
    return entry && { ...(this.#decode(entry.key, entry.string()) ?? emptyHead), revision: entry.revision };
  }

  async *all(): AsyncGenerator<StoredHead & { readonly key: string }, void, undefined> {
    for await (const { key, revision, text } of this.#entries('s.*')) {
      const head = this.#decode(key, text);
      if (head !== undefined) yield { ...head, revision, key: key.slice(2) };
    }
  }

  #decode(key: string, text: string): Head | undefined {
    const found = parse(text);
    if (isHead(found)) return found;
    this.report(new NatsError('Reading the bucket', new DamagedEntryError(`$KV.${this.#bucket}.${key}`)));
    return undefined;
  }

  /** Yields keys of the bucket, and continues after the last one when the connection was lost. */
  async *#entries(keys: string): AsyncGenerator<Entry, void, undefined> {
    const prefix = `$KV.${this.#bucket}.`;
    const stream = `KV_${this.#bucket}`;
    let [first, end] = [1, retryEnd(this.#settings.retryMs)];
    for (;;) {
      try {
        const messages = readSubject(this.#client, this.#manager, stream, prefix + keys, perRequest, first);
        for await (const { seq, subject, headers, info, data } of messages) {
          first = seq + 1;
          // A client of another kind has deleted the key.
          if (headers?.has('KV-Operation') === true) continue;
          const createdAt = info.timestampNanos / 1e6;
          yield { key: subject.slice(prefix.length), revision: seq, createdAt, text: Buffer.from(data).toString() };
          end = retryEnd(this.#settings.retryMs);
        }
        return;
      } catch (error) {
        await beforeRetry('Listing sessions', error, end);
      }
    }
  }

  /**
   * Writes a head over the given revision, and returns it with the new one.
   *
   * @throws JetStreamApiError if another process has written it since
   */
  async set(key: string, head: Head, revision: number): Promise<StoredHead> {
    const value = JSON.stringify({ ...head, write: newId() });
    const write = async (): Promise<number> => {
      try {
        return await this.#kv.put(`s.${key}`, value, { previousSeq: revision });
      } catch (error) {
        if (!isConflict(error)) throw error;
        // The first attempt may have been stored, and its answer lost.
        const stored = await this.#get(`s.${key}`);
        if (stored?.string() === value) return stored.revision;
        throw error;
      }
    };
    return { ...head, revision: await retrying('Writing the head of a session', this.#settings.retryMs, write) };
  }

  /**
   * Writes this process into a head.
   *
   * @throws JetStreamApiError if another process has written it since
   */
  async take(key: string, head: StoredHead): Promise<StoredHead> {
    this.#unreleased.delete(key);
    try {
      return await this.set(key, { ...head, owner: this.process }, head.revision);
    } catch (error) {
      // The head may have been stored, and the answer lost.
      if (!isConflict(error)) this.releaseLater(key);
      throw error;
    }
  }

  /** Releases a session after the next renewal of the lease at which the server is available. */
  releaseLater(key: string): void {
    this.#unreleased.add(key);
  }

  /** Removes a head, unless it was written after the given revision. */
  remove(key: string, revision: number): Promise<void> {
    return this.#purge(`s.${key}`, revision);
  }

  /** Returns the label of the process that holds a session; `undefined` if its lease has expired. */
  async holderOf(key: string, { owner }: Pick<Head, 'owner'>): Promise<string | undefined> {
    if (owner === null || (owner === this.process && this.#unreleased.has(key))) return undefined;
    const entry = await this.#get(`p.${owner}`);
    if (entry === undefined) return undefined;
    // The lease of a living process that was overwritten is written again at its next renewal.
    const { label = owner, leaseMs = this.#settings.leaseMs } = (parse(entry.string()) ?? {}) as Partial<Holder>;
    // The age by the clock of the server, which stamps both keys.
    const now = await this.renew();
    return now - entry.created.getTime() < leaseMs ? label : undefined;
  }

  /** Renews the lease of this process, and returns the time of the server in milliseconds since 1970. */
  async renew(): Promise<number> {
    const { label, leaseMs, retryMs } = this.#settings;
    const value = JSON.stringify({ label, leaseMs } satisfies Holder);
    const name = `p.${this.process}`;
    await retrying('Renewing the lease', retryMs, () => this.#kv.put(name, value));
    const entry = await this.#get(name);
    if (entry === undefined) throw new NatsError('Renewing the lease', new Error('the key was deleted'));
    return entry.created.getTime();
  }

  /** Holds the lease from now on. */
  async start(): Promise<void> {
    if (this.#timer !== undefined) return;
    const { leaseMs, onProblem } = this.#settings;
    this.#timer = setInterval(() => {
      const renewed = this.renew().then(() => this.#releaseAll(), onProblem);
      // One whose answer was lost may be repeated after later ones.
      this.#renewing = this.#renewing.then(() => renewed);
    }, leaseMs / 3);
    this.#timer.unref();
    try {
      await this.renew();
    } catch (error) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      throw error;
    }
  }

  async stop(): Promise<void> {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#renewing;
    await this.#purge(`p.${this.process}`);
  }

  /** Reports a failure that no caller waits for. */
  report(error: Error): void {
    this.#settings.onProblem(error);
  }

  /** Removes the leases that expired a day ago. */
  async forgetProcesses(): Promise<void> {
    const now = await this.renew();
    for await (const { key, createdAt, revision } of this.#entries('p.*')) {
      if (now - createdAt > dayMs) await this.#purge(key, revision);
    }
  }

  /** Remembers the session of a turn, and forgets that of the turn before it. */
  async remember(turn: string, session: string, before: string | undefined): Promise<void> {
    const key = `t.${hashOf(turn)}`;
    await retrying('Writing the index of turns', this.#settings.retryMs, () =>
      this.#kv.put(key, JSON.stringify({ session })),
    );
    if (before !== undefined && before !== turn) await this.forget(before);
  }

  async forget(turn: string): Promise<void> {
    await this.#purge(`t.${hashOf(turn)}`);
  }

  async sessionOf(turn: string): Promise<string | undefined> {
    const entry = await this.#get(`t.${hashOf(turn)}`);
    const { session } = (parse(entry?.string() ?? '') ?? {}) as { readonly session?: unknown };
    return typeof session === 'string' ? session : undefined;
  }

  /** Never rejects. */
  #releaseAll(): Promise<unknown> {
    this.#releasing ??= Promise.all(Array.from(this.#unreleased, (key) => this.#release(key)))
      .catch(this.#settings.onProblem)
      .finally(() => (this.#releasing = undefined));
    return this.#releasing;
  }

  async #release(key: string): Promise<void> {
    const head = await this.get(key);
    if (!this.#unreleased.has(key)) return;
    try {
      if (head?.owner === this.process) await this.set(key, { ...head, owner: null }, head.revision);
    } catch (error) {
      // The session has been opened since.
      if (!isConflict(error)) throw error;
    }
    this.#unreleased.delete(key);
  }

  async #get(key: string): Promise<KvEntry | undefined> {
    const entry = await retrying('Reading the bucket', this.#settings.retryMs, () => this.#kv.get(key));
    return entry?.operation === 'PUT' ? entry : undefined;
  }

  /** Removes a key without a marker, which would remain for ever. */
  async #purge(key: string, revision?: number): Promise<void> {
    const filter = `$KV.${this.#bucket}.${key}`;
    await retrying('Deleting a key', this.#settings.retryMs, () =>
      this.#manager.streams.purge(`KV_${this.#bucket}`, {
        filter,
        ...(revision !== undefined && { seq: revision + 1 }),
      }),
    );
  }
}
