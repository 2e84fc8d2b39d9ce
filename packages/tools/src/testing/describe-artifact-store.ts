import type { MaybePromise } from '@h/turn';
import { describe, expect, it } from 'vitest';
import {
  ArtifactNotFoundError,
  ArtifactQuotaError,
  type ArtifactStore,
  type ArtifactStoreOptions,
} from '../artifacts/store.js';

/** Text of one, two, three and four bytes per character, in one unit of UTF-16 or two. */
const texts = [
  '',
  'plain',
  'héllo – wörld',
  '漢字かな',
  '👩‍👩‍👧 family 🇩🇪',
  'a\r\n\tb\u0000c\u2028d',
  '\ufeffmark',
  'x'.repeat(70_000),
];

/**
 * Tests an artifact store against the contract. Every store calls it in its tests.
 *
 * @param make - creates an empty store with the options of a test
 */
export const describeArtifactStore = (make: (options?: ArtifactStoreOptions) => MaybePromise<ArtifactStore>): void => {
  describe('keeps the contract of artifact stores', () => {
    it('returns text unchanged, whole and in ranges', async () => {
      const store = await make();
      for (const content of texts) {
        const { id, size } = await store.put({ session: 'alice', content });
        expect(size).toBe(content.length);
        const whole = { content, offset: 0, size, mediaType: 'text/plain', external: false };
        expect(await store.read('alice', id)).toEqual(whole);
        for (const offset of [0, 7, content.length + 5]) {
          for (const length of [0, 4, 100_000]) {
            const slice = await store.read('alice', id, { offset, length });
            // A range may start or end within a surrogate pair.
            expect(slice).toEqual({ ...whole, content: content.slice(offset, offset + length), offset });
          }
        }
      }
    });

    it('returns bytes unchanged', async () => {
      const store = await make();
      const content = Uint8Array.from({ length: 300 }, (_, index) => index % 256);
      const { id } = await store.put({ session: 'alice', content, mediaType: 'image/png', external: true });
      const slice = await store.read('alice', id, { offset: 250, length: 10 });
      expect(slice).toMatchObject({ offset: 250, size: 300, mediaType: 'image/png', external: true });
      expect([...(slice.content as Uint8Array)]).toEqual(Array.from({ length: 10 }, (_, index) => (250 + index) % 256));
    });

    it('returns an empty range past the end', async () => {
      const store = await make();
      const { id } = await store.put({ session: 'alice', content: 'abc' });
      expect((await store.read('alice', id, { offset: 10, length: 5 })).content).toBe('');
    });

    it('creates unpredictable ids', async () => {
      const store = await make();
      const ids = await Promise.all(
        Array.from({ length: 50 }, async () => (await store.put({ session: 'alice', content: 'x' })).id),
      );
      expect(new Set(ids).size).toBe(50);
      for (const id of ids) expect(id).toMatch(/^art_[0-9a-f]{24}$/);
    });

    it.each(['art_000000000000000000000000', '../../etc/passwd', '', 'x'.repeat(10_000)])(
      'rejects the unknown id %s',
      async (id) => {
        const store = await make();
        await store.put({ session: 'alice', content: 'x' });
        await expect((async () => store.read('alice', id))()).rejects.toThrow(ArtifactNotFoundError);
      },
    );

    it('rejects an artifact of another session', async () => {
      const store = await make();
      const { id } = await store.put({ session: 'alice', content: 'secret' });
      await expect((async () => store.read('bob', id))()).rejects.toThrow(
        expect.objectContaining({ code: 'artifact-not-found' }),
      );
      await expect((async () => store.read('../alice', id))()).rejects.toThrow(ArtifactNotFoundError);
    });

    it('deletes only sessions that were not used for ttlMs', async () => {
      let now = 1_000_000;
      const store = await make({ ttlMs: 60_000, now: () => now });
      const used = await store.put({ session: 'alice', content: 'x' });
      const unused = await store.put({ session: 'bob', content: 'x' });
      for (let minute = 0; minute < 3; minute += 1) {
        now += 50_000;
        await store.read('alice', used.id);
      }
      await expect((async () => store.read('bob', unused.id))()).rejects.toThrow(ArtifactNotFoundError);
      await store.put({ session: 'carol', content: 'x' });
      expect((await store.read('alice', used.id)).content).toBe('x');
    });

    it('lists and deletes the artifacts of one session', async () => {
      const store = await make();
      const kept = await store.put({ session: 'alice', content: 'ü', mediaType: 'text/markdown' });
      const dropped = await store.put({ session: 'alice', content: new Uint8Array(3) });
      const foreign = await store.put({ session: 'bob', content: 'x' });
      expect(new Set(await store.list('alice'))).toEqual(new Set([kept, dropped]));
      expect(await store.list('nobody')).toEqual([]);
      for (const id of [dropped.id, dropped.id, foreign.id, '../x', '']) await store.delete('alice', id);
      expect(await store.list('alice')).toEqual([kept]);
      expect(await store.list('bob')).toEqual([foreign]);
      await expect((async () => store.read('alice', dropped.id))()).rejects.toThrow(ArtifactNotFoundError);
    });

    it('frees the quota of a deleted artifact', async () => {
      const store = await make({ maxBytes: 4_000, maxSessionBytes: 3_000 });
      const { id } = await store.put({ session: 'alice', content: new Uint8Array(3_000) });
      await store.delete('alice', id);
      await expect(
        (async () => store.put({ session: 'alice', content: new Uint8Array(3_000) }))(),
      ).resolves.toBeDefined();
    });

    it('keeps a quota when artifacts are stored at the same time', async () => {
      const store = await make({ maxBytes: 4_000, maxSessionBytes: 4_000 });
      const puts = Array.from({ length: 6 }, async () =>
        store.put({ session: 'alice', content: new Uint8Array(1_000) }),
      );
      const stored = (await Promise.allSettled(puts)).filter(({ status }) => status === 'fulfilled');
      expect(stored).toHaveLength(4);
      expect(await store.list('alice')).toHaveLength(4);
    });

    it('deletes a session on request', async () => {
      const store = await make();
      const { id } = await store.put({ session: 'alice', content: 'x' });
      const other = await store.put({ session: 'bob', content: 'y' });
      await store.deleteSession('alice');
      await store.deleteSession('nobody');
      await expect((async () => store.read('alice', id))()).rejects.toThrow(ArtifactNotFoundError);
      expect((await store.read('bob', other.id)).content).toBe('y');
    });

    it('rejects an artifact over the quota and keeps the existing ones', async () => {
      const store = await make({ maxBytes: 4_000, maxSessionBytes: 3_000 });
      const first = await store.put({ session: 'alice', content: new Uint8Array(2_000) });
      const put = async (session: string, bytes: number): Promise<unknown> =>
        store.put({ session, content: new Uint8Array(bytes) });
      await expect(put('alice', 1_500)).rejects.toThrow(/maxSessionBytes \(3000\)/);
      await expect(put('bob', 2_500)).rejects.toThrow(/maxBytes \(4000\)/);
      await expect(put('bob', 2_500)).rejects.toThrow(ArtifactQuotaError);
      expect((await store.read('alice', first.id)).size).toBe(2_000);
      await store.deleteSession('alice');
      await expect(put('bob', 2_500)).resolves.toMatchObject({ size: 2_500 });
    });
  });
};
