import type { MaybePromise } from '@h/turn';
import { describe, expect, it } from 'vitest';
import type { ApprovalStore, RememberedApproval } from '../approvals/store.js';

/** An approval store under test. */
export interface ApprovalStoreSubject {
  readonly store: ApprovalStore;
  /** Opens the same rules as another process would. */
  readonly reopen?: (() => MaybePromise<ApprovalStore>) | undefined;
}

const rule = (pattern: string, tool = 'bash'): RememberedApproval => ({ tool, pattern, at: 1 });

/**
 * Tests an approval store against the contract. Every store calls it in its tests.
 *
 * @param make - creates an empty store with at most this number of rules for each test
 */
export const describeApprovalStore = (
  make: (options: { readonly maxRules: number }) => MaybePromise<ApprovalStoreSubject>,
): void => {
  describe('keeps the contract of approval stores', () => {
    it('stores each rule once, in order, and removes the oldest rules', async () => {
      const { store, reopen } = await make({ maxRules: 3 });
      expect(await store.list()).toEqual([]);
      for (const pattern of ['a', 'b', 'b', 'c']) await store.add(rule(pattern));
      await store.add({ ...rule('c'), at: 9 });
      expect(await store.list()).toEqual(['a', 'b', 'c'].map((pattern) => rule(pattern)));
      await store.add(rule('d'));
      expect(await ((await reopen?.()) ?? store).list()).toEqual(['b', 'c', 'd'].map((pattern) => rule(pattern)));
    });

    it('distinguishes tools, patterns and exact calls', async () => {
      const { store } = await make({ maxRules: 100 });
      const rules: readonly RememberedApproval[] = [
        rule('a'),
        rule('a', 'sh'),
        { tool: 'bash', hash: 'a', at: 1 },
        { tool: 'bash', hash: '\u0000\ud800', at: 1 },
        { tool: '__proto__', pattern: '', at: 1 },
      ];
      for (const each of [...rules, ...rules]) await store.add(each);
      expect(await store.list()).toEqual(rules);
    });

    it('loses no rule of those that are added at the same time', async () => {
      const { store, reopen } = await make({ maxRules: 100 });
      const other = (await reopen?.()) ?? store;
      const patterns = Array.from({ length: 20 }, (_, index) => `p${index}`);
      await Promise.all(patterns.map(async (pattern, index) => (index % 2 === 0 ? store : other).add(rule(pattern))));
      const stored = (await store.list()).map(({ pattern = '' }) => pattern);
      expect(new Set(stored)).toEqual(new Set(patterns));
      expect(stored).toHaveLength(20);
    });
  });
};
