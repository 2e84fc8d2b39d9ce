import type { MaybePromise } from '@h/turn';
import { describe, expect, it } from 'vitest';
import type { ChildRecord, ChildStore } from '../child/record.js';
import { childRecord } from './child-record.js';

/** A process that uses a store of sub-agents. */
export interface ChildStoreSubject {
  readonly store: ChildStore;
  /**
   * Ends the process, as far as other processes can see, and returns the store of the next one. Without it, the store
   * does not outlive its process.
   */
  readonly next?: (() => MaybePromise<ChildStore>) | undefined;
  readonly dispose?: (() => MaybePromise<void>) | undefined;
}

const idsIn = async (store: ChildStore, isWanted?: (record: ChildRecord) => boolean): Promise<readonly string[]> =>
  (await store.list(isWanted)).map(({ id }) => id).toSorted();

/**
 * Tests a store of sub-agents against the contract. Every store calls it in its tests.
 *
 * @param make - creates an empty store for each test
 */
export const describeChildStore = (make: () => MaybePromise<ChildStoreSubject>): void => {
  const inStore = (name: string, check: (subject: ChildStoreSubject) => Promise<void>): void =>
    it(name, async () => {
      const subject = await make();
      try {
        await check(subject);
      } finally {
        await subject.dispose?.();
      }
    });

  describe('keeps the contract of stores of sub-agents', () => {
    inStore('saves, replaces, deletes and lists records, for any ids', async ({ store }) => {
      const ids = ['a', 'A', '../b', '\u00e4'.repeat(300), '', '__proto__', 'a\u0000b'];
      for (const id of ids) await store.save(childRecord(id));
      await store.save(childRecord('a', { takenBy: 'call' }));
      for (const id of ['A', 'A', 'never saved']) await store.delete(id);
      expect(await idsIn(store)).toEqual(ids.filter((id) => id !== 'A').toSorted());
      expect((await store.list()).find(({ id }) => id === 'a')).toEqual(childRecord('a', { takenBy: 'call' }));
    });

    inStore('stores the last of many concurrent writes of a record', async ({ store }) => {
      const writes = Array.from({ length: 20 }, async (_, depth) => store.save(childRecord('a', { depth })));
      await Promise.all(writes);
      expect(await store.list()).toEqual([childRecord('a', { depth: 19 })]);
    });

    inStore('passes the records of a dead process on, those that are wanted', async ({ store, next }) => {
      for (const id of ['1', '2', '3']) await store.save(childRecord(id));
      if (next === undefined) return;
      const other = await next();
      expect(await idsIn(other, ({ id }) => id !== '2')).toEqual(['1', '3']);
      await other.save(childRecord('3', { takenBy: 'call' }));
      await other.delete('1');
      expect(await idsIn(other)).toEqual(['2', '3']);
      expect((await other.list()).find(({ id }) => id === '3')?.takenBy).toBe('call');
    });
  });
};
