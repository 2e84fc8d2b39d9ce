import type { MaybePromise } from '@h/turn';
import { classifyError } from '@h/provider-errors';
import { describe, expect, it } from 'vitest';
import { createCredentialPool } from '../pool/credential-pool.js';
import { emptyPoolState, type PoolState, type PoolStore } from '../pool/pool-store.js';

/**
 * Tests a store of pools against the contract. Every store calls it in its tests.
 *
 * @param make - creates an empty store for each test, and returns a function that opens it as another process would
 */
export const describePoolStore = (make: () => MaybePromise<() => PoolStore>): void => {
  const raised = ({ windows }: PoolState): PoolState => {
    const { level = 0 } = windows['count'] ?? {};
    return {
      version: 1,
      windows: { ...windows, count: { reason: 'rate-limit', since: 0, until: 0, level: level + 1 } },
    };
  };

  describe('keeps the contract of pool stores', () => {
    it('begins empty, and returns what was written', async () => {
      const open = await make();
      expect(await open().read()).toEqual(emptyPoolState);
      const written = await open().update(raised);
      expect(written.windows['count']?.level).toBe(1);
      expect(await open().read()).toEqual(written);
    });

    it('loses no change of processes that write at once', async () => {
      const open = await make();
      const stores = Array.from({ length: 3 }, open);
      await Promise.all(Array.from({ length: 12 }, async (_, index) => stores[index % 3]?.update(raised)));
      expect((await open().read()).windows['count']?.level).toBe(12);
    });

    it('writes nothing if the change throws, and continues to work', async () => {
      const open = await make();
      const store = open();
      const failing = (): never => {
        throw new Error('No.');
      };
      await expect((async () => store.update(failing))()).rejects.toThrow('No.');
      expect(await store.read()).toEqual(emptyPoolState);
      await store.update(raised);
      expect((await open().read()).windows['count']?.level).toBe(1);
    });

    it('shares the cooldowns of credential pools, and never a key', async () => {
      const open = await make();
      const pools = [0, 1].map(() =>
        createCredentialPool({
          profiles: [{ id: 'a1', provider: 'alpha', key: 'a very secret key' }],
          store: open(),
          refreshMs: 100,
          now: () => 0,
        }),
      );
      pools[0]?.failed('a1', 'm', classifyError({ status: 429 }));
      await pools[0]?.flush();
      await pools[1]?.refresh();
      expect(pools[1]?.status()[0]?.cooldowns).toHaveLength(1);
      expect(JSON.stringify(await open().read())).not.toContain('secret');
    });
  });
};
