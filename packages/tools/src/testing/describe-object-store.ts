import { createHash } from 'node:crypto';
import type { MaybePromise } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { contentFiles } from '../objects/content-files.js';
import { ObjectKeyError, ObjectTooLargeError, type ObjectSlice, type ObjectStore } from '../objects/object-store.js';

/** An object store under test. */
export interface ObjectStoreSubject {
  readonly store: ObjectStore;
  /**
   * Size in bytes of an upload that the store sends in several parts.
   *
   * @defaultValue `300_000`
   */
  readonly largeBytes?: number | undefined;
}

/** Bytes that differ from one position to the next, so that a shifted range is noticed. */
export const pattern = (bytes: number, seed = 1): Uint8Array => {
  const content = new Uint8Array(bytes);
  let state = seed;
  for (let index = 0; index < bytes; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    content[index] = state >>> 24;
  }
  return content;
};

async function* inParts(content: Uint8Array, size: number): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < content.byteLength; at += size) yield content.subarray(at, at + size);
}

async function* thenFails(content: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield* inParts(content, 50_000);
  throw new Error('the source failed');
}

/** Bytes in a form that is compared and shown fast. */
const digest = (content: Uint8Array): string =>
  `${content.byteLength} bytes ${createHash('sha256').update(content).digest('hex').slice(0, 16)}`;

const collect = async (content: AsyncIterable<Uint8Array> | undefined): Promise<string | undefined> => {
  if (content === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return digest(Buffer.concat(chunks));
};

const bytesOf = (slice: ObjectSlice | undefined): Promise<string | undefined> => collect(slice?.content);

const keysIn = async (store: ObjectStore, prefix: string): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys.toSorted();
};

/**
 * Tests an object store against the contract. Every store calls it in its tests.
 *
 * @param make - returns an empty store for each test
 */
export const describeObjectStore = (make: () => MaybePromise<ObjectStoreSubject>): void => {
  describe('keeps the contract of object stores', () => {
    it('returns bytes and metadata, whole and in ranges', async () => {
      const { store, largeBytes = 300_000 } = await make();
      for (const [index, size] of [0, 1, 1_000, largeBytes].entries()) {
        const content = pattern(size, size + 1);
        const key = `a/${index}`;
        await store.put(key, content, { metadata: { note: `n${index}` } });
        expect(await store.head(key)).toEqual({ bytes: size, metadata: { note: `n${index}` } });
        expect(await bytesOf(await store.get(key))).toBe(digest(content));
        for (const [offset, length] of [
          [0, 1],
          [1, 5],
          [size - 3, 100],
          [size, 1],
          [size + 10, 3],
          [5, 0],
          [131_000, 500],
        ] as const) {
          if (offset < 0) continue;
          const slice = await store.get(key, { offset, length });
          expect({ bytes: slice?.bytes, metadata: slice?.metadata }).toEqual({
            bytes: size,
            metadata: { note: `n${index}` },
          });
          expect(await bytesOf(slice)).toBe(digest(content.slice(offset, offset + length)));
        }
        expect(await bytesOf(await store.get(key, { offset: 2 }))).toBe(digest(content.slice(2)));
      }
    });

    it('stores a stream of any parts, and reads a part of it without the rest', async () => {
      const { store, largeBytes = 300_000 } = await make();
      const content = pattern(largeBytes);
      for (const size of [largeBytes, 70_001, 9_999]) {
        await store.put('stream', inParts(content, size));
        expect(await bytesOf(await store.get('stream'))).toBe(digest(content));
      }
      for await (const chunk of (await store.get('stream'))?.content ?? []) {
        expect([...chunk.subarray(0, 50)]).toEqual([...content.subarray(0, 50)]);
        break;
      }
    });

    it('returns nothing for an unknown key', async () => {
      const { store } = await make();
      expect(await store.get('unknown')).toBeUndefined();
      expect(await store.get('unknown', { offset: 5, length: 5 })).toBeUndefined();
      expect(await store.head('unknown')).toBeUndefined();
      await store.delete(['unknown']);
    });

    it.each(['', '/a', '../a', 'a/../b', 'a//b', 'a b', 'ü', 'a?b', 'a*', 'a>', 'a'.repeat(513)])(
      'rejects the invalid key %#',
      async (key) => {
        const { store } = await make();
        await expect(store.put(key, pattern(1))).rejects.toThrow(ObjectKeyError);
        await expect(store.get(key)).rejects.toThrow(ObjectKeyError);
      },
    );

    it('overwrites an object, unless the caller wants the key to be absent', async () => {
      const { store, largeBytes = 300_000 } = await make();
      for (const size of [10, largeBytes]) {
        expect(await store.put('key', pattern(size, 1))).toEqual({ isStored: true });
        expect(await store.put('key', pattern(size, 2), { ifAbsent: true })).toEqual({ isStored: false });
        expect(await bytesOf(await store.get('key'))).toBe(digest(pattern(size, 1)));
        expect(await store.put('key', pattern(size, 3))).toEqual({ isStored: true });
        expect(await bytesOf(await store.get('key'))).toBe(digest(pattern(size, 3)));
        await store.delete(['key']);
        expect(await store.put('key', pattern(size, 4), { ifAbsent: true })).toEqual({ isStored: true });
        await store.delete(['key']);
      }
    });

    it('stores one of many concurrent uploads of a key', async () => {
      const { store, largeBytes = 300_000 } = await make();
      for (const [key, size] of [
        ['small', 100],
        ['large', largeBytes],
      ] as const) {
        const uploads = [1, 2, 3, 4].map(async (seed) => {
          const { isStored } = await store.put(key, inParts(pattern(size, seed), 60_000), { ifAbsent: true });
          return isStored ? [seed] : [];
        });
        const [seed, ...others] = (await Promise.all(uploads)).flat();
        expect(others).toEqual([]);
        expect(await bytesOf(await store.get(key))).toBe(digest(pattern(size, seed)));
      }
    });

    it('lists by prefix and deletes many', async () => {
      const { store } = await make();
      const keys = Array.from({ length: 25 }, (_, index) => `many/${String(index).padStart(3, '0')}`);
      await Promise.all([...keys, 'many-others', 'other/1'].map(async (key) => store.put(key, pattern(key.length))));
      expect(await keysIn(store, 'many/')).toEqual(keys);
      expect(await keysIn(store, 'nothing/')).toEqual([]);
      for await (const { key, bytes } of store.list('other/')) expect(bytes).toBe(key.length);
      await store.delete(keys);
      expect(await keysIn(store, 'm')).toEqual(['many-others']);
      await store.delete([]);
    });

    it('checks the limit while the content arrives', async () => {
      const { store, largeBytes = 300_000 } = await make();
      let read = 0;
      const endless = async function* endless(): AsyncGenerator<Uint8Array, void, undefined> {
        for (;;) {
          read += 50_000;
          yield new Uint8Array(50_000);
        }
      };
      await expect(store.put('key', endless(), { maxBytes: largeBytes })).rejects.toThrow(ObjectTooLargeError);
      expect(read).toBeLessThanOrEqual(largeBytes + 50_000);
      expect(await store.head('key')).toBeUndefined();
      await expect(store.put('key', pattern(100), { maxBytes: 99 })).rejects.toThrow(ObjectTooLargeError);
      await expect(store.put('key', pattern(100), { maxBytes: 100 })).resolves.toEqual({ isStored: true });
    });

    it('keeps the old object if an upload fails or is aborted', async () => {
      const { store, largeBytes = 300_000 } = await make();
      await store.put('key', pattern(10));
      await expect(store.put('key', thenFails(pattern(largeBytes)))).rejects.toThrow('the source failed');
      const controller = new AbortController();
      const aborted = async function* aborted(): AsyncGenerator<Uint8Array, void, undefined> {
        yield* inParts(pattern(largeBytes), 50_000);
        controller.abort(new Error('the caller aborted'));
        yield pattern(10);
      };
      const upload = store.put('key', aborted(), { signal: controller.signal });
      await expect(upload).rejects.toThrow('the caller aborted');
      expect(await bytesOf(await store.get('key'))).toBe(digest(pattern(10)));
      expect(await keysIn(store, '')).toEqual(['key']);
    });

    it('stores files by the hash of their content, once', async () => {
      const { store, largeBytes = 300_000 } = await make();
      const files = contentFiles(store, { maxFileBytes: largeBytes });
      const content = pattern(largeBytes);
      const [first, second] = [await files.put(() => inParts(content, 10_000)), await files.put(content)];
      expect([first.isNew, second.isNew, first.address === second.address]).toEqual([true, false, true]);
      expect(await files.size(first.address)).toBe(largeBytes);
      expect(await collect(await files.read(first.address))).toBe(digest(content));
      await store.put(`files/${first.address}`, pattern(20, 9));
      const damaged = await files.read(first.address);
      await expect(collect(damaged)).rejects.toMatchObject({ code: 'content-changed' });
      await files.delete(first.address);
      expect(await files.read(first.address)).toBeUndefined();
      expect(await files.read('../etc/passwd')).toBeUndefined();
      let reads = 0;
      const changing = (): AsyncIterable<Uint8Array> => inParts(pattern(50, (reads += 1)), 10);
      await expect(files.put(changing)).rejects.toMatchObject({ code: 'content-changed' });
      expect(await keysIn(store, 'files/')).toEqual([]);
      await expect(files.put(pattern(largeBytes + 1))).rejects.toThrow(ObjectTooLargeError);
    });
  });
};
