import { createHash } from 'node:crypto';
import { LruMap } from '@h/bounded';
import { anyString } from '@h/options';
import type { ArtifactReference } from '@h/turn';
import {
  artifactSettings,
  isArtifactId,
  mediaTypeOf,
  newArtifactId,
  type ArtifactSettings,
} from '../artifacts/settings.js';
import {
  ArtifactNotFoundError,
  checkQuota,
  type ArtifactInput,
  type ArtifactRange,
  type ArtifactSlice,
  type ArtifactStore,
  type ArtifactStoreOptions,
} from '../artifacts/store.js';
import type { ObjectInfo, ObjectStore } from './object-store.js';

/** Options of {@link objectArtifacts}. */
export interface ObjectArtifactsOptions extends ArtifactStoreOptions {
  /**
   * Start of all keys.
   *
   * @defaultValue `artifacts/`
   */
  readonly prefix?: string | undefined;
  /**
   * Maximum size of all artifacts together, in bytes.
   *
   * @defaultValue none: the service has quotas of its own, and counting requires a list of all artifacts
   */
  readonly maxBytes?: number | undefined;
}

/** Artifacts in an object store. */
export interface ObjectArtifacts extends ArtifactStore {
  /**
   * Deletes the artifacts of all sessions that were not used for `ttlMs`, and returns the number of these sessions.
   * Call it once a day from one process: it reads one small object per session.
   */
  sweep(): Promise<number>;
}

/** Sessions whose time of use and size a process remembers. A session beyond that is looked up again. */
const maxRemembered = 10_000;
/** How long a count of bytes is used before the artifacts of other processes are counted again. */
const countedForMs = 60_000;
/** Concurrent requests for the descriptions of a list. */
const concurrentHeads = 8;

/** The metadata of an artifact. */
interface Description {
  readonly mediaType: string;
  readonly isText: boolean;
  readonly size: number;
  readonly external: boolean;
}

/**
 * Stores artifacts as objects, one per artifact, under keys that do not reveal the session.
 *
 * Each session has a small object with the time of its last use, which is written again after an eighth of `ttlMs`: a
 * session is readable for `ttlMs` after its last use, and at most an eighth longer. Quotas include what other processes
 * stored up to a minute ago.
 *
 * @throws InvalidOptionError
 */
export const objectArtifacts = (objects: ObjectStore, options: ObjectArtifactsOptions = {}): ObjectArtifacts => {
  const settings = artifactSettings('objectArtifacts', options, Infinity, { prefix: anyString });
  return new StoredArtifacts(objects, settings, options.prefix ?? 'artifacts/');
};

class StoredArtifacts implements ObjectArtifacts {
  readonly #objects: ObjectStore;
  readonly #settings: ArtifactSettings;
  readonly #prefix: string;
  readonly #usedAt = new LruMap<string, number>(maxRemembered);
  readonly #counts = new LruMap<string, { bytes: number; readonly at: number }>(maxRemembered);

  constructor(objects: ObjectStore, settings: ArtifactSettings, prefix: string) {
    this.#objects = objects;
    this.#settings = settings;
    this.#prefix = prefix;
  }

  async put(artifact: ArtifactInput): Promise<ArtifactReference> {
    const isText = typeof artifact.content === 'string';
    const content = typeof artifact.content === 'string' ? Buffer.from(artifact.content) : artifact.content;
    const name = nameOf(artifact.session);
    const release = await this.#reserve(name, content.byteLength);
    const size = artifact.content.length;
    const mediaType = mediaTypeOf(artifact).slice(0, 255);
    const id = newArtifactId();
    const metadata = writeDescription({ mediaType, isText, size, external: artifact.external === true });
    try {
      // The time of use comes first: a concurrent sweep then sees that the session is in use.
      await this.#touch(name);
      await this.#objects.put(this.#key(name, id), content, { metadata, ifAbsent: true });
    } catch (error) {
      release();
      throw error;
    }
    return { id, size, mediaType };
  }

  async read(
    session: string,
    id: string,
    { offset = 0, length = Infinity }: ArtifactRange = {},
  ): Promise<ArtifactSlice> {
    if (!isArtifactId(id)) throw new ArtifactNotFoundError(id);
    const name = nameOf(session);
    const key = this.#key(name, id);
    if (await this.#isExpired(name)) throw new ArtifactNotFoundError(id);
    const found = await this.#objects.get(key, { offset, length });
    if (found === undefined) throw new ArtifactNotFoundError(id);
    const { mediaType, isText, size, external } = readDescription(found);
    // Only text of one byte per character has the same offsets in bytes.
    const isDirect = !isText || size === found.bytes;
    const bytes = isDirect ? await joined(found.content) : undefined;
    const content =
      bytes === undefined
        ? await this.#decoded(key, offset, length, found.content)
        : isText
          ? Buffer.from(bytes).toString()
          : bytes;
    await this.#touch(name);
    return { content, offset, size, mediaType, external };
  }

  async list(session: string): Promise<readonly ArtifactReference[]> {
    const name = nameOf(session);
    if (await this.#isExpired(name)) return [];
    const prefix = this.#key(name, '');
    const ids = (await this.#keysOf(name)).map((key) => key.slice(prefix.length));
    const references: ArtifactReference[] = [];
    for (let first = 0; first < ids.length; first += concurrentHeads) {
      const some = ids.slice(first, first + concurrentHeads).map(async (id) => {
        const info = await this.#objects.head(this.#key(name, id));
        if (info === undefined) return [];
        const { size, mediaType } = readDescription(info);
        return [{ id, size, mediaType }];
      });
      references.push(...(await Promise.all(some)).flat());
    }
    return references;
  }

  async delete(session: string, id: string): Promise<void> {
    if (!isArtifactId(id)) return;
    const name = nameOf(session);
    await this.#objects.delete([this.#key(name, id)]);
    this.#forgetCounts(name);
  }

  async deleteSession(session: string): Promise<void> {
    await this.#deleteNamed(nameOf(session));
  }

  async sweep(): Promise<number> {
    let removed = 0;
    const prefix = this.#markKey('');
    for await (const { key } of this.#objects.list(prefix)) {
      const name = key.slice(prefix.length);
      // Listed before the time of use is read: what is stored afterwards is not deleted.
      const keys = await this.#keysOf(name);
      this.#usedAt.delete(name);
      if (!(await this.#isExpired(name))) continue;
      await this.#objects.delete([...keys, key]);
      this.#forgetCounts(name);
      removed += 1;
    }
    return removed;
  }

  async #keysOf(name: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of this.#objects.list(this.#key(name, ''))) keys.push(key);
    return keys;
  }

  async #deleteNamed(name: string): Promise<void> {
    await this.#objects.delete(await this.#keysOf(name));
    await this.#objects.delete([this.#markKey(name)]);
    this.#usedAt.delete(name);
    this.#forgetCounts(name);
  }

  /** Checks the quotas and counts the artifact. Returns a function that removes it from the count. */
  async #reserve(name: string, bytes: number): Promise<() => void> {
    const { maxBytes, maxSessionBytes } = this.#settings;
    const session = maxSessionBytes === Infinity ? undefined : await this.#count(this.#key(name, ''));
    const total = maxBytes === Infinity ? undefined : await this.#count(`${this.#prefix}data/`);
    // No await between the check and the reservation: parallel calls of one process cannot exceed a quota together.
    checkQuota(bytes, { total: total?.bytes ?? 0, session: session?.bytes ?? 0 }, this.#settings);
    const counts = [session, total].filter((count) => count !== undefined);
    for (const count of counts) count.bytes += bytes;
    return () => {
      for (const count of counts) count.bytes -= bytes;
    };
  }

  async #count(prefix: string): Promise<{ bytes: number }> {
    const counted = this.#counts.get(prefix);
    if (counted !== undefined && this.#settings.now() - counted.at < countedForMs) return counted;
    let bytes = 0;
    for await (const each of this.#objects.list(prefix)) bytes += each.bytes;
    const known = this.#counts.get(prefix);
    if (known !== undefined && known !== counted) return known;
    const fresh = { bytes, at: this.#settings.now() };
    this.#counts.set(prefix, fresh);
    return fresh;
  }

  #forgetCounts(name: string): void {
    this.#counts.delete(this.#key(name, ''));
    this.#counts.delete(`${this.#prefix}data/`);
  }

  /** Returns whether the session was not used for `ttlMs`, by the time that any process has written. */
  async #isExpired(name: string): Promise<boolean> {
    const { now, ttlMs } = this.#settings;
    const isOld = (usedAt: number): boolean => now() - usedAt > ttlMs + ttlMs / 8;
    const known = this.#usedAt.get(name);
    if (known !== undefined && !isOld(known)) return false;
    const mark = await this.#objects.get(this.#markKey(name));
    if (mark === undefined) return false;
    const usedAt = Number(Buffer.from(await joined(mark.content)).toString());
    if (!Number.isFinite(usedAt)) return false;
    this.#usedAt.set(name, usedAt);
    return isOld(usedAt);
  }

  async #touch(name: string): Promise<void> {
    const { now, ttlMs } = this.#settings;
    const known = this.#usedAt.get(name);
    if (known !== undefined && now() - known < ttlMs / 8) return;
    await this.#objects.put(this.#markKey(name), Buffer.from(String(now())));
    this.#usedAt.set(name, now());
  }

  /** Reads a range of characters. Reading ends with the range; memory holds the range and one chunk. */
  async #decoded(key: string, offset: number, length: number, unused: AsyncIterable<Uint8Array>): Promise<string> {
    await close(unused);
    const whole = await this.#objects.get(key);
    if (whole === undefined) throw new ArtifactNotFoundError(key.slice(key.lastIndexOf('/') + 1));
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const end = offset + length;
    let position = 0;
    let text = '';
    const add = (part: string): void => {
      text += part.slice(Math.max(0, offset - position), Math.max(0, end - position));
      position += part.length;
    };
    for await (const chunk of whole.content) {
      add(decoder.decode(chunk, { stream: true }));
      if (position >= end) return text;
    }
    add(decoder.decode());
    return text;
  }

  #key(name: string, id: string): string {
    return `${this.#prefix}data/${name}/${id}`;
  }

  #markKey(name: string): string {
    return `${this.#prefix}used/${name}`;
  }
}

/** Hashes the name of a session, which may contain any characters. */
const nameOf = (session: string): string => createHash('sha256').update(session).digest('hex').slice(0, 32);

const writeDescription = (description: Description): Record<string, string> => ({
  artifact: encodeURIComponent(JSON.stringify(description).toWellFormed()),
});

const readDescription = ({ bytes, metadata }: ObjectInfo): Description => {
  const { artifact } = metadata;
  if (artifact !== undefined) return JSON.parse(decodeURIComponent(artifact)) as Description;
  return { mediaType: 'application/octet-stream', isText: false, size: bytes, external: true };
};

const joined = async (content: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return new Uint8Array(Buffer.concat(chunks));
};

/** Ends a download that is not needed. */
const close = async (content: AsyncIterable<Uint8Array>): Promise<void> => {
  await content[Symbol.asyncIterator]().return?.();
};
