import { checkOptions, integerFrom, numberFrom } from '@h/options';
import {
  checkKey,
  chunksOf,
  ObjectStoreError,
  type ByteRange,
  type ListedObject,
  type ObjectContent,
  type ObjectInfo,
  type ObjectSlice,
  type ObjectStore,
  type PutObjectOptions,
  type PutObjectResult,
} from '@h/tools/objects';
import { TurnError } from '@h/turn';
import { jetstream, jetstreamManager, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/nats-core';
import { Objm, StorageType, type ObjectInfo as NatsObjectInfo, type ObjectStore as NatsBucket } from '@nats-io/obj';
import { beforeRetry, DamagedEntryError, isConflict, retryEnd, retrying } from './errors.js';
import { bucketName } from './names.js';
import { readSubject } from './read-subject.js';
import { checkReplicas, streamConfig } from './streams.js';

/** Options of {@link natsObjects}. */
export interface NatsObjectsOptions {
  /**
   * Name of the object store, which is created if it does not exist.
   *
   * @defaultValue `h_objects`
   */
  readonly bucket?: string | undefined;
  /**
   * Copies of the data in a cluster, when the bucket is created.
   *
   * @defaultValue `1`, the default of NATS
   */
  readonly replicas?: number | undefined;
  /**
   * Time after which the server deletes an object, in milliseconds from its upload, when the bucket is created. Leave it
   * out for artifacts: they expire by their last use.
   *
   * @defaultValue none
   */
  readonly ttlMs?: number | undefined;
  /**
   * Maximum size of an object in bytes, checked while it is uploaded.
   *
   * @defaultValue 1 GiB, the size of a whole artifact store in files
   */
  readonly maxObjectBytes?: number | undefined;
  /**
   * How long a request is retried while the server is unavailable, in milliseconds. An upload is not retried.
   *
   * @defaultValue `30_000`, the time of a restart
   */
  readonly retryMs?: number | undefined;
}

const chunkBytes = 128 * 1_024;
/** Chunks that are requested at a time, so that a slow reader does not fill the memory. */
const chunksPerRequest = 16;
const requestTimeoutMs = 5_000;

/**
 * Stores objects in an object store of NATS JetStream, which other clients of NATS can read.
 *
 * @throws InvalidOptionError; NatsBucketError with replicas in a server before 2.10.23, which can lose them
 *
 * @example
 * ```ts
 * const objects = await natsObjects(await connect({ servers: 'nats://localhost' }), { bucket: 'artifacts' });
 * const artifacts = objectArtifacts(objects);
 * ```
 */
export const natsObjects = async (
  connection: NatsConnection,
  options: NatsObjectsOptions = {},
): Promise<ObjectStore> => {
  checkOptions('natsObjects()', options, {
    bucket: bucketName,
    replicas: integerFrom(1),
    ttlMs: integerFrom(1),
    maxObjectBytes: numberFrom(1, Infinity),
    retryMs: integerFrom(0),
  });
  const { bucket = 'h_objects', replicas = 1, ttlMs, maxObjectBytes = 1024 ** 3, retryMs = 30_000 } = options;
  const manager = await retrying('Connecting to JetStream', retryMs, () => jetstreamManager(connection));
  const client = jetstream(connection, { timeout: requestTimeoutMs });
  const buckets = new Objm(client);
  const existing = await streamConfig(manager, `OBJ_${bucket}`, retryMs);
  checkReplicas(connection, `OBJ_${bucket}`, existing?.num_replicas ?? replicas);
  const settings = { storage: StorageType.File, replicas, ...(ttlMs !== undefined && { ttl: nanos(ttlMs) }) };
  const opened = await retrying('Opening the bucket', retryMs, () =>
    existing ? buckets.open(bucket) : buckets.create(bucket, settings),
  );
  return new NatsObjects(opened, bucket, client, manager, { maxObjectBytes, retryMs });
};

interface Settings {
  readonly maxObjectBytes: number;
  readonly retryMs: number;
}

class NatsObjects implements ObjectStore {
  readonly #objects: NatsBucket;
  readonly #bucket: string;
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;
  readonly #settings: Settings;

  constructor(
    objects: NatsBucket,
    bucket: string,
    client: JetStreamClient,
    manager: JetStreamManager,
    settings: Settings,
  ) {
    this.#objects = objects;
    this.#bucket = bucket;
    this.#client = client;
    this.#manager = manager;
    this.#settings = settings;
  }

  async put(key: string, content: ObjectContent, options: PutObjectOptions = {}): Promise<PutObjectResult> {
    const maxBytes = Math.min(options.maxBytes ?? Infinity, this.#settings.maxObjectBytes);
    const chunks = chunksOf(checkKey(key), content, chunkBytes, { ...options, maxBytes });
    // The failure of the source is reported as it is.
    let failure: { readonly error: unknown } | undefined;
    const source = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await chunks.next();
            if (done === true) controller.close();
            else controller.enqueue(value);
          } catch (error) {
            failure = { error };
            controller.error(error);
          }
        },
      },
      { highWaterMark: 0 },
    );
    const { ifAbsent = false, metadata = {} } = options;
    try {
      // Also without a condition: the client removes the content that the description before names.
      const before = await this.#info(key);
      const exists = ifAbsent && before?.deleted === false && (await this.#isWhole(before));
      if (exists) return { isStored: false };
      const meta = { name: key, metadata: { ...metadata }, options: { max_chunk_size: chunkBytes } };
      const condition = ifAbsent ? { previousRevision: before?.revision ?? 0 } : {};
      await this.#objects.put(meta, source, { timeout: requestTimeoutMs, ...condition });
      return { isStored: true };
    } catch (error) {
      if (failure !== undefined) throw failure.error;
      if (ifAbsent && isConflict(error)) return { isStored: false };
      await this.#removeBroken(key).catch(() => undefined);
      throw this.#failed(`Storing ${key}`, error);
    } finally {
      await chunks.return();
    }
  }

  async get(key: string, { offset = 0, length = Infinity }: ByteRange = {}): Promise<ObjectSlice | undefined> {
    const found = await this.#existing(key);
    if (found === undefined) return undefined;
    const end = Math.min(found.size, offset + length);
    return { ...infoOf(found), content: offset < end ? this.#read(key, found, offset, end) : nothing() };
  }

  async head(key: string): Promise<ObjectInfo | undefined> {
    const found = await this.#existing(key);
    return found && infoOf(found);
  }

  async *list(prefix: string): AsyncGenerator<ListedObject, void, undefined> {
    const found = await this.#request(`Listing ${prefix}`, () => this.#objects.list());
    for (const each of found) {
      if (!isDescription(each)) continue;
      const { name, size, deleted } = each;
      if (!deleted && name.startsWith(prefix)) yield { key: name, bytes: size };
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      if (await this.#isDamaged(key)) await this.#purge(key);
      if ((await this.#existing(key)) === undefined) continue;
      await this.#request(`Deleting ${key}`, () => this.#objects.delete(key));
      // The client leaves a marker for ever. An object that was stored since has a later revision.
      const marker = await this.#info(key);
      if (marker?.deleted === true) await this.#purge(key, marker);
    }
  }

  /**
   * Removes an object without its content. After a failed upload the client removes what it has uploaded, also when the
   * object was stored and only the answer was lost.
   */
  async #removeBroken(key: string): Promise<void> {
    const found = await this.#existing(key);
    if (found !== undefined && !(await this.#isWhole(found))) await this.#purge(key, found);
  }

  async #isWhole({ name, nuid, chunks }: NatsObjectInfo): Promise<boolean> {
    const subject = `$O.${this.#bucket}.C.${nuid}`;
    const { state } = await this.#request(`Reading ${name}`, () =>
      this.#manager.streams.info(`OBJ_${this.#bucket}`, { subjects_filter: subject }),
    );
    return (state.subjects?.[subject] ?? 0) === chunks;
  }

  /** Removes the description of an object, unless it was stored again since the given one. */
  async #purge(key: string, given?: NatsObjectInfo): Promise<void> {
    const filter = `$O.${this.#bucket}.M.${Buffer.from(key).toString('base64url')}${padding(key)}`;
    await this.#request(`Deleting ${key}`, () =>
      this.#manager.streams.purge(`OBJ_${this.#bucket}`, {
        filter,
        ...(given !== undefined && { seq: given.revision + 1 }),
      }),
    );
  }

  /**
   * Reads the chunks between two positions, from the first one again after a failure that passes. The server sends a
   * whole chunk, and every chunk before it.
   */
  async *#read(
    key: string,
    { nuid, size }: NatsObjectInfo,
    from: number,
    to: number,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const action = `Reading ${key}`;
    const subject = `$O.${this.#bucket}.C.${nuid}`;
    let next = from;
    let end = retryEnd(this.#settings.retryMs);
    for (;;) {
      let position = 0;
      try {
        const messages = readSubject(this.#client, this.#manager, `OBJ_${this.#bucket}`, subject, chunksPerRequest);
        for await (const { data } of messages) {
          const slice = data.subarray(Math.max(0, next - position), Math.max(0, to - position));
          position += data.byteLength;
          next += slice.byteLength;
          if (slice.byteLength > 0) {
            yield slice;
            end = retryEnd(this.#settings.retryMs);
          }
          if (position >= to) return;
        }
      } catch (error) {
        await beforeRetry(action, error, end).catch((failure: unknown) => {
          throw this.#failed(action, failure);
        });
        continue;
      }
      throw this.#failed(action, new Error(`${position} of ${size} bytes exist; it was replaced or deleted`));
    }
  }

  async #info(key: string): Promise<NatsObjectInfo | undefined> {
    checkKey(key);
    return this.#request(`Reading ${key}`, async () => {
      const found = await this.#objects.info(key).catch((error: unknown) => {
        // The client fails so if the description is not the JSON of an object.
        throw error instanceof SyntaxError || error instanceof TypeError ? new DamagedEntryError(key) : error;
      });
      if (found !== null && !isDescription(found)) throw new DamagedEntryError(key);
      return found ?? undefined;
    });
  }

  async #isDamaged(key: string): Promise<boolean> {
    try {
      await this.#info(key);
      return false;
    } catch (error) {
      if (error instanceof ObjectStoreError && error.cause instanceof DamagedEntryError) return true;
      throw error;
    }
  }

  async #existing(key: string): Promise<NatsObjectInfo | undefined> {
    const found = await this.#info(key);
    return found?.deleted === true ? undefined : found;
  }

  async #request<Answer>(action: string, send: () => Promise<Answer>): Promise<Answer> {
    try {
      return await retrying(action, this.#settings.retryMs, send);
    } catch (error) {
      throw this.#failed(action, error);
    }
  }

  #failed(action: string, error: unknown): Error {
    if (error instanceof ObjectStoreError) return error;
    const cause = error instanceof TurnError ? error.cause : error;
    return new ObjectStoreError(`${action} in bucket ${this.#bucket}`, { cause });
  }
}

/** Whether a description is one that the client writes. The name of the content could name that of all objects. */
const isDescription = (found: NatsObjectInfo): boolean => {
  const { name, nuid, size, chunks, metadata = {} } = found as Partial<Record<keyof NatsObjectInfo, unknown>>;
  const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
  const isContent = typeof nuid === 'string' && /^\w{1,64}$/.test(nuid) && isCount(size) && isCount(chunks);
  return typeof name === 'string' && isContent && typeof metadata === 'object';
};

const infoOf = ({ size, metadata = {} }: NatsObjectInfo): ObjectInfo => ({ bytes: size, metadata });

async function* nothing(): AsyncGenerator<Uint8Array, void, undefined> {}

const padding = (key: string): string => '='.repeat((3 - (Buffer.byteLength(key) % 3)) % 3);
