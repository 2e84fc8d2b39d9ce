import type { MaybePromise } from '@h/turn';
import { describe, expect, it } from 'vitest';
import type { InboxStore, KeptMessage, KnownDelivery } from '../inbox/inbox-store.js';

/** The store of one inbox under test. */
export interface InboxStoreSubject {
  /** Opens the store as a new process would. */
  readonly create: () => MaybePromise<InboxStore>;
  /** Ends the process that has the store open, as far as other processes can see. */
  readonly kill: (store: InboxStore) => MaybePromise<void>;
  readonly dispose?: (() => MaybePromise<void>) | undefined;
}

const kept = (tag: string, more: Partial<KeptMessage> = {}): KeptMessage => ({
  tag,
  session: 'alice',
  message: { role: 'user', content: `Message ${tag}`, metadata: { inbox: tag } },
  mode: 'steer',
  mergeKey: '',
  options: {},
  ...more,
});

const known = (id: string): KnownDelivery => ({
  session: 'alice',
  id,
  delivery: { status: 'delivered', how: 'turn', turn: `turn-${id}` },
});

/** Bytes, URLs and names that no format must damage. */
const rich = kept('rich', {
  session: '\u00e4\u2028/../\u0000\ud800',
  mode: 'collect',
  mergeKey: '["x"]',
  options: { id: 'm1', trigger: 'cron', priority: 'background', metadata: { $h: 'url' } },
  message: {
    role: 'user',
    content: [
      { type: 'text', text: 'Look.' },
      { type: 'image', image: new Uint8Array([0, 255, 10]) },
      { type: 'image', image: new URL('https://example.com/a.png') },
    ],
    metadata: { inbox: 'rich' },
  },
});

/**
 * Tests a store of inboxes against the contract. Every store calls it in its tests.
 *
 * @param make - creates an empty store for each test
 */
export const describeInboxStore = (make: () => MaybePromise<InboxStoreSubject>): void => {
  const inStore = (name: string, check: (subject: InboxStoreSubject) => Promise<void>): void =>
    it(name, async () => {
      const subject = await make();
      try {
        await check(subject);
      } finally {
        await subject.dispose?.();
      }
    });

  describe('keeps the contract of inbox stores', () => {
    inStore('returns saved messages in order, unless they were removed', async ({ create }) => {
      const store = await create();
      expect(await store.open()).toEqual({ messages: [], delivered: [] });
      await Promise.all([
        store.save(kept('a')),
        store.save(rich),
        store.save(kept('b')),
        store.save(kept('c', { options: { id: '1' } })),
        store.remove('b'),
        store.remove('c', known('1')),
        store.remove('never saved'),
      ]);
      await store.check('alice', 'a');
      await store.close();
      const next = await create();
      expect(await next.open()).toEqual({ messages: [kept('a'), rich], delivered: [known('1')] });
      await next.close();
    });

    inStore('replaces a message that is saved again', async ({ create }) => {
      const store = await create();
      await store.open();
      const first = kept('a', { options: { id: '1' } });
      await store.save(first);
      await store.save({ ...first, mode: 'interrupt' });
      await store.close();
      const next = await create();
      expect((await next.open()).messages).toEqual([{ ...first, mode: 'interrupt' }]);
      await next.close();
    });

    inStore('passes what was confirmed on to the next process after a crash', async ({ create, kill }) => {
      const store = await create();
      await store.open();
      for (const tag of ['a', 'b', 'c']) await store.save(kept(tag, { options: { id: tag } }));
      await store.remove('b', known('b'));
      await kill(store);
      const next = await create();
      const { messages, delivered } = await next.open();
      expect([messages.map(({ tag }) => tag), delivered.map(({ id }) => id)]).toEqual([['a', 'c'], ['b']]);
      await next.close();
    });

    inStore('rejects every operation before open() and after close()', async ({ create }) => {
      const store = await create();
      for (const call of [() => store.save(kept('a')), () => store.remove('a'), () => store.check()]) {
        await expect(call()).rejects.toThrow();
      }
      await store.open();
      await store.close();
      await store.close();
      for (const call of [() => store.save(kept('a')), () => store.remove('a'), () => store.check()]) {
        await expect(call()).rejects.toThrow();
      }
    });

    inStore('remembers the latest 1000 deliveries, each once', async ({ create }) => {
      const store = await create();
      await store.open();
      const ids = Array.from({ length: 1_003 }, (_, index) => `${index}`);
      await Promise.all(ids.map((id) => store.save(kept(`t${id}`, { options: { id } }))));
      await Promise.all(ids.map((id) => store.remove(`t${id}`, known(id))));
      await store.close();
      const next = await create();
      const { messages, delivered } = await next.open();
      expect([messages.length, delivered.length, delivered[0]?.id, delivered.at(-1)?.id]).toEqual([
        0,
        1_000,
        '3',
        '1002',
      ]);
      await next.close();
    });
  });
};
