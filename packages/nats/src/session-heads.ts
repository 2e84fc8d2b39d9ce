import type { PastTurn } from '@h/turn';
import type { JetStreamManager } from '@nats-io/jetstream';
import type { KV, KvEntry } from '@nats-io/kv';
import { hashOf, newId } from './names.js';
import { isConflict, NatsError, retrying } from './errors.js';

/** What the bucket contains about a session. */
export interface Head {
  readonly session: string;
  /** The process that holds the session. */
  readonly owner: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly turns: number;
  readonly latest: PastTurn | null;
  readonly firstInput: string;
  readonly bytes: number;
}

/** A head with the revision of its key, by which the next write of it is checked. */
export interface StoredHead extends Head {
  readonly revision: number;
}

/** A process that holds sessions. */
interface Holder {
  readonly label: string;
  readonly leaseMs: number;
}

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
  readonly #manager: JetStreamManager;
  readonly #bucket: string;
  readonly #settings: HeadSettings;
  /** Sessions whose head may still name this process, which does not use them. */
  readonly #unreleased = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<unknown> = Promise.resolve();
  #releasing: Promise<unknown> | undefined;

  constructor(kv: KV, manager: JetStreamManager, bucket: string, settings: HeadSettings) {
    this.#kv = kv;
    this.#manager = manager;
    this.#bucket = bucket;
    this.#settings = settings;
  }

  async get(key: string): Promise<StoredHead | undefined> {
    const entry = await this.#get(`s.${key}`);
    return entry && { ...entry.json<Head>(), revision: entry.revision };
  }

  async *all(): AsyncGenerator<StoredHead & { readonly key: string }, void, undefined> {
    const entries = await retrying('Listing sessions', this.#settings.retryMs, () => this.#kv.history({ key: 's.*' }));
    for await (const entry of entries) {
      if (entry.operation !== 'PUT') continue;
      yield { ...entry.json<Head>(), revision: entry.revision, key: entry.key.slice(2) };
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
    const { label, leaseMs } = entry.json<Holder>();
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
      this.#renewing = this.renew().then(() => this.#releaseAll(), onProblem);
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
    const entries = await this.#kv.history({ key: 'p.*' });
    for await (const { key, created, revision } of entries) {
      if (now - created.getTime() > 86_400_000) await this.#purge(key, revision);
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
    return (await this.#get(`t.${hashOf(turn)}`))?.json<{ session: string }>().session;
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
